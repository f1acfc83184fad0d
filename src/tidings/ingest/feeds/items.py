"""What a poller remembers of a feed: which items have been, so that an update is told apart from a repeat.

An item is known by its subject, what it says by the id of its event. The two together are remembered as 16 bytes; an
item that goes back to what it said before has nothing new to tell, for that is the same event again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from tidings.errors import EventError
from tidings.ingest.feeds.names import IDENTIFIER, ITEM, TOMBSTONE
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, RDF_TYPE

KEEP = 10_000
_HALF = 8
_SUBJECT = re.compile(rf"^(\S+) {re.escape(RDF_TYPE)} (?:{re.escape(ITEM)}|{re.escape(TOMBSTONE)}) \.$", re.MULTILINE)
_IDENTIFIED = re.compile(rf"^_:H {re.escape(IDENTIFIER)} (<\S+>) \.$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Changes:
    """The events of a document of a feed, each in one of these, in the order of the document.

    `new`: of items that have not been. `updated`: of items that have been and said something else; a deletion is one.
    `repeated`: what has been said before; there is nothing to do.
    """

    new: tuple[Event, ...] = ()
    updated: tuple[Event, ...] = ()
    repeated: tuple[Event, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.new or self.updated)


@dataclass(frozen=True, slots=True)
class Items:
    """The state of one feed: `data` is what to keep, at most 16 bytes for each of `keep` things that items said."""

    data: bytes = b""

    def changes(self, events: Iterable[Event], keep: int = KEEP) -> tuple[Changes, Items]:
        """What is new in these events, and the state after them.

        Where more was said than is kept, that which has not come for longest is forgotten first, and of one document
        what stands last in it. What is forgotten is new when it comes again: the broker still knows its event.
        """
        known = dict.fromkeys(self.data[at : at + 2 * _HALF] for at in range(0, len(self.data), 2 * _HALF))
        subjects = {pair[:_HALF] for pair in known}
        new: list[Event] = []
        updated: list[Event] = []
        repeated: list[Event] = []
        seen: dict[bytes, None] = {}
        for event in events:
            half = _digest(subject_of(event))
            pair = half + _digest(event.id)
            if pair in known or pair in seen:
                repeated.append(event)
            elif half in subjects:
                updated.append(event)
            else:
                new.append(event)
                subjects.add(half)
            seen.setdefault(pair)
        order = [pair for pair in known if pair not in seen] + list(seen)[::-1]
        return Changes(tuple(new), tuple(updated), tuple(repeated)), Items(b"".join(order[max(0, len(order) - keep) :]))

    def __len__(self) -> int:
        return len(self.data) // (2 * _HALF)


def subject_of(event: Event) -> str:
    """The IRI of the item that an event of the converter `feed` is about, or its blank node where it has none."""
    found = _SUBJECT.search(event.body)
    if found is None:
        raise EventError("the event is not about an item of a feed", source=event.source or None)
    identified = _IDENTIFIED.search(event.body) if found[1] == HOME else None
    return identified[1] if identified else found[1]


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=_HALF).digest()
