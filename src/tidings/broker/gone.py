"""Up to which event the notifications of each stream are gone because events were removed.

To make room for events, thousands of streams a second lose some. A row for each would be most of what is written; so
the marks of neighbouring streams stand together in one.
"""

from __future__ import annotations

import sqlite3

import numpy as np
import numpy.typing as npt

from tidings.broker.schema import damaged, sum_of

_ROW = 512
"""Streams in a row."""

Places = npt.NDArray[np.int64]


def upto(database: sqlite3.Connection, stream: int) -> int:
    """The last event of which this stream's notification may be gone; 0 where none is."""
    return int(_marks(database, stream // _ROW)[stream % _ROW])


def everywhere(database: sqlite3.Connection) -> dict[int, int]:
    """The same for all streams of which something is gone."""
    found: dict[int, int] = {}
    for (row,) in database.execute("SELECT place FROM gone ORDER BY place").fetchall():
        marks = _marks(database, row)
        streams = np.flatnonzero(marks)
        found.update(zip((streams + row * _ROW).tolist(), marks[streams].tolist(), strict=True))
    return found


def write(writer: sqlite3.Connection, streams: Places, seqs: Places) -> None:
    """The notifications of each of these streams are gone up to an event. A mark never goes back."""
    rows = streams // _ROW
    order = np.argsort(rows, kind="stable")
    bounds = np.flatnonzero(np.diff(rows[order])) + 1
    for some in np.split(order, bounds) if len(order) else ():
        row = int(rows[some[0]])
        marks = _marks(writer, row).copy()
        np.maximum.at(marks, streams[some] % _ROW, seqs[some])
        data = marks.tobytes()
        writer.execute(
            "INSERT OR REPLACE INTO gone (place, marks, crc) VALUES (?, ?, ?)", (row, data, sum_of(data, of=(row,)))
        )


def _marks(database: sqlite3.Connection, row: int) -> Places:
    found = database.execute("SELECT marks, crc FROM gone WHERE place = ?", (row,)).fetchone()
    if found is None:
        return np.zeros(_ROW, np.int64)
    if sum_of(found[0], of=(row,)) != found[1]:
        raise damaged(f"what is gone of streams {row * _ROW} to {(row + 1) * _ROW - 1}")
    return np.frombuffer(found[0], np.int64)
