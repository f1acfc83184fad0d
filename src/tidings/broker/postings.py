"""The log turned round: for a subscription, the events that it matched.

The newest events are turned round in memory, and written down, a block of them at a time, when there are enough.
Blocks that have become many are put together, so that there are few to look into, however long the log is. All of it
follows from the log, and can be made again from that.

A block may be large, and who publishes waits for what is written; so it is written a few rows at a time, and counts
when the table `blocks` has it. What that does not have is left over, and cleared away likewise.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tidings.broker.log import Numbers, matched_between, next_seq
from tidings.broker.schema import damaged, sum_of

BLOCK = 4_096
"""So many events are turned round at a time."""

_TOGETHER = 8
"""So many blocks of about the same size become one."""

_LARGEST = BLOCK * _TOGETHER**2

_STRETCH = 512
"""So many of the newest events are forgotten together, when they are in blocks."""

_COLUMNS = "first, last, low, high, numbers, seqs, postings.crc"
_COUNTED = "blocks CROSS JOIN postings USING (first, last)"
"""The rows of blocks that count, a block after the other."""

_ROW = 8_192
"""So many pairs are a row of the table: what is read to find those of one subscription."""

AT_ONCE = 4
"""Rows that are written, or removed, in one transaction."""

Row: TypeAlias = tuple[int, int, int, int, bytes, bytes, int]


class Block(NamedTuple):
    """The events of a block, from the first to the last."""

    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Pairs:
    """Subscriptions and events that matched, by subscription, and then in order."""

    numbers: Numbers
    seqs: npt.NDArray[np.int64]

    @staticmethod
    def of(matched: Iterable[tuple[int, Numbers]]) -> Pairs:
        found = list(matched)
        numbers = np.concatenate([np.zeros(0, np.uint32), *(numbers for _, numbers in found)])
        seqs = np.repeat(np.array([seq for seq, _ in found], np.int64), [len(numbers) for _, numbers in found])
        return Pairs(numbers, seqs).sorted()

    def sorted(self) -> Pairs:
        """By subscription; the order of their events stays."""
        order = np.argsort(self.numbers, kind="stable")
        return Pairs(self.numbers[order], self.seqs[order])


# -------------------------------------------------------------------------------------------------------------- writing


@dataclass(frozen=True, slots=True)
class Turned:
    """A block that is to be written, in place of those that it is made of."""

    block: Block
    pairs: Pairs

    def parts(self) -> Iterator[list[Row]]:
        """The rows that are written in one transaction, made as they are wanted: all of them would be as much again.
        There is at least one, so that it can be seen that the block is there.
        """
        starts = range(0, max(1, len(self.pairs.numbers)), _ROW)
        for some in range(0, len(starts), AT_ONCE):
            yield [self._row(start) for start in starts[some : some + AT_ONCE]]

    def _row(self, start: int) -> Row:
        numbers = self.pairs.numbers[start : start + _ROW]
        seqs = (self.pairs.seqs[start : start + _ROW] - self.block.first).astype(np.uint32)
        low, high = (int(numbers[0]), int(numbers[-1])) if len(numbers) else (0, 0)
        keys, data = (*self.block, low, high), (numbers.tobytes(), seqs.tobytes())
        return (*keys, *data, sum_of(*data, of=keys))


def next_block(reader: sqlite3.Connection, upto: int, newest: Newest | None = None) -> Turned | None:
    """The next block there should be: several of one size put together, or else of events up to this one: from memory
    where they are there, for the log has them with all that they say.
    """
    there = blocks(reader)
    several = there[-_TOGETHER:]
    if _go_together(several):
        return Turned(Block(several[0].first, several[-1].last), _joined([pairs_of(reader, each) for each in several]))
    done = there[-1].last if there else 0
    following = next_seq(reader, done)
    # Places of which there is no event make no blocks.
    first = done + 1 if following is None or following - done <= BLOCK else following
    if upto - first + 1 < BLOCK:
        return None
    block = Block(first, first + BLOCK - 1)
    found = None if newest is None else newest.between(first - 1, block.last)
    return Turned(block, Pairs.of(matched_between(reader, first - 1, block.last) if found is None else found))


def _go_together(several: Sequence[Block]) -> bool:
    """As many as it takes, all of one size, and no places between them that are in none."""
    size = several[0].size if several else 0
    return (
        len(several) == _TOGETHER
        and size < _LARGEST
        and all(each.size == size for each in several)
        and several[-1].last - several[0].first + 1 == size * len(several)
    )


def _joined(several: Sequence[Pairs]) -> Pairs:
    numbers, seqs = ([getattr(each, name) for each in several] for name in ("numbers", "seqs"))
    return Pairs(np.concatenate(numbers), np.concatenate(seqs)).sorted()


def stage(writer: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Write some of the rows of a block that does not count yet."""
    writer.executemany(
        "INSERT INTO postings (first, last, low, high, numbers, seqs, crc) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
    )


