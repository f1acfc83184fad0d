"""The notifications of a stream, in order: of several versions, from blocks and from what is in none yet."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Mapping, Sequence
from operator import itemgetter

from tidings.broker import log, looking, postings, subscriptions
from tidings.broker.cursors import Cursor
from tidings.broker.database import Database
from tidings.broker.log import Logged
from tidings.broker.postings import Newest
from tidings.broker.subscriptions import Standing
from tidings.errors import CursorError

_FEW = 16
"""Events that are read at a time, where it is seen after them whether there is room for more."""


def matched(
    database: Database, newest: Newest, place: Cursor, told: int, limit: int, size: int
) -> list[tuple[Standing, Logged]]:
    """Up to so many behind a place, and of about so many characters, but for those of events that were deleted. Where
    old ones behind it have gone to make room, a `CursorError`. Events behind `told` may not have been matched by all.
    """
    while True:
        with database.reading() as reader:
            those = subscriptions.versions(reader, place.stream)
        # Before the blocks are looked at: what moves into one meanwhile is there twice, and not in neither.
        recent = {each.number: newest.behind(each.number, place.seq) for each in those}
        with database.reading() as reader:
            # As of the same moment as what is read: nothing can go in between.
            check_gone(reader, place)
            pairs = _pairs(reader, those, recent, place.seq, told, limit)
            events = log.by_seqs(reader, [seq for seq, _ in pairs], size)
        found = [(standing, events[seq]) for seq, standing in pairs if seq in events]
        if found or len(pairs) < limit:
            return found
        # All of these have been deleted; there may be others behind them.
        place = Cursor(place.stream, pairs[-1][0])


def check_gone(reader: sqlite3.Connection, place: Cursor) -> None:
    """A `CursorError` where notifications behind this place are gone."""
    _, dropped = subscriptions.progress(reader, place.stream)
    if place.seq < dropped:
        problem = "notifications behind it are gone"
        raise CursorError(str(place), problem, "start again without one, with what is left")


def _pairs(
    reader: sqlite3.Connection,
    those: Sequence[Standing],
    recent: Mapping[int, list[int]],
    after: int,
    told: int,
    limit: int,
) -> list[tuple[int, Standing]]:
    """The events of several versions. Those of versions behind one that still looks back wait for it."""
    pairs: list[tuple[int, int, Standing]] = []
    for each in those:
        seqs = _seqs(reader, each, recent[each.number], after, limit)
        # What was before it, it has found by itself.
        pairs += [(seq, each.number, each) for seq in seqs if seq <= max(told, each.after)]
        if each.looked is not None:
            break
    return [(seq, standing) for seq, _, standing in sorted(pairs, key=itemgetter(0, 1))[:limit]]


def _seqs(reader: sqlite3.Connection, standing: Standing, recent: list[int], after: int, limit: int) -> list[int]:
    seqs = looking.earlier(reader, standing.number, after, limit) if standing.since is not None else []
    if standing.looked is not None or len(seqs) >= limit:
        return seqs
    seqs += postings.written(reader, standing.number, seqs[-1] if seqs else after, limit - len(seqs))
    if len(seqs) < limit:
        seqs += [seq for seq in recent if not seqs or seq > seqs[-1]]
    return seqs[:limit]


def newest_before(
    database: Database, newest: Newest, stream: int, before: int, told: int, limit: int, size: int
) -> list[tuple[Standing, Logged]]:
    """Up to so many before an event, and of about so many characters, the newest first; as far back as they are kept.
    Of versions that still look back, what they have found so far.
    """
    while True:
        with database.reading() as reader:
            those = subscriptions.versions(reader, stream)
        recent = {each.number: newest.before(each.number, before, limit) for each in those}
        with database.reading() as reader:
            _, dropped = subscriptions.progress(reader, stream)
            pairs: set[tuple[int, int]] = set()
            for each in those:
                seqs = {*recent[each.number], *postings.written_before(reader, each.number, before, limit)}
                if each.since is not None:
                    seqs |= set(looking.earlier_before(reader, each.number, before, limit))
                pairs |= {(seq, each.number) for seq in seqs if dropped < seq <= max(told, each.after)}
            order = sorted(pairs, reverse=True)[:limit]
            events = _newest(reader, [seq for seq, _ in order], size)
        by_number = {each.number: each for each in those}
        found = [(by_number[number], events[seq]) for seq, number in order if seq in events]
        if found or len(order) < limit:
            return found
        before = order[-1][0]


def _newest(reader: sqlite3.Connection, seqs: Sequence[int], size: int) -> dict[int, Logged]:
    """The first of these events, until they have so many characters."""
    found: dict[int, Logged] = {}
    for start in range(0, len(seqs), _FEW):
        some = log.by_seqs(reader, seqs[start : start + _FEW], sys.maxsize)
        found |= some
        size -= sum(len(each.event.body) for each in some.values())
        if size <= 0:
            break
    return found
