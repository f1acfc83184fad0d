"""One event after the other, as its quads come: the operator that keeps what has come so far in Spark's state.

An event is open from its first part on, until a part says that it was the last one, or the time-out is over. A mark
that it is closed stays for a while, so that what comes then is known to be late. The state of an event is changed by
the batch that brings something for it, and by the batch in which its time is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from tidings.errors import EventError
from tidings.rdf.identity import PREFIX
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.spark.chained.choosing import Choose, Chosen
from tidings.spark.chained.parts import Part, excess, lines_of, part_of, whole
from tidings.spark.chained.schema import CLOSED, ENDED, FIRED, LATE, NAMES, PART, PROBLEM, REFUSED, TIMED_OUT

if TYPE_CHECKING:
    from tidings.spark.chained.deciding import Decided

NOBODY = ""
"""What stands for the event where there is none."""

_MARKED = 6
"""A closed event is known as such for so many time-outs."""

_OPEN = (
    "body string, source string, published long, until long, fired array<string>, failed array<string>, version string"
)
_CLOSED = "how string"
_START = datetime(1970, 1, 1, tzinfo=UTC)
Parts: TypeAlias = Sequence[tuple[Part, Row]]


@dataclass(frozen=True, slots=True)
class Following:
    """How long events stay open. With `bindings` notifications carry all solutions, and are made when events close."""

    timeout: timedelta
    bindings: bool = False
    limits: Limits = DEFAULT_LIMITS

    @property
    def milliseconds(self) -> int:
        return max(1, round(self.timeout.total_seconds() * 1_000))


@dataclass(slots=True)
class SoFar:
    """What is kept of an open event: see `_OPEN`. `until` is when its time is over, `version` which subscriptions were
    asked about it last.
    """

    body: str
    source: str | None
    published: int | None
    until: int
    fired: list[str]
    failed: list[str]
    version: str

    def take(self, parts: Parts) -> bool:
        """Have these parts too. Whether there is anything new in them."""
        before, moment = lines_of(self.body), self.published
        lines = {*before, *(line for part, _ in parts for line in part.lines)}
        self.body = whole(lines)
        self.source = min(_there([self.source, *(row.source for _, row in parts)]), default=None)
        self.published = min(_there([self.published, *(row.published for _, row in parts)]), default=None)
        return len(lines) > len(before) or self.published != moment

    @property
    def triples(self) -> int:
        return self.body.count("\n")


def _there(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


class Follow(StatefulProcessor):
    """Rows of `streams.keyed`, by event, in; rows of `schema.TOLD_INSIDE` out."""

    def __init__(self, choose: Choose, how: Following) -> None:
        self._choose = choose
        self._how = how
        self._chosen: Chosen | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._open = handle.getValueState("open", _OPEN)
        self._closed = handle.getValueState("closed", _CLOSED, ttlDurationMs=_MARKED * self._how.milliseconds)

    def close(self) -> None:
        """Nothing is left open."""

    def handleInputRows(self, key: Any, rows: Any, timerValues: TimerValues) -> Iterator[Row]:
        event: str = key[0]
        if event == NOBODY:
            for row in rows:
                reason = row.reason or "the event has no id"
                yield _told(PROBLEM, source=row.source, line=row.line, column=row.column, reason=reason)
            return
        parts: list[tuple[Part, Row]] = []
        for row in rows:
            try:
                parts.append((part_of(event, row.body), row))
            except EventError as error:
                yield _told(PROBLEM, event, source=row.source, reason=error.reason)
        if not any(part.lines or part.ends for part, _ in parts):
            return
        closed = self._closed.get()
        if closed is None:
            yield from self._taken(event, parts, timerValues.getCurrentProcessingTimeInMs())
        elif not event.startswith(PREFIX):
            # Of those without a name, the same one came again.
            yield from (_of_part(LATE, event, part, row, reason=closed[0]) for part, row in parts if part.lines)

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[Row]:
        event: str = key[0]
        kept = self._open.get()
        if kept is not None:
            so_far = SoFar(*kept)
            yield from self._fired(event, so_far, timerValues.getCurrentProcessingTimeInMs(), new=False, last=True)
            yield self._over(CLOSED, event, so_far, TIMED_OUT, opened=-1)

    def _taken(self, event: str, parts: Parts, now: int) -> Iterator[Row]:
        kept = self._open.get()
        so_far = SoFar("", None, None, now + self._how.milliseconds, [], [], "") if kept is None else SoFar(*kept)
        new = so_far.take(parts)
        ends = any(part.ends for part, _ in parts)
        wrong = excess(so_far.body, so_far.triples, self._how.limits)
        if ends and not so_far.body:
            wrong = "the event ended before any quad of it came"
        stays = not ends and wrong is None
        if kept is not None or stays:
            # One that is whole at once is told of as a whole alone.
            for number, (part, row) in enumerate((part, row) for part, row in parts if part.lines):
                yield _of_part(PART, event, part, row, opened=int(kept is None and number == 0))
        if wrong is None:
            yield from self._fired(event, so_far, now, new=new, last=ends)
        if stays:
            self._open.update(astuple(so_far))
            if kept is None:
                self._handle.registerTimer(so_far.until)
            return
        if kept is not None:
            self._handle.deleteTimer(so_far.until)
        opened = 0 if kept is None else -1
        if wrong is None:
            yield self._over(CLOSED, event, so_far, ENDED, opened=opened)
        else:
            yield self._over(PROBLEM, event, so_far, wrong, opened=opened)

    def _fired(self, event: str, so_far: SoFar, now: int, *, new: bool, last: bool) -> Iterator[Row]:
        """What fires by now. Where nothing is new, neither of the event nor of the subscriptions, nothing does."""
        if self._how.bindings and not last:
            return
        if self._chosen is None:
            self._chosen = self._choose(now)
        version = repr(tuple(self._chosen.version))
        if not new and version == so_far.version:
            return
        so_far.version = version
        # See `choosing`.
        from tidings.spark.chained.deciding import decide

        fired, failed = set(so_far.fired), set(so_far.failed)
        for each in decide(self._chosen, event, so_far.body, so_far.published, self._how.bindings):
            if each.subscription not in (fired if each.reason is None else failed):
                (so_far.fired if each.reason is None else so_far.failed).append(each.subscription)
                yield _of_decided(event, so_far.published, each)

    def _over(self, kind: str, event: str, so_far: SoFar, reason: str, *, opened: int) -> Row:
        """The event is no longer open, for this reason."""
        self._open.clear()
        self._closed.update((reason if kind == CLOSED else REFUSED,))
        body = so_far.body if kind == CLOSED else None
        return _told(
            kind,
            event,
            published=so_far.published,
            body=body,
            source=so_far.source,
            reason=reason,
            triples=so_far.triples,
            opened=opened,
        )


def _of_part(kind: str, event: str, part: Part, row: Row, **more: Any) -> Row:
    body, triples = whole(part.lines), len(part.lines)
    return _told(kind, event, published=row.published, body=body, source=row.source, triples=triples, **more)


def _of_decided(event: str, published: int | None, decided: Decided) -> Row:
    subscription, bindings, reason = decided
    if reason is not None:
        return _told(PROBLEM, event, subscription=subscription, published=published, reason=reason)
    now = (datetime.now(UTC) - _START) // timedelta(microseconds=1)
    return _told(FIRED, event, subscription=subscription, published=published, matched=now, bindings=bindings)


def _told(kind: str, event: str | None = None, **values: Any) -> Row:
    return Row(**{**dict.fromkeys(NAMES), "kind": kind, "event": event, **values})
