"""Necessary conditions against the verifier: where a subscription matches, its condition holds. Always."""

from __future__ import annotations

from itertools import combinations
from typing import cast

import pytest
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import model as m
from tests.property.brute_conditions import holds, universal
from tests.property.render import dialect, nt, place, text
from tests.property.strategies import (
    CANONICAL,
    MORE_TIMES,
    NUMBERS,
    ODD,
    RESOURCES,
    TIMES,
    gtopss_cases,
    ops_cases,
)
from tests.property.strategies_focus import (
    aggregate_cases,
    algebra_cases,
    filter_cases,
    join_cases,
    ops_shapes,
    path_cases,
)
from tests.property.strategies_rtf import rtf_cases, text_cases
from tests.property.strategies_sparql import sparql_cases

from tidings.index.atoms import ALWAYS, NEVER, All, Atom, Condition, Kind, Some, implied
from tidings.index.conditions import necessary, simplified
from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match.meaning import Meaning
from tidings.match.verify import Prepared, matches
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term, Triple

Case = tuple[m.Subscription, m.World]


def _sound(case: Case) -> None:
    """On the event, and on each of its parts: a part is where a match is lost first."""
    subscription, world = case
    query = parse(text(subscription), cast(Dialect, dialect(subscription)))
    ontology = Ontology.of(check.triples(world.ontology))
    condition = necessary(query, universal(ontology))
    statements = check.triples(world.event)
    parts = [statements, *([*statements[:n], *statements[n + 1 :]] for n in range(len(statements)))]
    for part in parts:
        meaning = Meaning(Event.of(world.event_id.value, part), ontology)
        held, matched = holds(condition, meaning), matches(query, meaning)
        note(f"matched {matched}, held {held}")
        assert held or not matched, f"{condition}\n{text(subscription)}\n{part}\n{world.ontology}"


# ------------------------------------------------------------------------------------------------- generated elsewhere


@check.examples(180)
@given(sparql_cases())
def test_everything_together(case: Case) -> None:
    _sound(case)


@check.examples(180)
@given(st.one_of(algebra_cases, join_cases))
def test_algebra(case: Case) -> None:
    _sound(case)


@check.examples(120)
@given(path_cases)
def test_paths(case: Case) -> None:
    _sound(case)


@check.examples(60)
@given(aggregate_cases)
def test_aggregates(case: Case) -> None:
    _sound(case)


@check.examples(180)
@given(filter_cases)
def test_filters(case: Case) -> None:
    _sound(case)


@check.examples(120)
@given(st.one_of(rtf_cases(), text_cases()))
def test_texts(case: Case) -> None:
    _sound(case)


@check.examples(120)
@given(st.one_of(ops_cases(), ops_shapes()))
def test_ops(case: Case) -> None:
    _sound(case)


@check.examples(60)
@given(gtopss_cases())
def test_gtopss(case: Case) -> None:
    _sound(case)


# ------------------------------------------------------------------------------------ every filter in every surrounding

