"""The generators of the property tests as a source of histories, drawn by a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.property import brute_gtopss, brute_ops, brute_sparql, check
from tests.property import model as m
from tests.property import strategies_focus as focus
from tests.property import strategies_rtf as rtf
from tests.property.brute_sparql import Result
from tests.property.strategies import gtopss_cases, ops_cases
from tests.property.strategies_sparql import sparql_cases

Case = tuple[m.Subscription, m.World]

STRATEGIES: list[st.SearchStrategy[Any]] = [
    sparql_cases(),
    focus.algebra_cases,
    focus.join_cases,
    focus.path_cases,
    focus.aggregate_cases,
    focus.filter_cases,
    rtf.rtf_cases(),
    rtf.text_cases(),
    rtf.join_cases(),
    ops_cases(),
    focus.ops_shapes(),
    gtopss_cases(),
]


def drawn(number: int, each: int) -> list[Case]:
    """The same cases for the same number, `each` of every kind."""
    found: list[Case] = []
    for place, strategy in enumerate(STRATEGIES):
        _collect(found.append, strategy, number * len(STRATEGIES) + place, each)
    return found


def _collect(take: Callable[[Case], None], strategy: st.SearchStrategy[Any], number: int, count: int) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(case: Case) -> None:
        take(case)

    draw()


def guard_the_oracle(case: Case) -> None:
    """Brute force, and with it every matcher that takes the subscription: an AssertionError where they part."""
    subscription, world = case
    match subscription:
        case m.Select():
            check.agree(subscription, world, brute_sparql.answer(subscription, world))
        case m.OpsSubscription():
            rows = brute_ops.answer(subscription, world)
            check.agree(subscription, world, Result(rows) if rows is not None else None)
        case m.GtopssSubscription():
            rows = brute_gtopss.answer(subscription, world)
            check.agree(subscription, world, Result(rows) if rows is not None else None)
