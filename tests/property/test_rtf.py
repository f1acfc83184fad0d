"""`rtfm`, `rtfs` and `ibroker` on what they are made for, against brute force."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.property import brute_sparql, check
from tests.property import model as m
from tests.property.render import text
from tests.property.strategies_rtf import Case, join_cases, rtf_cases, rtf_histories, text_cases

from tidings.errors import UnsupportedError
from tidings.lang import parse
from tidings.match import registry
from tidings.match.base import Failure
from tidings.ontology import Ontology
from tidings.rdf.event import Event

MATCHERS = ("rtfm", "rtfs", "ibroker")


def _agree(case: Case) -> None:
    query, world = case
    check.agree(query, world, brute_sparql.answer(query, world))


@check.examples(125)
@given(rtf_cases())
def test_everything_together(case: Case) -> None:
    _agree(case)


@check.examples(250)
@given(text_cases())
def test_texts(case: Case) -> None:
    _agree(case)


@check.examples(150)
@given(join_cases())
def test_joins(case: Case) -> None:
    _agree(case)


@check.examples(50)
@given(join_cases())
def test_none_is_refused(case: Case) -> None:
    assert set(check.answers(*case)) >= set(MATCHERS)


@pytest.mark.parametrize("name", MATCHERS)
@check.examples(25)
@given(rtf_histories())
def test_coming_and_going(name: str, history: tuple[m.World, list[m.Select], list[int]]) -> None:
    """After every change it matches what a naive matcher of the same subscriptions does; nothing stays behind."""
    world, queries, order = history
    ontology = Ontology.of(check.triples(world.ontology))
    events = [Event.of("urn:whole", check.triples(world.event)), Event.of("urn:part", check.triples(world.event[:2]))]
    engine, oracle = registry.create(name, ontology), registry.create("naive", ontology)
    failures: list[Failure] = []
    present: set[str] = set()
    for number in order:
        id = f"q{number}"
        if id in present:
            present.remove(id)
            engine.remove(id)
            oracle.remove(id)
        else:
            form = parse(text(queries[number]))
            try:
                engine.add(id, form)
            except UnsupportedError:
                continue
            oracle.add(id, form)
            present.add(id)
        for event in events:
            found = [match.subscription for match in engine.match(event, failures.append)]
            assert found == [match.subscription for match in oracle.match(event, failures.append)]
    for id in present:
        engine.remove(id)
    figures = engine.stats()
    assert figures["tuples"] == figures["queries"] == len(engine) == 0
    assert figures.get("trie_nodes", 0) == figures.get("buckets", 0) == 0
    assert not failures
