"""Subscriptions as graphs of statement patterns, and the patterns that wait in the rows of the array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from sys import getsizeof
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakValueDictionary

from tidings.errors import UnsupportedError
from tidings.lang.pattern import Block, Call, Const, Expr, Node, Pattern, Query, Var, core, variables
from tidings.match.expressions import compile_test, size
from tidings.match.ops.ems import EmsArray, MetaStatement, Row
from tidings.match.run import Run, Test
from tidings.rdf.terms import HOME, Term

if TYPE_CHECKING:
    from tidings.match.ops.tree import Rectangle

Vertex: TypeAlias = str
"""The id of a subscription vertex: `?x` for a variable, else the text of the term. No term begins with `?`."""

_OBJECT = Var("object")


def is_variable(vertex: Vertex) -> bool:
    return vertex[0] == "?"


# ------------------------------------------------------------------------------------------------------------- filters


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Condition:
    """The filter function of a vertex: all conditions on it. There is one object for equal ones.

    `exprs` are the conditions with one variable in place of the vertex: what `tests` are compiled from.
    """

    exprs: tuple[Expr, ...]
    tests: tuple[Test, ...]
    cost: int

    def on(self, vertex: Vertex) -> list[Expr]:
        """The conditions on a vertex as they could be written."""
        return [_with(expr, Var(vertex[1:]) if is_variable(vertex) else Const(Term(vertex))) for expr in self.exprs]

    def holds(self, run: Run, vertex: Term) -> bool:
        run.budget.spend(self.cost)
        row = {_OBJECT.name: vertex}
        return all(test(run, row) for test in self.tests)


class Conditions:
    """Filters by what they say, whatever variable they say it of."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[tuple[Expr, ...], Condition] = WeakValueDictionary()

    def of(self, filters: Iterable[Expr]) -> Condition | None:
        exprs = tuple(dict.fromkeys(_with(expr, _OBJECT) for expr in filters))
        if not exprs:
            return None
        found = self._known.get(exprs)
        if found is None:
            tests = tuple(compile_test(expr, _no_pattern) for expr in exprs)
            found = self._known[exprs] = Condition(exprs, tests, sum(map(size, exprs)))
        return found


def _with(expr: Expr, vertex: Var | Const) -> Expr:
    """The condition, of this vertex instead of the variable that it mentions."""
    match expr:
        case Var():
            return vertex
        case Call(op=op, args=args):
            return Call(op, tuple(_with(arg, vertex) for arg in args))
    return expr


def _no_pattern(pattern: Pattern) -> Test:
    raise AssertionError("a filter of a statement pattern holds no EXISTS")


# --------------------------------------------------------------------------------------------------- statement patterns


@dataclass(frozen=True, slots=True, eq=False)
class StatementPattern:
    """One arc of a subscription graph with its two ends."""

    subject: Vertex
    object: Vertex
    row: Row
    condition: Condition | None


@dataclass(frozen=True, slots=True, eq=False)
class SubscriptionGraph:
    id: str
    patterns: tuple[StatementPattern, ...]
    names: tuple[str, ...]
    """The variables, in order of appearance."""
    outgoing: dict[Vertex, tuple[StatementPattern, ...]] = field(init=False)

    def __post_init__(self) -> None:
        arcs: dict[Vertex, list[StatementPattern]] = {}
        for pattern in self.patterns:
            arcs.setdefault(pattern.subject, []).append(pattern)
        object.__setattr__(self, "outgoing", {vertex: tuple(patterns) for vertex, patterns in arcs.items()})

    def bytes(self) -> int:
        vertices = {vertex for pattern in self.patterns for vertex in (pattern.subject, pattern.object)}
        held = sum(map(getsizeof, (self, self.patterns, self.names, self.outgoing)))
        return held + sum(map(getsizeof, (*self.patterns, *self.outgoing.values(), *vertices)))