PREFIXES = f"PREFIX : <{m.EX}> PREFIX xsd: <{m.XSD}> SELECT * "
GROUPS = [
    "{ ?x :p ?y FILTER(F) }",
    "{ ?x ?z ?y FILTER(F) }",
    "{ ?x :p ?y . ?y :q ?z FILTER(F) }",
    "{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(F) }",
    "{ ?x :p ?y OPTIONAL { ?x :q ?z FILTER(F) } }",
    "{ OPTIONAL { ?x :p ?y } ?y :q ?z FILTER(F) }",
    "{ OPTIONAL { ?x :p ?y } OPTIONAL { ?z :q ?y } FILTER(F) }",
    "{ { ?x :p ?y } UNION { ?y :q ?z } FILTER(F) }",
    "{ { ?x :p ?y FILTER(F) } UNION { ?x :q ?z } ?x ?k ?y }",
    "{ { { ?x :p ?y } UNION { ?x :q ?y } } UNION { ?z :p ?x . ?x :q ?y } FILTER(F) }",
    "{ ?k ?l ?y { ?x :p ?y } UNION { ?x :q ?z } FILTER(F) }",
    "{ ?x :p ?y MINUS { ?y :q ?z } FILTER(F) }",
    "{ ?x :p ?y MINUS { ?x :q ?z FILTER(F) } }",
    "{ ?x :p ?y { ?z :q ?k FILTER(F) } FILTER(?y = :b) }",
    "{ { ?x :p ?y FILTER(F) } ?z :q ?k FILTER(?z = :a) }",
    "{ { SELECT ?x { ?x :p ?y } } ?z :q ?y FILTER(F) }",
    "{ { SELECT ?x { ?x :p ?y } } ?x :q ?y FILTER(?x = :a) FILTER(F) }",
    "{ { SELECT ?x { ?x :p ?y FILTER(F) } } ?y :q ?z FILTER(?y = :b) }",
    "{ { SELECT ?x { { ?x :p ?y } UNION { ?y :q ?x } } } ?z :q ?y FILTER(?x = :a || ?x = :b) FILTER(F) }",
    "{ { SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x } ?z :q ?y FILTER(F) }",
    "{ { SELECT (COUNT(*) AS ?n) { ?x :p ?y FILTER(F) } } ?x :q ?z }",
    "{ { SELECT ?x ?y { ?x :p ?y } OFFSET 1 } FILTER(F) }",
    "{ { SELECT * { ?x :p ?y } VALUES ?y { :a :b } } FILTER(F) }",
    "{ VALUES (?x ?z) { (:a :b) (UNDEF :a) } ?x :p ?y OPTIONAL { ?y :q ?z } FILTER(F) }",
    "{ VALUES (?x ?y) { (:b :a) (UNDEF :b) } ?x :p ?y FILTER(F) }",
    "{ VALUES ?y { :b 'v w' } ?x :p ?y { ?y :q ?z } UNION { ?z :q ?y } FILTER(F) }",
    "{ ?x :p ?y BIND(:b AS ?z) ?z ?k ?y FILTER(F) }",
    "{ ?x :p ?y BIND(IF(?y = :b, :a, 1 / 0) AS ?z) FILTER(F) }",
    "{ ?x :p* ?y FILTER(F) }",
    "{ ?y :p* 'v w' FILTER(F) }",
    "{ ?x :p+/:q? ?y FILTER(F) }",
    "{ ?x :p|^:q ?y FILTER(F) }",
    "{ ?x !:p ?y FILTER(F) }",
    "{ GRAPH ?z { ?x :p ?y FILTER(F) } }",
    "{ ?x :p ?y FILTER EXISTS { ?y :q ?z FILTER(F) } }",
    "{ ?x :p ?y FILTER NOT EXISTS { ?y :q ?z FILTER(F) } }",
    "{ ?x :p ?y FILTER EXISTS { ?x :p ?k { SELECT ?y { ?y :q ?z } } FILTER(F) } }",
    "{ ?x :p ?y } HAVING(F)",
    "{ ?x :p ?y FILTER(F) } VALUES (?y ?z) { (:b :a) ('v w' UNDEF) }",
]
FILTERS = [
    "?x = :a",
    "?y = :b",
    "?z = :a",
    "'v w' = ?y",
    "?y = :a || ?z = :b",
    "?y = :b && ?x = :a",
    "?x = :a && ?x = :b",
    "?y IN (:a, 'v w')",
    "?y NOT IN (:a, :b)",
    "!(?y != :b)",
    "!(?y != :b || ?x NOT IN (:a))",
    "!(?y = :b && ?x = :a)",
    "!(?y != :b && ?x != :a)",
    "BOUND(?z)",
    "!BOUND(?z)",
    "ftcontains(?y, 'w')",
    "ftcontains(?y, 'v w' ftOR 'u') && ?x = :a",
    "ftcontains(?z, ftNOT ('u' ftOR ftNOT 'w'))",
    "!ftcontains(?y, ftNOT 'w')",
    "EXISTS { ?z :q ?y }",
    "EXISTS { ?z :q ?y FILTER(?z = :a) }",
    "NOT EXISTS { ?y :q ?z }",
    "!(NOT EXISTS { ?y :q ?z FILTER(?z = :b) } || ?x = :b)",
    "EXISTS { { SELECT (COUNT(*) AS ?n) { ?y :q ?k } } }",
    "false",
]
STATEMENTS = [
    ("a", "p", "<b>"),
    ("a", "q", "<b>"),
    ("a", "p", '"v w"'),
    ("b", "p", "<a>"),
    ("b", "q", '"w u"'),
    ("b", "q", "<b>"),
]


def _term(text: str) -> Term:
    return Term(text.replace("<", f"<{m.EX}"))


SMALL = [(_term(f"<{s}>"), _term(f"<{p}>"), _term(o)) for s, p, o in STATEMENTS]


