"""Subscriptions that look back: events from before them are matched by the same engine, a stretch at a time.

How far it has come is written with what was found, so that a broker that ends meanwhile goes on from there. Until it is
done, the subscription is told of these alone: so all come in order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from tidings.broker import log, subscriptions
from tidings.broker.database import Database
from tidings.broker.matching import Matching, form_of
from tidings.broker.subscriptions import Standing

_STRETCH = 2_000
"""Events that are looked at in one go."""


def found(database: Database, standing: Standing, after: int, alone: Matching) -> tuple[int, list[int]]:
    """Of the next stretch of events behind `after`: where it ends, and which match. `alone` has none yet."""
    with database.reading() as reader:
        events = list(log.between(reader, after, standing.after, _STRETCH))
    if not events:
        return standing.after, []
    alone.put(standing.number, form_of(standing))
    matched = alone.match([each.event for each in events])
    return events[-1].seq, [each.seq for each, numbers in zip(events, matched, strict=True) if len(numbers)]


def write(writer: sqlite3.Connection, standing: Standing, upto: int, seqs: Iterable[int]) -> bool:
    """What was found up to there, and has not gone meanwhile. Whether that is all."""
    writer.executemany(
        "INSERT INTO earlier (number, seq, crc) SELECT ?1, seq, tidings_sum(?1, seq) FROM events WHERE seq = ?2",
        [(standing.number, seq) for seq in seqs],
    )
    over = upto >= standing.after
    subscriptions.looked(writer, standing.number, None if over else upto)
    return over


def earlier(reader: sqlite3.Connection, number: int, after: int, limit: int) -> list[int]:
    """Up to so many events behind that one, from before the subscription, that it matches."""
    rows = reader.execute(
        "SELECT seq FROM earlier WHERE number = ? AND seq > ? ORDER BY seq LIMIT ?", (number, after, limit)
    )
    return [row[0] for row in rows]


def earlier_before(reader: sqlite3.Connection, number: int, before: int, limit: int) -> list[int]:
    """The same backwards: up to so many before that one, the newest first."""
    rows = reader.execute(
        "SELECT seq FROM earlier WHERE number = ? AND seq < ? ORDER BY seq DESC LIMIT ?", (number, before, limit)
    )
    return [row[0] for row in rows]
