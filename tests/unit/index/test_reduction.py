"""What is more than a conjunction, and is decided like one; whatever the kernel decides is what the verifier does."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tidings.index.reduction import reduced
from tidings.index.rules import rules_of
from tidings.lang import parse
from tidings.lang.pattern import Exists
from tidings.match.base import Failure
from tidings.match.fast import Fast
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE, Term, iri, literal

NS = "http://e.x/"
PREFIX = f"PREFIX : <{NS}> "

REDUCED = {
    "?x :p ?y OPTIONAL { ?x :q ?z }": 0,
    "?x :p ?y OPTIONAL { ?x :q ?z } OPTIONAL { ?y :q ?w }": 0,
    "?x :p ?y OPTIONAL { ?x :q ?z } FILTER(!BOUND(?z))": 1,
    "?x :p ?y OPTIONAL { ?x :q ?z } FILTER(BOUND(?z))": 1,
    "?x :p ?y OPTIONAL { ?x :q ?z } FILTER(!BOUND(?z) && ?y = :b)": 1,
    "?x :p ?y OPTIONAL { ?x :q ?z } OPTIONAL { ?y :r ?w } FILTER(!BOUND(?z)) FILTER(BOUND(?w))": 2,
    "?x :p ?y OPTIONAL { ?x :q ?z . ?z :r ?x }": 0,
    "?x :p ?y MINUS { ?x :q ?z }": 1,
    "?x :p ?y MINUS { ?x :q ?y }": 1,
    "?x :p ?y MINUS { ?v :q ?w }": 0,
    "?x :p ?y FILTER NOT EXISTS { ?x :q ?z }": 1,
    "?x :p ?y FILTER EXISTS { ?y ?any ?z . ?z :p ?x }": 1,
    "?x :p ?y FILTER(EXISTS { ?x :q ?x } || ?y = :a)": 0,
    "?x :p ?y FILTER(!EXISTS { :a :q ?y } && ?x != :c)": 0,
    "?x :p ?y FILTER NOT EXISTS { ?x :q ?z } FILTER NOT EXISTS { ?z :r ?x }": 2,
    "?x :p ?y FILTER NOT EXISTS { ?z :q ?z }": 1,
}
"""Where clauses that have a conjunction, and how many of its filters are EXISTS or NOT EXISTS."""

OTHERS = [
    "?x :p ?y OPTIONAL { ?x :q ?z } FILTER(?z = :a)",
    "?x :p ?y OPTIONAL { ?x :q ?z } OPTIONAL { ?z :r ?w }",
    "?x :p ?y OPTIONAL { ?x :q ?z } MINUS { ?z :r ?w }",
    "?x :p ?y OPTIONAL { ?x :q ?z } FILTER(!BOUND(?z) || ?y = :b)",
    "?x :p ?y OPTIONAL { ?x :q ?z } FILTER NOT EXISTS { ?z :r ?x }",
    "?x :p ?y OPTIONAL { ?x :q ?z FILTER(?z != ?y) }",
    "?x :p ?y OPTIONAL { ?x :q ?z } FILTER(BOUND(?z)) FILTER(?z = :b)",
    "?x :p ?y OPTIONAL { ?x :q+ ?z }",
    "?x :p ?y OPTIONAL { ?x :q ?z . ?z :q ?v . ?v :q ?w }",
    "?x :p ?y MINUS { ?x :q ?z FILTER(?z = :a) }",
    "{ ?x :p ?y } UNION { ?x :q ?y } OPTIONAL { ?x :q ?z }",
]
"""Those that have none."""

ASKING = [
    "?x :p ?y FILTER NOT EXISTS { ?x :q ?z FILTER(?z = ?y) }",
    "?x ?y ?z FILTER NOT EXISTS { ?z ?y ?x }",
    "?x :p ?y OPTIONAL { ?x :q ?z FILTER(?z != ?y) } FILTER EXISTS { ?x :q ?w }",
    "{ ?x :p ?y FILTER EXISTS { ?x :q ?z } } { ?x :r ?z }",
    "{ ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } } { ?x :r ?z }",
    "GRAPH ?g { ?x :p ?y FILTER NOT EXISTS { ?g :q ?y } }",
]
"""Those that the kernel need not decide, as long as the answer is right."""


@pytest.mark.parametrize(("where", "count"), REDUCED.items())
def test_it_is_a_conjunction(where: str, count: int) -> None:
    block = reduced(parse(f"{PREFIX} SELECT * {{ {where} }}", "sparql"))
    assert block is not None
    assert sum(isinstance(expr, Exists) for expr in block.filters) == count


@pytest.mark.parametrize("where", OTHERS)
def test_it_is_left_to_the_verifier(where: str) -> None:
    query = parse(f"{PREFIX} SELECT * {{ {where} }}", "sparql")
    assert reduced(query) is None
    assert all(rule.ask for rule in rules_of(query, frozenset()))


@pytest.mark.parametrize("tail", ["GROUP BY ?x", "LIMIT 0", "OFFSET 1", "VALUES ?x { :a }"])
def test_what_is_about_the_solutions_is_left_to_the_verifier(tail: str) -> None:
    assert reduced(parse(f"{PREFIX} SELECT ?x {{ ?x :p ?y OPTIONAL {{ ?x :q ?z }} }} {tail}", "sparql")) is None


def events(count: int) -> Iterator[Event]:
    """Small ones, in which the same few things are everywhere."""
    dice = random.Random(7)
    nodes = [iri(NS + name) for name in "abc"]
    for number in range(count):
        triples: list[tuple[Term, Term, Term]] = []
        for _ in range(dice.randint(1, 7)):
            o = dice.choice([*nodes, literal("a")])
            triples.append((dice.choice(nodes), iri(NS + dice.choice("pqr")), o))
        yield Event.of(f"{NS}event{number}", triples)


def _refuse(failure: Failure) -> None:
    raise AssertionError(failure)


def test_the_answers_are_those_of_the_verifier() -> None:
    wheres = [*REDUCED, *OTHERS, *ASKING]
    fast, naive = Fast(Ontology.empty()), Naive(Ontology.empty())
    for number, where in enumerate(wheres):
        query = parse(f"{PREFIX} SELECT * {{ {where} }}", "sparql")
        fast.add(str(number), query)
        naive.add(str(number), query)
    matched: set[str] = set()
    for event in events(400):
        expected = {match.subscription for match in naive.match(event, _refuse)}
        found = {match.subscription for match in fast.match(event, _refuse)}
        assert {wheres[int(n)] for n in found} == {wheres[int(n)] for n in expected}, event.body
        matched |= found
    assert len(matched) == len(wheres)


def test_the_verifier_is_not_asked() -> None:
    fast = Fast(Ontology.empty())
    for where in REDUCED:
        fast.add(where, parse(f"{PREFIX} SELECT * {{ {where} }}", "sparql"))
    for event in events(200):
        fast.match(event, _refuse)
    assert fast.stats()["asked"] == 0


def test_more_classes_than_bits() -> None:
    """An event with hundreds of classes: those beyond the bits of a word are looked for in lists."""
    a, b = iri(NS + "a"), iri(NS + "b")
    classes = [iri(f"{NS}C{n}") for n in range(200)]
    triples = [(a, RDF_TYPE, cls) for cls in classes] + [(b, RDF_TYPE, cls) for cls in classes[::2]]
    event = Event.of(f"{NS}many", [*triples, (Term("_:H"), iri(f"{NS}p"), b), (b, iri(f"{NS}p"), a)])
    fast, naive = Fast(Ontology.empty()), Naive(Ontology.empty())
    for n in range(0, 200, 3):
        thing = "http://www.w3.org/2002/07/owl#Thing"
        text = f"PREFIX : <{NS}> (_:H, ?1, (<{thing}>, :p, :C{n})) (?1, ?2, (<{thing}>, :p, :C{(n * 7) % 200}))"
        fast.add(str(n), parse(text, "ops"))
        naive.add(str(n), parse(text, "ops"))
    expected = {match.subscription for match in naive.match(event, _refuse)}
    assert {match.subscription for match in fast.match(event, _refuse)} == expected
    assert 0 < len(expected) < 67
