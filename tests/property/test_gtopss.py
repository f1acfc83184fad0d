"""The `gtopss` dialect against brute force: is-a and values with all six operators, variables in any place."""

from __future__ import annotations

from functools import cache
from itertools import product

from hypothesis import given
from tests.property import brute_gtopss, check
from tests.property import model as m
from tests.property.brute_rdf import Knowledge
from tests.property.brute_sparql import Result
from tests.property.render import text
from tests.property.strategies import CLASSES, OPERATORS, ex, gtopss_cases
from tests.property.strategies_focus import NODES, is_a_worlds

from tidings.lang import Query, parse
from tidings.ontology import Ontology
from tidings.rdf.event import Event

X = m.V("x")


@check.examples(400)
@given(gtopss_cases())
def test_joins_and_constraints(case: tuple[m.GtopssSubscription, m.World]) -> None:
    subscription, world = case
    rows = brute_gtopss.answer(subscription, world)
    check.agree(subscription, world, Result(rows) if rows is not None else None)


@cache
def _is_a_subscriptions() -> dict[m.Check, Query]:
    """Every operator with every name."""
    checks = [m.Check(X, op, value) for op, value in product(OPERATORS, [*CLASSES[:5], *NODES])]
    edges = {c: m.GtopssEdge(ex("s"), ex("about"), X, (), (c,)) for c in checks}
    return {c: parse(text(m.GtopssSubscription((edge,))), "gtopss") for c, edge in edges.items()}


@check.examples(400)
@given(is_a_worlds())
def test_is_a(world: m.World) -> None:
    queries = {repr(constraint): query for constraint, query in _is_a_subscriptions().items()}
    event = Event.of(world.event_id.value, check.triples(world.event))
    knowledge = Knowledge(world)
    (target,) = (o for _, p, o in world.event if p == ex("about"))
    holding = {repr(c) for c in _is_a_subscriptions() if brute_gtopss.satisfied(c, target, knowledge)}
    for result in check.matched(queries, Ontology.of(check.triples(world.ontology)), [event]):
        assert result.found == holding & result.taken, result.matcher
