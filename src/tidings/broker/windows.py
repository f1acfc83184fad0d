"""For which events each version of a subscription was active, while events are matched elsewhere.

A version is due an event if it was active when that was accepted; what was in between is in the table `windows`, which
the database itself keeps (see `schema`). Here is also the *mark*: up to which event all have been matched. There is one
as long as events are matched elsewhere. Windows that have ended stay until the mark is behind them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tidings.broker.log import Numbers, last_seq

Longs: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

_MARK, _CHANGES, _STEPS = "matched", "windows", "steps"
_MOST_ASKED = 500
_OPEN = np.iinfo(np.int64).max


def mark(reader: sqlite3.Connection) -> int | None:
    """Up to which event all have been matched; None where the broker does so itself, as it accepts them."""
    row = reader.execute("SELECT value FROM meta WHERE key = ?", (_MARK,)).fetchone()
    return None if row is None else int(row[0])


def move(writer: sqlite3.Connection, upto: int) -> None:
    """All events up to this one have been matched."""
    writer.execute("UPDATE meta SET value = ? WHERE key = ?", (upto, _MARK))
    writer.execute("DELETE FROM windows WHERE until <= ?", (upto,))


def skip(writer: sqlite3.Connection) -> None:
    """Events that were deleted need not be matched: nobody waits for them."""
    before = mark(writer)
    if before is not None:
        row = writer.execute("SELECT min(seq) FROM events WHERE seq > ?", (before,)).fetchone()
        upto = last_seq(writer) if row[0] is None else int(row[0]) - 1
        if upto > before:
            move(writer, upto)


def begin(writer: sqlite3.Connection, steps: int) -> None:
    """From now on events are matched elsewhere, if they are not already; each subscription with so many steps."""
    writer.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_STEPS, steps))
    if mark(writer) is not None:
        return
    last = last_seq(writer)
    writer.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (_MARK, last))
    writer.execute("INSERT OR IGNORE INTO meta (key, value) VALUES (?, 0)", (_CHANGES,))
    writer.execute("UPDATE meta SET value = value + 1 WHERE key = ?", (_CHANGES,))
    writer.execute("DELETE FROM windows")
    writer.execute(
        "INSERT INTO windows (number, after, until) SELECT number, ?, NULL FROM subscriptions WHERE state = 'active'",
        (last,),
    )


def steps(reader: sqlite3.Connection) -> int:
    """What a subscription may take on an event, elsewhere."""
    return int(reader.execute("SELECT value FROM meta WHERE key = ?", (_STEPS,)).fetchone()[0])


def end(writer: sqlite3.Connection) -> None:
    """From now on they are matched here; all that there are have been."""
    writer.execute("DELETE FROM meta WHERE key = ?", (_MARK,))
    writer.execute("DELETE FROM windows")


# ------------------------------------------------------------------------------------------------------------- versions


def tag(reader: sqlite3.Connection) -> str:
    """Another one whenever `listed` is."""
    changes = reader.execute("SELECT value FROM meta WHERE key = ?", (_CHANGES,)).fetchone()
    ended = reader.execute("SELECT count(*) FROM windows WHERE until > ?", (mark(reader) or 0,)).fetchone()
    return f"{changes[0] if changes else 0}-{ended[0]}"


def listed(reader: sqlite3.Connection) -> list[int]:
    """The versions that may be due an event which has not been matched, now or to come; in order."""
    rows = reader.execute(
        "SELECT DISTINCT number FROM windows WHERE until IS NULL OR until > ? ORDER BY number", (mark(reader) or 0,)
    )
    return [row[0] for row in rows]


# -------------------------------------------------------------------------------------------------------------- windows


@dataclass(frozen=True, slots=True)
class Windows:
    """Those of some versions, by version. Up to the last event that there is, they do not change any more."""

    numbers: Longs
    after: Longs
    until: Longs

    @staticmethod
    def of(reader: sqlite3.Connection, numbers: Sequence[int]) -> Windows:
        rows: list[tuple[int, int, int | None]] = []
        for start in range(0, len(numbers), _MOST_ASKED):
            some = numbers[start : start + _MOST_ASKED]
            asked = ", ".join("?" * len(some))
            rows += reader.execute(f"SELECT number, after, until FROM windows WHERE number IN ({asked})", some)
        rows.sort(key=lambda row: row[:2])
        table = np.array([(a, b, _OPEN if c is None else c) for a, b, c in rows], np.int64).reshape(-1, 3)
        return Windows(table[:, 0], table[:, 1], table[:, 2])

    def due(self, numbers: Numbers, seqs: Longs) -> Mask:
        """Which of these pairs of a version and an event are due."""
        due = np.zeros(len(numbers), np.bool_)
        if not self.numbers.size:
            return due
        place = np.searchsorted(self.numbers, numbers)
        while True:
            # A version that was paused meanwhile has several, one behind the other.
            here = np.minimum(place, self.numbers.size - 1)
            its = (place < self.numbers.size) & (self.numbers[here] == numbers)
            if not its.any():
                return due
            due |= its & (self.after[here] < seqs) & (seqs <= self.until[here])
            place = place + 1
