"""The experiments of the EventCloud paper (section 5, figure 2): one-step and chained, on executors that are processes.

`workloads.eventcloud` says how subscriptions and events are made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from tidings.bench.eventcloud_asked import asked
from tidings.bench.eventcloud_claims import Found, claims
from tidings.bench.eventcloud_report import figures, tables
from tidings.bench.eventcloud_store import Stored, Storing
from tidings.bench.eventcloud_ways import Point, Ways
from tidings.bench.eventcloud_world import World
from tidings.bench.report import Report, Row, Table
from tidings.bench.settings import Settings
from tidings.bench.workloads.eventcloud import PATTERNS, Parameters
from tidings.spark.standalone import executors, running

Sessions: TypeAlias = Callable[[int], AbstractContextManager[Any]]
"""A session on so many executors, for as long as that lasts."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is varied; where it is not, there are the most executors, `events` events and one subscription. Storing has
    a number of rounds of its own."""

    executors: tuple[int, ...]
    events: int
    many_events: tuple[int, ...]
    subscriptions: tuple[int, ...]
    rounds: int
    stored: tuple[int, ...]
    stored_quads: int
    stored_rounds: int


FULL = Sizes((1, 2, 3, 4), 3_000, (10_000, 30_000), (20, 60), 3, (3_000, 6_000, 9_000), 25, 1)
QUICK = Sizes((1, 2), 300, (1_000,), (10,), 1, (100, 300), 25, 1)


def run(settings: Settings) -> Report:
    sizes = QUICK if settings.quick else FULL
    with TemporaryDirectory(prefix="tidings-bench-") as root:
        settings.tell("starting a cluster")
        with running(Path(root) / "spark", cores=sizes.executors[-1]) as cluster:
            report = at_sizes(sizes, settings, Path(root), lambda count: executors(cluster.url, count))
        rows = tuple(asked(settings, Path(root)))
    what = Table("What was asked of shards and of the archive, and what was measured", rows)
    return replace(report, tables=(*report.tables, what))


def at_sizes(sizes: Sizes, settings: Settings, root: Path, sessions: Sessions) -> Report:
    found = measured(sizes, settings, root, sessions)
    described: Row = {
        "events": f"{sizes.events} of {PATTERNS} quads",
        "subscriptions": f"paths of {PATTERNS} patterns",
        "executors": f"{sizes.executors[0]} to {sizes.executors[-1]}, of a standalone cluster on this machine",
        "rounds": f"{sizes.rounds}, storing {sizes.stored_rounds}",
        "seed": settings.seed,
    }
    question = "what do whole events, matched in one step, have over quads that are matched in a chain?"
    return Report("eventcloud", question, described, tables(found), figures(found), claims(found))


def measured(sizes: Sizes, settings: Settings, root: Path, sessions: Sessions) -> Found:
    bench = _Bench(sizes, settings, root)
    *fewer, most = sizes.executors
    few = [bench.few(sessions, count) for count in fewer]
    with sessions(most) as spark:
        settings.tell(f"{most} executors")
        one, accept_all = bench.both(spark, most, complete=True)
        by_events = [bench.point(spark, most, Parameters(count)) for count in sizes.many_events]
        by_subscriptions = [bench.point(spark, most, Parameters(sizes.events, count)) for count in sizes.subscriptions]
        stored = bench.stored(spark)
    return Found(
        cores=os.cpu_count() or 1,
        executors=(*(one for one, _ in few), one),
        events=(one, *by_events),
        subscriptions=(one, *by_subscriptions),
        accept_all=(*(all for _, all in few), accept_all),
        stored=tuple(stored),
    )


class _Bench:
    """Worlds are made when they are first needed, and kept for all executors."""

    def __init__(self, sizes: Sizes, settings: Settings, root: Path) -> None:
        self._sizes = sizes
        self._settings = settings
        self._root = root
        self._worlds: dict[Parameters, World] = {}

    def few(self, sessions: Sessions, count: int) -> tuple[Point, Point]:
        """What every number of executors is asked, in a session of its own."""
        with sessions(count) as spark:
            return self.both(spark, count)

    def both(self, spark: Any, count: int, *, complete: bool = False) -> tuple[Point, Point]:
        """One subscription, and one that accepts all, after everything is warm."""
        one, accept_all = Parameters(self._sizes.events), Parameters(self._sizes.events, 0)
        Ways(spark, count, self._settings.tell).warm_up(self._world(one))
        return self.point(spark, count, one), self.point(spark, count, accept_all, complete=complete)

    def point(self, spark: Any, count: int, parameters: Parameters, *, complete: bool = False) -> Point:
        ways = Ways(spark, count, self._settings.tell)
        return ways.point(self._world(parameters), self._sizes.rounds, complete=complete)

    def stored(self, spark: Any) -> Sequence[Stored]:
        storing = Storing(spark, self._root / "stored", self._settings.seed, self._settings.tell)
        sizes, quads = self._sizes, self._sizes.stored_quads
        # A few first, so that everything is warm.
        storing.stored(Parameters(min(sizes.stored) // 10, quads=quads), 1)
        return [storing.stored(Parameters(count, quads=quads), sizes.stored_rounds) for count in sizes.stored]

    def _world(self, parameters: Parameters) -> World:
        if parameters not in self._worlds:
            place = self._root / f"world-{len(self._worlds)}"
            self._worlds[parameters] = World.of(parameters, place, self._settings.seed)
        return self._worlds[parameters]
