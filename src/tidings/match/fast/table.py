"""All matches of N-Quads that are in memory, as a table: the fast lane from bytes to columns."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tidings.index.arrays import Bytes, Ints
from tidings.index.columns import EventNames, column
from tidings.index.kernels.gather import rows_that
from tidings.index.kernels.join import YES
from tidings.index.scanner import padded
from tidings.match.base import Report
from tidings.match.fast.engine import Fast, View
from tidings.match.fast.lane import Batch, Lane, ReportError, say, triples_in, verified
from tidings.match.fast.text import WholeText
from tidings.rdf.event import Event
from tidings.rdf.identity import fingerprint
from tidings.rdf.limits import DEFAULT_LIMITS
from tidings.rdf.seen import Verdict

SOURCE = "bytes"
_ELSEWHERE = -1
_WAITING = 1 << 18
"""The letters of events that `rdf/` read and that wait to be matched together."""

_MOST_CHUNKS = 64


def match_table(engine: Fast, data: memoryview, report: ReportError, failed: Report) -> pa.Table:
    """The matches as (event, subscription): events in the order of the data, an event's subscriptions in any."""
    text = WholeText(data, DEFAULT_LIMITS)
    table = _TableLane(engine, text, report, failed).table()
    text.let_go()
    return table


class _Piece(NamedTuple):
    """Rows of the table: the numbers of their events, in order, and the columns."""

    numbers: Ints
    events: pa.ChunkedArray
    subscriptions: pa.ChunkedArray

    def rows(self, first: int, last: int) -> _Piece:
        size = last - first
        return _Piece(self.numbers[first:last], self.events.slice(first, size), self.subscriptions.slice(first, size))


def _in_order(pieces: list[_Piece], later: list[_Piece]) -> list[_Piece]:
    """All pieces by event. Those that were matched `later` have events from between the others."""
    starts = [int(piece.numbers[0]) for piece in pieces]
    for piece in later:
        cuts = [0, *np.searchsorted(piece.numbers, starts).tolist(), piece.numbers.size]
        pieces = pieces + [piece.rows(first, last) for first, last in pairwise(cuts) if first < last]
    return sorted(pieces, key=lambda piece: int(piece.numbers[0]))


def _table(pieces: list[_Piece]) -> pa.Table:
    events = pa.chunked_array([chunk for piece in pieces for chunk in piece.events.chunks], pa.string())
    subscriptions = pa.chunked_array([chunk for piece in pieces for chunk in piece.subscriptions.chunks], pa.string())
    table = pa.table([events, subscriptions], names=("event", "subscription"))
    return table if len(pieces) <= _MOST_CHUNKS else table.combine_chunks()


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


class _TableLane(Lane[_Piece]):
    def __init__(self, engine: Fast, text: WholeText, report: ReportError, failed: Report) -> None:
        self._seen = _SeenInText(text)
        self._waiting: list[Event] = []
        self._later: list[_Piece] = []
        super().__init__(engine, text, SOURCE, DEFAULT_LIMITS, self._seen, report, failed)

    def table(self) -> pa.Table:
        pieces = [piece for piece in self.results() if piece.numbers.size]
        self._match_waiting()
        return _table(_in_order(pieces, self._later))

    def _taken(self, view: View, batch: Batch) -> _Piece:
        skipped = self._spoilt(batch)
        names, new = self._seen.take(batch, skipped)
        for event in np.flatnonzero((new | skipped) == 0).tolist():
            # It came before: the same again, or a conflict to tell.
            assert not list(self._finisher.events([batch.draft(event)]))
        return self._rows(view, batch.answers, names, new, batch.event)

    def _matched(self, events: Iterator[Event]) -> Iterator[_Piece]:
        """They wait for others: a run of the kernels for each would take longer than their reading."""
        self._waiting += events
        if sum(len(event.body) for event in self._waiting) > _WAITING:
            self._match_waiting()
        return iter(())

    def _match_waiting(self) -> None:
        events, self._waiting = self._waiting, []
        if not events:
            return
        bodies = [event.body.encode() for event in events]
        names = np.array([self._seen.names.number(event.id)[0] for event in events], np.int32)
        with self._holding() as held, self._engine.reading() as view:
            run = view.run(padded(b"".join(bodies)), np.cumsum(list(map(len, bodies))), trusted=True, quads=False)
            if not run.odd:
                piece = self._rows(view, run.answers, names, np.ones(len(events), np.uint8), events.__getitem__)
        if run.odd:
            # One has a text that the kernels do not read.
            piece = self._piece_of(events, names)
        else:
            self._engine.count(visited=run.visited, candidates=run.candidates)
        say(held)
        if piece.numbers.size:
            self._later.append(piece)

    def _piece_of(self, events: list[Event], names: Ints) -> _Piece:
        found = [self._engine.match(event, self._fail) for event in events]
        numbers = np.repeat(names, [len(matches) for matches in found])
        ids = pa.array([match.subscription for matches in found for match in matches], pa.string())
        return _Piece(numbers, column([self._seen.names.texts()], numbers), pa.chunked_array([ids]))

    def _rows(self, view: View, answers: Ints, names: Ints, kept: Bytes, event_of: Callable[[int], Event]) -> _Piece:
        """The rows of these events. Names are numbered in the order of the events."""
        events, numbers = np.empty(len(answers), np.int32), np.empty(len(answers), np.int32)
        size = rows_that(answers.reshape(-1), YES, names, kept, events, numbers)
        events, numbers = events[:size], numbers[:size]
        more = [] if size == len(answers) else list(verified(view, answers, kept, event_of, self._fail))
        if more:
            events = np.append(events, np.array([names[event] for event, those in more for _ in those], np.int32))
            numbers = np.append(numbers, np.array([number for _, those in more for number in those], np.int32))
            order = np.argsort(events, kind="stable")
            events, numbers = events[order], numbers[order]
        self._engine.count(events=int(kept.sum()), matches=events.size)
        return _Piece(events, column([self._seen.names.texts()], events), view.ids(numbers))
