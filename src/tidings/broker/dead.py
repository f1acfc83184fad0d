"""Dead letters: notifications that a webhook did not take, however often they were sent."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import astuple, dataclass, fields

from tidings.broker.cursors import Cursor
from tidings.broker.receiving import Notification


@dataclass(frozen=True, slots=True)
class Letter:
    """A notification by its place; why it was given up, after how many tries, and when (microseconds since 1970)."""

    stream: int
    seq: int
    notification: str
    event: str
    tries: int
    reason: str
    died: int


_COLUMNS = ", ".join(field.name for field in fields(Letter))


def letter(notification: Notification, tries: int, reason: str) -> Letter:
    place = Cursor.of(notification.cursor)
    event = notification.event.id
    return Letter(place.stream, place.seq, notification.id, event, tries, reason, time.time_ns() // 1_000)


def bury(writer: sqlite3.Connection, letter: Letter) -> None:
    writer.execute(f"INSERT OR REPLACE INTO dead ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(letter))


def of_stream(reader: sqlite3.Connection, stream: int, after: int, limit: int) -> list[Letter]:
    rows = reader.execute(
        f"SELECT {_COLUMNS} FROM dead WHERE stream = ? AND seq > ? ORDER BY seq LIMIT ?", (stream, after, limit)
    )
    return [Letter(*row) for row in rows]


def remove(writer: sqlite3.Connection, stream: int, seq: int) -> bool:
    return writer.execute("DELETE FROM dead WHERE stream = ? AND seq = ?", (stream, seq)).rowcount > 0
