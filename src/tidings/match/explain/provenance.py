"""Where a triple of an event's meaning comes from: a stated triple, and the steps of the hierarchies above it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from tidings.match.meaning import Meaning
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE, SUBCLASS_OF, Term, Triple

Relation: TypeAlias = Literal["⊑", "≡"]
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Step:
    """One step up a hierarchy: `lower ⊑ upper`, or between synonyms `lower ≡ upper`."""

    lower: Term
    relation: Relation
    upper: Term


@dataclass(frozen=True, slots=True)
class Origin:
    """A stated triple and the steps, possibly none, that lead from it to the triple that was asked about.

    The source `datatype` is that of what no one states: that a literal is of its datatype.
    """

    stated: Triple
    source: Literal["event", "ontology", "datatype"]
    steps: tuple[Step, ...] = ()


def origin(triple: Triple, meaning: Meaning) -> Origin | None:
    """The shortest derivation of `triple`, or None where it is not part of the event's meaning."""
    if meaning.asserted.match(*triple):
        return Origin(triple, "event")
    subject, _, object = triple
    from_event = [
        stated
        for stated in meaning.asserted.match(subject, None, None)
        if stated[2] == object or meaning.ontology.is_subproperty(stated[1], RDF_TYPE)
    ]
    from_ontology = [(subject, RDF_TYPE, cls) for cls in sorted(meaning.ontology.types_of(subject))]
    found = _climb([*from_event, *from_ontology], triple, lambda t, far: _triples_above(t, meaning.ontology, far))
    return found and Origin(found[0], "event" if found[0] in from_event else "ontology", found[1])


def class_steps(lower: Term, upper: Term, meaning: Meaning) -> tuple[Step, ...] | None:
    """The shortest way up from one class to another, the event's own sub-class statements included, or None."""

    def above(cls: Term, far: bool) -> Iterator[tuple[Step, Term]]:
        yield from _classes_above(cls, meaning.ontology, far)
        for _, _, parent in meaning.asserted.match(cls, SUBCLASS_OF, None):
            yield Step(cls, "⊑", parent), parent

    found = _climb([lower], upper, above)
    return found and found[1]


def _climb(
    starts: Iterable[T], goal: T, above: Callable[[T, bool], Iterable[tuple[Step, T]]]
) -> tuple[T, tuple[Step, ...]] | None:
    """The start and the fewest steps that lead to `goal`.

    Steps go from name to name as stated; only where those do not lead there, since the way is through unnamed class
    expressions, the closure of the hierarchy is taken as one step (`far`).
    """
    starts = list(starts)
    for far in (False, True):
        ways: dict[T, tuple[T, tuple[Step, ...]]] = {start: (start, ()) for start in starts}
        queue = deque(starts)
        while queue and goal not in ways:
            here = queue.popleft()
            start, way = ways[here]
            for step, there in above(here, far):
                if there not in ways:
                    ways[there] = (start, (*way, step))
                    queue.append(there)
        if goal in ways:
            return ways[goal]
    return None


def _triples_above(triple: Triple, ontology: Ontology, far: bool) -> Iterator[tuple[Step, Triple]]:
    """The triples that follow from one in a step."""
    subject, property, object = triple
    same, parents = ontology.equivalent_properties(property), ontology.property_parents(property)
    for step in _steps(property, same, ontology.superproperties(property) if far else parents):
        yield step, (subject, step.upper, object)
    if property == RDF_TYPE:
        for step, cls in _classes_above(object, ontology, far):
            yield step, (subject, property, cls)


def _classes_above(cls: Term, ontology: Ontology, far: bool) -> Iterator[tuple[Step, Term]]:
    above = ontology.superclasses(cls) if far else ontology.parents(cls)
    for step in _steps(cls, ontology.equivalent_classes(cls), above):
        yield step, step.upper


def _steps(name: Term, same: frozenset[Term], above: frozenset[Term]) -> Iterator[Step]:
    for upper in sorted(same - {name}):
        yield Step(name, "≡", upper)
    for upper in sorted(above - same):
        yield Step(name, "⊑", upper)