def finish(writer: sqlite3.Connection, block: Block) -> None:
    """All of its rows are there: from now on it counts, in place of those that it is made of."""
    writer.execute("DELETE FROM blocks WHERE first >= ?", (block.first,))
    writer.execute("INSERT INTO blocks (first, last) VALUES (?, ?)", block)


def left_over(reader: sqlite3.Connection) -> list[Block]:
    """Those of which there are rows, and that do not count: not any more, or not yet when something ended."""
    rows = reader.execute("SELECT DISTINCT first, last FROM postings EXCEPT SELECT first, last FROM blocks")
    return [Block(*row) for row in rows]


def clear(writer: sqlite3.Connection, block: Block) -> bool:
    """Remove some rows of one of these; whether there were any."""
    some = "SELECT rowid FROM postings WHERE first = ? AND last = ? LIMIT ?"
    return writer.execute(f"DELETE FROM postings WHERE rowid IN ({some})", (*block, AT_ONCE)).rowcount > 0


def drop_blocks(database: sqlite3.Connection, upto: int) -> None:
    """Those of which no event is left. The last one stays: it says how far the log has been turned round."""
    database.execute("DELETE FROM blocks WHERE last <= ? AND last < (SELECT max(last) FROM blocks)", (upto,))


# -------------------------------------------------------------------------------------------------------------- reading


def covered(database: sqlite3.Connection) -> int:
    """Up to which event the blocks reach."""
    row = database.execute("SELECT max(last) FROM blocks").fetchone()
    return int(row[0] or 0)


def blocks(database: sqlite3.Connection) -> list[Block]:
    return [Block(*row) for row in database.execute("SELECT first, last FROM blocks ORDER BY first")]


def block_behind(database: sqlite3.Connection, after: int) -> Block | None:
    """The first that has events behind that one."""
    row = database.execute("SELECT first, last FROM blocks WHERE last > ? ORDER BY first LIMIT 1", (after,)).fetchone()
    return None if row is None else Block(*row)


def pairs_of(database: sqlite3.Connection, block: Block) -> Pairs:
    rows = database.execute(f"SELECT {_COLUMNS} FROM postings WHERE first = ? AND last = ? ORDER BY rowid", block)
    return _joined([_pairs(*row) for row in rows])


def _pairs(first: int, last: int, low: int, high: int, numbers: bytes, seqs: bytes, crc: int) -> Pairs:
    block = Block(first, last)
    if sum_of(numbers, seqs, of=(first, last, low, high)) != crc:
        raise damaged(f"what events {first} to {last} matched")
    return Pairs(np.frombuffer(numbers, np.uint32), np.frombuffer(seqs, np.uint32).astype(np.int64) + block.first)


