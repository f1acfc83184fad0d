"""How a matcher came to its answer on one subscription and one event, in the words of its paper.

Each module here has a matcher under watch: the matcher itself, alone with the subscription, with those methods replaced
that hand over what the others work on; they call the original and keep what it gives. So what is told is what was done,
and a matcher that nobody watches does nothing for it.

    gtopss         edges of G_M met, edge counters, binding tables, their joins, constraints
    rtf            trie paths walked, words and distances, tuples marked, shared variables joined
    ibroker        buckets visited, NextToMatch followed
    tuples         what the two have in common
    decomposition  sub-patterns of the network with their instances
    ops            the array with what waits in it, typed statements, the matching tree, SBPV and BEBV
    fast           rules, what they need and are filed under, what the kernel said
    text           all of it as text
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Protocol, cast

from tidings.errors import EvaluationError
from tidings.lang.pattern import Query
from tidings.match.base import Engine, Failure
from tidings.match.explain.names import Names
from tidings.match.registry import create
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.workings.model import Section, Table, Workings, bounded, section
from tidings.match.workings.text import workings_text
from tidings.ontology import Ontology
from tidings.rdf.event import Event

__all__ = ["Section", "Table", "Workings", "workings", "workings_text"]

_WATCHED = {
    "ops": "ops:WatchedOps",
    "gtopss": "gtopss:WatchedGtopss",
    "decomposition": "decomposition:WatchedDecomposition",
    "rtfm": "rtf:WatchedRtfm",
    "rtfs": "rtf:WatchedRtfs",
    "ibroker": "ibroker:WatchedIbroker",
    "fast": "fast:WatchedFast",
}


class Watched(Engine, Protocol):
    """A matcher that can tell of the last event."""

    def sections(self, names: Names) -> Iterable[Section]: ...


def workings(
    matcher: str,
    id: str,
    query: Query,
    event: Event,
    ontology: Ontology,
    names: Names,
    *,
    budget: int = DEFAULT_BUDGET,
) -> Workings:
    """Asks a matcher, alone with one subscription, and has it tell how it came to its answer.

    An `UnsupportedError` names a construct that the matcher does not define. There is nothing to tell of `naive`, and
    of other matchers that do as the explanation says.
    """
    watched = _watched(matcher, ontology, budget)
    engine = create(matcher, ontology, budget=budget) if watched is None else watched
    engine.add(id, query)
    failures: list[Failure] = []
    found = engine.match(event, failures.append)
    failure = failures[0].reason if failures else None
    sections = () if watched is None else bounded(_told(watched, names))
    return Workings(matcher, bool(found), failure, sections)


def _told(watched: Watched, names: Names) -> Iterator[Section]:
    """As far as the budget goes."""
    try:
        yield from watched.sections(names)
    except EvaluationError as error:
        yield section("There is no more to tell", str(error))


def _watched(matcher: str, ontology: Ontology, budget: int) -> Watched | None:
    place = _WATCHED.get(matcher)
    if place is None:
        return None
    module, _, attribute = place.partition(":")
    return cast(Watched, getattr(import_module(f"{__name__}.{module}"), attribute)(ontology, budget=budget))
