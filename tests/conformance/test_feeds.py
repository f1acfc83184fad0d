"""Every feed of the public data sets: the items that a feed reader shows, with their titles and links, or a reason.

The feed reader is feedparser itself, called as its users call it; the converter drives its parsers by its own means.
"""

from __future__ import annotations

import io
from collections import Counter
from functools import cache
from typing import NamedTuple

import feedparser
import pytest
from tests.conformance.rdf_suites import archive
from tests.support import data_dir

from tidings.errors import EventError
from tidings.ingest.base import How, Input
from tidings.ingest.feeds import names
from tidings.ingest.feeds.convert import read
from tidings.ingest.feeds.items import Items, subject_of
from tidings.rdf.event import Event
from tidings.rdf.sources import Stream
from tidings.rdf.terms import parts

SETS = ("rss1.0-rdf", "rss2-atom")


class Outcome(NamedTuple):
    version: str | None
    events: list[Event]
    problems: list[EventError]
    ill_formed: bool


def outcome(name: str, data: bytes) -> Outcome:
    problems: list[EventError] = []
    try:
        reading = read(Input(name, Stream("feed", io.BytesIO(data))), How(), problems.append)
    except EventError as error:
        return Outcome(None, [], [error], False)
    rows = [row for batch in reading.batches for row in batch.to_pylist()]
    events = [Event(row["event"], row["body"], row["source"]) for row in rows]
    return Outcome(reading.version, events, problems, reading.problem is not None)


@cache
def outcomes(name: str) -> dict[str, tuple[bytes, Outcome]]:
    files = archive(data_dir("feeds", f"{name}.tar.zst"))
    return {path: (data, outcome(path, data)) for path, data in files.items()}


def said(event: Event, property: str) -> list[str]:
    subject = subject_of(event)
    found = [parts(o).lexical for s, p, o in event.triples() if s == subject and p == property]
    return [" ".join(text.split()) for text in found]


@pytest.mark.parametrize("name", SETS)
def test_the_items_of_a_feed_reader(name: str) -> None:
    for path, (data, found) in outcomes(name).items():
        shown = feedparser.parse(io.BytesIO(data), sanitize_html=False, resolve_relative_uris=False)
        assert len(found.events) == len(shown.entries), path
        for event, entry in zip(found.events, shown.entries, strict=True):
            title, link = (" ".join(dict.get(entry, key, "").split()) for key in ("title", "link"))
            assert title in said(event, names.TITLE) or not title, path
            assert link in said(event, names.LINK) or not link, path


@pytest.mark.parametrize("name", SETS)
def test_the_same_bytes_give_the_same_events_and_no_news(name: str) -> None:
    for path, (data, found) in outcomes(name).items():
        assert outcome(path, data).events == found.events
        _, state = Items().changes(found.events)
        assert not state.changes(found.events)[0].any
        for event in found.events:
            assert Event.of(event.id, event.triples(), event.source) == event


def test_counts() -> None:
    """The table of docs/feeds.md."""
    counts = {}
    for name in SETS:
        found = [one for _, one in outcomes(name).values()]
        counts[name] = (
            len(found),
            sum(len(one.events) for one in found),
            sum(one.ill_formed for one in found),
            Counter(problem.reason for one in found for problem in one.problems),
        )
    no_feed = Counter({"is no feed: its first element is <rdf:RDF>": 2})
    assert counts == {"rss1.0-rdf": (137, 164, 2, no_feed), "rss2-atom": (150, 1465, 3, Counter())}
