"""Algorithms CheckConstraint, isTrue and isNodeDescendant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TypeAlias

from tidings.match.constraints import satisfies
from tidings.match.meaning import Meaning
from tidings.match.run import Budget
from tidings.rdf.terms import RDF_TYPE, SUBCLASS_OF, Term, is_literal

_Place: TypeAlias = int | Term
"""A class of the ontology, by the integer that it shares with its equivalents, or a name that the ontology lacks."""


class Taxonomy:
    """T: the ontology's classes and instances, and what an event states of its own."""

    def __init__(self, meaning: Meaning, published: bool) -> None:
        self._meaning = meaning
        self._ontology = meaning.ontology
        self._published = published
        self._start_places: dict[Term, tuple[_Place, ...]] = {}
        self.steps = 0

    def is_true(self, node: Term, op: str, value: Term, budget: Budget) -> bool:
        """Whether `node op value` holds: a value comparison with a literal, is-a with anything else."""
        if is_literal(value):
            return satisfies(node, op, value, self._meaning)
        if self._published:
            return self._as_printed(node, op, value, budget)
        if is_literal(node):
            return False
        match op:
            case "=":
                return self._meaning.has_edge(node, value)
            case "!=":
                return not self._meaning.has_edge(node, value)
            case "<=":
                return self.is_node_descendant(node, value, budget)
            case "<":
                return not self._meaning.is_same(node, value) and self.is_node_descendant(node, value, budget)
            case ">=":
                return self.is_node_descendant(value, node, budget)
        return not self._meaning.is_same(node, value) and self.is_node_descendant(value, node, budget)

    def is_node_descendant(self, node: Term, ancestor: Term, budget: Budget) -> bool:
        """Whether climbing from `node`, or from a class it is an instance of, comes to `ancestor`."""
        goal = self._place(ancestor)
        todo = list(self._starts(node))
        seen = set(todo)
        while todo:
            place = todo.pop()
            self._step(budget)
            if place == goal:
                return True
            for above in self._above(place):
                if above not in seen:
                    seen.add(above)
                    todo.append(above)
        return False

    def _starts(self, node: Term) -> tuple[_Place, ...]:
        """The node and the classes it is an instance of, looked up once for all constraints on an event."""
        found = self._start_places.get(node)
        if found is None:
            types = {o for _, _, o in self._meaning.match(node, RDF_TYPE, None)} | self._ontology.types_of(node)
            found = self._start_places[node] = tuple([self._place(name) for name in (node, *sorted(types))])
        return found

    def _place(self, name: Term) -> _Place:
        known = self._ontology.classes.id_of(name)
        return name if known is None else known

    def _above(self, place: _Place) -> Iterable[_Place]:
        if isinstance(place, int):
            yield from self._ontology.classes.parents(place)
        if not self._event_has_classes:
            return
        for name in self._ontology.classes.members(place) if isinstance(place, int) else (place,):
            for _, _, above in self._meaning.asserted.match(name, SUBCLASS_OF, None):
                yield self._place(above)

    @cached_property
    def _event_has_classes(self) -> bool:
        return bool(self._meaning.asserted.match(None, SUBCLASS_OF, None))

    def _as_printed(self, node: Term, op: str, value: Term, budget: Budget) -> bool:
        match op:
            case "<" | "<=":
                return self._is_below(node, value, budget)
            case ">" | ">=":
                return self._is_below(value, node, budget)
        return (node == value) == (op == "=")

    def _is_below(self, node: Term, ancestor: Term, budget: Budget) -> bool:
        """Whether the edges of the ontology, type or sub-class, lead from `node` to `ancestor`."""
        todo = [node]
        seen: set[Term] = set()
        while todo:
            place = todo.pop()
            self._step(budget)
            above = (self._ontology.parents(place) | self._ontology.types_of(place)) - seen
            if ancestor in above:
                return True
            seen |= above
            todo += above
        return False

    def _step(self, budget: Budget) -> None:
        self.steps += 1
        budget.spend(1)
