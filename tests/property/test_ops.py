"""The `ops` dialect against brute force: injectivity, classes, datatypes, sub-properties, filters."""

from __future__ import annotations

from hypothesis import given
from tests.property import brute_ops, check
from tests.property import model as m
from tests.property.brute_sparql import Result
from tests.property.strategies import ops_cases
from tests.property.strategies_focus import ops_shapes

Case = tuple[m.OpsSubscription, m.World]


def _agree(case: Case) -> None:
    subscription, world = case
    rows = brute_ops.answer(subscription, world)
    check.agree(subscription, world, Result(rows) if rows is not None else None)


@check.examples(400)
@given(ops_cases())
def test_walks_through_the_event(case: Case) -> None:
    _agree(case)


@check.examples(400)
@given(ops_shapes())
def test_shapes(case: Case) -> None:
    _agree(case)
