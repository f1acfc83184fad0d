"""Events in a column: the bodies of many, one after the other in one buffer, as a table has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tidings.errors import EventError
from tidings.index.arrays import Ints, Longs
from tidings.index.kernels.gather import rows_that
from tidings.index.kernels.join import YES
from tidings.index.scanner import padded
from tidings.match.base import Failure, Report
from tidings.match.fast.engine import Fast, View
from tidings.match.fast.lane import verified
from tidings.rdf.event import Event
from tidings.rdf.read import read_triples


class Matched(NamedTuple):
    """For each match the row of its event, and the subscription's id; in the order of the rows.

    A subscription's number is as a `View` has it, or -1 where it is not known.
    """

    rows: Ints
    numbers: Ints
    subscriptions: pa.ChunkedArray


Refuse = Callable[[int, EventError], None]
Moment = Callable[[int], str | None]
"""When the event in a row was published, as xsd:dateTime has it."""


def match_bodies(
    engine: Fast, ids: pa.Array, bodies: pa.Array, refused: Refuse, failed: Report, moment: Moment = lambda row: None
) -> Matched:
    """The matches of the events that have these ids and bodies, and were published at these moments.

    A body that is no event is `refused`, by its row.
    """
    return match_column(engine, Column.of_table(ids, bodies, moment), refused, failed)


def match_column(engine: Fast, column: Column, refused: Refuse, failed: Report) -> Matched:
    pieces: list[Matched] = []
    held: list[Failure] = []
    odd: list[int] = []
    with engine.reading() as view:
        start = 0
        while start < column.size:
            done, piece = _run(engine, view, column, start, held.append)
            pieces.append(piece)
            start += done
            if start < column.size:
                odd.append(start)
                start += 1
    for row in odd:
        piece = _one(engine, column, row, refused, held.append)
        if piece.rows.size:
            pieces.append(piece)
    for failure in held:
        failed(failure)
    return _in_order(pieces) if odd else _joined(pieces)


@dataclass(frozen=True, slots=True)
class Column:
    """Bodies as the kernels read them, from each of `starts` to the next, and the events they are of, by row."""

    data: np.ndarray
    starts: Longs
    event: Callable[[int], Event]

    @property
    def size(self) -> int:
        return self.starts.size - 1

    @staticmethod
    def of_table(ids: pa.Array, bodies: pa.Array, moment: Moment = lambda row: None) -> Column:
        size = len(bodies)
        texts = bodies.cast(pa.large_binary())
        offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + size + 1]
        content = texts.buffers()[2]
        whole = b"" if content is None or not size else content[offsets[0] : offsets[-1]].to_pybytes()
        starts = offsets - offsets[0] if size else np.zeros(1, np.int64)
        return Column(
            padded(whole), starts, lambda row: Event(ids[row].as_py(), bodies[row].as_py(), published=moment(row))
        )

    @staticmethod
    def of_events(events: Sequence[Event]) -> Column:
        bodies = [event.body.encode() for event in events]
        starts = np.array(list(accumulate(map(len, bodies), initial=0)), np.int64)
        return Column(padded(b"".join(bodies)), starts, events.__getitem__)


def _run(engine: Fast, view: View, column: Column, start: int, failed: Report) -> tuple[int, Matched]:
    """Have the kernels match from row `start` on. How many rows they did: up to one that they cannot."""
    stops = np.ascontiguousarray(column.starts[start + 1 :])
    found = view.run(column.data, stops, trusted=False, quads=False, start=int(column.starts[start]))
    done = found.begins.size
    rows, numbers = np.empty(len(found.answers), np.int32), np.empty(len(found.answers), np.int32)
    names, kept = np.arange(start, start + done, dtype=np.int32), np.ones(done, np.uint8)
    size = rows_that(found.answers.reshape(-1), YES, names, kept, rows, numbers)
    rows, numbers = rows[:size], numbers[:size]
    if size < len(found.answers):
        more = verified(view, found.answers, kept, lambda n: column.event(start + n), failed)
        pairs = [(start + event, number) for event, those in more for number in those]
        rows = np.append(rows, np.array([row for row, _ in pairs], np.int32))
        numbers = np.append(numbers, np.array([number for _, number in pairs], np.int32))
        order = np.argsort(rows, kind="stable")
        rows, numbers = rows[order], numbers[order]
    engine.count(events=done, visited=found.visited, candidates=found.candidates, matches=rows.size)
    return done, Matched(rows, numbers, view.ids(numbers))


def _one(engine: Fast, column: Column, row: int, refused: Refuse, failed: Report) -> Matched:
    """A row whose text is not in canonical form: read as any other document is."""
    given = column.event(row)
    try:
        event = read_body(given.id, given.body, given.published)
    except EventError as error:
        refused(row, error)
        return Matched(np.zeros(0, np.int32), np.zeros(0, np.int32), pa.chunked_array([], pa.string()))
    matches = engine.match(event, failed)
    ids = pa.array([match.subscription for match in matches], pa.string())
    numbers = np.array([engine.frozen_number(match.subscription) for match in matches], np.int32)
    return Matched(np.full(len(matches), row, np.int32), numbers, pa.chunked_array([ids]))


def read_body(id: str, body: str, published: str | None = None) -> Event:
    """The event of this id whose triples are in `body`, however they are written, or an `EventError`."""
    return Event.of(id, read_triples(body.encode(), format="nt"), published=published)


def _joined(pieces: list[Matched]) -> Matched:
    if len(pieces) == 1:
        return pieces[0]
    none = np.zeros(0, np.int32)
    rows = np.concatenate([none, *(piece.rows for piece in pieces)])
    numbers = np.concatenate([none, *(piece.numbers for piece in pieces)])
    chunks = [chunk for piece in pieces for chunk in piece.subscriptions.chunks]
    return Matched(rows, numbers, pa.chunked_array(chunks, pa.string()))


def _in_order(pieces: list[Matched]) -> Matched:
    joined = _joined(pieces)
    order = np.argsort(joined.rows, kind="stable")
    return Matched(joined.rows[order], joined.numbers[order], joined.subscriptions.take(pa.array(order)))
