"""Up to which event the notifications of each stream are gone because events were removed.

To make room for events, thousands of streams a second lose some. A row for each would be most of what is written; so
the marks of neighbouring streams stand together in one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tidings.broker.schema import damaged, sum_of

_ROW = 512
"""Streams in a row."""

_AT_ONCE = 8
"""Rows that are written in one transaction: those who publish meanwhile wait for it."""

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
    for row, some in _by(streams // _ROW):
        marks = _marks(writer, row).copy()
        np.maximum.at(marks, streams[some] % _ROW, seqs[some])
        data = marks.tobytes()
        writer.execute(
            "INSERT OR REPLACE INTO gone (place, marks, crc) VALUES (?, ?, ?)", (row, data, sum_of(data, of=(row,)))
        )


def parts(streams: Places, seqs: Places) -> Iterator[tuple[Places, Places]]:
    """The same in parts, each to be written in a transaction of its own."""
    for _, some in _by(streams // (_ROW * _AT_ONCE)):
        yield streams[some], seqs[some]


def _by(keys: Places) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Each of the keys, and where it stands."""
    order = np.argsort(keys, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else ():
        yield int(keys[some[0]]), some


def _marks(database: sqlite3.Connection, row: int) -> Places:
    found = database.execute("SELECT marks, crc FROM gone WHERE place = ?", (row,)).fetchone()
    if found is None:
        return np.zeros(_ROW, np.int64)
    if sum_of(found[0], of=(row,)) != found[1]:
        raise damaged(f"what is gone of streams {row * _ROW} to {(row + 1) * _ROW - 1}")
    return np.frombuffer(found[0], np.int64)
