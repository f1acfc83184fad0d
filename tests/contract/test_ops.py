"""What is special about the matcher `ops`: its repairs, its strictness, its sharing, what it refuses and counts."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.test_cases import CASES, events_of, query_of
from tests.property import check
from tests.property import model as m
from tests.property.render import text
from tests.property.strategies import ops_cases
from tests.property.strategies_focus import ops_shapes
from tests.unit.match.worlds import PROLOGUE, triples

from tidings.errors import UnsupportedError, UsageError
from tidings.lang import Query, parse
from tidings.lang.pattern import Block, Call, ClassOf, Const, Exists, TriplePattern, Var
from tidings.match.base import Engine, Failure
from tidings.match.naive import Naive
from tidings.match.ops import Ops
from tidings.match.ops import ems as ems_module
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, Term, iri, literal

P, THING = iri("http://e.x/p"), iri("http://www.w3.org/2002/07/owl#Thing")


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


def ops(text: str) -> Query:
    return parse(PROLOGUE + text, "ops")


def event(turtle: str, id: str = "urn:e") -> Event:
    return Event.of(id, triples(turtle))


def found(engine: Engine, event: Event) -> dict[str, tuple[dict[str, Term], ...]]:
    return {match.subscription: match.bindings for match in engine.match(event, unexpected)}


def matched(turtle: str, *subscriptions: str, ontology: str = "", declared_only: bool = False) -> list[str]:
    engine = Ops(Ontology.of(triples(ontology)), declared_only=declared_only)
    for number, subscription in enumerate(subscriptions):
        engine.add(str(number), ops(subscription))
    return [match.subscription for match in engine.match(event(turtle), unexpected)]


# ------------------------------------------------------------------------------------------------------------- repairs


def test_the_published_traversal_misses_a_pattern_derived_late() -> None:
    case = CASES["papers/ops-late-pattern"]
    (loop_back,) = events_of(case)
    (long_way,) = (query_of(s) for s in case.subscriptions if s.id == "the-long-way")
    for published, expected in ((True, []), (False, ["s"])):
        engine = Ops(Ontology.empty(), published=published)
        engine.add("s", long_way)
        assert list(found(engine, loop_back)) == expected
        assert engine.stats()["late_matches"] == len(expected)


def test_the_published_traversal_misses_what_an_equal_pattern_has_matched() -> None:
    """The pattern of the short way has met its arc when that of the long way is registered to it."""
    case = CASES["papers/ops-late-pattern"]
    (loop_back,) = events_of(case)
    for published, expected in ((True, ["the-short-way"]), (False, ["the-long-way", "the-short-way"])):
        engine = Ops(Ontology.empty(), published=published)
        for subscription in case.subscriptions:
            engine.add(subscription.id, query_of(subscription))
        assert list(found(engine, loop_back)) == expected
        assert engine.stats()["registered_patterns"] == 1


def test_published_finds_what_its_order_allows() -> None:
    case = CASES["papers/ops-matching-tree"]
    for each in events_of(case):
        engine = Ops(Ontology.empty(), published=True)
        for subscription in case.subscriptions:
            engine.add(subscription.id, query_of(subscription))
        assert set(found(engine, each)) == {s.id for s in case.subscriptions if each.id in s.expect}


# ---------------------------------------------------------------------------------------------------------- strictness

AUCTION = """
:target rdfs:domain :Selling ; rdfs:range :Product .
:Computer rdfs:subClassOf :Product .
:sells rdfs:subPropertyOf :target .
"""


@pytest.mark.parametrize(
    ("turtle", "declared"),
    [
        ("_:H a :Selling ; :target _:c . _:c a :Computer .", True),
        ("_:H a :Selling ; :sells _:c . _:c a :Computer .", True),
        ("_:H a :Buying ; :target _:c . _:c a :Computer .", False),
        ("_:H a :Buying, :Selling ; :target _:c . _:c a :Computer .", True),
        ("_:H a :Selling ; :target _:c . _:c a :House .", False),
        ("_:H :target _:c .", False),
    ],
)
def test_declared_only(turtle: str, declared: bool) -> None:
    """An undeclared meta-statement matches, unless the paper's strictness is asked for."""
    subscription = "(_:H, ?c, (owl:Thing, target, owl:Thing))"
    assert matched(turtle, subscription, ontology=AUCTION) == ["0"]
    assert matched(turtle, subscription, ontology=AUCTION, declared_only=True) == (["0"] if declared else [])


