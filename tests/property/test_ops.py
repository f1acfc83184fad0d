"""The `ops` dialect against brute force: injectivity, classes, datatypes, sub-properties, filters."""

from __future__ import annotations

from hypothesis import given
from tests.property import brute_ops, check
from tests.property import model as m
from tests.property.brute_sparql import Result
from tests.property.strategies import ops_cases


@check.examples(400)
@given(ops_cases())
def test_every_matcher_gives_every_solution(case: tuple[m.OpsSubscription, m.World]) -> None:
    subscription, world = case
    rows = brute_ops.answer(subscription, world)
    check.agree(subscription, world, Result(rows) if rows is not None else None)
