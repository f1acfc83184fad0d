"""What is new or updated in a document of a feed is published, and then it is known that it has been.

In this order: what a crash comes between is read again, and its events are the same, so nothing is lost or told twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from tidings.broker.core import Core
from tidings.broker.feeds.rows import Feed
from tidings.errors import EventError
from tidings.ingest.feeds import taking
from tidings.ingest.feeds.items import Changes
from tidings.ingest.feeds.names import ISSUED, MODIFIED
from tidings.ingest.feeds.taking import Taken
from tidings.rdf.event import Event

_TOGETHER = 500
_DATED = re.compile(rf' (?:{re.escape(ISSUED)}|{re.escape(MODIFIED)}) "([^"]+)"\^\^')
_LATE = 30 * 86_400.0
"""Seconds after which an item was not late, but old."""


def take(core: Core, feed: Feed, body: bytes, content_type: str | None, most: int) -> Taken:
    """Publish what is new in a document, which may have `most` bytes, however it is packed, and wait until that is
    durable. An `EventError` where it is no feed.
    """
    taken = taking.take(feed.url, feed.items, feed.options, body, content_type, most)
    refused: list[EventError] = []
    for several in _together(taken.news):
        refused += [each for each in core.publish(several).result() if isinstance(each, EventError)]
    _count(core, taken.changes, known=len(feed.items) > 0)
    return replace(taken, problems=(*taken.problems, *refused))


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
