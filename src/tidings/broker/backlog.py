"""How much waits for each subscriber, and what becomes of too much: the oldest goes, and his next cursor says so.

Notifications are no rows of their own, so what waits is counted here, per stream, in memory. A count is never too low.
It may be too high, since who acknowledges does not say how many; so before anything is dropped, and now and then for
those who acknowledged, the stream is counted anew. A tenth more than has to go is dropped: so a stream that nobody
reads is looked at once in many notifications, and not at each.

After a start the log is counted a block at a time. Until that is done counts are of what has come since.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tidings.broker import log, looking, postings, subscriptions
from tidings.broker.gone import Places
from tidings.broker.log import Numbers
from tidings.broker.subscriptions import Standing

if TYPE_CHECKING:
    from tidings.broker.core import Core

_ANEW = 100
"""Streams of those who acknowledged that are counted anew in one go."""

_AT_ONCE = 500
_BREATH = 0.002
"""Streams that are counted before others have a turn; and for how many seconds these have it."""

_MORE = 10_000
"""Beyond twice what may wait, so many are counted at once; there may be more."""


class Backlog:
    """`most` is how many notifications may wait in a stream."""

    def __init__(self, core: Core, most: int) -> None:
        self._core = core
        self._most = most
        self._counts: Counter[int] = Counter()
        self._lock = Lock()
        self._over: set[int] = set()
        self._stale: set[int] = set()
        self._done, self._upto = 0, core.told
        self._positions: dict[int, int] = {}
        self._begun = False

    @property
    def total(self) -> int:
        with self._lock:
            return self._counts.total()

    @property
    def largest(self) -> int:
        with self._lock:
            return max(self._counts.values(), default=0)

    def waiting(self, stream: int) -> int:
        with self._lock:
            return self._counts[stream]

    # ------------------------------------------------------------------------------------ from the thread that writes

    def add(self, more: Mapping[int, int]) -> None:
        """So many notifications more for each of these streams."""
        with self._lock:
            counts, most = self._counts, self._most
            for stream, count in more.items():
                counts[stream] = now = counts.get(stream, 0) + count
                if now > most:
                    self._over.add(stream)

    def acknowledged(self, stream: int, seq: int, left: int | None) -> None:
        """Up to that event; so many are left, None where that is not known."""
        with self._lock:
            self._at(stream, seq)
            if left is None:
                self._stale.add(stream)
            else:
                self._counts[stream] = left

    def forget(self, stream: int) -> None:
        """It has ended."""
        with self._lock:
            self._counts.pop(stream, None)
            self._positions.pop(stream, None)

    def _at(self, stream: int, seq: int) -> None:
        """Nothing waits there up to that event."""
        self._positions[stream] = max(seq, self._positions.get(stream, 0))

    # ----------------------------------------------------------------------------------------------------- the upkeep

    def removed(self, streams: Places, seqs: Places) -> None:
        """Of each of these streams the notification of an event is gone, in order."""
        if self._done < self._upto:
            # Some of them may not have been counted yet.
            with self._lock:
                self._stale.update(streams.tolist())
            return
        order = np.argsort(streams, kind="stable")
        each, begins = np.unique(streams[order], return_index=True)
        those = list(zip(each.tolist(), pairwise([*begins.tolist(), len(streams)]), strict=True))
        places = seqs[order].tolist()
        for start in range(0, len(those), _AT_ONCE):
            with self._lock:
                for stream, (begin, end) in those[start : start + _AT_ONCE]:
                    if stream not in self._counts and stream not in self._positions:
                        # It has ended: of one that stands there has been something to count, or to begin with.
                        continue
                    before = self._positions.get(stream, 0)
                    if places[end - 1] > before:
                        gone = end - bisect_right(places, before, begin, end)
                        self._counts[stream] = max(0, self._counts[stream] - gone)
                        self._positions[stream] = places[end - 1]
            # Who publishes would not come to it if the lock was taken again at once.
            sleep(_BREATH)

    def once(self) -> None:
        if self._done < self._upto:
            self._count_block()
        with self._lock:
            over, self._over = self._over, set()
            some = [self._stale.pop() for _ in range(min(_ANEW, len(self._stale)))]
        for stream in over:
            self._shorten(stream)
        for stream in set(some) - over:
            self._count(stream)

    def _shorten(self, stream: int) -> None:
        """Drop the oldest, if there are indeed too many."""
        seqs = self._count(stream)
        if len(seqs) <= self._most:
            return
        gone = len(seqs) - self._most + self._most // 10
        self._core.change(partial(_drop, stream=stream, seq=seqs[gone - 1])).result()
        self._core.figures.count("dropped", gone)
        with self._lock:
            self._counts[stream] -= gone
            self._at(stream, seqs[gone - 1])
            if self._counts[stream] > self._most:
                self._over.add(stream)

    def _count(self, stream: int) -> list[int]:
        """What waits there, by its events, the oldest first. What comes meanwhile may be counted twice, until the next
        time.
        """
        most = 2 * self._most + _MORE
        with self._lock:
            before = self._counts[stream]
        core = self._core
        with core.database.reading() as reader:
            those = subscriptions.versions(reader, stream)
            place = max(subscriptions.progress(reader, stream)) if those else 0
        if not those or those[-1].state not in ("active", "paused"):
            self.forget(stream)
            return []
        newest = {each.number: core.newest.behind(each.number, place) for each in those}
        with core.database.reading() as reader:
            found = {seq for each in those for seq in _seqs(reader, each, newest[each.number], place, most)}
        with self._lock:
            # Of more than could be counted it is known that there are at least so many.
            less = 0 if len(found) >= most else before - len(found)
            self._counts[stream] = max(self._counts[stream] - less, len(found))
            # What was before is not counted any more, and so cannot go.
            self._at(stream, place)
        return sorted(found)[:most]

    # ------------------------------------------------------------------------------------------------- after a start

    def _count_block(self) -> None:
        """Count the next block of the log, and at its end what is in no block, and what looked back."""
        with self._core.database.reading() as reader:
            if not self._begun:
                self._begin(reader)
            block = postings.block_behind(reader, self._done)
            if block is not None:
                pairs, upto = postings.pairs_of(reader, block), min(block.last, self._upto)
            else:
                pairs, upto = postings.Pairs.of(log.matched_between(reader, self._done, self._upto)), self._upto
        among = (pairs.seqs > self._done) & (pairs.seqs <= upto)
        with self._lock:
            positions = dict(self._positions)
        self.add(_waiting(pairs.numbers[among], pairs.seqs[among], dict(self._core.stream_of), positions))
        self._done = upto

    def _begin(self, reader: sqlite3.Connection) -> None:
        positions = dict(subscriptions.positions(reader))
        self.add(_earlier(reader, self._core.stream_of, positions))
        with self._lock:
            for stream, seq in positions.items():
                self._at(stream, seq)
        self._begun = True


def _seqs(reader: sqlite3.Connection, standing: Standing, newest: list[int], after: int, most: int) -> list[int]:
    seqs = looking.earlier(reader, standing.number, after, most) if standing.since is not None else []
    return seqs + postings.written(reader, standing.number, after, most) + newest


def _drop(writer: sqlite3.Connection, stream: int, seq: int) -> None:
    subscriptions.drop(writer, stream, seq)
    writer.execute(
        "DELETE FROM earlier WHERE seq <= ? AND number IN (SELECT number FROM subscriptions WHERE stream = ?)",
        (seq, stream),
    )


def _earlier(reader: sqlite3.Connection, stream_of: Mapping[int, int], positions: Mapping[int, int]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for number, seq in reader.execute("SELECT number, seq FROM earlier"):
        stream = stream_of.get(number, 0)
        counts[stream] += seq > positions.get(stream, seq)
    return +counts


def _waiting(
    numbers: Numbers, seqs: npt.NDArray[np.int64], stream_of: Mapping[int, int], positions: Mapping[int, int]
) -> dict[int, int]:
    """How many of these wait in each stream that stands."""
    if not len(numbers) or not positions:
        return {}
    streams_of = np.zeros(max(int(numbers.max()), *stream_of) + 1, np.int64)
    streams_of[list(stream_of)] = list(stream_of.values())
    places = np.full(max(int(streams_of.max()), *positions) + 1, np.iinfo(np.int64).max)
    places[list(positions)] = list(positions.values())
    streams = streams_of[numbers]
    found, counts = np.unique(streams[seqs > places[streams]], return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
