"""The `gtopss` dialect against brute force: is-a and values with all six operators, variables in any place."""

from __future__ import annotations

from hypothesis import given
from tests.property import brute_gtopss, check
from tests.property import model as m
from tests.property.brute_sparql import Result
from tests.property.strategies import gtopss_cases


@check.examples(400)
@given(gtopss_cases())
def test_every_matcher_gives_every_solution(case: tuple[m.GtopssSubscription, m.World]) -> None:
    subscription, world = case
    rows = brute_gtopss.answer(subscription, world)
    check.agree(subscription, world, Result(rows) if rows is not None else None)
