"""Well-formed OPS events (Wang, Jin, Li): one home vertex, from which every vertex is reached, every vertex typed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tidings.rdf.terms import HOME, RDF_TYPE, Term, Triple, is_literal


def flaw(triples: Iterable[Triple]) -> str | None:
    """What keeps the event from being well-formed, naming the vertex; None where nothing does."""
    arcs: dict[Term, list[Term]] = defaultdict(list)
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
        return "not a well-formed event: it has no home vertex _:H"
    reached = _reached(arcs)
    for vertex in vertices:
        if vertex not in reached:
            return f"not a well-formed event: the vertex {vertex} is not reached from the home vertex _:H"
        if vertex not in typed and not is_literal(vertex):
            return f"not a well-formed event: the vertex {vertex} has no rdf:type"
    return None


def _reached(arcs: dict[Term, list[Term]]) -> set[Term]:
    reached = {HOME}
    front = [HOME]
    while front:
        for vertex in arcs.get(front.pop(), ()):
            if vertex not in reached:
                reached.add(vertex)
                front.append(vertex)
    return reached
