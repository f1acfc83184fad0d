"""The match stage, as a worker runs it: batches of events in, batches of matches out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import EvaluationError, EventError
from tidings.index.arrays import Ints
from tidings.match.base import Failure, Match
from tidings.match.fast.bodies import Matched, match_bodies, read_body
from tidings.match.fast.times import Times
from tidings.rdf.terms import to_json
from tidings.spark.schema import HIT_ROWS
from tidings.spark.versions import Version
from tidings.spark.workers import Opened, opened

Batches: TypeAlias = Iterator[pa.RecordBatch]
Columns: TypeAlias = tuple[pa.Array, pa.Array, pa.Array]
"""Of the events of matches: their ids, when they were published, and where from."""


def match_stage(
    version: Version, *, bindings: bool, accepted: datetime | None = None, timed: bool = True
) -> Callable[[Batches], Batches]:
    """From (event, published, body, and maybe source) to the matches with the subscriptions of a version.

    `accepted` is when the events came; by default, when they come here. Rows may say it themselves, in a column of
    that name. Unless it is `timed`, it does not matter when subscriptions were made.
    """

    def stage(batches: Batches) -> Batches:
        those = opened(version) if timed else opened(version)._replace(times=Times())
        return matched(those, batches, bindings=bindings, accepted=accepted)

    return stage


def matched(those: Opened, batches: Batches, *, bindings: bool, accepted: datetime | None = None) -> Batches:
    """The same with subscriptions that are open."""
    task = _Task(those, accepted or datetime.now(UTC))
    rows = task.with_bindings if bindings else task.without
    for batch in batches:
        problems = _Problems()
        sound = _sound(batch, problems)
        if sound.num_rows:
            yield from rows(sound, problems)
        yield from problems.rows()
        yield task.counted()


def _sound(batch: pa.RecordBatch, problems: _Problems) -> pa.RecordBatch:
    """The rows that have an id and a body."""
    if not (batch["event"].null_count or batch["body"].null_count):
        return batch
    there = pc.and_(batch["event"].is_valid(), batch["body"].is_valid())
    for event in batch.filter(pc.invert(there))["event"].to_pylist():
        problems.add(None, event, "the event has no body" if event is not None else "the event has no id")
    return batch.filter(there)


class _Task:
    """Subscriptions, and when the events came that they are matched with."""

    def __init__(self, those: Opened, accepted: datetime) -> None:
        self._engine, self._times = those
        self._accepted = accepted
        self._counted = self._engine.stats()["candidates"]

    def without(self, batch: pa.RecordBatch, problems: _Problems) -> Batches:
        """The matches alone, by the kernels."""
        matched = self._matched(batch, problems)
        if matched.rows.size:
            there = pa.array(matched.rows)
            nothing = pa.nulls(len(there), pa.string())
            yield from self._standing(matched.numbers, matched.subscriptions, _of(batch, there), nothing)

    def _matched(self, batch: pa.RecordBatch, problems: _Problems) -> Matched:
        ids, moments = batch["event"], self._moments(batch)
        return match_bodies(
            self._engine,
            ids,
            batch["body"],
            lambda row, error: problems.refused(ids[row].as_py(), error),
            problems.failed,
            lambda row: _written(moments[row].as_py()),
        )

    def with_bindings(self, batch: pa.RecordBatch, problems: _Problems) -> Batches:
        """The matches with all their solutions: of the events that have any, one by one."""
        rows: list[int] = []
        subscriptions: list[str] = []
        texts: list[str] = []
        moments = self._moments(batch)
        for row in np.unique(self._matched(batch, problems).rows).tolist():
            event = batch["event"][row].as_py()
            about = read_body(event, batch["body"][row].as_py(), _written(moments[row].as_py()))
            for match in self._engine.match(about, _told_already):
                try:
                    texts.append(bindings_text(match))
                except EvaluationError as error:
                    problems.failed(Failure(event, match.subscription, str(error)))
                    continue
                rows.append(row)
                subscriptions.append(match.subscription)
        if rows:
            numbers = np.array([self._engine.frozen_number(id) for id in subscriptions], np.int32)
            found = _of(batch, pa.array(rows))
            yield from self._standing(numbers, pa.chunked_array([subscriptions]), found, pa.array(texts))

    def counted(self) -> pa.RecordBatch:
        """A row that tells of the candidates."""
        before, self._counted = self._counted, self._engine.stats()["candidates"]
        nothing = pa.nulls(1, pa.string())
        moment = pa.nulls(1, HIT_ROWS.field("published").type)
        return _batch(nothing, nothing, moment, nothing, nothing, pa.array([int(self._counted - before)]))

    def _moments(self, batch: pa.RecordBatch) -> pa.Array:
        """What counts as the time of each event."""
        published = batch["published"]
        if "accepted" in batch.schema.names:
            published = pc.coalesce(published, batch["accepted"])
        return pc.fill_null(published, pa.scalar(self._accepted, published.type))

    def _standing(self, numbers: Ints, subscriptions: pa.ChunkedArray, found: Columns, texts: pa.Array) -> Batches:
        """The matches of subscriptions that stand at the time."""
        events, published, sources = found
        ids = pa.concat_arrays(subscriptions.chunks)
        if self._times.any:
            accepted = int(self._accepted.timestamp() * 1_000_000)
            stands = self._times.standing(numbers, subscriptions, published, accepted, self._engine.frozen_size)
            every = (ids, events, published, texts, sources)
            ids, events, published, texts, sources = (each.filter(pa.array(stands)) for each in every)
        if len(ids):
            yield _batch(ids, events, published, texts, pa.nulls(len(ids), pa.string()), sources=sources)


def _told_already(failure: Failure) -> None:
    """A subscription that fails on an event has been told when this was first matched."""


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _of(batch: pa.RecordBatch, rows: pa.Array) -> Columns:
    named = "source" in batch.schema.names
    sources = batch["source"].take(rows) if named else pa.nulls(len(rows), pa.string())
    return batch["event"].take(rows), batch["published"].take(rows), sources


def bindings_text(match: Match) -> str:
    """The solutions as JSON; those of a CONSTRUCT with its triples."""
    rows = [{name: to_json(term) for name, term in solution.items()} for solution in match.bindings]
    answer: Any = rows if match.construct is None else {"bindings": rows, "construct": match.construct}
    return json.dumps(answer, ensure_ascii=False)


class _Problems:
    """What could not be matched in a batch, each with its reason."""

    def __init__(self) -> None:
        self._subscriptions: list[str | None] = []
        self._events: list[str | None] = []
        self._reasons: list[str] = []

    def refused(self, event: str, error: EventError) -> None:
        self.add(None, event, str(error))

    def failed(self, failure: Failure) -> None:
        self.add(failure.subscription, failure.event, failure.reason)

    def add(self, subscription: str | None, event: str | None, reason: str) -> None:
        self._subscriptions.append(subscription)
        self._events.append(event)
        self._reasons.append(reason)

    def rows(self) -> Batches:
        if self._reasons:
            size = len(self._reasons)
            published = pa.nulls(size, HIT_ROWS.field("published").type)
            subscriptions = pa.array(self._subscriptions, pa.string())
            yield _batch(
                subscriptions,
                pa.array(self._events, pa.string()),
                published,
                pa.nulls(size, pa.string()),
                pa.array(self._reasons),
            )


def _batch(
    subscriptions: pa.Array,
    events: pa.Array,
    published: pa.Array,
    bindings: pa.Array,
    reasons: pa.Array,
    candidates: pa.Array | None = None,
    sources: pa.Array | None = None,
) -> pa.RecordBatch:
    now = np.datetime64(datetime.now(UTC).replace(tzinfo=None), "us")
    moments = pa.array(np.full(len(subscriptions), now)).cast(HIT_ROWS.field("matched").type)
    counted = pa.nulls(len(subscriptions), pa.int64()) if candidates is None else candidates
    places = pa.nulls(len(subscriptions), pa.string()) if sources is None else sources
    columns = [subscriptions, events, published, moments, bindings, reasons, counted, places]
    return pa.RecordBatch.from_arrays(columns, schema=HIT_ROWS)
