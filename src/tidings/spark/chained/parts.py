"""The parts of an event: each brings some of its quads, in any order, and one of them may say that it was the last.

`<event> <urn:tidings:end> true` in the graph of the event is that mark. It is not part of the event.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tidings.errors import EventError
from tidings.rdf.event import Event
from tidings.rdf.identity import PREFIX
from tidings.rdf.limits import DEFAULT_LIMITS, Limits, human
from tidings.rdf.read import read_triples
from tidings.rdf.terms import XSD_BOOLEAN, format_triple, iri, literal

END = iri("urn:tidings:end")
_TRUE = (literal("true", XSD_BOOLEAN), literal("1", XSD_BOOLEAN))


class Part(NamedTuple):
    """Lines of canonical N-Triples, and whether the event ends here."""

    lines: frozenset[str]
    ends: bool


def part_of(event: str | None, body: str | None) -> Part:
    """What a part brings; an `EventError` where it cannot be read. An event without a name is its only part."""
    if event is None:
        raise EventError("the event has no id")
    if body is None:
        raise EventError("the event has no body")
    lines = lines_of(Event.of(event, read_triples(body.encode(), format="nt")).body)
    marks = {format_triple((iri(event), END, true)) for true in _TRUE}
    own = frozenset(lines) - marks
    return Part(own, len(own) < len(lines) or event.startswith(PREFIX))


def lines_of(body: str) -> list[str]:
    """The lines of a body. Literals may have characters in them that end a line elsewhere."""
    return [f"{line}\n" for line in body.split("\n") if line]


def whole(lines: Iterable[str]) -> str:
    """The body of an event with these lines."""
    return "".join(sorted(lines))


def excess(body: str, triples: int, limits: Limits = DEFAULT_LIMITS) -> str | None:
    """Why this is too much for one event, if it is."""
    if triples > limits.max_triples:
        return f"the event has more than {limits.max_triples:,} triples"
    if len(body) > limits.max_event or len(body.encode()) > limits.max_event:
        return f"the event is larger than {human(limits.max_event)}"
    return None
