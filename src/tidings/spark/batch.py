"""Files and compiled subscriptions to matches, at one go: what `tidings match --engine spark` runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, Unpack

from tidings.errors import EventError, Span
from tidings.spark.compiled import Fixed
from tidings.spark.events import How, events_in, problems_in, read_documents, read_parts
from tidings.spark.matching import counted_hits
from tidings.spark.sessions import session


class Hit(NamedTuple):
    """A match; or a failure, where there is a reason; or a number of candidates."""

    subscription: str | None
    event: str | None
    source: str | None
    bindings: str | None
    reason: str | None
    candidates: int | None


class BatchMatch:
    """The documents are read once, when this is made, and kept until it is closed.

    With `chained`, an event may have its parts in several of them.
    """

    def __init__(self, sources: Sequence[str], *, chained: bool = False, **how: Unpack[How]) -> None:
        self._spark = session("tidings match")
        self._accepted = datetime.now(UTC)
        self._strategy = "chained" if chained else "one-step"
        read = read_parts if chained else read_documents
        self._read = read(self._spark, sources, **how).persist()
        events = events_in(self._read).select("event")
        self.events = (events.distinct() if chained else events).count()

    def problems(self) -> Iterator[EventError]:
        for row in problems_in(self._read).toLocalIterator():
            span = None if row.line is None else Span(row.line, row.column)
            yield EventError(row.reason, span=span, source=row.source)

    def hits(self, index: str, *, bindings: bool, budget: int, shards: int | None = None) -> Iterator[Hit]:
        """What becomes of the events with the subscriptions of an index. Times are not looked at."""
        version = Fixed(index, shards=shards).version._replace(budget=budget)
        events = events_in(self._read)
        found = counted_hits(
            events, version, strategy=self._strategy, bindings=bindings, accepted=self._accepted, source=True
        )
        for row in found.select(*Hit._fields).toLocalIterator():
            yield Hit(*row)

    def close(self) -> None:
        self._read.unpersist()
