"""Where a triple of an event's meaning comes from: a stated triple, and the steps of the hierarchies above it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tidings.match.meaning import Meaning
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE, Term, Triple

Relation: TypeAlias = Literal["⊑", "≡"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step up a hierarchy: `lower ⊑ upper`, or between synonyms `lower ≡ upper`."""

    lower: Term
    relation: Relation
    upper: Term


@dataclass(frozen=True, slots=True)
class Origin:
    """A stated triple and the steps, possibly none, that lead from it to the triple that was asked about."""

    stated: Triple
    source: Literal["event", "ontology"]
    steps: tuple[Step, ...] = ()


def origin(triple: Triple, meaning: Meaning, ontology: Ontology) -> Origin | None:
    """The shortest derivation of `triple`, or None where it is not part of the event's meaning."""
    if triple in meaning.asserted:
        return Origin(triple, "event")
    subject, _, object = triple
    found: dict[Triple, Origin] = {}
    for stated in sorted(meaning.asserted):
        if stated[0] == subject and (stated[2] == object or ontology.is_subproperty(stated[1], RDF_TYPE)):
            found[stated] = Origin(stated, "event")
    for cls in sorted(ontology.types_of(subject)):
        found.setdefault((subject, RDF_TYPE, cls), Origin((subject, RDF_TYPE, cls), "ontology"))
    queue = deque(found)
    while queue and triple not in found:
        lower = queue.popleft()
        for step, upper in _upward(lower, ontology):
            if upper not in found:
                found[upper] = Origin(found[lower].stated, found[lower].source, (*found[lower].steps, step))
                queue.append(upper)
    return found.get(triple)


def class_steps(lower: Term, upper: Term, ontology: Ontology) -> tuple[Step, ...] | None:
    """The shortest way up from one class to another, or None where there is none."""
    ways: dict[Term, tuple[Step, ...]] = {lower: ()}
    queue = deque([lower])
    while queue and upper not in ways:
        cls = queue.popleft()
        for step in _class_steps(cls, ontology):
            if step.upper not in ways:
                ways[step.upper] = (*ways[cls], step)
                queue.append(step.upper)
    return ways.get(upper)


def _upward(triple: Triple, ontology: Ontology) -> Iterator[tuple[Step, Triple]]:
    """The triples that follow from `triple` in one step."""
    subject, property, object = triple
    for step in _property_steps(property, ontology):
        yield step, (subject, step.upper, object)
    if property == RDF_TYPE:
        for step in _class_steps(object, ontology):
            yield step, (subject, property, step.upper)


def _class_steps(cls: Term, ontology: Ontology) -> Iterator[Step]:
    for upper in sorted(ontology.equivalent_classes(cls) - {cls}):
        yield Step(cls, "≡", upper)
    for upper in sorted(ontology.parents(cls)):
        yield Step(cls, "⊑", upper)


def _property_steps(property: Term, ontology: Ontology) -> Iterator[Step]:
    for upper in sorted(ontology.equivalent_properties(property) - {property}):
        yield Step(property, "≡", upper)
    for upper in sorted(ontology.property_parents(property)):
        yield Step(property, "⊑", upper)
