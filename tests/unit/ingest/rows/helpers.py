"""What tests of rows need: documents from bytes, events out of batches, and an event made the slow way."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from tidings.errors import EventError
from tidings.ingest.base import SCHEMA, How, Input
from tidings.ingest.registry import converter
from tidings.rdf.event import Event
from tidings.rdf.identity import id_of
from tidings.rdf.sources import Stream
from tidings.rdf.terms import Term, iri

Told: TypeAlias = list[Event]


def drained(batches: Iterable[pa.RecordBatch]) -> list[Event]:
    """The events of batches; each batch is as it must be."""
    found: list[Event] = []
    for batch in batches:
        assert batch.schema == SCHEMA
        assert batch.num_rows > 0
        batch.validate(full=True)
        rows = batch.to_pylist()
        found += [Event(row["event"], row["body"], row["source"]) for row in rows]
    return found


def converted(
    kind: str, data: bytes, how: How | None = None, told: list[EventError] | None = None, *, name: str = "x"
) -> list[Event]:
    """The events of a document. Without `told`, nothing may be wrong with it."""
    errors: list[EventError] = []
    with Stream(name, io.BytesIO(data)) as stream:
        events = drained(converter(kind)(Input(name, stream), how or How(), errors.append))
    if told is None:
        assert errors == []
    else:
        told += errors
    return events


def by_hand(subject: str, values: Mapping[str, Iterable[Term]]) -> Event:
    """The event of a record by the plain way: properties below the base and their terms."""
    triples = [(iri(subject), iri(name), term) for name, terms in values.items() for term in terms]
    body = Event.of("", triples).body
    return Event(id_of(body), body, "x")


def only(events: list[Event]) -> str:
    (event,) = events
    return event.body


def lines(event: Event) -> list[str]:
    return event.body.splitlines()


def reasons(told: Iterable[Any]) -> list[tuple[int | None, str]]:
    return [(each.line, each.reason) for each in told]
