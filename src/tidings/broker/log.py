"""The events of a broker, in the order in which they were accepted: one row each, with what it matched."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt

from tidings.broker.schema import damaged
from tidings.rdf.event import Event
from tidings.rdf.identity import fingerprint

Numbers: TypeAlias = npt.NDArray[np.uint32]
"""Of subscriptions."""

Row: TypeAlias = tuple[int, str, int, str | None, str, bytes | None, int]

_COLUMNS = "seq, id, accepted, published, body, matched, crc"
_MOST_ASKED = 500
_TOGETHER = (64, 16, 4, 1)
_FAR = 1 << 40
_SKIPPED = "SELECT coalesce((SELECT value FROM meta WHERE key = 'skipped'), 0)"
NONE_MATCHED = np.zeros(0, np.uint32)


@dataclass(frozen=True, slots=True)
class Logged:
    """An event in the log: its place there, when it was accepted (in microseconds since 1970), and the numbers of the
    subscriptions that it matched; None where it has not been matched yet.
    """

    seq: int
    event: Event
    accepted: int
    matched: Numbers | None

    def row(self) -> Row:
        event = self.event
        matched = None if self.matched is None else _in_order(self.matched).tobytes()
        fields = (event.id, self.accepted, event.published, event.body, matched)
        return self.seq, *fields, _crc(self.seq, *fields)


def _in_order(numbers: Numbers) -> Numbers:
    made = numbers.copy()
    made.sort()
    return made


def append(database: sqlite3.Connection, events: Sequence[Logged]) -> None:
    """Several rows by one statement: between two statements, everybody else has a turn at the interpreter."""
    start = 0
    while start < len(events):
        count = next(size for size in _TOGETHER if size <= len(events) - start)
        rows = ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * count)
        values = [value for event in events[start : start + count] for value in event.row()]
        database.execute(f"INSERT INTO events ({_COLUMNS}) VALUES {rows}", values)
        start += count


def last_seq(database: sqlite3.Connection) -> int:
    """The last that was ever given, even if that event is gone."""
    row = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
    return 0 if row is None else int(row[0])


def skip_places(database: sqlite3.Connection) -> None:
    """Go on far behind the last place. In a copy: the original gives the next ones, and who has heard of these must not
    take events of the copy for such as he knows.
    """
    [skipped], last = database.execute(_SKIPPED).fetchone(), last_seq(database)
    database.execute("DELETE FROM sqlite_sequence WHERE name = 'events'")
    database.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)", (last + _FAR,))
    database.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('skipped', ?)", (skipped + _FAR,))


def ever(database: sqlite3.Connection) -> int:
    """How many there have ever been."""
    return last_seq(database) - int(database.execute(_SKIPPED).fetchone()[0])


def first_and_last(database: sqlite3.Connection) -> tuple[int, int] | None:
    """Of the events that there are. Both asked for in one, all of them would be looked at."""
    low, high = database.execute("SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events)").fetchone()
    return None if low is None else (low, high)


def count_behind(database: sqlite3.Connection, place: int) -> int:
    [count] = database.execute("SELECT count(*) FROM events WHERE seq > ?", (place,)).fetchone()
    return int(count)


def last_accepted(database: sqlite3.Connection) -> int:
    row = database.execute("SELECT accepted FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    return 0 if row is None else int(row[0])


def first_since(database: sqlite3.Connection, moment: int) -> int | None:
    """The first event that was accepted at this moment or later: by halving, since times are in the order of places."""
    ends = first_and_last(database)
    if ends is None:
        return None
    (low, high), found = ends, None
    while low <= high:
        row = database.execute(
            "SELECT seq, accepted FROM events WHERE seq >= ? ORDER BY seq LIMIT 1", ((low + high) // 2,)
        ).fetchone()
        if row is None or row[0] > high:
            high = (low + high) // 2 - 1
        elif row[1] >= moment:
            found = int(row[0])
            high = (low + high) // 2 - 1
        else:
            low = int(row[0]) + 1
    return found


def by_id(database: sqlite3.Connection, id: str) -> Logged | None:
    row = database.execute(f"SELECT {_COLUMNS} FROM events WHERE id = ?", (id,)).fetchone()
    return None if row is None else _logged(row)


def by_ids(database: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Logged]:
    """Those that there are."""
    return {each.event.id: each for each in _found(database, "id", ids)}


def by_seqs(database: sqlite3.Connection, seqs: Sequence[int], most: int) -> dict[int, Logged]:
    """Those that there are, in order, until their bodies have that many characters."""
    found: dict[int, Logged] = {}
    size = 0
    for each in _found(database, "seq", seqs):
        found[each.seq] = each
        size += len(each.event.body)
        if size >= most:
            break
    return found


def _found(database: sqlite3.Connection, column: str, values: Sequence[object]) -> Iterator[Logged]:
    for start in range(0, len(values), _MOST_ASKED):
        some = values[start : start + _MOST_ASKED]
        asked = ", ".join("?" * len(some))
        rows = database.execute(
            f"SELECT {_COLUMNS} FROM events WHERE {column} IN ({asked}) ORDER BY {column}", tuple(some)
        )
        yield from map(_logged, rows)


def between(database: sqlite3.Connection, after: int, last: int, limit: int = -1) -> Iterator[Logged]:
    """Those behind the one, up to the other, in order."""
    rows = database.execute(
        f"SELECT {_COLUMNS} FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", (after, last, limit)
    )
    return map(_logged, rows)


def newest(database: sqlite3.Connection, limit: int, last: int | None = None) -> list[Logged]:
    """The last so many, up to that one, the newest first."""
    upto = last_seq(database) if last is None else last
    rows = database.execute(f"SELECT {_COLUMNS} FROM events WHERE seq <= ? ORDER BY seq DESC LIMIT ?", (upto, limit))
    return list(map(_logged, rows))


def matched_between(database: sqlite3.Connection, after: int, last: int) -> Iterator[tuple[int, Numbers]]:
    """What events matched, of those that have been."""
    return ((each.seq, each.matched) for each in between(database, after, last) if each.matched is not None)


def next_seq(database: sqlite3.Connection, after: int) -> int | None:
    """The next event that there is behind that place."""
    row: tuple[int | None] = database.execute("SELECT min(seq) FROM events WHERE seq > ?", (after,)).fetchone()
    return row[0]


def delete(database: sqlite3.Connection, id: str) -> bool:
    return database.execute("DELETE FROM events WHERE id = ?", (id,)).rowcount > 0


def is_same(event: Event, kept: Event) -> bool:
    """Whether two events of one id have the same triples, whatever their blank nodes are called."""
    return event.body == kept.body or fingerprint(event.body) == fingerprint(kept.body)


def _logged(row: Row) -> Logged:
    seq, id, accepted, published, body, matched, crc = row
    if _crc(seq, id, accepted, published, body, matched) != crc:
        raise damaged(f"event {seq} ({id})")
    numbers = None if matched is None else np.frombuffer(matched, np.uint32)
    return Logged(seq, Event(id, body, published=published), accepted, numbers)


def _crc(seq: int, id: str, accepted: int, published: str | None, body: str, matched: bytes | None) -> int:
    crc = crc32(f"{seq} {accepted} {published} {id}\n{body}".encode())
    return crc if matched is None else crc32(matched, crc)
