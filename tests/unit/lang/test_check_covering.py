"""Duplicates, and subscriptions covered by another one."""

from __future__ import annotations

import pytest

from tidings.lang import parse
from tidings.lang.check import Problem, check
from tidings.lang.files import Subscription
from tidings.lang.pattern import Dialect
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE, RDFS, SUBCLASS_OF, Term, iri

EX = "http://e.x/"
HEAD: dict[Dialect, str] = {
    "sparql": f"PREFIX ex: <{EX}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n",
    "ops": f"PREFIX : <{EX}>\n",
    "gtopss": f"PREFIX : <{EX}>\n",
}


def ex(name: str) -> Term:
    return iri(EX + name)


ONTOLOGY = Ontology.of(
    [
        (ex("Notebook"), SUBCLASS_OF, ex("Computer")),
        (ex("Laptop"), iri("http://www.w3.org/2002/07/owl#equivalentClass"), ex("Notebook")),
        (ex("cell"), iri(f"{RDFS}subPropertyOf"), ex("phone")),
        (ex("kind"), iri(f"{RDFS}subPropertyOf"), RDF_TYPE),
    ]
)


def subscription(id: str, text: str, dialect: Dialect = "sparql") -> Subscription:
    text = HEAD[dialect] + text
    return Subscription(id, parse(text, dialect), text, dialect)


def relations(*texts: str, dialect: Dialect = "sparql") -> list[tuple[str, str, str]]:
    """(covered or duplicate, which one, by which): subscriptions are named a, b, c, … in order."""
    found = check([subscription(chr(97 + i), t, dialect) for i, t in enumerate(texts)], ONTOLOGY)
    problems = [p for p in found if p.code in ("covered", "duplicate")]
    return [(p.code, str(p.subscription), p.message.split("'")[1]) for p in problems]


def ask(body: str) -> str:
    return f"ASK {{ {body} }}"


# ---------------------------------------------------------------------------------------------------------- duplicates


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("?x ex:p ?y . ?y ex:q ?z", "?m ex:q ?n . ?k ex:p ?m"),
        ("?x ex:p ?y FILTER(?y < 5)", "?a ex:p ?b FILTER(5 > ?b)"),
        ("?x ex:p ?y FILTER(?y < 5 && ?y > 3)", "?a ex:p ?b FILTER(?b > 3) FILTER(?b < 5)"),
        ("?x ex:p ?y FILTER(?y = ?x || ?y = 3)", "?a ex:p ?b FILTER(3 = ?b || ?a = ?b)"),
        ("?x ex:p _:b . _:b ex:q *", "?x ex:p [ ex:q ?z ]"),
        ('?x ex:p ?y FILTER ftcontains(?y, "Red dog")', '?x ex:p ?y FILTER ftcontains(?y, "red  DOG!")'),
        ("?x ex:p ?y . ?y ex:p ?z . ?z ex:p ?x", "?z ex:p ?x . ?y ex:p ?z . ?x ex:p ?y"),
        ("?x ex:p ?y OPTIONAL { ?y ex:q ?z }", "?a ex:p ?b OPTIONAL { ?b ex:q ?c }"),
        ("{ ?x ex:p 1 } UNION { ?x ex:p 2 }", "{ ?y ex:p 2 } UNION { ?y ex:p 1 }"),
        ("?x ex:p ?y FILTER NOT EXISTS { ?x ex:q ?z }", "?a ex:p ?b FILTER NOT EXISTS { ?a ex:q ?c }"),
        ("?x ex:p ?y", "GRAPH ?g { ?x ex:p ?y }"),
    ],
)
def test_duplicates_up_to_names_and_order(a: str, b: str) -> None:
    assert relations(ask(a), ask(b)) == [("duplicate", "b", "a")]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("?x ex:p ?y . ?y ex:q ?z", "?x ex:p ?y . ?x ex:q ?z"),
        ("?x ex:p ?y . ?z ex:p ?y . ?x ex:q 1", "?x ex:p ?y . ?z ex:p ?y . ?y ex:q 1"),
        ("?x ex:p ?y OPTIONAL { ?y ex:q ?z }", "?x ex:p ?y OPTIONAL { ?x ex:q ?z }"),
        ("?x ex:p ?y FILTER(?y < ?x)", "?x ex:p ?y FILTER(?x < ?y)"),
        ("?x ex:p ?y FILTER(?y - 1 < ?x)", "?x ex:p ?y FILTER(1 - ?y < ?x)"),
        ("?x ex:p ?y FILTER NOT EXISTS { ?x ex:q ?z }", "?x ex:p ?y FILTER NOT EXISTS { ?y ex:q ?z }"),
        ('?x ex:p ?y FILTER ftcontains(?y, "a b")', '?x ex:p ?y FILTER ftcontains(?y, "b a")'),
    ],
)
def test_what_looks_alike_is_no_duplicate(a: str, b: str) -> None:
    assert relations(ask(a), ask(b)) == []


