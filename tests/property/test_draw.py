"""Drawings of random subscriptions on random events: always a well-formed file that says the verdict."""

from __future__ import annotations

from typing import cast
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import model as m
from tests.property.render import dialect, text
from tests.property.strategies import gtopss_cases, ops_cases
from tests.property.strategies_sparql import sparql_cases

from tidings.draw import event_svg, tree_svg
from tidings.errors import UnsupportedError
from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match.explain import Names, explain
from tidings.match.ops import Ops
from tidings.ontology import Ontology
from tidings.rdf.event import Event


@check.examples(150)
@given(st.one_of(sparql_cases(), ops_cases(), gtopss_cases()))
def test_anything_can_be_drawn(case: tuple[m.Subscription, m.World]) -> None:
    subscription, world = case
    query = parse(text(subscription), cast(Dialect, dialect(subscription)))
    ontology = Ontology.of(check.triples(world.ontology))
    event = Event.of(world.event_id.value, check.triples(world.event))

    explanation = explain(query, event, ontology)
    root = ElementTree.fromstring(event_svg(explanation, event, "it", Names(ontology)))

    assert ("✓ it matches" if explanation.matches else "✗ it does not match") in list(root.itertext())


@check.examples(100)
@given(ops_cases())
def test_any_matching_tree_can_be_drawn(case: tuple[m.Subscription, m.World]) -> None:
    subscription, world = case
    ontology = Ontology.of(check.triples(world.ontology))
    event = Event.of(world.event_id.value, check.triples(world.event))
    ops = Ops(ontology, keep_trees=True)
    try:
        ops.add("it", parse(text(subscription), "ops"))
    except UnsupportedError:
        return

    matched = bool(ops.match(event, lambda failure: None))
    root = ElementTree.fromstring(tree_svg(ops.tree("it"), event.id, Names(ontology), ops.ems))

    assert ("✓ it matches" if matched else "✗ it does not match") in list(root.itertext())
