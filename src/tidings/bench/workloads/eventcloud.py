"""The workload of the EventCloud paper (section 5).

A subscription is a path of k patterns with named properties, `?s1 p1 ?o1 . ?o1 p2 ?o2 …`, in one graph; each has
properties of its own. A compound event is such a path: by its properties it matches one subscription, and the events go
round them, so that each is matched by as many. With five quads an event is about 670 bytes of N-Quads, as in the paper.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.rdf.event import Event
from tidings.rdf.terms import iri

ACCEPT_ALL = "SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } }"
PATTERNS = 5
_NAMES = "http://events.example/"


@dataclass(frozen=True, slots=True)
class Parameters:
    """So many subscriptions, or the one that accepts all where there are none; so many events of so many quads."""

    events: int
    subscriptions: int = 1
    quads: int = PATTERNS

    @property
    def accepts_all(self) -> bool:
        return self.subscriptions == 0


@dataclass(frozen=True, slots=True)
class Workload:
    queries: tuple[tuple[str, str], ...]
    events: tuple[Event, ...]

    def forms(self) -> list[tuple[str, Query]]:
        return [(id, parse(text, "sparql")) for id, text in self.queries]


def generate(parameters: Parameters, seed: int) -> Workload:
    """The workload of these parameters; the same for the same seed."""
    p = parameters
    count = max(1, p.subscriptions)
    queries = [("all", ACCEPT_ALL)] if p.accepts_all else [(f"s{n:02}", _query(n)) for n in range(count)]
    events = [_event(number, number % count, p.quads) for number in range(p.events)]
    random.Random(seed).shuffle(events)
    return Workload(tuple(queries), tuple(events))


def quads_of(events: Sequence[Event], seed: int) -> list[Event]:
    """The quads of these events one by one, in any order."""
    parts = [Event(event.id, line) for event in events for line in event.body.splitlines(keepends=True)]
    random.Random(seed).shuffle(parts)
    return parts


def _query(number: int) -> str:
    names = ["?s1", *(f"?o{step}" for step in range(1, PATTERNS + 1))]
    path = " . ".join(f"{names[step]} {_property(number, step)} {names[step + 1]}" for step in range(PATTERNS))
    return f"SELECT ?g {' '.join(names)} WHERE {{ GRAPH ?g {{ {path} }} }}"


def _event(number: int, subscription: int, quads: int) -> Event:
    id = f"{_NAMES}{number:06}"
    steps = [iri(f"{id}/{step:02}") for step in range(quads + 1)]
    path = ((steps[step], iri(_property(subscription, step)[1:-1]), steps[step + 1]) for step in range(quads))
    return Event.of(id, path)


def _property(subscription: int, step: int) -> str:
    return f"<{_NAMES}p{subscription:02}/{step:02}>"
