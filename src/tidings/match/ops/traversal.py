"""The event as typed statements: every arc that can be reached from _:H, once, breadth first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from tidings.match.meaning import Meaning
from tidings.match.ops.ems import EmsArray, MetaStatement
from tidings.rdf.terms import HOME, RDF_TYPE, Term, iri, is_literal, parts


class TypedStatement(NamedTuple):
    subject: Term
    object: Term
    meta: MetaStatement


def traverse(meaning: Meaning, ems: EmsArray) -> Iterator[TypedStatement]:
    """One for each arc, or several where its vertices have several classes; none of an rdf:type statement."""
    classes = _VertexClasses(meaning, ems)
    reached = {HOME}
    queue = deque([HOME])
    while queue:
        subject = queue.popleft()
        for _, property, object in meaning.asserted.match(subject, None, None):
            if property == RDF_TYPE:
                continue
            for subject_class in classes.of(subject):
                for object_class in classes.of(object):
                    yield TypedStatement(subject, object, (subject_class, property, object_class))
            if object not in reached:
                reached.add(object)
                queue.append(object)


class _VertexClasses:
    """The most specific classes of each vertex of one event."""

    def __init__(self, meaning: Meaning, ems: EmsArray) -> None:
        self._meaning = meaning
        self._ems = ems
        self._type_properties = meaning.ontology.subproperties(RDF_TYPE)
        self._found: dict[Term, tuple[Term, ...]] = {}

    def of(self, vertex: Term) -> tuple[Term, ...]:
        found = self._found.get(vertex)
        if found is None:
            if is_literal(vertex):
                found = (iri(parts(vertex).datatype),)
            else:
                found = self._ems.specific(self._stated(vertex))
            self._found[vertex] = found
        return found

    def _stated(self, vertex: Term) -> frozenset[Term]:
        stated = self._meaning.ontology.types_of(vertex)
        arcs = self._meaning.asserted.match(vertex, None, None)
        return stated.union([o for _, p, o in arcs if p in self._type_properties])
