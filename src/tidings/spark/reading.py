"""Documents to rows, as a worker does it: every event is a row, and so is every problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from tidings.errors import EventError
from tidings.rdf.event import Event
from tidings.rdf.read import EventsBy, read_events
from tidings.rdf.sources import Document, Source
from tidings.spark.schema import READ_ROWS

Batches: TypeAlias = Iterator[pa.RecordBatch]
_LETTERS = 4 << 20
_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Reading:
    """How documents become events; see `tidings.read_events`."""

    format: str | None = None
    by: EventsBy = "graph"
    strict: bool = False


def read_stage(reading: Reading) -> Callable[[Batches], Batches]:
    """From (path) to events: each path is a document."""

    def stage(batches: Batches) -> Batches:
        for batch in batches:
            for path in batch["path"].to_pylist():
                yield from rows_of(path, reading)

    return stage


def rows_of(source: Source | Document, reading: Reading, name: str | None = None) -> Batches:
    """The events and the problems of a document, in its order; `name` is what rows call it."""
    rows = _Rows(name)
    events = read_events(source, report=rows.problem, format=reading.format, by=reading.by, strict=reading.strict)
    for event in events:
        rows.event(event)
        if rows.full:
            yield rows.batch()
    if len(rows):
        yield rows.batch()


class _Rows:
    def __init__(self, name: str | None) -> None:
        self._name = name
        self._rows: list[tuple[Any, ...]] = []
        self._letters = 0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def full(self) -> bool:
        return self._letters > _LETTERS or len(self._rows) >= _ROWS

    def event(self, event: Event) -> None:
        self._letters += len(event.body)
        self._rows.append((event.id, None, event.body, self._name or event.source, None, None, None))

    def problem(self, error: EventError) -> None:
        line, column = (error.span.line, error.span.column) if error.span else (None, None)
        source = self._name or error.source
        self._rows.append((None, None, None, source, line, column, error.reason))

    def batch(self) -> pa.RecordBatch:
        columns = list(zip(*self._rows, strict=True))
        self._rows, self._letters = [], 0
        arrays = [pa.array(values, field.type) for values, field in zip(columns, READ_ROWS, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=READ_ROWS)