# ------------------------------------------------------------------------------------------------------------- classes


def test_a_resource_of_a_datatypes_type_is_no_literal() -> None:
    """XML Schema's derivations hold for literals: a resource that is said to be an xsd:int is no xsd:decimal."""
    asked = [f"(_:H, ?x, (owl:Thing, p, xsd:{name}))" for name in ("int", "decimal")]
    assert matched("_:H :p 5, _:b . _:b a xsd:int .", *asked) == ["0", "1"]
    assert matched("_:H :p _:b . _:b a xsd:int .", *asked) == ["0"]
    assert matched('_:H :p "5"^^xsd:int .', *asked) == ["0", "1"]


def test_several_classes_make_several_typed_statements() -> None:
    engine = Ops(Ontology.of(triples(":A rdfs:subClassOf :C . :B rdfs:subClassOf :C .")))
    engine.add("both", ops("(_:H, ?x, (C, p, A)) (?x, ?y, (B, q, owl:Thing))"))
    engine.add("neither", ops("(_:H, ?x, (C, p, D))"))
    assert list(found(engine, event("_:H a :A, :B, :C ; :p _:x . _:x a :A, :B ; :q _:y ."))) == ["both"]
    # Of the three classes of _:H, one is above the others; so it is 2 x 2 for the first arc and 2 for the second.
    assert engine.stats()["typed_statements"] == 6
    assert engine.stats()["circles"] == 3


# ------------------------------------------------------------------------------------------------------------- sharing


def test_equal_patterns_are_matched_once() -> None:
    """Names of variables do not count, nor in whose subscription or in which branch a pattern stands."""
    engine = Ops(Ontology.empty())
    for number in range(5):
        engine.add(str(number), ops(f"(_:H, ?a{number}, (A, p, B)) (?a{number}, ?b, (B, q, xsd:integer), ?b < 10)"))
    assert engine.stats()["initial_patterns"] == 1
    assert len(found(engine, event("_:H a :A ; :p _:x . _:x a :B ; :q 5 ."))) == 5
    stats = engine.stats()
    assert (stats["patterns_examined"], stats["patterns_matched"], stats["notifications"]) == (2, 2, 10)
    assert (stats["waiting_patterns"], stats["registered_patterns"]) == (1, 4)


def test_other_filters_are_other_patterns() -> None:
    engine = Ops(Ontology.empty())
    for limit in (1, 5, 9):
        engine.add(str(limit), ops(f"(_:H, ?b, (owl:Thing, q, xsd:integer), ?b < {limit})"))
    assert engine.stats()["initial_patterns"] == 3
    assert list(found(engine, event("_:H :q 4 ."))) == ["5", "9"]


def test_subscriptions_without_a_first_match_rest() -> None:
    engine = Ops(Ontology.empty())
    engine.add("near", ops("(_:H, ?x, (owl:Thing, p, owl:Thing))"))
    engine.add("far", ops("(_:H, ?x, (owl:Thing, r, owl:Thing)) (_:H, ?y, (owl:Thing, s, owl:Thing))"))
    found(engine, event("_:H :p _:x ."))
    stats = engine.stats()
    assert (stats["trees"], stats["circles"], stats["rectangles"], stats["resting_nodes"]) == (1, 2, 1, 3)


def test_the_two_verifications_are_counted() -> None:
    engine = Ops(Ontology.empty())
    engine.add("matches", ops("(_:H, ?x, (owl:Thing, p, owl:Thing))"))
    engine.add("states", ops("(_:H, ?x, (owl:Thing, p, owl:Thing)) (?x, ?y, (owl:Thing, none, owl:Thing))"))
    engine.add("injective", ops("(_:H, ?x, (owl:Thing, p, owl:Thing)) (_:H, ?y, (owl:Thing, p, owl:Thing))"))
    assert list(found(engine, event("_:H :p _:a ."))) == ["matches"]
    stats = engine.stats()
    assert (stats["sbpv_rejections"], stats["bebv_evaluations"], stats["bebv_rejections"]) == (1, 2, 1)