def decompose(matcher: str, id: str, query: Query, ems: EmsArray, conditions: Conditions) -> SubscriptionGraph:
    """The subscription as a graph; its rows are asked for from here on. `UnsupportedError` where it is none."""
    block = _block(matcher, query)
    arcs = dict.fromkeys(_arcs(matcher, block))
    _check_reachable(matcher, [(s, o) for s, o, _ in arcs])
    filters = _filters(matcher, block)
    found = {vertex: conditions.of(exprs) for vertex, exprs in filters.items()}
    patterns = [StatementPattern(s, o, ems.ask(meta), found.get(o)) for s, o, meta in arcs]
    return SubscriptionGraph(id, tuple(patterns), tuple(var.name for var in variables(block)))


def _block(matcher: str, query: Query) -> Block:
    if query.dialect != "ops":
        raise UnsupportedError(matcher, f"the dialect '{query.dialect}'")
    block = core(query)
    if block is None or not block.injective or query.projection is not None or query.limit is not None:
        raise UnsupportedError(matcher, "anything around a conjunction of statement patterns")
    return block


def _arcs(matcher: str, block: Block) -> Iterator[tuple[Vertex, Vertex, MetaStatement]]:
    if [c.node for c in block.classes] != [end for triple in block.triples for end in (triple.s, triple.o)]:
        raise UnsupportedError(matcher, "classes apart from a statement pattern")
    # One text for all the patterns that a vertex stands in.
    vertices = {node: _vertex(node) for triple in block.triples for node in (triple.s, triple.o)}
    for i, triple in enumerate(block.triples):
        if isinstance(triple.p, Var):
            raise UnsupportedError(matcher, "a variable as the property")
        meta = (block.classes[2 * i].cls, triple.p, block.classes[2 * i + 1].cls)
        yield vertices[triple.s], vertices[triple.o], meta


def _vertex(node: Node) -> Vertex:
    return f"?{node.name}" if isinstance(node, Var) else node


def _check_reachable(matcher: str, arcs: list[tuple[Vertex, Vertex]]) -> None:
    ends: dict[Vertex, list[Vertex]] = {}
    for s, o in arcs:
        ends.setdefault(s, []).append(o)
    reached: set[Vertex] = {HOME}
    todo: list[Vertex] = [HOME]
    while todo:
        new = [o for o in ends.get(todo.pop(), ()) if o not in reached]
        reached.update(new)
        todo += new
    if HOME not in ends or not reached.issuperset(ends):
        raise UnsupportedError(matcher, "a vertex that no path leads to from _:H")


def _filters(matcher: str, block: Block) -> dict[Vertex, list[Expr]]:
    """The conditions on each vertex."""
    found: dict[Vertex, list[Expr]] = {}
    objects = {triple.o for triple in block.triples}
    for expr in block.filters:
        names = set(_variables(matcher, expr))
        if len(names) != 1 or not names <= objects:
            raise UnsupportedError(matcher, "a filter that is not on the object of one statement pattern")
        found.setdefault(_vertex(names.pop()), []).append(expr)
    return found


def _variables(matcher: str, expr: Expr) -> Iterator[Var]:
    match expr:
        case Var():
            yield expr
        case Call(args=args):
            for arg in args:
                yield from _variables(matcher, arg)
        case Const():
            return
        case _:
            raise UnsupportedError(matcher, f"{type(expr).__name__} in a filter")


# ----------------------------------------------------------------------------------------------------- waiting patterns

Contents: TypeAlias = tuple[Term | None, Condition | None]
"""What a pattern in the list of a row, with a certain subject, asks of the object: one term, or a condition, if any."""


class InitialPattern:
    """A pattern with the subject _:H, waiting between events for all subscriptions that have it."""

    __slots__ = ("contents", "observers")

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.observers: dict[StatementPattern, SubscriptionGraph] = {}


class WaitingPattern:
    """A derived pattern, waiting for the rest of an event. Equal ones register as its observers."""

    __slots__ = ("contents", "failure", "matched", "observers")

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.observers: list[Rectangle] = []
        self.matched: list[Term] = []
        self.failure: str | None = None


def initial_contents(pattern: StatementPattern) -> Contents:
    return (None, pattern.condition) if is_variable(pattern.object) else (Term(pattern.object), None)
