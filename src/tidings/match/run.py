"""One evaluation of one subscription on one event: what it sees, and what it may still spend."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from tidings.errors import BudgetExceeded
from tidings.match.base import Solution
from tidings.rdf.terms import Term, blank

if TYPE_CHECKING:
    from tidings.match.meaning import Meaning

DEFAULT_BUDGET = 10_000_000
"""Steps: a candidate triple, a row, a call in an expression, a few characters of a text. Some seconds' worth."""

MAX_TEXT = 16 << 20
"""The most characters that one computed literal may have."""

_KEPT = 20
_LOOKS = 50_000
"""After so many steps the time is looked at, where that counts."""

_CHARACTERS_A_STEP = 64


class Budget:
    """Steps left. Loops that are hot count `left` down themselves and call `exhausted` below zero.

    With `seconds` it is over, too, when so much time has passed. Steps are then given out a few at a time.
    """

    __slots__ = ("_later", "_seconds", "_until", "left", "limit")

    def __init__(self, limit: int, seconds: float | None = None) -> None:
        self.limit = limit
        self.left = limit if seconds is None else min(limit, _LOOKS)
        self._later = limit - self.left
        self._seconds = seconds
        self._until = 0.0 if seconds is None else monotonic() + seconds

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            self.exhausted()

    def keep_row(self) -> None:
        """A row that stays in memory costs more than one that passes by."""
        self.spend(_KEPT)

    def keep_rows(self, count: int) -> None:
        self.spend(_KEPT * count)

    def text(self, length: int) -> None:
        """A text of this length is read or made."""
        if length > MAX_TEXT:
            raise BudgetExceeded(f"a computed text is longer than the limit of {MAX_TEXT} characters")
        self.spend(length // _CHARACTERS_A_STEP)

    def exhausted(self) -> None:
        """What is left is less than nothing: take some of what is kept for later, if there is any."""
        if self.left + self._later < 0:
            raise BudgetExceeded(f"the evaluation needs more than the budget of {self.limit} steps")
        if monotonic() > self._until:
            raise BudgetExceeded(f"the evaluation needs more than {self._seconds:g} seconds")
        more = min(self._later, _LOOKS - self.left)
        self.left += more
        self._later -= more


class Run:
    """The state of an evaluation.

    `outer` holds the bindings that EXISTS puts in place of variables: constants, for everything evaluated under it.
    `memo` keeps what a pattern computed once for the whole evaluation.
    """

    __slots__ = ("budget", "labels", "meaning", "memo", "now", "outer", "solution")

    def __init__(self, meaning: Meaning, budget: int, now: Term, seconds: float | None = None) -> None:
        self.meaning = meaning
        self.budget = Budget(budget, seconds)
        self.now = now
        self.outer: Solution = {}
        self.memo: dict[object, Any] = {}
        self.labels: dict[object, Term] = {}
        self.solution: list[int] = [0]

    def under(self, outer: Solution) -> Run:
        """The same evaluation, with these bindings in place of variables."""
        inner = object.__new__(Run)
        inner.meaning, inner.budget, inner.now = self.meaning, self.budget, self.now
        inner.memo, inner.labels, inner.solution = self.memo, self.labels, self.solution
        inner.outer = outer
        return inner

    def new_solution(self) -> None:
        """From here on, BNODE with a label makes new nodes."""
        self.solution[0] += 1

    def new_blank(self, label: str | None) -> Term:
        """A blank node the event does not have: the same one for the same label in the same solution."""
        key = (self.solution[0], label) if label is not None else len(self.labels)
        node = self.labels.get(key)
        if node is None:
            prefix = self.memo.get("blank") or self.memo.setdefault("blank", self.meaning.unused_label("new"))
            self.budget.keep_row()
            node = self.labels[key] = blank(f"{prefix}{len(self.labels)}")
        return node


Eval: TypeAlias = Callable[[Run, Solution], Term | None]
"""A compiled expression: its value under a solution; None is SPARQL's error."""

Test: TypeAlias = Callable[[Run, Solution], bool | None]
"""A compiled condition; None is SPARQL's error."""