@pytest.mark.parametrize("group", GROUPS)
def test_scopes(group: str) -> None:
    events = [event for n in range(len(SMALL) + 1) for event in combinations(SMALL, n)]
    meanings = [Meaning(Event.of("urn:e", event), Ontology.empty()) for event in events]
    for expr in FILTERS:
        query = parse(PREFIXES + group.replace("(F)", f"({expr})"))
        condition, prepared = necessary(query), Prepared(query)
        for meaning in meanings:
            assert holds(condition, meaning) or not prepared.matches(meaning), (condition, expr, meaning.event.body)


LITERALS = [*CANONICAL, *NUMBERS, *ODD, *TIMES, *MORE_TIMES, *RESOURCES[:2]]


@pytest.mark.parametrize(
    "group",
    [
        "{ ?x :p ?y FILTER(?y = C) }",
        "{ ?x :p ?y FILTER(C = ?y || ?y = :nothing) }",
        "{ ?x :p ?y FILTER(?y IN (C, :nothing)) }",
        "{ ?x :p ?y FILTER(!(?y != C)) }",
        "{ ?x :p ?y FILTER(SAMETERM(?y, C)) }",
        "{ ?x :p ?y VALUES ?y { C :nothing } }",
    ],
)
def test_equality(group: str) -> None:
    """Of every two terms: what is equal by value is not lost, and what is not equal in any way finds nothing."""
    meanings = [Meaning(Event.of("urn:e", [_about(term)]), Ontology.empty()) for term in LITERALS]
    for term in LITERALS:
        query = parse(PREFIXES + group.replace("C", place(term)))
        condition, prepared = necessary(query), Prepared(query)
        for meaning in meanings:
            assert holds(condition, meaning) or not prepared.matches(meaning), (condition, meaning.event.body)


def _about(term: m.RdfTerm) -> Triple:
    return Term(f"<{m.EX}s>"), Term(f"<{m.EX}p>"), Term(nt(term))


# -------------------------------------------------------------------------------------------------- simpler conditions


_PROPERTIES, _NODES, _WORDS = ("<p>", "<q>"), ("<a>", "<b>"), ("rio", "games")
_ATOMS = [
    *(Atom(Kind.PROPERTY, p) for p in _PROPERTIES),
    *(Atom(Kind.OBJECT, p, o) for p in _PROPERTIES for o in _NODES),
    *(Atom(Kind.SUBJECT, s, p) for p in _PROPERTIES for s in _NODES),
    *(Atom(Kind.NODE_S, s) for s in _NODES),
    *(Atom(Kind.NODE_O, o) for o in _NODES),
    *(Atom(Kind.WORD, p, word) for p in _PROPERTIES for word in _WORDS),
    *(Atom(Kind.ANYWORD, word) for word in _WORDS),
    Atom(Kind.LITERAL, "<dt>"),
]

conditions: st.SearchStrategy[Condition] = st.recursive(
    st.sampled_from(_ATOMS),
    lambda inner: st.builds(
        lambda kind, items: kind(tuple(items)), st.sampled_from([All, Some]), st.lists(inner, max_size=4)
    ),
    max_leaves=15,
)


def _size(condition: Condition) -> int:
    return 1 if isinstance(condition, Atom) else 1 + sum(map(_size, condition.items))


def _true(condition: Condition, held: frozenset[Atom]) -> bool:
    if isinstance(condition, Atom):
        return condition in held
    decide = all if isinstance(condition, All) else any
    return decide(_true(item, held) for item in condition.items)


@check.examples(600)
@given(conditions, st.lists(st.sets(st.sampled_from(_ATOMS)), min_size=5, max_size=5))
def test_simplified_says_the_same(condition: Condition, events: list[set[Atom]]) -> None:
    simpler = simplified(condition)
    assert simplified(simpler) == simpler
    assert _size(simpler) <= _size(condition)
    assert simpler in (ALWAYS, NEVER) or _sound_shape(simpler)
    for stated in events:
        held = frozenset(stated).union(*map(implied, stated))
        assert _true(simpler, held) == _true(condition, held)


def _sound_shape(condition: Condition) -> bool:
    """All and Some alternate, have two items at least, and no item twice."""
    if isinstance(condition, Atom):
        return True
    items = condition.items
    if len(items) < 2 or len(set(items)) < len(items):
        return False
    return all(type(item) is not type(condition) and _sound_shape(item) for item in items)
