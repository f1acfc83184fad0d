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
from tidings.match.base import Failure, Match
from tidings.match.fast import Fast
from tidings.match.fast.bodies import match_bodies, read_body
from tidings.rdf.terms import to_json
from tidings.spark.schema import HIT_ROWS
from tidings.spark.workers import opened

Batches: TypeAlias = Iterator[pa.RecordBatch]


def match_stage(folder: str, *, bindings: bool) -> Callable[[Batches], Batches]:
    """From (event, published, body) to the matches with the subscriptions that are compiled in this folder."""
    rows = _with_bindings if bindings else _without

    def stage(batches: Batches) -> Batches:
        engine = opened(folder)
        for batch in batches:
            problems = _Problems()
            sound = _sound(batch, problems)
            if sound.num_rows:
                yield from rows(engine, sound, problems)
            yield from problems.rows()

    return stage


def _sound(batch: pa.RecordBatch, problems: _Problems) -> pa.RecordBatch:
    """The rows that have an id and a body."""
    if not (batch["event"].null_count or batch["body"].null_count):
        return batch
    there = pc.and_(batch["event"].is_valid(), batch["body"].is_valid())
    for event in batch.filter(pc.invert(there))["event"].to_pylist():
        problems.add(None, event, "the event has no body" if event is not None else "the event has no id")
    return batch.filter(there)


def _without(engine: Fast, batch: pa.RecordBatch, problems: _Problems) -> Batches:
    ids = batch["event"]
    matched = match_bodies(
        engine, ids, batch["body"], lambda row, error: problems.refused(ids[row].as_py(), error), problems.failed
    )
    events, published = (batch[name].take(pa.array(matched.rows)) for name in ("event", "published"))
    if matched.rows.size:
        subscriptions = pa.concat_arrays(matched.subscriptions.chunks)
        nothing = pa.nulls(matched.rows.size, pa.string())
        yield _batch(subscriptions, events, published, nothing, nothing)


def _with_bindings(engine: Fast, batch: pa.RecordBatch, problems: _Problems) -> Batches:
    rows: list[int] = []
    subscriptions: list[str] = []
    texts: list[str] = []
    for row, (event, body) in enumerate(zip(batch["event"].to_pylist(), batch["body"].to_pylist(), strict=True)):
        try:
            about = read_body(event, body)
        except EventError as error:
            problems.refused(event, error)
            continue
        for match in engine.match(about, problems.failed):
            try:
                texts.append(bindings_text(match))
            except EvaluationError as error:
                problems.failed(Failure(event, match.subscription, str(error)))
                continue
            rows.append(row)
            subscriptions.append(match.subscription)
    if rows:
        events, published = (batch[name].take(pa.array(rows)) for name in ("event", "published"))
        yield _batch(pa.array(subscriptions), events, published, pa.array(texts), pa.nulls(len(rows), pa.string()))


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
    subscriptions: pa.Array, events: pa.Array, published: pa.Array, bindings: pa.Array, reasons: pa.Array
) -> pa.RecordBatch:
    now = np.datetime64(datetime.now(UTC).replace(tzinfo=None), "us")
    moments = pa.array(np.full(len(subscriptions), now)).cast(HIT_ROWS.field("matched").type)
    columns = [subscriptions, events, published, moments, bindings, reasons]
    return pa.RecordBatch.from_arrays(columns, schema=HIT_ROWS)
