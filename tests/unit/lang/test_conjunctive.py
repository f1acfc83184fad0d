"""What chained takes, and how it names what it does not."""

from __future__ import annotations

import pytest

from tidings.errors import SubscriptionError
from tidings.lang import parse
from tidings.lang.conjunctive import conjunction
from tidings.lang.pattern import Dialect, Var

TAKEN = [
    "SELECT * { ?x <u:p> ?y }",
    "SELECT DISTINCT ?x (STR(?y) AS ?z) { ?x <u:p> ?y . ?y <u:q> * FILTER(?y > 3 || regex(STR(?x), 'a')) } ORDER BY ?x",
    "ASK { ?x <u:p> ?y FILTER(!ftcontains(?y, 'a' ftAND ftNOT 'b')) }",
    "CONSTRUCT { ?x <u:q> ?y } { ?x <u:p> ?y } LIMIT 1",
    "SELECT * { ?x <u:p>/^<u:q> ?y }",
    "SELECT * { GRAPH ?g { ?x <u:p> ?y } FILTER(?y > 25 && ?g != <u:e>) }",
    "SELECT * { GRAPH ?g { ?x <u:p> ?y } GRAPH ?g { ?y <u:q> ?z FILTER(?z = 1) } }",
    "SELECT * { GRAPH <u:e> { ?x <u:p> ?y } { ?y <u:q> ?g } }",
    "SELECT * { ?x <u:p> ?y FILTER(BOUND(?nowhere)) }",
]
REFUSED = {
    "SELECT * { ?x <u:p> ?y OPTIONAL { ?x <u:q> ?z } }": "OPTIONAL",
    "SELECT * { { ?x <u:p> ?y } UNION { ?x <u:q> ?y } }": "UNION",
    "SELECT * { ?x <u:p> ?y MINUS { ?x <u:q> ?y } }": "MINUS",
    "SELECT * { ?x <u:p> ?y FILTER NOT EXISTS { ?x <u:q> ?y } }": "NOT EXISTS",
    "SELECT * { ?x <u:p> ?y FILTER(1 = 1 && EXISTS { ?x <u:q> ?y }) }": "EXISTS",
    "SELECT (EXISTS { ?x <u:q> ?y } AS ?z) { ?x <u:p> ?y }": "EXISTS",
    "SELECT * { ?x <u:p>+ ?y }": "property paths",
    "SELECT * { ?x <u:p>|<u:q> ?y }": "property paths",
    "SELECT * { ?x <u:p> ?y { SELECT ?x { ?x <u:q> ?z } } }": "sub-selects",
    "SELECT (COUNT(?y) AS ?n) { ?x <u:p> ?y }": "the aggregate COUNT",
    "SELECT ?x { ?x <u:p> ?y } GROUP BY ?x": "GROUP BY",
    "SELECT ?x { ?x <u:p> ?y } LIMIT 0": "LIMIT 0",
    "SELECT ?x { ?x <u:p> ?y } OFFSET 1": "OFFSET",
    "SELECT ?x { ?x <u:p> ?y } VALUES ?y { 1 }": "VALUES",
    "SELECT ?x { ?x <u:p> ?y VALUES ?y { 1 } }": "VALUES",
    "SELECT ?x { ?x <u:p> ?y BIND(1 AS ?z) }": "BIND",
    "SELECT ?x { ?x <u:p> ?y FILTER(NOW() > ?y) }": "NOW()",
    "SELECT ?x (NOW() AS ?now) { ?x <u:p> ?y }": "NOW()",
    "SELECT ?x { ?x <u:p> ?y { ?y <u:q> ?z FILTER(?x = ?z) } }": "a FILTER on ?x, which another group binds",
    "SELECT ?x { GRAPH ?g { ?x <u:p> ?y FILTER(?g = <u:e>) } }": "a FILTER on ?g, which another group binds",
    "ASK { FILTER(1 = 1) }": "a query without triple patterns",
    "ASK { }": "a query without triple patterns",
}


@pytest.mark.parametrize("text", TAKEN)
def test_taken(text: str) -> None:
    assert conjunction(parse(text), "s").block.triples


@pytest.mark.parametrize("text", REFUSED)
def test_refused_by_name(text: str) -> None:
    with pytest.raises(SubscriptionError) as refusal:
        conjunction(parse(text), "mine")
    first, hint = str(refusal.value).split("\n")
    assert first.startswith(f"subscription 'mine': the strategy chained does not take {REFUSED[text]}")
    assert "one-step" in hint
    assert refusal.value.id == "mine"


def test_all_groups_become_one_block() -> None:
    found = conjunction(
        parse("SELECT * { GRAPH ?g { ?x <u:p> ?y } { ?y <u:q> ?z FILTER(?z = 1) } FILTER(?x = ?y) }"), "s"
    )
    assert [str(triple.p) for triple in found.block.triples] == ["<u:p>", "<u:q>"]
    assert len(found.block.filters) == 2
    assert found.graphs == (Var("g"),)


@pytest.mark.parametrize(
    ("text", "dialect", "refused"),
    [
        ("(_:H, ?x, (<u:A>, <u:p>, <u:B>))", "ops", False),
        ("(?x, <u:p>, ?y, {?x <= <u:A>}, {?y != 3})", "gtopss", False),
        ("(?x, <u:p>, ?y, {?x > <u:A>, ?x = <u:B>}, {})", "gtopss", False),
        ("(?x, <u:p>, ?y, {?x != <u:A>}, {})", "gtopss", True),
    ],
)
def test_the_other_dialects(text: str, dialect: Dialect, refused: bool) -> None:
    query = parse(text, dialect)
    if not refused:
        assert conjunction(query, "s").block.triples
        return
    with pytest.raises(SubscriptionError, match=r"\?x != <u:A>"):
        conjunction(query, "s")
