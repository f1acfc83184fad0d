"""Well-formed OPS events (Wang, Jin, Li): one home vertex, from which every vertex is reached, every vertex typed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from tidings.rdf.terms import HOME, RDF_TYPE, Term, Triple, is_literal


class Flaw(NamedTuple):
    """What is wrong with a vertex."""

    kind: Literal["no-home", "unreachable", "untyped"]
    vertex: Term


def flaw(triples: Iterable[Triple]) -> str | None:
    """What keeps the event from being well-formed, naming the vertex; None where nothing does."""
    match next(flaws(triples), None):
        case None:
            return None
        case ("no-home", _):
            return "not a well-formed event: it has no home vertex _:H"
        case ("unreachable", vertex):
            return f"not a well-formed event: the vertex {vertex} is not reached from the home vertex _:H"
        case (_, vertex):
            return f"not a well-formed event: the vertex {vertex} has no rdf:type"


def flaws(triples: Iterable[Triple]) -> Iterator[Flaw]:
    """All that keeps it from that. Where there is no home vertex, nothing is reached from it, which is no news."""
    arcs: defaultdict[Term, list[Term]] = defaultdict(list)
    vertices: dict[Term, None] = {}
    typed: set[Term] = set()
    for s, p, o in triples:
        vertices[s] = None
        if p == RDF_TYPE:
            typed.add(s)
        else:
            vertices[o] = None
            arcs[s].append(o)
    if HOME not in vertices:
        yield Flaw("no-home", HOME)
    reached = _reached(arcs)
    for vertex in vertices:
        if HOME in vertices and vertex not in reached:
            yield Flaw("unreachable", vertex)
        if vertex not in typed and not is_literal(vertex):
            yield Flaw("untyped", vertex)


def _reached(arcs: Mapping[Term, list[Term]]) -> set[Term]:
    reached = {HOME}
    front = [HOME]
    while front:
        for vertex in arcs.get(front.pop(), ()):
            if vertex not in reached:
                reached.add(vertex)
                front.append(vertex)
    return reached
