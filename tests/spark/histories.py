"""Histories of what clients did, and of when the system heard of it: subscribing, cancelling and publishing, each with
a time of its own, in files that come in another order, with restarts and crashes in between.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

import pyarrow.dataset as ds
from pyspark.sql import DataFrame, SparkSession

from tidings.spark import subscriptions
from tidings.spark.archive.compact import compact
from tidings.spark.archive.layout import Archive
from tidings.spark.pipeline import SMALL, Pipeline, Sinks
from tidings.spark.schema import READ

START = datetime(2026, 11, 16, 23, 50, tzinfo=UTC)
KINDS = 4
STAGES = ("notifications", "archive", "told", "figures", "late", "forgotten")
"""Where a pipeline is killed: see `spoil`."""

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


class Crash(Exception):
    """What happens to a pipeline that is killed."""


@dataclass(frozen=True)
class Subscribed:
    id: str
    kind: int
    created: datetime
    cancelled: datetime | None
    retroactive: datetime | None
    told: int
    """The step at which the system hears of it."""
    told_end: int | None


@dataclass(frozen=True)
class Published:
    id: str
    kind: int
    published: datetime
    told: int


@dataclass(frozen=True)
class History:
    """`crashes` are the steps in which the pipeline is killed, and how far it has come then."""

    steps: int
    subscribed: tuple[Subscribed, ...]
    published: tuple[Published, ...]
    crashes: dict[int, str] = field(default_factory=dict)
    compactions: frozenset[int] = frozenset()
    after_crash: frozenset[int] = frozenset()
    """The steps in which the archive is compacted between a crash and the next start."""
    again: tuple[tuple[str, int], ...] = ()
    """Events that come once more at a step."""

    def at(self, step: int) -> list[Published]:
        """What comes at a step."""
        more = {id for id, then in self.again if then == step}
        return [event for event in self.published if event.told == step or event.id in more]

    def must(self) -> set[tuple[str, str]]:
        """Who has to be told of what."""
        return {(one.id, event.id) for one, event in self._pairs() if stands(one, event.published)}

    def may(self) -> set[tuple[str, str]]:
        """What may be told besides: the event was there before the system heard that the subscription had ended."""
        found = set()
        for one, event in self._pairs():
            if told_too_long(one, event.published, event.told):
                found.add((one.id, event.id))
        return found

    def _pairs(self) -> Iterator[tuple[Subscribed, Published]]:
        return ((one, event) for one in self.subscribed for event in self.published if one.kind == event.kind)


def _since(one: Subscribed) -> datetime:
    return one.created if one.retroactive is None else min(one.created, one.retroactive)


def stands(one: Subscribed, published: datetime) -> bool:
    return _since(one) <= published and (one.cancelled is None or published < one.cancelled)


def told_too_long(one: Subscribed, published: datetime, told: int) -> bool:
    """Whether it was over when this was published, and the system may have heard of that too late."""
    if one.cancelled is None or one.told_end is None or one.told_end == one.told:
        return False
    return _since(one) <= published and published >= one.cancelled and told <= one.told_end


def draw_subscribed(dice: random.Random, steps: int, moment: Callable[[], datetime]) -> list[Subscribed]:
    subscribed = []
    for number in range(dice.randint(4, 8)):
        created = moment()
        ends = dice.random() < 0.4
        told = dice.randrange(steps)
        subscribed.append(
            Subscribed(
                f"s{number}",
                dice.randrange(KINDS),
                created,
                created + timedelta(minutes=dice.randint(0, 12)) if ends else None,
                created - timedelta(minutes=dice.randint(0, 15)) if dice.random() < 0.2 else None,
                told,
                min(steps - 1, told + dice.randint(0, 3)) if ends else None,
            )
        )
    return subscribed


def drawn(seed: int, steps: int = 7) -> History:
    """A history. The system hears of things up to three steps late."""
    dice = random.Random(seed)

    def moment() -> datetime:
        return START + timedelta(minutes=dice.randint(0, 20))

    subscribed = draw_subscribed(dice, steps, moment)
    published = tuple(
        Published(f"http://e/{number}", dice.randrange(KINDS), moment(), dice.randrange(steps))
        for number in range(dice.randint(8, 24))
    )
    crashes = {step: dice.choice(STAGES) for step in range(steps) if dice.random() < 0.4}
    compactions = frozenset(step for step in range(1, steps) if dice.random() < 0.15)
    after_crash = frozenset(step for step in crashes if dice.random() < 0.3)
    again = tuple((event.id, dice.randrange(event.told, steps)) for event in published if dice.random() < 0.25)
    return History(steps, tuple(subscribed), published, crashes, compactions, after_crash, again)


class Run:
    """A pipeline that lives through a history."""

    def __init__(
        self,
        spark: SparkSession,
        root: Path,
        history: History,
        small: int = SMALL,
        shards: Sequence[int | None] = (None,),
    ) -> None:
        """`shards` are those of each start, in turn."""
        self._spark = spark
        self._history = history
        self._small = small
        self._shards = cycle(shards)
        self._log = root / "log"
        self._log.mkdir(parents=True)
        self._sinks = Sinks(*(str(root / name) for name in ("archive", "notifications", "rejected", "figures")))
        self._checkpoint = str(root / "checkpoint")
        self._pipeline = self._begin()
        self._batch = 0

    def found(self) -> Counter[tuple[str, str]]:
        """Who was told of what, and how often."""
        # There is a base before any event, as there is in life.
        self._heard(-1, 0)
        self._step([])
        for step in range(self._history.steps):
            if step in self._history.compactions:
                compact(self._spark, Archive(self._sinks.archive))
            events = self._history.at(step)
            self._heard(step, 0)
            if step in self._history.crashes:
                self._crash(events, self._history.crashes[step], step in self._history.after_crash)
            self._heard(step, 1)
            if step in self._history.crashes:
                # What comes now is not for the batch that is run again.
                self._pipeline.look()
            self._step(events)
        rows = ds.dataset(self._sinks.notifications, format="parquet").to_table(["subscription", "event"]).to_pylist()
        return Counter((row["subscription"], row["event"]) for row in rows)

    def _begin(self) -> Pipeline:
        folder = f"{self._checkpoint}/tidings/subscriptions"
        those = subscriptions(self._log, folder=folder, shards=next(self._shards))
        pipeline = Pipeline(self._spark, those, self._sinks, self._checkpoint, small=self._small)
        pipeline.begin()
        return pipeline

    def _step(self, events: list[Published]) -> None:
        """What Spark does with a batch: none where there is nothing."""
        if events or not self._batch:
            self._pipeline.batch(self._read(events), self._batch)
            self._batch += 1
        self._pipeline.look()

    def _crash(self, events: list[Published], when: str, compacts: bool) -> None:
        """Begin what a step does, be killed, and start again."""
        spoil(self._pipeline, when)
        try:
            if events:
                self._pipeline.batch(self._read(events), self._batch)
            self._pipeline.look()
        except Crash:
            pass
        if compacts:
            compact(self._spark, Archive(self._sinks.archive))
        self._pipeline = self._begin()

    def _heard(self, step: int, half: int) -> None:
        """The changes of subscriptions that come at a step, as two files of the log."""
        write_changes(self._log, self._history.subscribed, step, half, lambda one: f"?x a <http://e/C{one.kind}>")

    def _read(self, events: list[Published]) -> DataFrame:
        rows = [
            (one.id, one.published, f"<http://e/x> {_TYPE} <http://e/C{one.kind}> .\n", "here", None, None, None)
            for one in events
        ]
        return self._spark.createDataFrame(rows, READ)


def write_changes(
    log: Path, subscribed: Sequence[Subscribed], step: int, half: int, pattern: Callable[[Subscribed], str]
) -> None:
    """What is heard of every second subscription at a step, as a file of a log, if it is anything."""
    rows = []
    for one in subscribed[half::2]:
        if one.told == step:
            row = {"id": one.id, "query": f"SELECT * {{ {pattern(one)} }}", "created": one.created.isoformat()}
            if one.retroactive is not None:
                row["options"] = json.dumps({"retroactive": one.retroactive.isoformat()})
            rows.append(row)
        if one.told_end == step and one.cancelled is not None:
            rows.append({"id": one.id, "op": "cancel", "cancelled": one.cancelled.isoformat()})
    if step < 0:
        rows.append({"id": "nobody", "query": "SELECT ?x { ?x <http://e/never> ?y }"})
    if rows:
        (log / f"{step + 1:03}-{half}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))


def spoil(pipeline: Pipeline, when: str) -> None:
    """Have it killed when it has come so far."""
    tables = pipeline._tables
    places = {
        "notifications": (tables.notifications, "once", False),
        "archive": (tables.archive, "once", False),
        "told": (tables.notifications, "once", True),
        "figures": (pipeline._figures, "write", False),
        "late": (pipeline._subscriptions, "late", False),
        "forgotten": (pipeline._subscriptions, "forget", False),
    }
    owner, name, after = places[when]
    inner: Callable[..., object] = getattr(owner, name)

    def killed(*args: object, **named: object) -> object:
        if after:
            inner(*args, **named)
        raise Crash(when)

    setattr(owner, name, killed)
