"""What was asked of a server and what it answered, as its clients know it: all that can be said of what must be there.

A moment is a reading of one clock. What was asked at one moment and answered at another has happened in between; what
was not answered may have happened, or not.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from tests.broker.ordeal.world import Asked, Thing

NEVER = 1 << 62


def moment() -> int:
    return time.monotonic_ns()


@dataclass(frozen=True, slots=True)
class Span:
    """It happened after the one and before the other."""

    asked: int
    answered: int


@dataclass(slots=True)
class Published:
    """An event: when it was first asked for to be taken, and when it was first known to be."""

    thing: Thing
    asked: int
    answered: int = NEVER


@dataclass(frozen=True, slots=True)
class Stage:
    """What a subscription is from some moment on: a version that is matched, or none. `since` is for one that looks
    back, in microseconds since 1970.
    """

    begins: Span
    version: int
    asked: Asked | None
    since: int | None = None


@dataclass(slots=True)
class Stream:
    """The versions of a subscription that follow one another. `whole` is the moment up to which all of it was read
    before it ended.
    """

    subscription: str
    stages: list[Stage]
    number: int | None = None
    ended: bool = False
    whole: int = 0

    @property
    def looks_back(self) -> bool:
        return self.stages[0].since is not None


@dataclass(frozen=True, slots=True)
class Heard:
    """A notification, as it was told."""

    id: str
    event: str
    version: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What somebody was told in one go, asked at that moment, behind a place; None where he named none, so that it is
    one of those he had acknowledged. `last` says that there was nothing more.
    """

    how: str
    stream: int
    asked: int
    after: int | None
    places: tuple[int, ...]
    last: bool = False
    acked: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """A notification as it came to an endpoint, and whether it was taken."""

    stream: int
    place: int
    taken: bool


@dataclass(slots=True)
class Acks:
    """What was acknowledged of a stream, and what perhaps was."""

    sure: int = 0
    perhaps: list[int] = field(default_factory=list)

    @property
    def places(self) -> tuple[int, ...]:
        return self.sure, *(place for place in self.perhaps if place > self.sure)


@dataclass(slots=True)
class History:
    events: dict[str, Published] = field(default_factory=dict)
    streams: list[Stream] = field(default_factory=list)
    heard: defaultdict[int, dict[int, Heard]] = field(default_factory=lambda: defaultdict(dict))
    acks: defaultdict[int, Acks] = field(default_factory=lambda: defaultdict(Acks))
    seen: list[Seen] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """What no answer should have been, whatever went before."""
    lock: Lock = field(default_factory=Lock)
    published: int = 0
    """How many events have been acknowledged."""

    def asking(self, things: Sequence[Thing]) -> None:
        now = moment()
        with self.lock:
            for thing in things:
                self.events.setdefault(thing.id, Published(thing, now))

    def answered(self, things: Sequence[Thing]) -> None:
        now = moment()
        with self.lock:
            for thing in things:
                published = self.events[thing.id]
                self.published += published.answered == NEVER
                published.answered = min(published.answered, now)

    def hear(self, stream: int, place: int, heard: Heard) -> None:
        """Whoever is told, and however often: the same notification is always the same."""
        with self.lock:
            before = self.heard[stream].setdefault(place, heard)
            if before != heard:
                self.wrong.append(f"{stream}-{place} was {before}, and then {heard}")

    def note(self, seen: Seen) -> None:
        with self.lock:
            self.seen.append(seen)
