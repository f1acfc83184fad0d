"""All matches of N-Quads that are in memory, as a table: the fast lane from bytes to columns."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from tidings.index.arrays import Bytes, Ints
from tidings.index.columns import EventNames, column
from tidings.index.kernels.gather import rows_that
from tidings.index.kernels.join import YES
from tidings.index.scanner import padded
from tidings.match.base import Report
from tidings.match.fast.engine import Fast, View
from tidings.match.fast.lane import Batch, Lane, ReportError, say, triples_in
from tidings.match.fast.text import WholeText
from tidings.rdf.event import Event
from tidings.rdf.identity import fingerprint
from tidings.rdf.limits import DEFAULT_LIMITS
from tidings.rdf.seen import Verdict

SOURCE = "bytes"
_ELSEWHERE = -1

Columns: TypeAlias = tuple[pa.ChunkedArray, pa.ChunkedArray]


def match_table(engine: Fast, data: memoryview, report: ReportError, failed: Report) -> pa.Table:
    """The matches as (event, subscription): events in the order of the data, an event's subscriptions in any."""
    text = WholeText(data, DEFAULT_LIMITS)
    results = list(_TableLane(engine, text, report, failed).results())
    text.let_go()
    names = ("event", "subscription")
    columns = [pa.chunked_array([c for r in results for c in r[n].chunks if len(c)], pa.string()) for n in (0, 1)]
    return pa.table(columns, names=names)


class _SeenInText:
    """The events of a document that stays in memory: of most no more is kept than the name and the place."""

    def __init__(self, text: WholeText) -> None:
        self._text = text
        self.names = EventNames()
        self._begins = array("q")
        self._ends = array("q")
        self._fingerprints: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    def take(self, batch: Batch, skipped: Bytes) -> tuple[Ints, Bytes]:
        """The numbers of the batch's events, and which of them are new."""
        numbers, new = self.names.take(batch.data, batch.ends, skipped, int(batch.ends[-1] - batch.begins[0]))
        chosen = new == 1
        self._begins.frombytes((batch.begins[chosen] + batch.shift).tobytes())
        self._ends.frombytes((batch.ends[chosen] + batch.shift).tobytes())
        return numbers, new

    def add(self, id: str, fingerprint: bytes, since: int = 0) -> tuple[Verdict, bool]:
        number, new = self.names.number(id)
        value = int.from_bytes(fingerprint, "little")
        if new:
            self._begins.append(_ELSEWHERE)
            self._ends.append(_ELSEWHERE)
            self._fingerprints[number] = value
            return "new", False
        return ("same" if self._fingerprint(number) == value else "other"), number >= since

    def _fingerprint(self, number: int) -> int:
        if number not in self._fingerprints:
            lines = self._text.lines(self._begins[number], self._ends[number])
            body = "".join(sorted(set(triples_in(lines, self.names.name(number)))))
            self._fingerprints[number] = int.from_bytes(fingerprint(body), "little")
        return self._fingerprints[number]


class _TableLane(Lane[Columns]):
    def __init__(self, engine: Fast, text: WholeText, report: ReportError, failed: Report) -> None:
        self._seen = _SeenInText(text)
        super().__init__(engine, text, SOURCE, DEFAULT_LIMITS, self._seen, report, failed)

    def _taken(self, view: View, batch: Batch) -> Columns:
        skipped = self._spoilt(batch)
        names, new = self._seen.take(batch, skipped)
        for event in np.flatnonzero((new | skipped) == 0).tolist():
            # It came before: the same again, or a conflict to tell.
            assert not list(self._finisher.events([batch.draft(event)]))
        return self._columns(view, batch.answers, names, new, batch.event)

    def _matched(self, events: Iterator[Event]) -> Iterator[Columns]:
        found = list(events)
        if not found:
            return
        bodies = [event.body.encode() for event in found]
        names = np.array([self._seen.names.number(event.id)[0] for event in found], np.int32)
        stops = np.cumsum([len(body) for body in bodies])
        with self._holding() as held, self._engine.reading() as view:
            run = view.run(padded(b"".join(bodies)), stops, trusted=True, quads=False)
            assert not run.odd, "no text that the package writes is odd"
            kept = np.ones(len(found), np.uint8)
            columns = self._columns(view, run.answers, names, kept, found.__getitem__)
        self._engine.count(visited=run.visited, candidates=run.candidates)
        say(held)
        yield columns

    def _columns(
        self, view: View, answers: Ints, names: Ints, kept: Bytes, event_of: Callable[[int], Event]
    ) -> Columns:
        """The rows of these events, in the order of the events."""
        events, numbers = np.empty(len(answers), np.int32), np.empty(len(answers), np.int32)
        size = rows_that(answers.reshape(-1), YES, names, kept, events, numbers)
        events, numbers = events[:size], numbers[:size]
        more = [] if size == len(answers) else list(self._verified(view, answers, kept, event_of))
        if more:
            events = np.append(events, np.array([names[event] for event, those in more for _ in those], np.int32))
            numbers = np.append(numbers, np.array([number for _, those in more for number in those], np.int32))
            # Names are numbered in the order of the events.
            order = np.argsort(events, kind="stable")
            events, numbers = events[order], numbers[order]
        self._engine.count(events=int(kept.sum()), matches=events.size)
        return column([self._seen.names.texts()], events), view.ids(numbers)
