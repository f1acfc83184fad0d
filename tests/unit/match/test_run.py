"""What an evaluation may still spend."""

from __future__ import annotations

import pytest

from tidings.errors import BudgetExceeded
from tidings.match import run
from tidings.match.run import Budget


def spent(budget: Budget, steps: int) -> int:
    """How many single steps it allows, of so many."""
    for done in range(steps):
        try:
            budget.spend(1)
        except BudgetExceeded:
            return done
    return steps


@pytest.mark.parametrize("seconds", [None, 60.0])
@pytest.mark.parametrize("limit", [0, 1, 99, 100, 101, 1_000])
def test_so_many_steps_whether_there_is_a_clock_or_not(
    monkeypatch: pytest.MonkeyPatch, limit: int, seconds: float | None
) -> None:
    monkeypatch.setattr(run, "_LOOKS", 100)
    assert spent(Budget(limit, seconds), limit + 10) == limit
    several = Budget(limit, seconds)
    several.spend(limit)
    with pytest.raises(BudgetExceeded, match=f"more than the budget of {limit} steps"):
        several.spend(1)


def test_time_is_looked_at_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(run, "_LOOKS", 100)
    monkeypatch.setattr(run, "monotonic", lambda: now[0])
    budget = Budget(1_000, 5.0)
    assert spent(budget, 150) == 150
    now[0] = 5.1
    assert spent(budget, 500) == 51
    with pytest.raises(BudgetExceeded, match="more than -1 seconds"):
        Budget(1_000, -1.0).spend(101)
