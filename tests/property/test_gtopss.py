"""The `gtopss` dialect against brute force: is-a and values with all six operators, variables in any place."""

from __future__ import annotations

from hypothesis import given
from tests.property import brute_gtopss, check
from tests.property import model as m
from tests.property.brute_sparql import Result
from tests.property.strategies import gtopss_cases
from tests.property.strategies_focus import is_a_cases

Case = tuple[m.GtopssSubscription, m.World]


def _agree(case: Case) -> None:
    subscription, world = case
    rows = brute_gtopss.answer(subscription, world)
    check.agree(subscription, world, Result(rows) if rows is not None else None)


@check.examples(300)
@given(gtopss_cases())
def test_joins_and_constraints(case: Case) -> None:
    _agree(case)


@check.examples(600)
@given(is_a_cases())
def test_is_a(case: Case) -> None:
    _agree(case)
