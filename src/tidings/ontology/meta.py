"""Meta-statements: (subject class, property, object class), the concept model of the OPS paper (its section 3.2).

*Declared* ones are read from domain and range, domainIncludes and rangeIncludes, and restrictions on classes. None
in place of a class means that it is not stated.

*Extended* ones are the declared ones and what is below them: (c, p, d) where some declared (C, P, D) has c ⊑ C, p ⊑ P
and d ⊑ D, a class that is not stated being above everything. There may be millions, so a row is made when asked for.

What is *allowed* is wider, for a subscription may ask in general terms: (c, p, d) is ruled out only where something is
declared of p or a property above it, and yet no declared (C, P, D) with P above or below p can have an instance in
common with it, as far as the class hierarchy tells: some class below both c and C, and some below both d and D. Here
a class that is an intersection counts as below its named members. A class that the ontology does not know rules
nothing out.

Classes stand here in one hierarchy with the datatypes: the XML Schema tree below rdfs:Literal, and every class that is
no datatype below owl:Thing. A literal is never a subject.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import TypeAlias

from tidings.ontology.axioms import Axioms
from tidings.ontology.datatypes import DATATYPES, LITERAL_CLASSES, XSD_DERIVATIONS
from tidings.ontology.expressions import Signature
from tidings.ontology.hierarchy import Hierarchy, Pair
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import Term

Ids: TypeAlias = frozenset[int]


@dataclass(frozen=True, slots=True)
class MetaStatement:
    """None: any class, since none is stated."""

    subject_class: Term | None
    property: Term
    object_class: Term | None


@dataclass(frozen=True, slots=True)
class ExtendedStatement:
    """One row of the paper's extended meta-statement array, made on demand.

    In `statement` and `ancestors` a set of equivalent names is represented by its first one.
    """

    statement: MetaStatement
    declared: tuple[MetaStatement, ...]
    """The declared meta-statements from which it follows."""
    ancestors: tuple[MetaStatement, ...]
    """The extended meta-statements above it, without itself, sorted."""


@dataclass(frozen=True, slots=True)
class _Declared:
    """A signature with its classes as integers; where there are none, anything goes."""

    signature: Signature
    subjects: Ids
    objects: Ids
    any_literal: bool


_UNKNOWN = -1
"""The integer of a class that the ontology does not know: below owl:Thing, and that is all."""


class MetaStatements:
    """The declared meta-statements of an ontology, and what follows from them."""

    def __init__(self, axioms: Axioms, classes: Hierarchy, properties: Hierarchy) -> None:
        self._properties = properties
        self._concepts = concepts(axioms, classes)
        self._literal = self._ids(LITERAL_CLASSES[:1])
        self._thing = self._ids(THINGS[:1])
        self._described = self._reach(axioms.described)
        self._signatures = axioms.signatures
        self._declared: dict[int, list[_Declared]] = defaultdict(list)
        loose = {i for id in self._ids(axioms.loose_datatypes) for i in self._concepts.below(id)}
        for signature in axioms.signatures:
            for id in self._properties.ids_of((signature.property,)):
                subjects, objects = self._ids(signature.subjects), self._ids(signature.objects)
                self._declared[id].append(_Declared(signature, subjects, objects, not loose.isdisjoint(objects)))

    @cached_property
    def declared(self) -> tuple[MetaStatement, ...]:
        statements = {
            MetaStatement(subject, signature.property, object)
            for signature in self._signatures
            for subject, object in product(signature.subjects or (None,), signature.objects or (None,))
        }
        return tuple(sorted(statements, key=_order))

    # ------------------------------------------------------------------------------------------------------- allowed

    def allows(self, subject_class: Term, property: Term, object_class: Term) -> bool:
        """Whether nothing rules the meta-statement out."""
        subject, object = self._concepts.id_of(subject_class), self._concepts.id_of(object_class)
        if self._is_literal(subject):
            return False
        id = self._properties.id_of(property)
        if id is None:
            return True
        above = self._properties.above(id)
        if self._declared.keys().isdisjoint(above):
            return True
        literal = self._is_literal(object)
        return any(
            self._meets(subject, d.subjects) and ((literal and d.any_literal) or self._meets(object, d.objects))
            for d in self._declared_of(above | self._properties.below(id))
        )

    def _is_literal(self, concept: int | None) -> bool:
        return concept is not None and any(self._concepts.is_below(concept, top) for top in self._literal)

    def _meets(self, concept: int | None, stated: Ids) -> bool:
        return concept is None or not stated or any(self._have_common(concept, other) for other in stated)

    def _have_common(self, a: int, b: int) -> bool:
        overlap = self._concepts.overlap
        return overlap(a, b) or any(
            (b in reach and overlap(id, a)) or (a in reach and overlap(id, b)) for id, reach in self._described.items()
        )

    def _reach(self, described: Iterable[Pair]) -> dict[int, Ids]:
        """For every class that is an intersection, what is above it through that, however often."""
        members: dict[int, set[int]] = defaultdict(set)
        for owner, member in described:
            for id in self._ids((owner,)):
                members[id] |= self._ids((member,))
        reach = {}
        for id, direct in members.items():
            reached, todo = set(direct), list(direct)
            while todo:
                above = self._concepts.above(todo.pop())
                new = above.union(*(members[i] for i in above if i in members)) - reached
                reached |= new
                todo += new
            reach[id] = frozenset(reached)
        return reach

    def _declared_of(self, properties: Ids) -> Iterator[_Declared]:
        return (d for id in properties for d in self._declared.get(id, ()))

    # ------------------------------------------------------------------------------------------------------ extended

    def extended(self, subject_class: Term, property: Term, object_class: Term) -> ExtendedStatement | None:
        """The row of an extended meta-statement; None where it is not one."""
        id = self._properties.id_of(property)
        subjects, objects = self._above(subject_class), self._above(object_class)
        if id is None or not subjects.isdisjoint(self._literal):
            return None
        properties = self._properties.above(id)
        sources = [
            d
            for d in self._declared_of(properties)
            if (not d.subjects or not d.subjects.isdisjoint(subjects))
            and (not d.objects or not d.objects.isdisjoint(objects))
        ]
        if not sources:
            return None
        own = MetaStatement(self._first(subject_class), self._properties.members(id)[0], self._first(object_class))
        ancestors = {m for d in sources for m in self._up_to(d, own, subjects, properties, objects)}
        declared = {m for d in sources for m in self._stated(d.signature, subjects, objects)}
        return ExtendedStatement(own, tuple(sorted(declared, key=_order)), tuple(sorted(ancestors - {own}, key=_order)))

    def _above(self, name: Term) -> Ids:
        id = self._concepts.id_of(name)
        if id is not None:
            return self._concepts.above(id)
        return frozenset((_UNKNOWN,)).union(*(self._concepts.above(top) for top in self._thing))

    def _first(self, name: Term) -> Term:
        id = self._concepts.id_of(name)
        return name if id is None else self._concepts.members(id)[0]

    def _up_to(
        self, declared: _Declared, own: MetaStatement, subjects: Ids, properties: Ids, objects: Ids
    ) -> Iterator[MetaStatement]:
        """The meta-statements between the row `own` and a declared one that it follows from."""
        top = self._properties.ids_of((declared.signature.property,))
        for subject, property, object in product(
            self._between(self._concepts, own.subject_class, subjects, declared.subjects),
            self._between(self._properties, own.property, properties, top),
            self._between(self._concepts, own.object_class, objects, declared.objects),
        ):
            yield MetaStatement(subject, property, object)

    def _between(self, hierarchy: Hierarchy, own: Term | None, above: Ids, stated: Ids) -> list[Term]:
        """The names (one for each set of equivalents) in `above` that are below something stated."""
        names = [] if own is None or own in hierarchy else [own]
        between = (
            hierarchy.members(id)[:1]
            for id in above - {_UNKNOWN}
            if not stated or any(hierarchy.is_below(id, other) for other in stated)
        )
        return [*names, *chain.from_iterable(between)]

    def _stated(self, signature: Signature, subjects: Ids, objects: Ids) -> Iterator[MetaStatement]:
        below = [c for c in signature.subjects if self._concepts.id_of(c) in subjects]
        targets = [c for c in signature.objects if self._concepts.id_of(c) in objects]
        for subject, object in product(below or (None,), targets or (None,)):
            yield MetaStatement(subject, signature.property, object)

    def _ids(self, names: Iterable[Term]) -> Ids:
        return self._concepts.ids_of(names)


def concepts(axioms: Axioms, classes: Hierarchy) -> Hierarchy:
    """The classes and the datatypes under their tops, owl:Thing and rdfs:Literal."""
    thing, literal = THINGS[0], LITERAL_CLASSES[0]
    datatypes = {*DATATYPES, *axioms.datatypes, *axioms.loose_datatypes}
    literal_ids = {i for id in classes.ids_of((*datatypes, *LITERAL_CLASSES)) for i in classes.below(id)}
    below = [*axioms.subclasses, *XSD_DERIVATIONS, *((datatype, literal) for datatype in datatypes)]
    for id in classes.ids:
        if id not in literal_ids and not any(classes.members(parent) for parent in classes.parents(id)):
            below += [(name, thing) for name in classes.members(id)[:1]]
    same: list[Pair] = [*axioms.same_classes, *((top, thing) for top in THINGS)]
    same += [(top, literal) for top in LITERAL_CLASSES]
    return Hierarchy(axioms.classes, below, same)


def _order(statement: MetaStatement) -> tuple[str, str, str]:
    return statement.property, statement.subject_class or "", statement.object_class or ""
