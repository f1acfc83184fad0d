"""The naive matcher and the registry."""

from __future__ import annotations

import pytest
from tests.unit.match.worlds import PROLOGUE, triples

from tidings.errors import UsageError
from tidings.lang import parse
from tidings.match.base import Failure, Match
from tidings.match.naive import Naive
from tidings.match.registry import create, names
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import XSD_DATETIME, literal


def engine(*queries: str, budget: int = 100_000) -> Naive:
    made = Naive(Ontology.empty(), budget=budget)
    for number, query in enumerate(queries):
        made.add(f"q{number}", parse(PROLOGUE + query))
    return made


def event(turtle: str, id: str = "urn:e") -> Event:
    return Event.of(id, triples(turtle), source="file.ttl")


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


def test_matches_come_by_id() -> None:
    made = engine("ASK { ?s :p 1 }", "ASK { ?s :p 2 }", "SELECT ?s { ?s :p ?v }")
    made.add("A", parse("ASK {}"))
    made.add("é", parse("ASK {}"))
    found = made.match(event(":a :p 1 ."), unexpected)
    assert [m.subscription for m in found] == ["A", "q0", "q2", "é"]
    assert found[2] == Match("urn:e", "q2", "file.ttl")
    assert found[2].bindings == ({"s": "<http://e.x/a>"},)
    assert found[1].bindings == ({},)
    assert found[1].construct is None


def test_add_replace_remove() -> None:
    made = engine("ASK { ?s :p 1 }")
    assert len(made) == 1
    made.add("q0", parse(PROLOGUE + "ASK { ?s :p 2 }"))
    assert len(made) == 1
    assert made.match(event(":a :p 1 ."), unexpected) == []
    made.remove("q0")
    assert len(made) == 0
    assert made.match(event(":a :p 2 ."), unexpected) == []
    with pytest.raises(KeyError):
        made.remove("q0")


def test_one_that_fails_costs_no_other() -> None:
    many = " ".join(f":s{i} :p {i} ." for i in range(100))
    made = engine("ASK { ?s :p 5 }", "ASK { ?a :p ?x . ?b :p ?y . ?c :p ?z FILTER (?x + ?y + ?z < 0) }", "ASK {}")
    failures: list[Failure] = []
    found = made.match(event(many), failures.append)
    assert [m.subscription for m in found] == ["q0", "q2"]
    assert [(f.event, f.subscription) for f in failures] == [("urn:e", "q1")]
    assert "budget of 100000 steps" in failures[0].reason
    assert made.stats() == {"events": 1, "candidates": 3, "matches": 2, "failures": 1}


def test_now_is_fixed_for_the_run() -> None:
    made = Naive(Ontology.empty(), now=literal("2001-01-01T00:00:00Z", XSD_DATETIME))
    made.add("q", parse("SELECT (YEAR(NOW()) AS ?y) {}"))
    assert made.match(event(""), unexpected)[0].bindings[0]["y"].startswith('"2001"')
    clock = engine("SELECT (NOW() AS ?now) {}")
    first = clock.match(event(""), unexpected)[0].bindings
    assert first == clock.match(event(":a :p 1 ."), unexpected)[0].bindings


def test_registry() -> None:
    assert "naive" in names()
    made = create("naive", Ontology.empty(), budget=5)
    assert made.name == "naive"
    with pytest.raises(UsageError, match="no matcher 'quick'; there are: naive"):
        create("quick", Ontology.empty())
    with pytest.raises(UsageError, match="does not take these options"):
        create("naive", Ontology.empty(), speed=11)
