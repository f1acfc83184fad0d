"""The notifications of a stream, in order: of several versions, from blocks and from what is in none yet."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from operator import itemgetter

from tidings.broker import log, looking, postings, subscriptions
from tidings.broker.cursors import Cursor
from tidings.broker.database import Database
from tidings.broker.log import Logged
from tidings.broker.postings import Newest
from tidings.broker.subscriptions import Standing
from tidings.errors import CursorError


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
