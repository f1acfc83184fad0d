"""Feeds read in tests."""

from __future__ import annotations

import io
from typing import Any

import pyoxigraph as ox
import pytest

from tidings.errors import EventError
from tidings.ingest.base import SCHEMA, How, Input
from tidings.ingest.feeds.convert import convert, read
from tidings.ingest.feeds.reading import Reading
from tidings.rdf.event import Event
from tidings.rdf.identity import id_of
from tidings.rdf.sources import Stream
from tidings.rdf.terms import Term, Triple

RSS = "http://purl.org/rss/1.0/"
DC = "http://purl.org/dc/elements/1.1/"
DCTERMS = "http://purl.org/dc/terms/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def given(data: bytes | str, address: str | None = None) -> Input:
    return Input("test", Stream("test", io.BytesIO(data.encode() if isinstance(data, str) else data)), address)


def events(
    data: bytes | str, address: str | None = None, problems: list[EventError] | None = None, **how: Any
) -> list[Event]:
    """The events, each checked to be one: canonical, and called by what it says."""

    def refuse(error: EventError) -> None:
        pytest.fail(str(error))

    report = refuse if problems is None else problems.append
    found = []
    for batch in convert(given(data, address), How(**how), report):
        assert batch.schema == SCHEMA
        found += [Event(row["event"], row["body"], row["source"]) for row in batch.to_pylist()]
    for event in found:
        quads = ox.parse(event.body.encode(), ox.RdfFormat.N_TRIPLES)
        assert "".join(sorted(f"{quad.triple} .\n" for quad in quads)) == event.body
        assert event.id == id_of(event.body)
    return found


def reading(data: bytes | str, address: str | None = None, **how: Any) -> Reading:
    return read(given(data, address), How(**how), lambda error: pytest.fail(str(error)))


def refused(data: bytes | str, **how: Any) -> EventError:
    """The one problem of a document without events."""
    problems: list[EventError] = []
    assert events(data, problems=problems, **how) == []
    (problem,) = problems
    return problem


def objects(event: Event, property: str, subject: str | None = None) -> list[Term]:
    """What an event says, by the property, of the item or of another subject."""
    about = subject or item_of(event)
    return [o for s, p, o in event.triples() if s == about and p == f"<{property}>"]


def item_of(event: Event) -> str:
    found = [s for s, p, o in event.triples() if p == TYPE and o == f"<{RSS}item>"]
    assert len(found) == 1
    return found[0]


def has(event: Event, *triple: str) -> bool:
    wanted: Triple = tuple(Term(term) for term in triple)  # type: ignore[assignment]
    return wanted in event.triples()


def rss(items: str, channel: str = "<title>News</title><link>http://news.example/</link>") -> str:
    return f"""<?xml version="1.0"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom"
 xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
<channel>{channel}{items}</channel></rss>"""


def atom(entries: str, feed: str = "<title>News</title><id>http://news.example/feed</id>") -> str:
    return f"""<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">{feed}{entries}</feed>"""


def rdf(items: str, channel: str = "<title>News</title><link>http://news.example/</link>") -> str:
    return f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:taxo="http://purl.org/rss/1.0/modules/taxonomy/"
 xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" xmlns:slash="http://purl.org/rss/1.0/modules/slash/">
<channel rdf:about="http://news.example/feed">{channel}</channel>{items}</rdf:RDF>"""
