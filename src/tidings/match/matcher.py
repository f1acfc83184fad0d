"""The public matcher: texts and events of any kind in front, one of the registered engines behind."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from mmap import mmap
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from tidings.errors import EventError, UsageError
from tidings.lang import parse
from tidings.lang.pattern import Dialect, Query
from tidings.match.base import Failure, Match
from tidings.match.registry import DEFAULT, create
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import events_of, read_events
from tidings.rdf.sources import compression

if TYPE_CHECKING:
    import pyarrow as pa

    from tidings.match.fast import Fast

_MAGIC = 4
_MOST_EVENTS = 256
_MOST_TEXT = 1 << 20

Bytes: TypeAlias = "bytes | bytearray | memoryview | mmap | pa.Buffer"
Row: TypeAlias = tuple[str, str | Query] | tuple[str, str | Query, Dialect]

_log = logging.getLogger("tidings")


def _log_failure(failure: Failure) -> None:
    _log.warning(
        "subscription %s could not be evaluated on event %s: %s", failure.subscription, failure.event, failure.reason
    )


class Matcher:
    """Standing subscriptions, asked about one event after another.

    `name` is one of the registered matchers, all of which give the same answers. A subscription that fails on an event
    goes to `on_failure` (by default, to the log) and costs nothing else. With `fast`, the default, any number of
    threads may match, add and remove at once.
    """

    def __init__(
        self,
        name: str = DEFAULT,
        ontology: Ontology | None = None,
        *,
        on_failure: Callable[[Failure], None] = _log_failure,
        **options: Any,
    ) -> None:
        self._engine = create(name, ontology or Ontology.empty(), **options)
        self._on_failure = on_failure
        self._changes = RLock()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        ontology: Ontology | None = None,
        *,
        verify: bool = False,
        on_failure: Callable[[Failure], None] = _log_failure,
        **options: Any,
    ) -> Self:
        """A `fast` matcher with the subscriptions of a snapshot, which is mapped into memory and not read.

        The ontology is the one it was compiled with; one that is given must be the same. `verify` reads all data and
        compares their digests. A `SnapshotError` says what is wrong with a snapshot, and what to do.
        """
        from tidings.match.fast import Fast

        matcher = cls.__new__(cls)
        matcher._engine = Fast.open(Path(path), ontology=ontology, verify=verify, **options)
        matcher._on_failure = on_failure
        matcher._changes = RLock()
        return matcher

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what is there now as a snapshot into the folder `path`, in place of one that is there."""
        self._fast("save").save(Path(path))

    def replace_ontology(self, ontology: Ontology) -> tuple[str, ...]:
        """Go on with another ontology. The ids of the subscriptions that had to be compiled again for it."""
        return self._fast("replace_ontology").replace_ontology(ontology)

    @property
    def name(self) -> str:
        return self._engine.name

    def __len__(self) -> int:
        return len(self._engine)

    def __contains__(self, id: object) -> bool:
        return id in self._engine

    def add(self, id: str, query: str | Query, dialect: Dialect = "sparql") -> None:
        """Take a subscription, as text in `dialect` or as a form that `tidings.parse` made."""
        form = _form(id, query, dialect)
        with self._changes:
            self._check_new(id)
            self._engine.add(id, form)

    def add_many(self, rows: Iterable[Row]) -> None:
        """Take many: (id, text) or (id, text, dialect).

        The first row that is no subscription, or has an id that is there, raises its error; those before it stay.
        """
        if self.name == DEFAULT:
            self._fast("add_many").add_many(self._forms(rows))
        else:
            for id, form in self._forms(rows):
                self._engine.add(id, form)

    def _forms(self, rows: Iterable[Row]) -> Iterator[tuple[str, Query]]:
        for number, row in enumerate(rows):
            if not isinstance(row, Sequence) or isinstance(row, str) or len(row) not in (2, 3):
                raise UsageError(f"row {number} is not (id, text) or (id, text, dialect): {row!r:.100}")
            id = row[0]
            form = _form(id, row[1], row[2] if len(row) == 3 else "sparql")
            # Until the engine asks for the next row, it has not taken this one.
            with self._changes:
                self._check_new(id)
                yield id, form

    def remove(self, id: str) -> None:
        with self._changes:
            if id not in self._engine:
                raise UsageError(f"there is no subscription {id!r}")
            self._engine.remove(id)

    def match(self, event: Any, format: str | None = None) -> list[Match]:
        """The matches of one event: an `Event`, a path, bytes with their format, pyoxigraph quads or an rdflib graph.

        A document of several events gives the matches of each, in order.
        """
        if isinstance(event, Event):
            return self._engine.match(event, self._on_failure)
        return list(self.match_many(events_of(event, format=format)))

    def match_many(self, events: Iterable[Event]) -> Iterator[Match]:
        """The matches of each event in turn. Events of a list are matched many at a time, others as they come."""
        if self.name == DEFAULT and isinstance(events, Sequence):
            engine = self._fast("match_many")
            for several in _batches(events):
                yield from engine.match_batch(several, self._on_failure)
        else:
            for event in events:
                yield from self._engine.match(event, self._on_failure)

    def match_nquads(self, data: Bytes, *, on_error: Callable[[EventError], None] | None = None) -> pa.Table:
        """The matches of many events in N-Quads, each contiguous, as a table of (event, subscription).

        Events are in the order of the data, the subscriptions of one in no particular order. An event that cannot be
        read raises its `EventError`; with `on_error` that goes there, and the other events are matched.
        """
        import pyarrow as pa

        view = _bytes_of(data)
        report = on_error or _raise
        if self.name == DEFAULT and not compression(view[:_MAGIC].tobytes()):
            from tidings.match.fast.table import match_table

            return match_table(self._fast("match_nquads"), view, report, self._on_failure)
        matches = list(self.match_many(read_events([view.tobytes()], format="nq", report=report)))
        columns = {"event": [m.event for m in matches], "subscription": [m.subscription for m in matches]}
        return pa.table(columns, schema=pa.schema([("event", pa.string()), ("subscription", pa.string())]))

    def stats(self) -> dict[str, int | float]:
        """Counters since the start: what each means depends on the matcher."""
        return {"subscriptions": len(self), **self._engine.stats()}

    def _check_new(self, id: str) -> None:
        if id in self._engine:
            raise UsageError(f"there is a subscription {id!r} already; remove it first")

    def _fast(self, what: str) -> Fast:
        """The engine, where it is the one that can do this."""
        if self.name != DEFAULT:
            raise UsageError(f"the matcher '{self.name}' has no {what}: only '{DEFAULT}' has")
        return cast("Fast", self._engine)


def _batches(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """Up to so many events with up to so much text, but one at least."""
    first = size = 0
    for number, event in enumerate(events):
        if number > first and (number - first == _MOST_EVENTS or size + len(event.body) > _MOST_TEXT):
            yield events[first:number]
            first, size = number, 0
        size += len(event.body)
    if first < len(events):
        yield events[first:]


def _form(id: str, query: str | Query, dialect: Dialect) -> Query:
    if not isinstance(id, str):
        raise UsageError(f"the id of a subscription is a string, and not {id!r:.100}")
    return parse(query, dialect, source=id) if isinstance(query, str) else query


def _bytes_of(data: Bytes) -> memoryview:
    try:
        view = memoryview(cast(Any, data))
    except TypeError:
        raise UsageError(f"N-Quads come as bytes, and not as {type(data).__name__}") from None
    return view.cast("B") if view.contiguous else memoryview(view.tobytes())


def _raise(error: EventError) -> None:
    raise error
