"""The two strategies on one workload: how long they take, what they move, and that they find the same.

A round is from the tables to the pairs of subscription and event in this process, which is the subscriber. One-step has
the events whole; chained has them quad by quad, in any order.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidings.bench.eventcloud_world import World
from tidings.bench.workloads.eventcloud import Parameters
from tidings.spark import match
from tidings.spark.counted import Counted, counted
from tidings.spark.schema import EVENTS

ONE_STEP, SHARDED, CHAINED = "one-step", "one-step, shards", "chained"
WAYS = (ONE_STEP, SHARDED, CHAINED)

_WARM_LEAST, _WARM_MOST = 3, 10
_STEADY = 0.95
"""It is warm when a round takes more than this part of the fastest before it."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a way took: the `seconds` of each round; the stages of one, and the bytes it moved; what it told."""

    seconds: tuple[float, ...]
    stages: int
    moved: int
    told: int

    @staticmethod
    def of(rounds: Sequence[Counted[int]]) -> Taken:
        """Of rounds whose result is how many were told."""
        moved = round(statistics.median(each.moved for each in rounds))
        return Taken(tuple(each.seconds for each in rounds), rounds[-1].stages, moved, rounds[-1].result)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def rate(self) -> float:
        """Notifications a second."""
        return self.told / self.median

    @property
    def rates(self) -> tuple[float, float]:
        """Of the slowest round and of the fastest."""
        return self.told / max(self.seconds), self.told / min(self.seconds)


@dataclass(frozen=True, slots=True)
class Point:
    """One workload on so many executors. `complete` are the solutions of what chained found, where they were
    counted: each would be a notification, if repeats were not removed.
    """

    executors: int
    parameters: Parameters
    taken: Mapping[str, Taken]
    complete: int | None = None

    @property
    def factor(self) -> float:
        """How many times as many notifications a second one-step has, with as many shards as executors."""
        return self.taken[SHARDED].rate / self.taken[CHAINED].rate


class Ways:
    """The ways on so many executors. `tell` hears what is being done."""

    def __init__(self, spark: Any, executors: int, tell: Callable[[str], None]) -> None:
        self._spark = spark
        self._executors = executors
        self._tell = tell

    def points(self, worlds: Sequence[World], rounds: int, all_of: World | None = None) -> list[Point]:
        """When all is warm: round by round, each way on each world in turn, every other round backwards. So whatever
        becomes faster or slower meanwhile does so for all. Solutions are counted of the world `all_of`.
        """
        self._warm_up(worlds[0])
        turns = [(at, name) for at in range(len(worlds)) for name in WAYS]
        found: dict[tuple[int, str], list[Counted[int]]] = {turn: [] for turn in turns}
        for number in range(rounds):
            for at, name in turns[:: -1 if number % 2 else 1]:
                found[at, name].append(self._round(name, worlds[at], f"round {number + 1} of {rounds}"))
        return [
            Point(
                self._executors,
                world.parameters,
                {name: Taken.of(found[at, name]) for name in WAYS},
                self._complete(world) if world is all_of else None,
            )
            for at, world in enumerate(worlds)
        ]

    def _warm_up(self, world: World) -> None:
        """Start the workers, have everything loaded and compiled that all rounds need, and go on until that is no
        longer felt."""
        for name in WAYS:
            fastest = math.inf
            for number in range(_WARM_MOST):
                seconds = self._round(name, world, f"warm-up {number + 1}").seconds
                if number + 1 >= _WARM_LEAST and seconds > _STEADY * fastest:
                    break
                fastest = min(fastest, seconds)

    def _round(self, name: str, world: World, what: str) -> Counted[int]:
        p = world.parameters
        subscriptions = "accept-all" if p.accepts_all else f"{p.subscriptions} subscriptions"
        self._tell(f"{self._executors} executors, {p.events:,} events, {subscriptions}: {name}, {what}")
        # Compiling is not part of it.
        index = world.sharded(self._executors) if name == SHARDED else world.index
        done = counted(self._spark, lambda: self._matched(name, world, index).select("subscription", "event").toArrow())
        table = done.result
        pairs = list(zip(table["subscription"].to_pylist(), table["event"].to_pylist(), strict=True))
        _check(name, world, pairs)
        return Counted(len(pairs), done.seconds, done.stages, done.moved)

    def _matched(self, name: str, world: World, index: Path, *, bindings: bool = False) -> Any:
        events = self._spark.read.schema(EVENTS).parquet(str(world.quads if name == CHAINED else world.whole))
        if name == CHAINED:
            return match(events, index, strategy="chained", bindings=bindings)
        return match(events, index, strategy="one-step", shards=self._executors if name == SHARDED else None)

    def _complete(self, world: World) -> int:
        """All solutions of what was found."""
        rows = self._matched(CHAINED, world, world.index, bindings=True).select("bindings").toArrow()
        return sum(len(json.loads(text)) for text in rows["bindings"].to_pylist())


def _check(name: str, world: World, pairs: list[tuple[str, str]]) -> None:
    """All ways find what one process finds, each once; or there is nothing to compare."""
    found = set(pairs)
    if found != world.pairs or len(pairs) != len(found):
        raise RuntimeError(
            f"{name} on {world.parameters}: {len(world.pairs - found):,} notifications are missed, "
            f"{len(found - world.pairs):,} are false, {len(pairs) - len(found):,} are there twice"
        )