def written(database: sqlite3.Connection, number: int, after: int, limit: int) -> list[int]:
    """Of the blocks: up to so many events behind that one which the subscription matched, in order."""
    rows = database.execute(
        f"SELECT {_COLUMNS} FROM {_COUNTED} WHERE last > ? AND low <= ? AND high >= ? "
        "ORDER BY first, last, low, high, postings.rowid",
        (after, number, number),
    )
    found: list[int] = []
    for row in rows:
        pairs = _pairs(*row)
        low, high = np.searchsorted(pairs.numbers, [number, number + 1])
        here = pairs.seqs[low:high]
        found += here[here > after][: limit - len(found)].tolist()
        if len(found) >= limit:
            break
    return found


def written_before(database: sqlite3.Connection, number: int, before: int, limit: int) -> list[int]:
    """The same backwards: up to so many before that one, the newest first."""
    rows = database.execute(
        f"SELECT {_COLUMNS} FROM {_COUNTED} WHERE first < ? AND low <= ? AND high >= ? "
        "ORDER BY first DESC, last DESC, low DESC, high DESC, postings.rowid DESC",
        (before, number, number),
    )
    found: list[int] = []
    for row in rows:
        pairs = _pairs(*row)
        low, high = np.searchsorted(pairs.numbers, [number, number + 1])
        here = pairs.seqs[low:high]
        found += here[here < before][::-1][: limit - len(found)].tolist()
        if len(found) >= limit:
            break
    return found


# ------------------------------------------------------------------------------------------------------------ in memory


class _Stretch:
    """Some of the newest events, one after the other. By subscription they are sorted when somebody asks."""

    __slots__ = ("_seqs", "_sorted", "events")

    def __init__(self) -> None:
        self.events: list[tuple[int, Numbers]] = []
        self._seqs: defaultdict[int, list[int]] = defaultdict(list)
        self._sorted = 0

    def seqs(self, number: int) -> Sequence[int]:
        for seq, numbers in self.events[self._sorted :]:
            for each in numbers.tolist():
                self._seqs[each].append(seq)
        self._sorted = len(self.events)
        return self._seqs.get(number, ())


class Newest:
    """What the newest events matched: those that are in no block yet."""

    def __init__(self, database: sqlite3.Connection, last: int) -> None:
        self._lock = Lock()
        self._stretches: deque[_Stretch] = deque()
        self._after = covered(database)
        self.add(matched_between(database, self._after, last))

    def add(self, matched: Iterable[tuple[int, Numbers]]) -> None:
        with self._lock:
            for each in matched:
                if not self._stretches or len(self._stretches[-1].events) >= _STRETCH:
                    self._stretches.append(_Stretch())
                self._stretches[-1].events.append(each)

    def between(self, after: int, last: int) -> list[tuple[int, Numbers]] | None:
        """What the events behind the one, up to the other, matched; None where some of it may be in blocks."""
        with self._lock:
            if after < self._after:
                return None
            return [each for stretch in self._stretches for each in stretch.events if after < each[0] <= last]

    def behind(self, number: int, after: int) -> list[int]:
        with self._lock:
            return self._behind(number, after)

    def before(self, number: int, before: int, limit: int) -> list[int]:
        """Up to so many before that event, the newest first."""
        with self._lock:
            found: list[int] = []
            for stretch in reversed(self._stretches):
                seqs = stretch.seqs(number)
                start, end = bisect_right(seqs, self._after), bisect_left(seqs, before)
                found += seqs[start:end][::-1]
                if len(found) >= limit:
                    break
            return found[:limit]

    def left(self, numbers: Iterable[int], after: int) -> int | None:
        """How many these matched behind that event; None where some of it may be in blocks."""
        with self._lock:
            if after < self._after:
                return None
            return sum(len(self._behind(number, after)) for number in numbers)

    def forget(self, upto: int) -> None:
        """These are in blocks now."""
        with self._lock:
            self._after = max(self._after, upto)
            while self._stretches and self._stretches[0].events[-1][0] <= upto:
                self._stretches.popleft()

    def _behind(self, number: int, after: int) -> list[int]:
        after = max(after, self._after)
        found: list[int] = []
        for stretch in self._stretches:
            seqs = stretch.seqs(number)
            found += seqs[bisect_right(seqs, after) :]
        return found
