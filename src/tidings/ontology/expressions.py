"""Class expressions: the restrictions, unions and intersections from which meta-statements are read.

A signature is what one place in the ontology says of a property: its `subjects` and `objects` are alternatives, and
where there are none, nothing is said and anything goes. It comes from domain and range (several are read as
alternatives, which is what domainIncludes means and what authors of rdfs:domain often mean too) or from restrictions
on a class. A union gives its members; an intersection those members that have a name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tidings.ontology.hierarchy import Pair
from tidings.ontology.vocabulary import NIL, Role
from tidings.rdf.terms import Term, iri, is_blank, is_iri, is_literal, parts

_MAX_NESTING = 50


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    property: Term
    subjects: tuple[Term, ...]
    objects: tuple[Term, ...]


class Expressions:
    """Reads the signatures out of the statements of an ontology."""

    def __init__(self, statements: Mapping[Role, list[Pair]], types: Mapping[Term, Iterable[Term]]) -> None:
        self._types = types
        self._named: dict[Term, frozenset[Term] | None] = {}
        self._of = {role: _table(pairs) for role, pairs in statements.items()}

    def signatures(self) -> tuple[Signature, ...]:
        found = {s for s in (*self._from_properties(), *self._from_classes()) if s.subjects or s.objects}
        return tuple(sorted(found))

    def described(self) -> tuple[Pair, ...]:
        """(class, member): the named members of the intersections that hold of all instances of a named class."""
        leads = self._leads()
        pairs = {
            (owner, member)
            for owner in {*leads, *self._of[Role.INTERSECTION]}
            if is_iri(owner)
            for node in _reached(owner, leads)
            for head in self._of[Role.INTERSECTION].get(node, ())
            for member in self._list(head)
            if is_iri(member) and member != owner
        }
        return tuple(sorted(pairs))

    # --------------------------------------------------------------------------------------------- domain and range

    def _from_properties(self) -> Iterator[Signature]:
        for p in sorted(self._of[Role.DOMAIN].keys() | self._of[Role.RANGE].keys()):
            if is_iri(p):
                yield Signature(p, self._stated(Role.DOMAIN, p), self._stated(Role.RANGE, p))

    def _stated(self, role: Role, property: Term) -> tuple[Term, ...]:
        return self._any_of(self._of[role].get(property, ()))

    def _any_of(self, nodes: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(sorted({name for node in nodes for name in self.named(node) or ()}))

    def named(self, node: Term, nesting: int = 0) -> frozenset[Term] | None:
        """The named classes that an expression comes down to; None where it can not be told."""
        if is_iri(node):
            return frozenset((node,))
        if node not in self._named:
            # One that holds itself, or nests too deep, can not be told.
            self._named[node] = None
            if nesting < _MAX_NESTING:
                self._named[node] = self._work_out(node, nesting + 1)
        return self._named[node]

    def _work_out(self, node: Term, nesting: int) -> frozenset[Term] | None:
        bases = self._of[Role.ON_DATATYPE].get(node)
        if bases:
            return frozenset(filter(is_iri, bases))
        for head in self._of[Role.UNION].get(node, ()):
            choices = [self.named(member, nesting) for member in self._list(head)]
            known = [c for c in choices if c]
            return frozenset().union(*known) if known and len(known) == len(choices) else None
        for head in self._of[Role.INTERSECTION].get(node, ()):
            known = [c for member in self._list(head) if (c := self.named(member, nesting))]
            return frozenset().union(*known) if known else None
        return None

    def _list(self, head: Term) -> list[Term]:
        members: list[Term] = []
        seen: set[Term] = set()
        while head not in NIL and head not in seen:
            seen.add(head)
            members += self._of[Role.FIRST].get(head, ())
            head = next(iter(self._of[Role.REST].get(head, NIL)))
        return members

    # ------------------------------------------------------------------------------------------------- restrictions

    def _from_classes(self) -> Iterator[Signature]:
        """Where no restriction of a class on a property names a class of values, the property's own range stands."""
        forward: dict[Pair, set[Term]] = defaultdict(set)
        inverse: dict[Pair, set[Term]] = defaultdict(set)
        leads = self._leads()
        for owner in sorted({*leads, *self._of[Role.ON_PROPERTY]}):
            if not is_iri(owner):
                continue
            for restriction in _reached(owner, leads):
                if restriction not in self._of[Role.ON_PROPERTY]:
                    continue
                values = self._values(restriction)
                for p in self._of[Role.ON_PROPERTY][restriction]:
                    if is_iri(p):
                        forward[p, owner].update(values)
                    for q in self._of[Role.INVERSE].get(p, ()) if is_blank(p) else ():
                        inverse[q, owner].update(values)
        for (p, owner), values in forward.items():
            yield Signature(p, (owner,), tuple(sorted(values)) or self._stated(Role.RANGE, p))
        for (p, owner), values in inverse.items():
            if is_iri(p):
                yield Signature(p, tuple(sorted(values)) or self._stated(Role.DOMAIN, p), (owner,))

    def _leads(self) -> dict[Term, set[Term]]:
        """From a class to the unnamed expressions that hold of all its instances."""
        leads: dict[Term, set[Term]] = defaultdict(set)
        for role in (Role.SUBCLASS, Role.SAME_CLASS, Role.SAME_EITHER):
            for s, objects in self._of[role].items():
                for o in objects:
                    if is_blank(o):
                        leads[s].add(o)
                    if role is not Role.SUBCLASS and is_blank(s):
                        leads[o].add(s)
        for s, heads in self._of[Role.INTERSECTION].items():
            leads[s].update(member for head in heads for member in self._list(head) if is_blank(member))
        return leads

    def _values(self, restriction: Term) -> set[Term]:
        values = set(self._any_of(self._of[Role.VALUES_FROM].get(restriction, ())))
        for value in self._of[Role.HAS_VALUE].get(restriction, ()):
            values.update((iri(parts(value).datatype),) if is_literal(value) else self._types.get(value, ()))
        return values


def _reached(owner: Term, leads: Mapping[Term, set[Term]]) -> Iterator[Term]:
    """The class, and every expression that holds of all its instances."""
    seen = {owner}
    todo = [owner]
    while todo:
        node = todo.pop()
        yield node
        new = leads.get(node, set()) - seen
        seen |= new
        todo += new


def _table(pairs: Iterable[Pair]) -> dict[Term, list[Term]]:
    table: dict[Term, list[Term]] = {}
    for s, o in pairs:
        table.setdefault(s, []).append(o)
    return table
