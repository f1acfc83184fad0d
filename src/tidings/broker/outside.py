"""Events that are matched elsewhere: what is taken from there, and written down as if it had been found here.

Events are accepted and durable before anybody has matched them. Who does takes the log from the mark on, with all
versions of subscriptions that may be due any of it, and says of each event what it matched. Of that, the pairs count
whose version was active when the event was accepted. The mark moves with what is written: so what comes again changes
nothing, and nothing can be left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from zlib import crc32

import numpy as np

from tidings.broker import log, subscriptions, windows
from tidings.broker.database import Database
from tidings.broker.knowledge import Knowledge, kept_tag
from tidings.broker.log import Numbers
from tidings.broker.matching import Effort, Matching
from tidings.broker.windows import Windows
from tidings.errors import BrokerError, LogError
from tidings.match.base import Report
from tidings.rdf.cloudevents import moment_of
from tidings.rdf.event import Event

_STRETCH = 2_000
"""Events that are matched in one go."""


@dataclass(frozen=True, slots=True)
class Due:
    """For each event that was looked at, the versions that are due it; `last` is the last event there was then."""

    numbers: Mapping[int, Numbers]
    last: int


def due(reader: sqlite3.Connection, matched: Mapping[int, Numbers]) -> Due:
    """Of what events matched, by their places, what counts."""
    last = log.last_seq(reader)
    there = sorted(seq for seq in matched if seq <= last)
    sizes = [len(matched[seq]) for seq in there]
    numbers = np.concatenate([log.NONE_MATCHED, *(matched[seq] for seq in there)])
    seqs = np.repeat(np.array(there, np.int64), sizes)
    counts = Windows.of(reader, np.unique(numbers).tolist()).due(numbers, seqs)
    bounds = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
    kept = {
        seq: np.unique(numbers[low:high][counts[low:high]])
        for seq, (low, high) in zip(there, pairwise(bounds), strict=True)
    }
    return Due(kept, last)


def write(writer: sqlite3.Connection, found: Due) -> bool:
    """Write it down; whether anything of it is new. A `LogError` where it leaves out an event."""
    before = windows.mark(writer)
    if before is None:
        raise LogError("events are matched by the broker itself; start it with --matching outside")
    upto = max(found.numbers, default=0)
    if upto <= before:
        return False
    rows = writer.execute("SELECT seq, crc FROM events WHERE seq > ? AND seq <= ? ORDER BY seq", (before, upto))
    changed: list[tuple[bytes, int, int]] = []
    for seq, crc in rows.fetchall():
        numbers = found.numbers.get(seq)
        if numbers is None:
            raise LogError(f"event {seq} was left out, and nothing behind it can be taken; go on behind event {before}")
        matched = numbers.tobytes()
        changed.append((matched, crc32(matched, crc), seq))
    writer.executemany("UPDATE events SET matched = ?, crc = ? WHERE seq = ?", changed)
    windows.move(writer, upto)
    return True


def timed(event: Event) -> Event:
    """An event whose time, where it has one, is written as everybody writes it who reads it."""
    if event.published is None:
        return event
    return replace(event, published=moment_of(event.published).isoformat().replace("+00:00", "Z"))


# ------------------------------------------------------------------------------------------------------- to and from it


def begin(database: Database, knowledge: Knowledge | None, effort: Effort) -> None:
    """Let events be matched elsewhere from now on, with this effort."""
    with database.writing() as writer:
        if knowledge is not None:
            _check(writer, database, knowledge)
        windows.begin(writer, effort.steps)


def _check(reader: sqlite3.Connection, database: Database, knowledge: Knowledge) -> None:
    if knowledge.text is None:
        raise BrokerError(
            database.name, "its ontology was made in this program, so nobody else knows it; give it as a file"
        )
    if knowledge.tag != kept_tag(reader) and _waiting(reader):
        raise BrokerError(
            database.name,
            "events wait to be matched with the ontology that it had; start it without another, until they are",
        )


def _waiting(reader: sqlite3.Connection) -> bool:
    upto = windows.mark(reader)
    if upto is None:
        return False
    return reader.execute("SELECT 1 FROM events WHERE seq > ? LIMIT 1", (upto,)).fetchone() is not None


def finish(database: Database, effort: Effort, failed: Report) -> None:
    """Match here what nobody has matched elsewhere, with the versions and the ontology of then; and end that."""
    with database.reading() as reader:
        if windows.mark(reader) is None:
            return
        known = Knowledge.kept(reader).ontology
        matching = everything(reader, Matching(known, failed, effort)) if _waiting(reader) else None
    while matching is not None:
        with database.reading() as reader:
            events = list(log.between(reader, windows.mark(reader) or 0, log.last_seq(reader), _STRETCH))
            matched = matching.match([each.event for each in events])
            found = due(reader, dict(zip((each.seq for each in events), matched, strict=True)))
        if not events:
            break
        with database.writing() as writer:
            write(writer, found)
    with database.writing() as writer:
        windows.end(writer)


def everything(reader: sqlite3.Connection, matching: Matching) -> Matching:
    """With all versions that may be due an event which has not been matched."""
    matching.put_many(filter(None, (subscriptions.by_number(reader, number) for number in windows.listed(reader))))
    return matching
