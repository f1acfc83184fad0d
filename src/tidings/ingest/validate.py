"""What keeps an event from fitting the OPS model and the concept model of an ontology: all of it, and not the first.

`rdf.strict` and `ontology.validate` decide whether an event is refused; here somebody who writes a mapping learns what
is missing in it. A vertex is what is not only the object of rdf:type, as there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

from tidings.errors import EventError
from tidings.ingest.base import Report
from tidings.ontology.model import Ontology
from tidings.rdf.event import Event
from tidings.rdf.strict import flaws
from tidings.rdf.terms import RDF, RDF_TYPE, Term, Triple, iri, is_literal, parts

Kind: TypeAlias = Literal["no-home", "unreachable", "untyped", "undeclared-class", "undeclared-property", "ruled-out"]
_THING = iri("http://www.w3.org/2002/07/owl#Thing")
_SLOT = f"<{RDF}_"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is missing or wrong: what kind it is of, the vertex, class or property, and words for it."""

    kind: Kind
    term: Term
    reason: str


def findings(triples: Iterable[Triple], ontology: Ontology | None = None, *, home: bool = True) -> list[Finding]:
    """Everything that keeps an event from being well-formed, and, with an ontology, from its concept model.

    `home`: whether it is to have a home vertex that leads to all others, and a class for every vertex.
    """
    triples = list(triples)
    found = list(_form(triples)) if home else []
    return found if ontology is None else [*found, *_undeclared(triples, ontology), *_ruled_out(triples, ontology)]


def valid(
    events: Iterable[Event], report: Report, ontology: Ontology | None = None, *, home: bool = True
) -> Iterator[Event]:
    """The events without findings; of the others `report` is told, once each."""
    for event in events:
        found = findings(event.triples(), ontology, home=home)
        if not found:
            yield event
            continue
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        reason = "; ".join(each.reason for each in found[:_SHOWN]) + more
        report(EventError(f"{reason} (event {event.id})", source=event.source))


_WORDS = {
    "no-home": "there is no home vertex {}",
    "unreachable": "{} is not reached from the home vertex",
    "untyped": "{} has no class",
}


def _form(triples: list[Triple]) -> Iterator[Finding]:
    for kind, vertex in flaws(triples):
        yield Finding(kind, vertex, _WORDS[kind].format(vertex))


def _undeclared(triples: list[Triple], ontology: Ontology) -> Iterator[Finding]:
    """Classes and properties that the ontology does not know, with one of a near name that it does."""
    for cls in dict.fromkeys(o for _, p, o in triples if p == RDF_TYPE):
        if not ontology.is_class(cls):
            near = _near(ontology, cls, "class")
            yield Finding("undeclared-class", cls, f"the class {cls} is not declared{near}")
    for property in dict.fromkeys(p for _, p, _ in triples):
        if not ontology.is_property(property) and not property.startswith(_SLOT):
            near = _near(ontology, property, "property")
            yield Finding("undeclared-property", property, f"the property {property} is not declared{near}")


def _near(ontology: Ontology, term: Term, kind: Literal["class", "property"]) -> str:
    near = ontology.near(term, kind)
    return f" (is it {near}?)" if near is not None else ""


def _ruled_out(triples: list[Triple], ontology: Ontology) -> Iterator[Finding]:
    """Triples for which every pair of classes is one that no meta-statement has room for."""
    classes: defaultdict[Term, set[Term]] = defaultdict(set)
    for s, p, o in triples:
        if p == RDF_TYPE:
            classes[s].add(o)

    def classes_of(vertex: Term) -> list[Term]:
        if is_literal(vertex):
            return [iri(parts(vertex).datatype)]
        return sorted(classes.get(vertex, set()) | ontology.types_of(vertex) or {_THING})

    told: set[tuple[Term, Term, Term]] = set()
    for s, p, o in triples:
        if p == RDF_TYPE:
            continue
        pairs = list(product(classes_of(s), classes_of(o)))
        if any(ontology.allows(above, p, below) for above, below in pairs):
            continue
        statement = (pairs[0][0], p, pairs[0][1])
        if statement not in told:
            told.add(statement)
            shown = f"({statement[0]}, {p}, {statement[2]})"
            yield Finding("ruled-out", s, f"the concept model has no {shown}, as {s} has it")
