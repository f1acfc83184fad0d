"""Documents to rows, as a worker does it: every event is a row, and so is every problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from tidings.errors import EventError
from tidings.ingest.base import How as DataHow
from tidings.ingest.read import Source as DataSource
from tidings.ingest.read import read as read_data
from tidings.ontology import Ontology
from tidings.ontology.serial import of_bytes, to_bytes
from tidings.ontology.validate import departure
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.jsonld import Contexts
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.rdf.read import EventsBy, Report, read_events
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
    group: bool = False
    limits: Limits = DEFAULT_LIMITS
    contexts: Contexts | None = None
    data: DataHow | None = None
    """How documents that are no RDF become events; `format` is then one of `ingest.registry`."""

    validate: Ontology | None = None
    """Events that the concept model of this ontology rules out are problems."""

    def __reduce__(self) -> tuple[Any, ...]:
        """A worker makes the ontology once, and not for every task."""
        given = tuple(getattr(self, each.name) for each in fields(self))[:-1]
        return _received, (*given, None if self.validate is None else to_bytes(self.validate))


def _received(*given: Any) -> Reading:
    *others, ontology = given
    named = dict(zip((each.name for each in fields(Reading)), others, strict=False))
    return Reading(**named, validate=None if ontology is None else _made(ontology))


_made = lru_cache(maxsize=2)(of_bytes)


def read_stage(reading: Reading) -> Callable[[Batches], Batches]:
    """From (path) to events: each path is a document."""

    def stage(batches: Batches) -> Batches:
        rows = Rows()
        for batch in batches:
            for path in batch["path"].to_pylist():
                yield from rows.take(_events(_document(path, reading), reading, rows.problem))
        yield from rows.rest()

    return stage


class Message(NamedTuple):
    """A document that is no file; its rows have this source."""

    value: bytes
    source: str
    published: datetime | None
    format: str | None = None
    """Where it is not that of the `Reading`."""


def message_stage(reading: Reading) -> Callable[[Batches], Batches]:
    """From (value, published, source) to events: each value is a document."""

    def messages(batches: Batches) -> Iterator[Message | EventError]:
        for batch in batches:
            for value, published, source in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if value is None:
                    yield EventError("the message is null", source=source)
                else:
                    yield Message(value, source, published)

    return lambda batches: read_messages(messages(batches), reading)


def read_messages(messages: Iterable[Message | EventError], reading: Reading) -> Batches:
    """The events of messages; an error stands where a message is none."""
    rows = Rows()
    for message in messages:
        if isinstance(message, EventError):
            rows.problem(message)
            continue
        how = reading if message.format is None else replace(reading, format=message.format)
        events = _events(message.value, how, partial(rows.problem, name=message.source))
        yield from rows.take(events, message.source, message.published)
    yield from rows.rest()


def _events(source: Source, reading: Reading, report: Report) -> Iterator[Event]:
    if reading.data is not None:
        events = read_data(cast(DataSource, source), reading.data, format=reading.format, report=report)
    else:
        events = read_events(
            source,
            report=report,
            format=reading.format,
            by=reading.by,
            strict=reading.strict,
            group=reading.group,
            limits=reading.limits,
            contexts=reading.contexts,
        )
    return events if reading.validate is None else valid(events, reading.validate, report)


def valid(events: Iterable[Event], ontology: Ontology, report: Report) -> Iterator[Event]:
    """The events that keep to the concept model."""
    for event in events:
        reason = departure(event.triples(), ontology)
        if reason is None:
            yield event
        else:
            report(EventError(f"{reason} (event {event.id})", source=event.source))


def valid_stage(reading: Reading) -> Callable[[Batches], Batches]:
    """From what was read to the same, where events that depart from the concept model are problems."""

    def stage(batches: Batches) -> Batches:
        rows = Rows()
        ontology = reading.validate
        assert ontology is not None
        for batch in batches:
            for row in batch.to_pylist():
                if row["reason"] is not None:
                    rows.again(row)
                    continue
                event = Event(row["event"], row["body"], row["source"])
                yield from rows.take(valid([event], ontology, rows.problem), row["source"], row["published"])
        yield from rows.rest()

    return stage


def _document(path: str, reading: Reading) -> Source:
    """A file by its name or its address: of this machine, or of a store that Arrow knows."""
    parts = urlsplit(path)
    if parts.scheme in ("", "file"):
        return path.removeprefix("file://") if path.startswith("file://") else path.removeprefix("file:")
    if reading.data is not None:
        return _opened(path)
    format = Format.of(reading.format) if reading.format else Format.of_path(parts.path)
    if format is None:
        return path
    return Document(path, format, path, lambda: _opened(path))


def _opened(path: str) -> BinaryIO:
    store, place = fs.FileSystem.from_uri(path)
    return cast(BinaryIO, store.open_input_file(place))


class Rows:
    """Rows on their way into a batch. There may be many documents in one, and many batches in a document."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._letters = 0

    def take(self, events: Iterable[Event], name: str | None = None, published: datetime | None = None) -> Batches:
        """The events of a document; `name` is what the rows call it. Problems come in between, as they are told."""
        for event in events:
            self._event(event, name, published)
            if self._letters > _LETTERS or len(self._rows) >= _ROWS:
                yield self._batch()

    def problem(self, error: EventError, name: str | None = None) -> None:
        line, column = (error.span.line, error.span.column) if error.span else (None, None)
        self._rows.append((None, None, None, name or error.source, line, column, error.reason))

    def again(self, row: Mapping[str, Any]) -> None:
        """One that is a row already."""
        self._rows.append(tuple(row[name] for name in READ_ROWS.names))

    def rest(self) -> Batches:
        if self._rows:
            yield self._batch()

    def _event(self, event: Event, name: str | None, published: datetime | None) -> None:
        self._letters += len(event.body)
        self._rows.append((event.id, published, event.body, name or event.source, None, None, None))

    def _batch(self) -> pa.RecordBatch:
        columns = list(zip(*self._rows, strict=True))
        self._rows, self._letters = [], 0
        arrays = [pa.array(values, field.type) for values, field in zip(columns, READ_ROWS, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=READ_ROWS)