def test_columns_and_modifiers_do_not_matter() -> None:
    texts = ["SELECT ?x { ?x ex:p ?y } LIMIT 3", "SELECT DISTINCT ?b { ?a ex:p ?b } ORDER BY ?b", "ASK { ?x ex:p ?y }"]
    assert relations(*texts) == [("duplicate", "b", "a"), ("duplicate", "c", "a")]
    texts = ["SELECT ?x { ?x ex:p ?y } OFFSET 1", "SELECT ?x { ?x ex:p ?y }"]
    assert relations(*texts) == []
    texts = [f"SELECT ?x {{ ?x ex:p ?y }} GROUP BY ?x HAVING(COUNT(?y) > {n})" for n in (1, 2, 1)]
    assert relations(*texts) == [("duplicate", "c", "a")]


def test_dialects_with_one_meaning_are_compared() -> None:
    found = list(
        check([subscription("a", "ASK { ?x ex:p ?y }"), subscription("b", "(?s, p, ?o)", "gtopss")], Ontology.empty())
    )
    assert [(p.code, p.subscription) for p in found] == [("duplicate", "b")]


def test_equivalent_though_not_alike() -> None:
    assert relations(ask("?x ex:p ?y . ?x ex:p ?z"), ask("?x ex:p ?y")) == [("duplicate", "b", "a")]


def test_variables_that_look_too_much_alike_are_left_alone() -> None:
    wheel = " . ".join(f"?v{i} ex:p ?v{j}" for i in range(9) for j in range(9) if i != j)
    other = " . ".join(f"?v{j} ex:p ?v{i}" for j in range(9) for i in range(9) if i != j)
    assert all(code != "covering-incomplete" for code, *_ in relations(ask(wheel), ask(other)))


# --------------------------------------------------------------------------------------------------------------- covers

COVERED = [
    # narrow, broad
    ("?x ex:p ?y . ?x ex:q ?z", "?x ex:p ?y"),
    ("?x ex:p 5", "?x ex:p ?y"),
    ("?x ex:p 5", "?x ex:p ?y FILTER(?y < 7)"),
    ("?x ex:p ?x", "?x ex:p ?y"),
    ("?x a ex:Notebook", "?x a ex:Computer"),
    ("?x a ex:Laptop ; ex:q ?y", "?x a ex:Notebook"),
    ("?x ex:cell ?y", "?x ex:phone ?y"),
    ("?x ex:kind ex:Notebook", "?x a ex:Computer"),
    ("?x ex:p ?y ; ex:r 1", "?x ?q ?y FILTER(?q = ex:p)"),
    ("?x ex:p ?y FILTER(?y < 3)", "?x ex:p ?y FILTER(?y < 5)"),
    ("?x ex:p ?y FILTER(?y < 3)", "?x ex:p ?y FILTER(?y <= 3.0)"),
    ("?x ex:p ?y FILTER(?y > 3 && ?y < 4)", "?x ex:p ?y FILTER(?y > 2)"),
    ("?x ex:p ?y FILTER(?y = 3)", "?x ex:p ?y FILTER(?y >= 3)"),
    ("?x ex:p ?y FILTER(?y > 3)", "?x ex:p ?y FILTER(?y != 2)"),
    ("?x ex:p ?y FILTER(?y = 3)", "?x ex:p ?y FILTER(?y IN (3, 4))"),
    ("?x ex:p ?y FILTER(?y IN (3, 4))", "?x ex:p ?y FILTER(?y < 7)"),
    ("?x ex:p ?y FILTER(?y < 2 || ?y = 3)", "?x ex:p ?y FILTER(?y < 5)"),
    ("?x ex:p ?y FILTER(?y < 2)", "?x ex:p ?y FILTER(?y < 3 || REGEX(?y, 'a'))"),
    ("?x ex:p ?y . ?x ex:q ?z FILTER REGEX(?y, 'a')", "?s ex:p ?t FILTER REGEX(?t, 'a')"),
    ('?x ex:p ?y FILTER ftcontains(?y, "big red dog")', '?x ex:p ?y FILTER ftcontains(?y, "red dog")'),
    ('?x ex:p ?y FILTER ftcontains(?y, "a" ftAND "b")', '?x ex:p ?y FILTER ftcontains(?y, "b" ftOR "c")'),
    ('?x ex:p ?y FILTER ftcontains(?y, "a" ftNEAR[1,2] "b")', '?x ex:p ?y FILTER ftcontains(?y, "a" ftNEAR[0,3] "b")'),
    ('?x ex:p ?y FILTER ftcontains(?y, "a" ftNEAR[1,2] "b")', '?x ex:p ?y FILTER ftcontains(?y, "b" ftAND "a")'),
    ('?x ex:p ?y FILTER ftcontains(?y, ftNOT "a")', '?x ex:p ?y FILTER ftcontains(?y, ftNOT "a b")'),
    ("?x ex:p ?y FILTER EXISTS { ?x ex:q ?z }", "?x ex:p ?y"),
]


