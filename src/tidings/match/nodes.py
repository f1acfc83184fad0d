"""What every compiled pattern is: a node that streams solutions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidings.match.base import Solution
from tidings.match.run import Run, Test


class Node(ABC):
    """A compiled pattern.

    `scope` are the variables that a solution may bind, `certain` those that every solution binds.
    """

    scope: frozenset[str]
    certain: frozenset[str]

    @abstractmethod
    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        """The solutions of the pattern, as a multiset, that agree with `seed`, which binds `certain` variables only.

        So a join hands over what it has bound already, and no scope is ever widened: a filter inside sees nothing but
        its own pattern's variables. A row also holds `run.outer`. Rows are shared: nobody changes one it was given.
        """

    def restrict(self, row: Solution) -> Solution:
        """The part of a row that may be a seed of this node."""
        return {name: row[name] for name in self.certain if name in row}


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled filter: the variables it mentions, and how many steps it counts for."""

    test: Test
    names: frozenset[str]
    cost: int


def holds(conditions: Iterable[Condition], run: Run, row: Solution) -> bool:
    """Whether every filter is true; an error is not."""
    for condition in conditions:
        run.budget.spend(condition.cost)
        if not condition.test(run, row):
            return False
    return True
