"""The public matcher: texts and events of any kind in front, one of the registered engines behind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tidings.errors import EventError, UsageError
from tidings.lang import parse
from tidings.lang.pattern import Dialect, Query
from tidings.match.base import Failure, Match
from tidings.match.registry import create
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import events_of, read_events

if TYPE_CHECKING:
    import pyarrow as pa

_log = logging.getLogger("tidings")


def _log_failure(failure: Failure) -> None:
    _log.warning(
        "subscription %s could not be evaluated on event %s: %s", failure.subscription, failure.event, failure.reason
    )


class Matcher:
    """Standing subscriptions, asked about one event after another.

    `name` is one of the registered matchers, all of which give the same answers. A subscription that fails on an event
    goes to `on_failure` (by default, to the log) and costs nothing else.
    """

    def __init__(
        self,
        name: str = "naive",
        ontology: Ontology | None = None,
        *,
        on_failure: Callable[[Failure], None] = _log_failure,
        **options: Any,
    ) -> None:
        self._engine = create(name, ontology or Ontology.empty(), **options)
        self._ids: set[str] = set()
        self._on_failure = on_failure

    @property
    def name(self) -> str:
        return self._engine.name

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: str) -> bool:
        return id in self._ids

    def add(self, id: str, query: str | Query, dialect: Dialect = "sparql") -> None:
        """Take a subscription, as text in `dialect` or as a form that `tidings.parse` made."""
        if id in self._ids:
            raise UsageError(f"there is a subscription {id!r} already; remove it first")
        self._engine.add(id, parse(query, dialect, source=id) if isinstance(query, str) else query)
        self._ids.add(id)

    def add_many(self, rows: Iterable[tuple[str, str | Query] | tuple[str, str | Query, Dialect]]) -> None:
        """Take many: (id, text) or (id, text, dialect)."""
        for row in rows:
            self.add(*row)

    def remove(self, id: str) -> None:
        if id not in self._ids:
            raise UsageError(f"there is no subscription {id!r}")
        self._engine.remove(id)
        self._ids.remove(id)

    def match(self, event: Any, format: str | None = None) -> list[Match]:
        """The matches of one event: an `Event`, a path, bytes with their format, pyoxigraph quads or an rdflib graph.

        A document of several events gives the matches of each, in order.
        """
        if isinstance(event, Event):
            return self._engine.match(event, self._on_failure)
        return list(self.match_many(events_of(event, format=format)))

    def match_many(self, events: Iterable[Event]) -> Iterator[Match]:
        """The matches of each event in turn."""
        for event in events:
            yield from self._engine.match(event, self._on_failure)

    def match_nquads(self, data: bytes) -> pa.Table:
        """The matches of many events in N-Quads, each contiguous, as a table of (event, subscription)."""
        import pyarrow as pa

        matches = list(self.match_many(read_events([data], format="nq", report=_raise)))
        columns = {"event": [m.event for m in matches], "subscription": [m.subscription for m in matches]}
        return pa.table(columns, schema=pa.schema([("event", pa.string()), ("subscription", pa.string())]))

    def stats(self) -> dict[str, int | float]:
        """Counters since the start: what each means depends on the matcher."""
        return {"subscriptions": len(self), **self._engine.stats()}


def _raise(error: EventError) -> None:
    raise error
