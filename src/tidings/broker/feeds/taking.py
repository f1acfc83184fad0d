"""A document of a feed to events: what is new or updated in it is published, and then it is known that it has been.

In this order: what a crash comes between is read again, and its events are the same, so nothing is lost or told twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

from tidings.broker.core import Core
from tidings.broker.feeds.rows import Feed
from tidings.errors import EventError
from tidings.ingest.base import Input
from tidings.ingest.feeds.items import Changes, Items
from tidings.ingest.feeds.names import ISSUED, MODIFIED
from tidings.ingest.feeds.schedule import Hints
from tidings.rdf.event import Event
from tidings.rdf.sources import Stream

_TOGETHER = 500
_PROBLEMS = 3
_DATED = re.compile(rf' (?:{re.escape(ISSUED)}|{re.escape(MODIFIED)}) "([^"]+)"\^\^')
_LATE = 30 * 86_400.0
"""Seconds after which an item was not late, but old."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a document: what was in it, the state after it, what it says of itself, and what was wrong."""

    changes: Changes
    items: Items
    version: str
    hints: Hints
    problem: str


def take(core: Core, feed: Feed, body: bytes, content_type: str | None, most: int) -> Taken:
    """Publish what is new in a document, which may have `most` bytes, however it is packed, and wait until that is
    durable. An `EventError` where it is no feed.
    """
    # What reads feeds is an extra of its own, and a server without it has none.
    from tidings.ingest.feeds.convert import read

    problems: list[EventError] = []
    url, items = feed.url, feed.items
    # It has been unpacked, whatever its address ends in.
    stream = Stream(url.removesuffix(".gz").removesuffix(".zst"), BytesIO(body))
    reading = read(Input(url, stream, url), feed.options.how(content_type, most), problems.append)
    events = [
        Event(id, text, url)
        for batch in reading.batches
        for id, text in zip(batch["event"].to_pylist(), batch["body"].to_pylist(), strict=True)
    ]
    changes, after = items.changes(events)
    for several in _together(_in_order(events, changes)):
        problems += [each for each in core.publish(several).result() if isinstance(each, EventError)]
    _count(core, changes, known=len(items) > 0)
    said = [reading.problem] if reading.problem else []
    said += [each.reason for each in problems[:_PROBLEMS]]
    if len(problems) > _PROBLEMS:
        said.append(f"and {len(problems) - _PROBLEMS:,} more")
    return Taken(changes, after, reading.version, reading.hints, "; ".join(said))


def _in_order(events: Sequence[Event], changes: Changes) -> list[Event]:
    """Those that are to be published, the oldest first: feeds have their newest item at the top."""
    wanted = {event.id for event in (*changes.new, *changes.updated)}
    return [event for event in reversed(events) if event.id in wanted]


def _together(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    for start in range(0, len(events), _TOGETHER):
        yield events[start : start + _TOGETHER]


def _count(core: Core, changes: Changes, *, known: bool) -> None:
    figures = core.figures
    figures.count("feed_items_new", len(changes.new))
    figures.count("feed_items_updated", len(changes.updated))
    figures.count("feed_items_repeated", len(changes.repeated))
    if not known:
        # All of them are old then.
        return
    now = core.now() / 1e6
    for event in (*changes.new, *changes.updated):
        late = now - max((_moment(text) for text in _DATED.findall(event.body)), default=0.0)
        if 0 <= late <= _LATE:
            figures.feed_delay.add(late)


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return 0.0
