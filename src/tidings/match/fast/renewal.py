"""Another ontology for subscriptions that are there.

What is above a name is looked up when an event comes, so most of what is compiled stays as it is. What is compiled
otherwise are the subscriptions that speak of a name of which the two ontologies say different things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tidings.index.kernels.rows import mentioning
from tidings.index.names import ALL_BITS, Entries, NameTables
from tidings.index.segment import Segment
from tidings.lang import parse_kept
from tidings.match.fast.parts import Live
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE, Term


def renewed(segment: Segment, old: Ontology, new: Ontology, live: Live) -> tuple[Segment, list[str]]:
    """The segment with the new ontology, and the ids of the subscriptions that are compiled anew: they are in `live`,
    and not in it any more.
    """
    index = segment.index
    rules = index.rules._replace(alive=index.rules.alive.copy())
    fresh = Segment(index._replace(names=NameTables.renewed(index.names, new), rules=rules), segment.listed)
    ids = []
    for number in _speaking_of(segment, different(old, new)):
        id = segment.id(number)
        live.add(id, parse_kept(*segment.text(number)))
        fresh.remove(number)
        ids.append(id)
    return fresh, sorted(ids)


def different(old: Ontology, new: Ontology) -> set[Term]:
    """The names of which the ontologies say different things."""
    both: tuple[Ontology, Ontology] = old, new
    found = set(old.resource_classes ^ new.resource_classes)
    for name in {*old.classes, *new.classes}:
        if _differ(name, both, Ontology.subclasses, Ontology.superclasses, Ontology.parents, Ontology.types_of):
            found.add(name)
    for name in {*old.properties, *new.properties}:
        if _differ(name, both, Ontology.subproperties):
            found.add(name)
    for name in {*old.instances, *new.instances}:
        changed = old.types_of(name) ^ new.types_of(name)
        if changed:
            found.add(name)
        found.update(upper for cls in changed for each in both for upper in each.superclasses(cls))
    return found


def _differ(name: Term, both: tuple[Ontology, Ontology], *what: Callable[[Ontology, Term], frozenset[Term]]) -> bool:
    old, new = both
    return any(ask(old, name) != ask(new, name) for ask in what)


def _speaking_of(segment: Segment, names: set[Term]) -> Iterator[int]:
    """The subscriptions that have one of the names in their texts, where rdf:type may be written without its name."""
    table = Entries(ALL_BITS)
    for name in sorted(names):
        table.number(name)
    listed = segment.listed
    found = np.full(segment.size, RDF_TYPE in names, np.uint8)
    mentioning(listed.text_start, listed.text_pool, table.table(), found)
    for number in np.flatnonzero(found).tolist():
        if segment.alive(number):
            yield number