@pytest.mark.parametrize(("narrow", "broad"), COVERED)
def test_covered(narrow: str, broad: str) -> None:
    assert relations(ask(narrow), ask(broad)) == [("covered", "a", "b")]
    assert relations(ask(broad), ask(narrow)) == [("covered", "b", "a")]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("?x ex:p ?y FILTER(?y < 5)", "?x ex:p ?y FILTER(?y > 3)"),
        ("?x ex:p ?y FILTER(?y = 1.00000000001)", "?x ex:p ?y FILTER(?y > 1)"),
        ("?x ex:p ?y FILTER(?y < 3)", '?x ex:p ?y FILTER(?y < "5")'),
        ("?x ex:p 5", "?x ex:p ?y FILTER(!BOUND(?z))"),
        ("?x a ex:Computer ; ex:q 1", "?x a ex:Notebook"),
        ("?x ex:phone ?y ; ex:q 1", "?x ex:cell ?y"),
        ("?x ?p ?y . ?x ex:q 1", "?x ex:p ?y"),
        ("?x ex:p ?y . ?y ex:q 1", "?x ex:p ?x"),
        ("?x ex:p ?y ; ex:r 1 FILTER(!(?y < 3))", "?x ex:p ?y FILTER(?y >= 3)"),
        ("?x ex:p ?y ; ex:r 1", "?x ex:p ?y FILTER NOT EXISTS { ?x ex:q ?y }"),
        ('?x ex:p ?y FILTER ftcontains(?y, "a" ftOR "b")', '?x ex:p ?y FILTER ftcontains(?y, "a" ftAND "b")'),
        ('?x ex:p ?y FILTER ftcontains(?y, "a b")', '?x ex:p ?y FILTER ftcontains(?y, ftNOT "a")'),
        ('?x ex:p ?y FILTER(?y < "2024-01-01"^^xsd:date)', '?x ex:p ?y FILTER(?y < "2024-01-02"^^xsd:date)'),
    ],
)
def test_not_covered(a: str, b: str) -> None:
    assert ("covered", "a", "b") not in relations(ask(a), ask(b))


def test_one_cover_is_told_and_it_is_always_the_same() -> None:
    texts = [ask("?x ex:p ?y ; ex:q ?z ; ex:r ?w"), ask("?x ex:q ?z"), ask("?x ex:p ?y"), ask("?x ex:p ?y ; ex:q ?z")]
    assert relations(*texts) == [("covered", "a", "b"), ("covered", "d", "b")]


def test_a_subscription_that_never_or_always_matches_is_left_out() -> None:
    texts = [ask("?x ex:p ?y FILTER(?y < 3 && ?y > 5)"), ask("?x ex:p ?y"), ask("?s ?p ?o")]
    assert relations(*texts) == []


# ------------------------------------------------------------------------------------------------------- ops and gtopss