# --------------------------------------------------------------------------------------------------------- the protocol


def _block(*arcs: TriplePattern, **changes: Any) -> Query:
    classes = tuple(ClassOf(end, THING) for arc in arcs for end in (arc.s, arc.o))
    block = Block(arcs, classes=classes, injective=True)
    return Query("ops", "SELECT", replace(block, **changes), distinct=True)


HOME_ARC = TriplePattern(HOME, P, Var("x"))


@pytest.mark.parametrize(
    ("query", "construct"),
    [
        (parse("ASK { ?s ?p ?o }"), "the dialect 'sparql'"),
        (parse(PROLOGUE + "(?s, p, ?o)", "gtopss"), "the dialect 'gtopss'"),
        (_block(HOME_ARC, injective=False), "anything around"),
        (_block(HOME_ARC, classes=()), "classes apart"),
        (_block(TriplePattern(HOME, Var("p"), Var("x"))), "a variable as the property"),
        (_block(HOME_ARC, TriplePattern(Var("y"), P, Var("z"))), "no path leads to"),
        (_block(TriplePattern(Var("y"), P, HOME)), "no path leads to"),
        (_block(HOME_ARC, filters=(Call("=", (Var("y"), Const(literal("1")))),)), "not on the object"),
        (_block(HOME_ARC, filters=(Exists(Block((HOME_ARC,)), False),)), "Exists in a filter"),
    ],
)
def test_refuses_by_name(query: Query, construct: str) -> None:
    engine = Ops(Ontology.empty())
    with pytest.raises(UnsupportedError, match=construct):
        engine.add("s", query)
    assert (len(engine), engine.stats()["rows"]) == (0, 0)


def test_an_exceeded_budget_is_reported() -> None:
    """Of the subscription that exceeds it, while its tree grows or is verified, and of no other."""
    spokes = "_:H :p " + ", ".join(f"_:x{i}" for i in range(9)) + " ."
    engine = Ops(Ontology.empty(), budget=60_000)
    engine.add("one", ops("(_:H, ?a, (owl:Thing, p, owl:Thing))"))
    engine.add("ten", ops("".join(f"(_:H, ?a{i}, (owl:Thing, p, owl:Thing))" for i in range(10))))
    clique = " ".join(f"_:x{i} :q _:x{j} ." for i in range(9) for j in range(9))
    path = "(_:H, ?a, (owl:Thing, p, owl:Thing))" + "".join(
        f"(?{s}, ?{o}, (owl:Thing, q, owl:Thing))" for s, o in zip("abcdef", "bcdefg", strict=True)
    )
    engine.add("path", ops(path))
    failures: list[Failure] = []
    matches = engine.match(event(spokes + clique), failures.append)
    assert [match.subscription for match in matches] == ["one"]
    assert [failure.subscription for failure in failures] == ["path", "ten"]
    assert all("60000 steps" in failure.reason for failure in failures)
    assert engine.stats()["failures"] == 2
    assert list(found(engine, event("_:H :p _:a ."))) == ["one"]


def test_a_filter_that_exceeds_the_budget_fails_all_that_share_it() -> None:
    engine = Ops(Ontology.empty(), budget=1_000)
    condition = '(owl:Thing, q, xsd:string), regex(?t, "b$")'
    engine.add("first", ops(f"(_:H, ?t, {condition})"))
    engine.add("other", ops("(_:H, ?x, (owl:Thing, p, owl:Thing))"))
    for number in (1, 2):
        engine.add(f"later{number}", ops(f"(_:H, ?x, (owl:Thing, p, owl:Thing)) (?x, ?t, {condition})"))
    failures: list[Failure] = []
    long = "a" * 100_000
    matches = engine.match(event(f'_:H :q "{long}" ; :p _:x . _:x :q "{long}" .'), failures.append)
    assert [match.subscription for match in matches] == ["other"]
    assert [failure.subscription for failure in failures] == ["first", "later1", "later2"]


