"""The experiments of the EventCloud paper (section 5, figure 2): one-step and chained, on executors that are processes.

`workloads.eventcloud` says how subscriptions and events are made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from tidings.bench.eventcloud_asked import asked
from tidings.bench.eventcloud_claims import Found, claims
from tidings.bench.eventcloud_report import figures, tables
from tidings.bench.eventcloud_store import Stored, Storing
from tidings.bench.eventcloud_ways import Ways
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


FULL = Sizes((1, 2, 3, 4), 3_000, (10_000, 30_000), (20, 60), 3, (3_000, 10_000, 30_000), 25, 1)
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
    world = partial(_world, root, settings.seed)
    one, accept_all = world(sizes.events), world(sizes.events, 0)
    *fewer, most = sizes.executors
    few = []
    for count in fewer:
        with sessions(count) as spark:
            few.append(Ways(spark, count, settings.tell).points([one, accept_all], sizes.rounds))
    by_events = [world(count) for count in sizes.many_events]
    by_subscriptions = [world(sizes.events, count) for count in sizes.subscriptions]
    with sessions(most) as spark:
        ways = Ways(spark, most, settings.tell)
        points = ways.points([one, accept_all, *by_events, *by_subscriptions], sizes.rounds, all_of=accept_all)
        stored = _stored(spark, sizes, settings, root)
    few.append(points[:2])
    others = points[2:]
    return Found(
        cores=os.cpu_count() or 1,
        executors=tuple(one for one, _ in few),
        events=(points[0], *others[: len(by_events)]),
        subscriptions=(points[0], *others[len(by_events) :]),
        accept_all=tuple(all for _, all in few),
        stored=tuple(stored),
    )


def _stored(spark: Any, sizes: Sizes, settings: Settings, root: Path) -> Sequence[Stored]:
    storing = Storing(spark, root / "stored", settings.seed, settings.tell)
    # A few first, so that everything is warm.
    storing.stored(Parameters(min(sizes.stored) // 10, quads=sizes.stored_quads), 2)
    return [storing.stored(Parameters(count, quads=sizes.stored_quads), sizes.stored_rounds) for count in sizes.stored]


def _world(root: Path, seed: int, events: int, subscriptions: int = 1) -> World:
    return World.of(Parameters(events, subscriptions), root / f"world-{events}-{subscriptions}", seed)
