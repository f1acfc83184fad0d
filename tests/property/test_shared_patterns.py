"""The matchers that merge subscriptions into one structure, against the oracle: many subscriptions, events in a row,
subscriptions coming and going in between. What one event or one subscription leaves behind would show in the next."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import model as m
from tests.property.render import dialect, text
from tests.property.strategies import gtopss_cases, ops_cases
from tests.property.strategies_focus import ops_shapes

from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match import registry
from tidings.match.base import Engine, Failure
from tidings.ontology import Ontology
from tidings.rdf.event import Event

Rows = dict[str, list[dict[str, str]]]
Case = tuple[m.Subscription, m.World]


def answers(engine: Engine, event: Event) -> Rows:
    failures: list[Failure] = []
    found = engine.match(event, failures.append)
    assert not failures
    return {match.subscription: [{k: str(v) for k, v in row.items()} for row in match.bindings] for match in found}


def in_a_row(name: str, cases: list[Case], data: st.DataObject, **options: bool) -> None:
    ontology = Ontology.of(check.triples(cases[0][1].ontology))
    oracle, engine = registry.create("naive", ontology), registry.create(name, ontology, **options)
    queries = {f"s{i}": parse(text(s), cast(Dialect, dialect(s))) for i, (s, _) in enumerate(cases)}
    held: set[str] = set()
    for number, (_, world) in enumerate(cases):
        for id in data.draw(st.lists(st.sampled_from(sorted(queries)), min_size=1, max_size=2 * len(cases))):
            for each in (oracle, engine):
                if id in held:
                    each.remove(id)
                else:
                    each.add(id, queries[id])
            held ^= {id}
        event = Event.of(f"urn:event:{number}", check.triples(world.event))
        fresh = registry.create(name, ontology, **options)
        for id in sorted(held):
            fresh.add(id, queries[id])
        expected = answers(oracle, event)
        assert answers(engine, event) == expected
        assert answers(fresh, event) == expected
    for id in held:
        engine.remove(id)
    assert len(engine) == 0


@check.examples(150)
@given(st.lists(gtopss_cases(), min_size=2, max_size=4), st.data())
def test_gtopss(cases: list[Case], data: st.DataObject) -> None:
    in_a_row("gtopss", cases, data)


@pytest.mark.parametrize("published", [False, True])
@check.examples(100)
@given(st.lists(st.one_of(ops_cases(), ops_shapes()), min_size=2, max_size=4), st.data())
def test_decomposition(published: bool, cases: list[Case], data: st.DataObject) -> None:
    """Trying every pair, as published, finds the same."""
    in_a_row("decomposition", cases, data, published=published)