@pytest.mark.parametrize(
    ("narrow", "broad"),
    [
        ("(_:H, ?1, (A, cell, Notebook))", "(_:H, ?1, (A, phone, Computer))"),
        ("(_:H, ?1, (A, p, B)) (?1, ?2, (B, q, C))", "(_:H, ?1, (A, p, B))"),
        ("(_:H, ?1, (A, p, Notebook)) (?1, 5, (B, q, xsd:integer))", "(_:H, ?1, (A, p, owl:Thing))"),
        ("(_:H, ?1, (A, p, xsd:integer), ?1 < 3)", "(_:H, ?1, (A, p, xsd:decimal), ?1 < 4)"),
        ("(_:H, 5, (A, p, xsd:integer))", "(_:H, ?1, (A, p, xsd:decimal), ?1 > 4)"),
        ("(_:H, ex, (A, p, B))", "(_:H, ?1, (owl:Thing, p, B))"),
    ],
)
def test_covered_in_ops(narrow: str, broad: str) -> None:
    assert relations(narrow, broad, dialect="ops") == [("covered", "a", "b")]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        # The two vertices of b must differ.
        ("(_:H, ?1, (A, p, B)) (_:H, ?1, (A, q, B))", "(_:H, ?1, (A, p, B)) (_:H, ?2, (A, q, B))"),
        ("(_:H, _:H, (A, p, B))", "(_:H, ?1, (A, p, B))"),
        # A resource may have the type xsd:integer, and is then no xsd:decimal.
        ("(_:H, ?1, (A, p, xsd:integer))", "(_:H, ?1, (A, p, xsd:decimal))"),
        ("(_:H, ?1, (A, p, B))", "(_:H, ?1, (A, p, owl:Thing))"),
        ("(_:H, ?1, (A, p, Computer)) (_:H, ?2, (A, q, B))", "(_:H, ?1, (A, p, Notebook))"),
    ],
)
def test_not_covered_in_ops(a: str, b: str) -> None:
    assert ("covered", "a", "b") not in relations(a, b, dialect="ops")


@pytest.mark.parametrize(
    ("narrow", "broad"),
    [
        ("(?x, p, ?y, {}, {?y > 2000})", "(?x, p, ?y, {}, {?y > 1999})"),
        ("(?x, p, ?y, {?x <= Notebook})", "(?x, p, ?y, {?x <= Computer})"),
        ("(?x, p, ?y, {?x < Notebook})", "(?x, p, ?y, {?x <= Computer})"),
        ("(?x, cell, ?y)", "(?x, phone, ?y)"),
        ("(?x, p, ?y, {?x > Notebook})", "(?x, p, ?y, {?x >= Notebook})"),
    ],
)
def test_covered_in_gtopss(narrow: str, broad: str) -> None:
    assert relations(narrow, broad, dialect="gtopss") == [("covered", "a", "b")]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        # "15" is a text above "100" and not above "20".
        ("(?x, p, ?y, {}, {?y > 100})", "(?x, p, ?y, {}, {?y > 20})"),
        ("(?x, p, ?y, {?x < Notebook})", "(?x, p, ?y, {?x < Computer})"),
        ("(?x, p, ?y, {?x >= Computer})", "(?x, p, ?y, {?x >= Notebook})"),
        ("(?x, p, ?y, {?x = Notebook})", "(?x, p, ?y, {?x <= Notebook})"),
        ("(?x, p, ?y, {?x != Notebook})", "(?x, p, ?y, {?x != Computer})"),
    ],
)
def test_not_covered_in_gtopss(a: str, b: str) -> None:
    assert relations(a, b, dialect="gtopss") == []


# --------------------------------------------------------------------------------------------------------------- bounds


def test_it_says_when_the_search_stopped() -> None:
    subscriptions = [subscription(str(i), ask(f"?x ex:p ?y FILTER(?y < {i})")) for i in range(50)]
    found = list(check(subscriptions, max_steps=5))
    last: Problem = found[-1]
    assert (last.subscription, last.severity, last.code) == (None, "info", "covering-incomplete")
    assert "stopped at its bound" in last.message
    assert len(found) < 50


def test_many_alike_are_compared_within_bounds() -> None:
    subscriptions = [subscription(str(i), ask(f"?x ex:p ?y ; ex:q ?z FILTER(?y > ?z + {i})")) for i in range(210)]
    found = list(check(subscriptions))
    assert [p.code for p in found] == ["covering-incomplete"]
