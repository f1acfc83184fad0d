"""Histories of events that come quad by quad: each has a class, a link and what that leads to, at steps of their own.

Subscriptions ask for the first one, two or three of these. An event ends at some step, for some before all of its quads
have come; or, where all is in a hurry, with the batch after the one that brought the first of them.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from tests.spark.chained_worlds import END
from tests.spark.histories import (
    KINDS,
    STAGES,
    START,
    Crash,
    Subscribed,
    draw_subscribed,
    spoil,
    stands,
    told_too_long,
    write_changes,
)

from tidings.errors import EngineError
from tidings.lang.watched import Watched
from tidings.spark.archive.compact import compact
from tidings.spark.archive.layout import Archive
from tidings.spark.chained.pipeline import ChainedPipeline
from tidings.spark.chained.taking import ConjunctiveSource
from tidings.spark.changing import Subscriptions
from tidings.spark.pipeline import Sinks
from tidings.spark.schema import READ

LONG, NO_TIME = timedelta(hours=1), timedelta(milliseconds=1)
_PATTERNS = ("?x a <http://e/C{}>", "?x <http://e/p> ?y", "?y <http://e/q> ?z")
_QUADS = (
    "<http://e/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/C{}> .\n",
    "<http://e/x> <http://e/p> <http://e/y> .\n",
    "<http://e/y> <http://e/q> <http://e/z> .\n",
)
_ROWS = pa.schema(
    [
        ("event", pa.string()),
        ("published", pa.timestamp("us", "UTC")),
        ("body", pa.string()),
        ("source", pa.string()),
        ("line", pa.int32()),
        ("column", pa.int32()),
        ("reason", pa.string()),
    ]
)


@dataclass(frozen=True)
class Parted:
    """An event; `told` are the steps at which its quads come, `ends` the one at which its end does."""

    id: str
    kind: int
    published: datetime
    told: tuple[int, ...]
    ends: int
    again: tuple[int, int] | None
    """A quad that comes once more, and when."""

    def quads_at(self, step: int) -> list[int]:
        own = [number for number, then in enumerate(self.told) if then == step]
        return own if self.again is None or self.again[1] != step else [*own, self.again[0]]

    def rows_at(self, step: int) -> list[str]:
        """The parts that come at a step."""
        found = [_QUADS[number].format(self.kind) for number in self.quads_at(step)]
        return [*found, END.format(self.id)] if self.ends == step else found


@dataclass(frozen=True)
class PartedHistory:
    """`steps` are followed by one more, at which all events end that have not yet."""

    steps: int
    subscribed: tuple[Subscribed, ...]
    asks: dict[str, int]
    """How many of the quads a subscription asks for."""
    published: tuple[Parted, ...]
    crashes: dict[int, str]
    compactions: frozenset[int]
    after_crash: frozenset[int]
    hurried: bool
    bindings: bool

    def satisfied(self, one: Subscribed, event: Parted) -> int | None:
        """The step at which the event has what the subscription asks for, before it is closed."""
        asked = self.asks[one.id]
        if one.kind != event.kind or asked > len(event.told):
            return None
        at = max(event.told[:asked])
        return at if at <= self.closes(event) else None

    def closes(self, event: Parted) -> int:
        """The last step whose quads still count."""
        if not self.hurried:
            return event.ends
        after = [step for step in range(self.steps + 1) if step > min(event.told) and self.is_batch(step)]
        return min(event.ends, *after)

    def is_batch(self, step: int) -> bool:
        """Whether anything comes. At the last step something always does."""
        return step == self.steps or any(event.rows_at(step) for event in self.published)

    def must(self) -> set[tuple[str, str]]:
        pairs = ((one, event) for one in self.subscribed for event in self.published)
        return {
            (one.id, event.id)
            for one, event in pairs
            if self.satisfied(one, event) is not None and stands(one, event.published)
        }

    def may(self) -> set[tuple[str, str]]:
        found = set()
        for one in self.subscribed:
            for event in self.published:
                at = self.satisfied(one, event)
                if at is not None and told_too_long(one, event.published, at):
                    found.add((one.id, event.id))
        return found


def drawn(seed: int, steps: int = 5) -> PartedHistory:
    dice = random.Random(seed)

    def moment() -> datetime:
        return START + timedelta(minutes=dice.randint(0, 20))

    subscribed = draw_subscribed(dice, steps, moment)
    asks = {one.id: dice.randint(1, 3) for one in subscribed}
    published = []
    for number in range(dice.randint(8, 20)):
        told = tuple(dice.randrange(steps) for _ in range(dice.randint(1, 3)))
        ends = dice.choice([max(told), max(told), min(told), dice.randint(min(told), steps), steps])
        again = None
        if dice.random() < 0.3:
            which = dice.randrange(len(told))
            again = (which, dice.randint(told[which], steps - 1))
        published.append(Parted(f"http://e/{number}", dice.randrange(KINDS), moment(), told, ends, again))
    crashes = {step: dice.choice(STAGES) for step in range(steps) if dice.random() < 0.4}
    return PartedHistory(
        steps,
        tuple(subscribed),
        asks,
        tuple(published),
        crashes,
        frozenset(step for step in range(1, steps) if dice.random() < 0.15),
        frozenset(step for step in crashes if dice.random() < 0.3),
        hurried=dice.random() < 0.25,
        bindings=dice.random() < 0.25,
    )


class PartedRun:
    """A stream that lives through such a history. Each step is a start of its own, which takes what is there."""

    def __init__(self, spark: SparkSession, root: Path, history: PartedHistory) -> None:
        self._spark = spark
        self._history = history
        self._root = root
        self._log, self._in = root / "log", root / "in"
        for folder in (self._log, self._in):
            folder.mkdir(parents=True)
        self._sinks = Sinks(*(str(root / name) for name in ("archive", "notifications", "rejected", "figures")))

    def found(self) -> Counter[tuple[str, str]]:
        """Who was told of what, and how often."""
        self._heard(-1, 0)
        for step in range(self._history.steps + 1):
            if step in self._history.compactions:
                self._compact()
            self._publish(step)
            self._heard(step, 0)
            if step in self._history.crashes:
                self._crash(self._history.crashes[step])
                if step in self._history.after_crash:
                    self._compact()
            self._heard(step, 1)
            self._run(self._pipeline())
        rows = ds.dataset(self._sinks.notifications, format="parquet").to_table(["subscription", "event"]).to_pylist()
        return Counter((row["subscription"], row["event"]) for row in rows)

    def _compact(self) -> None:
        archive = Archive(self._sinks.archive)
        if archive.pieces():
            compact(self._spark, archive)

    def _pipeline(self) -> ChainedPipeline:
        checkpoint = str(self._root / "checkpoint")
        those = Subscriptions(ConjunctiveSource(Watched(self._log)), f"{checkpoint}/tidings/subscriptions")
        return ChainedPipeline(
            self._spark,
            those,
            self._sinks,
            checkpoint,
            timeout=NO_TIME if self._history.hurried else LONG,
            bindings=self._history.bindings,
        )

    def _run(self, pipeline: ChainedPipeline) -> None:
        parts = self._spark.readStream.schema(READ).parquet(str(self._in))
        pipeline.start(parts, {"availableNow": True})
        assert pipeline.wait(300)

    def _crash(self, when: str) -> None:
        pipeline = self._pipeline()
        spoil(pipeline, when)
        try:
            self._run(pipeline)
        except Crash:
            return
        except EngineError:
            assert isinstance(pipeline._failure, Crash), pipeline._failure

    def _publish(self, step: int) -> None:
        """All that comes at a step, in one file."""
        rows = [
            {"event": event.id, "published": event.published, "body": body, "source": "here"}
            for event in self._history.published
            for body in event.rows_at(step)
        ]
        if step == self._history.steps:
            rows.append({"event": "http://e/last", "body": "<http://e/a> <http://e/b> <http://e/c> .\n", "source": "x"})
        if rows:
            beside = self._root / f"{step}.parquet"
            pq.write_table(pa.Table.from_pylist(rows, _ROWS), beside)
            beside.rename(self._in / beside.name)

    def _heard(self, step: int, half: int) -> None:
        def pattern(one: Subscribed) -> str:
            return " . ".join(_PATTERNS[: self._history.asks[one.id]]).format(one.kind)

        write_changes(self._log, self._history.subscribed, step, half, pattern)
