"""How often somebody may ask."""

from __future__ import annotations

import pytest

from tidings.broker.http.rates import Rates


def allowed(rates: Rates, asker: str, *moments: float) -> list[bool]:
    return [not rates.wait(asker, moment) for moment in moments]


def test_twice_as_many_at_once_and_then_so_many_a_second() -> None:
    rates = Rates(2)
    assert allowed(rates, "a", 10, 10, 10, 10, 10) == [True] * 4 + [False]
    assert rates.wait("a", 10) == pytest.approx(0.5)
    assert allowed(rates, "a", 10.4, 10.5, 10.6, 11) == [False, True, False, True]
    assert allowed(rates, "a", *[100] * 5) == [True] * 4 + [False]


def test_one_does_not_cost_another_anything() -> None:
    rates = Rates(1)
    assert allowed(rates, "a", 0, 0, 0) == [True, True, False]
    assert allowed(rates, "b", 0) == [True]


def test_what_is_refused_costs_nothing() -> None:
    rates = Rates(1)
    allowed(rates, "a", *[0] * 1_000)
    assert allowed(rates, "a", 1) == [True]


def test_no_bound() -> None:
    assert all(allowed(Rates(None), "a", *[0] * 100))
    assert len(Rates(None)) == 0


def test_so_many_are_remembered() -> None:
    rates = Rates(1, most=10)
    for number in range(1_000):
        assert not rates.wait(number, 0)
    assert len(rates) == 10


def test_a_burst_of_its_own() -> None:
    assert allowed(Rates(1, burst=5), "a", *[0] * 6) == [True] * 5 + [False]
