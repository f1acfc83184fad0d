"""A feed between its document and its events: a channel, and items that await it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from operator import eq
from typing import NamedTuple

from tidings.ingest.base import How
from tidings.ingest.feeds import names
from tidings.ingest.feeds.dates import stamp
from tidings.ingest.feeds.facts import Facts
from tidings.ingest.feeds.links import absolute, identifier
from tidings.ingest.feeds.schedule import Hints
from tidings.rdf.terms import HOME

_MADE = "urn:tidings:feed:"


@dataclass(slots=True)
class Channel:
    """`id` is its IRI; `facts` are those that stay from one document to the next, unless it is another channel."""

    id: str
    facts: Facts
    language: str | None = None


@dataclass(slots=True)
class Item:
    """`guid` and `link` are as written, `about` is the IRI of its subject where the document has one for it."""

    facts: Facts
    guid: str | None = None
    link: str | None = None
    about: str | None = None
    language: str | None = None

    def subject(self, channel: Channel, base: str | None) -> str:
        """An IRI that stays: of the guid, the link, else made from the feed and what the item says."""
        found = self.about or (identifier(self.guid) if self.guid else None)
        if found is None and self.link:
            found = absolute(self.link, base)
        if found is None:
            what = self.guid or "".join(sorted(set(self.facts.lines(""))))
            found = _MADE + sha256(f"{channel.id}\n{what}".encode()).hexdigest()
        return found


class Said(NamedTuple):
    """The body of an item's event, with so many lines, made of these facts; 0 and None where no limit is near."""

    body: str
    lines: int
    facts: Facts | None


@dataclass(slots=True)
class Feed:
    """A document of a feed. `version` and `problem` are as in `reading.Reading`."""

    version: str
    channel: Channel
    items: list[Item]
    hints: Hints = field(default_factory=Hints)
    problem: str | None = None

    def events(self, how: How, base: str | None) -> Iterator[Said]:
        """The event of each item. Items are let go of as they are given out."""
        write = self.writer(how, base)
        self.items.reverse()
        while self.items:
            yield write(self.items.pop())

    def writer(self, how: How, base: str | None) -> Callable[[Item], Said]:
        """What makes the event of an item."""
        channel = f"<{self.channel.id}>"
        shared = self.channel.facts.lines(channel)
        classes = [f"<{name}>" for name in how.classes]

        def write(item: Item) -> Said:
            subject = f"<{item.subject(self.channel, base)}>"
            facts = item.facts
            facts.term(names.IS_PART_OF, channel)
            facts.text(names.LANGUAGE, item.language or self.channel.language)
            if classes:
                facts.type(*classes)
            if how.home:
                facts.term(names.IDENTIFIER, subject)
                subject = HOME
            lines = without_repeats(facts.lines(subject) + shared)
            return Said("".join(lines), len(lines), facts)

        return write


def without_repeats(lines: list[str]) -> list[str]:
    """Sorted. Neighbours are compared, for to hash a line takes as long as to write it."""
    lines.sort()
    if any(map(eq, lines, islice(lines, 1, None))):
        return list(dict.fromkeys(lines))
    return lines


def made_id(*what: str | None) -> str:
    """The IRI of a channel that has none."""
    return _MADE + sha256("\n".join(text or "" for text in what).encode()).hexdigest()


def deleted(reference: str, when: str, base: str | None) -> Item:
    """An item that is gone (RFC 6721): what it was, and when it went."""
    facts = Facts(base)
    facts.type(names.TOMBSTONE)
    facts.term(names.FORMER_TYPE, names.ITEM)
    facts.text(names.IDENTIFIER, reference)
    facts.date(names.DELETED, when, stamp(when))
    return Item(facts, guid=reference)