def test_a_long_chain_is_no_recursion() -> None:
    length = 2_000
    chain = "_:H :p _:n0 ." + "".join(f"_:n{i} :p _:n{i + 1} ." for i in range(length))
    links = [TriplePattern(Var(f"n{i}"), P, Var(f"n{i + 1}")) for i in range(length)]
    engine = Ops(Ontology.empty())
    engine.add("s", _block(TriplePattern(HOME, P, Var("n0")), *links))
    (bindings,) = found(engine, event(chain)).values()
    assert bindings[0][f"n{length}"] == f"_:n{length}"


def test_trees_are_kept_only_where_asked_for() -> None:
    engine = Ops(Ontology.empty())
    engine.add("s", ops("(_:H, ?x, (owl:Thing, p, owl:Thing))"))
    with pytest.raises(UsageError, match="keep_trees=True"):
        engine.tree("s")
    with pytest.raises(KeyError):
        Ops(Ontology.empty(), keep_trees=True).tree("s")


def test_nothing_of_an_event_stays_in_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Ops(Ontology.empty())
    engine.add("s", ops("(_:H, ?x, (owl:Thing, p, owl:Thing)) (?x, ?y, (owl:Thing, p, owl:Thing))"))
    found(engine, event("_:H :p _:a . _:a :p _:b ; :q _:c ."))
    assert not any(row.touched for row in engine.ems.rows)
    assert len(engine.ems) == 2
    # Rows that only events have had are forgotten when they are many.
    monkeypatch.setattr(ems_module, "MAX_UNASKED", 3)
    for number in range(10):
        found(engine, event(f"_:H :q{number} _:a ."))
        assert len(engine.ems) <= 4
    engine.remove("s")
    assert engine.stats()["initial_patterns"] == 0


# ------------------------------------------------------------------------------------------------- against the oracle


Case = tuple[m.OpsSubscription, m.World]


@check.examples(100)
@given(st.lists(st.one_of(ops_cases(), ops_shapes()), min_size=2, max_size=5))
def test_many_subscriptions_on_many_events(cases: list[Case]) -> None:
    """One matcher for all: what is shared between subscriptions, and what is left by the last event, does no harm."""
    ontology = Ontology.of(check.triples(cases[0][1].ontology))
    ours, oracle = Ops(ontology), Naive(ontology)
    for number, (subscription, _) in enumerate(cases):
        for engine in (ours, oracle):
            engine.add(f"{number}", parse(text(subscription), "ops"))
    for number, (_, world) in enumerate(cases):
        each = Event.of(f"urn:e{number}", check.triples(world.event))
        assert found(ours, each) == found(oracle, each)


@check.examples(60)
@given(st.lists(st.one_of(ops_cases(), ops_shapes()), min_size=3, max_size=6), st.randoms(use_true_random=False))
def test_adding_and_removing_equals_a_fresh_matcher(cases: list[Case], rng: random.Random) -> None:
    ontology = Ontology.of(check.triples(cases[0][1].ontology))
    queries = {f"{number}": parse(text(subscription), "ops") for number, (subscription, _) in enumerate(cases)}
    engine = Ops(ontology)
    held: dict[str, Query] = {}
    for number, (_, world) in enumerate(cases):
        for _ in range(rng.randrange(4)):
            id, query = rng.choice([*queries]), rng.choice([*queries.values()])
            if id in held and rng.random() < 0.5:
                engine.remove(id)
                del held[id]
            else:
                engine.add(id, query)
                held[id] = query
        fresh = Ops(ontology)
        for id, query in held.items():
            fresh.add(id, query)
        each = Event.of(f"urn:e{number}", check.triples(world.event))
        assert found(engine, each) == found(fresh, each)
        assert {row.meta: row.patterns for row in engine.ems.rows if row.patterns} == {
            row.meta: row.patterns for row in fresh.ems.rows if row.patterns
        }
        assert len(engine) == len(held)
