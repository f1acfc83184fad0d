"""`--shards`: subscriptions in shards, where a command would have a matcher of them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidings.cli.run import Run, need_spark
from tidings.errors import EventError, UsageError
from tidings.lang.pattern import Query
from tidings.match.registry import DEFAULT
from tidings.ontology import Ontology
from tidings.rdf.read import read_events

if TYPE_CHECKING:
    from tidings.match.fast.sharded import Sharded

MOST_SAMPLED = 2_000

shards_option = click.option(
    "--shards",
    type=click.IntRange(1, 1024),
    metavar="K",
    help="Have each subscription in one of K shards, where an event is sent that concerns it (Spark only).",
)


class Shards:
    """Takes subscriptions, as a matcher does, and can be saved; `bodies` are of events that are like those to come."""

    name = DEFAULT

    def __init__(self, shards: int, ontology: Ontology, bodies: Iterable[str] = ()) -> None:
        self._shards = shards
        self._ontology = ontology
        self._bodies = bodies
        self._made: Sharded | None = None

    def add_many(self, rows: Iterable[tuple[str, Query]]) -> None:
        from tidings.match.fast.sharded import Sharded

        self._made = Sharded.of(self._shards, rows, self._ontology, self._bodies)

    def __len__(self) -> int:
        return 0 if self._made is None else len(self._made)

    def save(self, folder: Path) -> None:
        assert self._made is not None, "they were taken"
        self._made.save(folder)

    def stats(self) -> Mapping[str, int | float]:
        engines = [] if self._made is None else self._made.engines
        return {"unindexed": sum(engine.stats()["unindexed"] for engine in engines)}


class ShardsOnSpark:
    """Compiled by Spark, from files to a folder."""

    def __init__(self, shards: int | None, ontology: Ontology, bodies: Sequence[str]) -> None:
        if shards is None:
            raise UsageError("--engine spark compiles in shards: say how many with --shards")
        need_spark("--engine spark")
        self._shards = shards
        self._ontology = ontology
        self._bodies = bodies
        self._size = self._unindexed = 0

    def compile(self, subscriptions: str, folder: Path, run: Run) -> None:
        from tidings.spark.sessions import session
        from tidings.spark.shards_compile import compile_shards

        with run.terminal.progress("compiling on Spark"):
            self._size, self._unindexed = compile_shards(
                session("tidings compile"),
                subscriptions,
                str(folder),
                self._shards,
                ontology=self._ontology,
                bodies=self._bodies,
                report=run.reject_subscription,
            )

    def __len__(self) -> int:
        return self._size

    def stats(self) -> Mapping[str, int | float]:
        return {"unindexed": self._unindexed}


class OpenedShards:
    """Those that are compiled: workers open them."""

    name = DEFAULT

    def __init__(self, folder: str, ontology: Ontology | None, *, verify: bool) -> None:
        from tidings.match.fast.sharded import open_sharded

        self._size = open_sharded(Path(folder), ontology, verify=verify).subscriptions

    def __len__(self) -> int:
        return self._size


def sampled(sources: Iterable[str]) -> list[str]:
    """The bodies of some events. What cannot be read is no part of a sample."""
    found = [event.body for event in islice(read_events(list(sources), report=_ignore), MOST_SAMPLED)]
    if not found:
        raise UsageError(f"--sample {' '.join(sources)}: there is no event in it")
    return found


def _ignore(error: EventError) -> None:
    """It is told where the events themselves are read."""
