"""What every converter takes and gives: a document that is no RDF, how to read it, and events in batches.

A converter is a function of an `Input` and a `How`. It yields Arrow batches of the columns of `SCHEMA`, a batch at a
time in bounded memory, and tells of what it could not read; what is wrong with one record costs no other.

An event of a converter has no name of its own: its id is made of what it says (see `rdf.identity`), so a record that
comes again unchanged is the same event, and one that has changed is another. What a record *is about*, its subject, is
an IRI that stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyoxigraph as ox

from tidings.errors import EventError, UsageError
from tidings.rdf.event import Event
from tidings.rdf.identity import PREFIX, id_of
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.rdf.sources import Stream
from tidings.rdf.terms import Term, Triple, format_triple

SCHEMA = pa.schema([("event", pa.string()), ("body", pa.string()), ("source", pa.string())])
"""The id of an event, its body as in `rdf.event.Event`, and the document it came from."""

Report: TypeAlias = Callable[[EventError], None]

DATA = "urn:tidings:data:"
"""Below this are the IRIs of what has none, where the user names no base."""


@dataclass(frozen=True, slots=True)
class How:
    """What a user says of how a document becomes events. Every converter says which of these it uses.

    `base`: IRIs of properties, classes and records are made below it.
    `key`: the columns or members whose values make the IRI of a record's subject.
    `classes`: IRIs; every record's subject is one of each.
    `home`: the subject of a record is the home vertex `_:H`, and its IRI, if it has one, is dcterms:identifier.
    `record`: in a tree, the path of what is one event.
    `mapping`: a mapping (CSVW, R2RML, RML), as its text; `mapping_format` is what that is written in.
    `context`: a JSON-LD context, as JSON.
    `options`: what only one converter knows.
    """

    base: str = DATA
    key: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    home: bool = False
    record: str | None = None
    mapping: bytes | None = None
    mapping_format: str | None = None
    context: str | None = None
    limits: Limits = DEFAULT_LIMITS
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for iri in (self.base, *self.classes):
            try:
                ox.NamedNode(iri)
            except ValueError as error:
                raise UsageError(f"{iri!r:.100} is no absolute IRI") from error


@dataclass(frozen=True, slots=True)
class Input:
    """One document: its name, as problems tell it, the address that it came from where there is one, and its bytes,
    unpacked."""

    name: str
    stream: Stream
    address: str | None = None


Converter: TypeAlias = Callable[[Input, How, Report], Iterator[pa.RecordBatch]]

_ROWS = 1_000
_CHARACTERS = 4 << 20
_PREFIX = PREFIX.encode()
_NONE: Iterator[pa.RecordBatch] = iter(())


class Batches:
    """Gathers events, one at a time, into batches: for converters that are not columnar."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._ids: list[bytes] = []
        self._bodies: list[bytes] = []
        self._size = 0

    def add(self, triples: list[Triple], limits: Limits) -> Iterator[pa.RecordBatch]:
        """Take an event; a batch, when that makes one. An `EventError` where the event cannot be one."""
        event = event_of(triples, limits, self._source)
        return self._take(event.id.encode(), event.body.encode(), len(event.body))

    def add_body(self, body: str, limits: Limits) -> Iterator[pa.RecordBatch]:
        """The same from its body: lines of canonical N-Triples, sorted and without repeats."""
        if len(body) > limits.max_event:
            raise EventError("the event is too large", source=self._source)
        data = body.encode()
        if "_" in body and "_:" in body:
            id = id_of(body, limits.max_canonical_steps).encode()
        else:
            id = _PREFIX + sha256(data).hexdigest().encode()
        return self._take(id, data, len(body))

    def _take(self, id: bytes, body: bytes, size: int) -> Iterator[pa.RecordBatch]:
        self._ids.append(id)
        self._bodies.append(body)
        self._size += size
        return self.rest() if len(self._ids) >= _ROWS or self._size >= _CHARACTERS else _NONE

    def rest(self) -> Iterator[pa.RecordBatch]:
        if self._ids:
            yield _batch(_strings(self._ids), _strings(self._bodies), self._source)
        self._ids, self._bodies, self._size = [], [], 0


def event_of(triples: list[Triple], limits: Limits, source: str) -> Event:
    """These triples as an event that is called by what it says."""
    lines = {format_triple(triple) for triple in triples}
    check_triples(len(lines), limits, source)
    body = "".join(sorted(lines))
    if len(body) > limits.max_event:
        raise EventError("the event is too large", source=source)
    return Event(id_of(body, limits.max_canonical_steps, triples), body, source)


def check_triples(count: int, limits: Limits, source: str) -> None:
    if count > limits.max_triples:
        raise EventError(f"an event may have {limits.max_triples:,} triples, and this has more", source=source)


def _batch(ids: pa.Array, bodies: pa.Array, source: str) -> pa.RecordBatch:
    return pa.record_batch([ids, bodies, pa.repeat(pa.scalar(source, pa.string()), len(ids))], schema=SCHEMA)


def _strings(texts: list[bytes]) -> pa.Array:
    """Texts in UTF-8, which need not be looked at again."""
    places = np.zeros(len(texts) + 1, np.int32)
    np.cumsum(list(map(len, texts)), out=places[1:])
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(places), pa.py_buffer(b"".join(texts)))


def subject_iri(base: str, path: str) -> Term:
    """The IRI of a record below the base; `path` is percent-encoded already."""
    return Term(f"<{base}{path}>")
