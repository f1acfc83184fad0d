"""An event: one RDF graph with a name, as sorted, canonically escaped N-Triples text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tidings.rdf.terms import Triple, format_triple, parse_triple


@dataclass(frozen=True, slots=True)
class Event:
    """`body` is the one inner form of an event everywhere: lines of canonical N-Triples, sorted, without repeats."""

    id: str
    body: str
    source: str = ""
    published: str | None = None

    @staticmethod
    def of(id: str, triples: Iterable[Triple], source: str = "", published: str | None = None) -> Event:
        return Event(id, "".join(sorted({format_triple(t) for t in triples})), source, published)

    def triples(self) -> list[Triple]:
        return [parse_triple(line) for line in self.body.split("\n") if line]


def to_nquads(event: Event) -> bytes:
    """The event as N-Quads, in a graph called by its id: what `-` reads."""
    return "".join(f"{line[:-1]}<{event.id}> .\n" for line in event.body.split("\n") if line).encode()
