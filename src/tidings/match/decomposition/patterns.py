"""An OPS subscription as a graph with labelled vertices: what is decomposed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from tidings.errors import UnsupportedError
from tidings.lang.pattern import Block, Call, Const, Expr, Node, Query, Var, variables
from tidings.rdf.terms import Term

NAME = "decomposition"
VERTEX = Var("vertex")
"""The variable of every condition, whatever it was called in its subscription."""

MOST_VERTICES = 2_000
"""Of one subscription: cutting it takes time quadratic in them, about a second for so many."""

Arc: TypeAlias = tuple[int, Term, int]
"""From a vertex, with a property, to a vertex."""


@dataclass(frozen=True, slots=True)
class Label:
    """What is asked of one vertex by itself. Equal labels are one vertex node of the network."""

    term: Term | None
    classes: frozenset[Term]
    conditions: frozenset[Expr]
    loops: frozenset[Term]


class PatternGraph:
    """Vertices are numbers, in order of appearance."""

    def __init__(self, query: Query) -> None:
        block = _accepted(query)
        numbers: dict[Node, int] = {}
        for triple in block.triples:
            for node in (triple.s, triple.o):
                numbers.setdefault(node, len(numbers))
        if len(numbers) > MOST_VERTICES:
            raise UnsupportedError(NAME, f"more than {MOST_VERTICES} vertices in one subscription")
        self.labels = _labels(block, numbers)
        self.variables = tuple((var.name, numbers[var]) for var in variables(query))
        self._between: dict[tuple[int, int], set[Term]] = {}
        self._beside: list[set[int]] = [set() for _ in numbers]
        for triple in block.triples:
            s, o = numbers[triple.s], numbers[triple.o]
            if s != o and not isinstance(triple.p, Var):
                self._between.setdefault((s, o), set()).add(triple.p)
                self._beside[s].add(o)
                self._beside[o].add(s)

    def __len__(self) -> int:
        return len(self.labels)

    def connecting(self, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[Arc, ...]:
        """The arcs between two sets of vertices, their ends as positions in `left + right`, sorted."""
        place = {vertex: position for position, vertex in enumerate(left + right)}
        others = frozenset(right)
        found: list[Arc] = []
        for a in left:
            for b in self._beside[a] & others:
                for s, o in ((a, b), (b, a)):
                    found += [(place[s], p, place[o]) for p in self._between.get((s, o), ())]
        return tuple(sorted(found))

    def reached(self, start: int, within: Collection[int], most: int) -> list[int]:
        """Vertices of `within` connected with `start`, breadth first, up to a number of them."""
        found = {start: None}
        todo = [start]
        for vertex in todo:
            for other in sorted(self._beside[vertex]):
                if len(found) == most:
                    return todo
                if other in within and other not in found:
                    found[other] = None
                    todo.append(other)
        return todo

    def components(self, vertices: frozenset[int]) -> list[frozenset[int]]:
        left = set(vertices)
        found = []
        while left:
            part = frozenset(self.reached(min(left), left, len(left)))
            found.append(part)
            left -= part
        return found


def _accepted(query: Query) -> Block:
    if query.dialect != "ops":
        raise UnsupportedError(NAME, f"subscriptions in the {query.dialect} dialect")
    block = query.where
    if not isinstance(block, Block) or block.paths or not block.injective or not block.triples:
        raise UnsupportedError(NAME, "what is not a set of statement patterns")
    if any(isinstance(triple.p, Var) for triple in block.triples):
        raise UnsupportedError(NAME, "a variable as a property")
    return block


def _labels(block: Block, vertices: Iterable[Node]) -> list[Label]:
    classes: dict[Node, set[Term]] = {node: set() for node in vertices}
    conditions: dict[Node, set[Expr]] = {node: set() for node in classes}
    loops: dict[Node, set[Term]] = {node: set() for node in classes}
    for triple in block.triples:
        if triple.s == triple.o and not isinstance(triple.p, Var):
            loops[triple.s].add(triple.p)
    for asked in block.classes:
        if asked.node not in classes:
            raise UnsupportedError(NAME, "a class of what is no vertex")
        classes[asked.node].add(asked.cls)
    for expr in block.filters:
        own = _variables(expr)
        if len(own) != 1 or not own <= classes.keys():
            raise UnsupportedError(NAME, "a condition that is not on one vertex")
        conditions[own.pop()].add(_renamed(expr))
    for node, asked_for in classes.items():
        if not asked_for:
            raise UnsupportedError(NAME, f"a vertex without a class ({node})")
    return [
        Label(
            None if isinstance(node, Var) else node,
            frozenset(classes[node]),
            frozenset(conditions[node]),
            frozenset(loops[node]),
        )
        for node in classes
    ]


def _variables(expr: Expr) -> set[Node]:
    match expr:
        case Var():
            return {expr}
        case Const():
            return set()
        case Call(args=args):
            return {var for arg in args for var in _variables(arg)}
    raise UnsupportedError(NAME, f"{type(expr).__name__} in a condition")


def _renamed(expr: Expr) -> Expr:
    """The condition with its one variable called as in every other condition."""
    match expr:
        case Var():
            return VERTEX
        case Call(args=args):
            return replace(expr, args=tuple(_renamed(arg) for arg in args))
    return expr
