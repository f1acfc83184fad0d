"""Files and compiled subscriptions to matches, at one go: what `tidings match --engine spark` runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from os import path
from typing import NamedTuple, Unpack

from tidings.errors import EventError, Span
from tidings.spark.events import How, events_in, problems_in, read_documents
from tidings.spark.matching import counted_hits
from tidings.spark.sessions import session
from tidings.spark.versions import Version


class Hit(NamedTuple):
    """A match; or a failure, where there is a reason; or a number of candidates."""

    subscription: str | None
    event: str | None
    source: str | None
    bindings: str | None
    reason: str | None
    candidates: int | None


class BatchMatch:
    """The documents are read once, when this is made, and kept until it is closed."""

    def __init__(self, sources: Sequence[str], **how: Unpack[How]) -> None:
        self._spark = session("tidings match")
        self._accepted = datetime.now(UTC)
        self._read = read_documents(self._spark, sources, **how).persist()
        self.events = events_in(self._read).count()

    def problems(self) -> Iterator[EventError]:
        for row in problems_in(self._read).toLocalIterator():
            span = None if row.line is None else Span(row.line, row.column)
            yield EventError(row.reason, span=span, source=row.source)

    def hits(self, index: str, *, bindings: bool, budget: int) -> Iterator[Hit]:
        """What becomes of the events with the subscriptions of an index. Times are not looked at."""
        version = Version(path.abspath(index), bare=True, budget=budget)
        events = events_in(self._read)
        found = counted_hits(events, version, bindings=bindings, accepted=self._accepted, source=True)
        for row in found.select(*Hit._fields).toLocalIterator():
            yield Hit(*row)

    def close(self) -> None:
        self._read.unpersist()
