"""A document of a feed, taken: its events, what of them is new to who has read the feed before, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

from tidings.errors import EventError
from tidings.ingest.base import Input
from tidings.ingest.feeds.items import Changes, Items
from tidings.ingest.feeds.options import FeedOptions
from tidings.ingest.feeds.schedule import Hints
from tidings.rdf.event import Event
from tidings.rdf.sources import Stream

_PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class Taken:
    """What was in a document: `news` are the events that are new or updated, in the order in which they are to be told;
    `items` is the state after it; `wrong` is what is wrong with the document, and `problems` with items of it.
    """

    news: tuple[Event, ...]
    changes: Changes
    items: Items
    version: str
    hints: Hints
    wrong: str | None = None
    problems: tuple[EventError, ...] = ()

    @property
    def problem(self) -> str:
        """All that is wrong, in short."""
        said = [self.wrong] if self.wrong else []
        said += [each.reason for each in self.problems[:_PROBLEMS]]
        if len(self.problems) > _PROBLEMS:
            said.append(f"and {len(self.problems) - _PROBLEMS:,} more")
        return "; ".join(said)


def take(url: str, items: Items, options: FeedOptions, body: bytes, content_type: str | None, most: int) -> Taken:
    """What is new in a document, which may have `most` bytes, however it is packed, of a feed of which `items` have
    been. An `EventError` where it is no feed.
    """
    # What reads feeds is an extra of its own, and a server without it has none.
    from tidings.ingest.feeds.convert import read

    problems: list[EventError] = []
    # It has been unpacked, whatever its address ends in.
    stream = Stream(url.removesuffix(".gz").removesuffix(".zst"), BytesIO(body))
    reading = read(Input(url, stream, url), options.how(content_type, most), problems.append)
    events = [
        Event(id, text, url)
        for batch in reading.batches
        for id, text in zip(batch["event"].to_pylist(), batch["body"].to_pylist(), strict=True)
    ]
    changes, after = items.changes(events)
    wanted = {event.id for event in (*changes.new, *changes.updated)}
    # The oldest first: feeds have their newest item at the top.
    news = tuple(event for event in reversed(events) if event.id in wanted)
    return Taken(news, changes, after, reading.version, reading.hints, reading.problem, tuple(problems))
