"""What is kept, and for how long: old events go, by their age or to make room, and with them their notifications."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from time import monotonic
from typing import NamedTuple

import numpy as np

from tidings.broker import gone, log, postings
from tidings.broker.gone import Places
from tidings.errors import UsageError

_STRETCH = 100
_HOLD = 0.004
"""So many events go at a time, and in one transaction as many times as there is time for, in seconds: those that are
published meanwhile wait for it."""

_AT_ONCE = 256
"""Events that are looked at before others have a turn."""


_NO_STREAM = -1


class Losing(NamedTuple):
    """Some events, up to `last`, are to go: the streams that lose notifications by that, and for each of these its
    event, in order.
    """

    events: int
    last: int
    streams: Places
    seqs: Places

    @staticmethod
    def joined(several: Sequence[Losing]) -> Losing:
        """Of one after the other."""
        streams, seqs = (np.concatenate([getattr(each, name) for each in several]) for name in ("streams", "seqs"))
        return Losing(sum(each.events for each in several), several[-1].last, streams, seqs)


@dataclass(frozen=True, slots=True)
class Retention:
    """`age` is what events may have, `size` is what the database may have in bytes; `backlog` is how many
    notifications may wait for a subscriber, of which the oldest go when there are more. `audit` is for how long it is
    known who did what, and `audit_entries` how much of it.
    """

    age: timedelta | None = None
    size: int | None = None
    backlog: int = 100_000
    audit: timedelta = timedelta(days=365)
    audit_entries: int = 1_000_000

    def __post_init__(self) -> None:
        if self.age is not None and self.age <= timedelta():
            raise UsageError(f"events are kept for some time, and not for {self.age}")
        if self.size is not None and self.size < 0:
            raise UsageError(f"the database may have some bytes, and not {self.size}")
        if self.backlog < 1:
            raise UsageError(f"at least one notification may wait, and not {self.backlog}")


def too_old(reader: sqlite3.Connection, age: timedelta, now: int) -> int:
    """Up to which event they are older; 0 for none."""
    first = log.first_since(reader, now - round(age.total_seconds() * 1e6))
    return log.last_seq(reader) if first is None else first - 1


def oldest(reader: sqlite3.Connection, size: int) -> int:
    """The last of the oldest events, of which there are about as many as are too many, or a sixteenth; 0 for none."""
    taken = used(reader)
    if taken <= size:
        return 0
    [count] = reader.execute("SELECT count(*) FROM events").fetchone()
    # By their number, for between their places there may be gaps.
    many = ceil(count * max(1 / 16, 1 - size / taken))
    row = reader.execute("SELECT seq FROM events ORDER BY seq LIMIT 1 OFFSET ?", (max(0, many - 1),)).fetchone()
    return 0 if row is None else int(row[0])


def used(reader: sqlite3.Connection) -> int:
    """The bytes of the database, less what is free in it."""
    pages, free, size = (
        int(reader.execute(f"PRAGMA {each}").fetchone()[0]) for each in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def losing(reader: sqlite3.Connection, after: int, upto: int, stream_of: Mapping[int, int]) -> Losing | None:
    """What is lost when the first of the events behind the one, up to the other, go; None where there are no such.

    The log says it, row by row: the blocks in which it is turned round may be a hundred times as long as what goes.
    """
    those = list(log.between(reader, after, upto, _AT_ONCE))
    if not those:
        return None
    matched = [(each.seq, log.NONE_MATCHED if each.matched is None else each.matched) for each in those]
    numbers = np.concatenate([numbers for _, numbers in matched])
    seqs = np.repeat([seq for seq, _ in matched], [len(numbers) for _, numbers in matched])
    streams = np.array([stream_of.get(number, _NO_STREAM) for number in numbers.tolist()], np.int64)
    standing = streams != _NO_STREAM
    return Losing(len(those), those[-1].seq, streams[standing], seqs[standing])


def remove(writer: sqlite3.Connection, upto: int, stream_of: Mapping[int, int]) -> bool:
    """Remove some of the events up to this one, the oldest first; whether there may be more. What streams lose by that
    has been written down before, but for those that look back, who may find more at any time.
    """
    begun = monotonic()
    while _remove_stretch(writer, upto, stream_of):
        if monotonic() - begun > _HOLD:
            return True
    return False


def _remove_stretch(writer: sqlite3.Connection, upto: int, stream_of: Mapping[int, int]) -> bool:
    [last] = writer.execute(
        "SELECT max(seq) FROM (SELECT seq FROM events WHERE seq <= ? ORDER BY seq LIMIT ?)", (upto, _STRETCH)
    ).fetchone()
    if last is None:
        return False
    rows = writer.execute("SELECT number, seq FROM earlier INDEXED BY earlier_by_seq WHERE seq <= ?", (last,))
    lost = np.array([(stream_of[number], seq) for number, seq in rows if number in stream_of], np.int64).reshape(-1, 2)
    gone.write(writer, lost[:, 0], lost[:, 1])
    writer.execute("DELETE FROM events WHERE seq <= ?", (last,))
    writer.execute("DELETE FROM earlier WHERE seq <= ?", (last,))
    postings.drop_blocks(writer, last)
    return True
