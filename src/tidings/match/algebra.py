"""The operators of SPARQL's algebra (SPARQL 1.1, 18.5) as nodes, except blocks (`block`) and sub-selects (`select`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from tidings.lang.pattern import Values
from tidings.match.base import Solution
from tidings.match.nodes import Condition, Node, holds
from tidings.match.run import Eval, Run
from tidings.rdf.terms import Term

# Above this, finding an order costs more than it may save.
_MANY_PARTS = 100


class JoinNode(Node):
    """Parts in any order that hands over the most bindings: a join does not depend on it."""

    def __init__(self, parts: Sequence[Node]) -> None:
        self._parts = _ordered(parts)
        self.scope = frozenset[str]().union(*(part.scope for part in parts))
        self.certain = frozenset[str]().union(*(part.certain for part in parts))
        self._checks: list[tuple[str, ...]] = []
        before = self.certain  # a seed may hold any of these
        for part in self._parts:
            self._checks.append(unseeded(before, part))
            before |= part.scope

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        first = self._parts[0]
        ways = [first.rows(run, first.restrict(seed))]
        rows = [seed]
        while ways:
            found = next(ways[-1], None)
            if found is None:
                ways.pop()
                rows.pop()
                continue
            row = merged(rows[-1], found, self._checks[len(ways) - 1])
            if row is None:
                continue
            if len(ways) == len(self._parts):
                yield row
            else:
                run.budget.spend(1)
                part = self._parts[len(ways)]
                ways.append(part.rows(run, part.restrict(row)))
                rows.append(row)


class LeftJoinNode(Node):
    def __init__(self, left: Node, right: Node, conditions: Sequence[Condition]) -> None:
        self._left = left
        self._right = right
        self._conditions = conditions
        self._check = unseeded(left.scope, right)
        self.scope = left.scope | right.scope
        self.certain = left.certain

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        for row in self._left.rows(run, seed):
            run.budget.spend(1)
            matched = False
            for found in self._right.rows(run, self._right.restrict(row)):
                both = merged(row, found, self._check)
                if both is not None and holds(self._conditions, run, both):
                    matched = True
                    yield both
            if not matched:
                yield row


class UnionNode(Node):
    def __init__(self, choices: Sequence[Node]) -> None:
        self._choices = choices
        self.scope = frozenset[str]().union(*(choice.scope for choice in choices))
        self.certain = reduce(frozenset.intersection, (choice.certain for choice in choices))

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        for choice in self._choices:
            yield from choice.rows(run, seed)


class MinusNode(Node):
    def __init__(self, left: Node, right: Node) -> None:
        self._left = left
        self._right = right
        self._shared = left.scope & right.scope
        self.scope = left.scope
        self.certain = left.certain

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        for row in self._left.rows(run, seed):
            run.budget.spend(1)
            if not self._removes(run, row):
                yield row

    def _removes(self, run: Run, row: Solution) -> bool:
        """Whether a solution of the right side agrees with the row, and shares a variable with it.

        What EXISTS has put in place of a variable is a constant, and so nothing to share.
        """
        variables = [name for name in self._shared if name in row and name not in run.outer]
        if not variables:
            return False
        for found in self._right.rows(run, self._right.restrict(row)):
            common = [name for name in variables if name in found]
            if common and all(row[name] == found[name] for name in common):
                return True
        return False


class FilterNode(Node):
    def __init__(self, inner: Node, conditions: Sequence[Condition]) -> None:
        self._inner = inner
        self._conditions = conditions
        self.scope = inner.scope
        self.certain = inner.certain

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        for row in self._inner.rows(run, seed):
            if holds(self._conditions, run, row):
                yield row


class ExtendNode(Node):
    """BIND: an error leaves the variable unbound. BINDs in a row are about one solution, which the first begins."""

    def __init__(self, inner: Node, name: str, value: Eval, cost: int) -> None:
        self._inner = inner
        self._name = name
        self._value = value
        self._cost = cost
        self._first = not isinstance(inner, ExtendNode)
        self.scope = inner.scope | {name}
        self.certain = inner.certain

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        for row in self._inner.rows(run, seed):
            run.budget.spend(self._cost)
            if self._first:
                run.new_solution()
            term = self._value(run, row)
            if term is None:
                yield row
            elif row.get(self._name, term) == term:
                yield {**row, self._name: term}


class GraphNode(Node):
    """GRAPH: the dataset has one named graph, named by the event's id, and it is E* like the default graph."""

    def __init__(self, inner: Node, name: Term | None, variable: str | None) -> None:
        """With the name of the graph, or the variable that stands for it."""
        self._inner = inner
        self._name = name
        self._variable = variable
        self.scope = inner.scope | ({variable} if variable is not None else set())
        self.certain = inner.certain | ({variable} if variable is not None else set())

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        event = run.meaning.name
        name, variable = self._name, self._variable
        if variable is None:
            if name == event:
                yield from self._inner.rows(run, seed)
            return
        if seed.get(variable, run.outer.get(variable, event)) != event:
            return
        for row in self._inner.rows(run, self._inner.restrict({**seed, variable: event})):
            if row.get(variable, event) == event:
                yield {**row, variable: event}


class ValuesNode(Node):
    def __init__(self, values: Values) -> None:
        names = [var.name for var in values.vars]
        self._rows = [{n: t for n, t in zip(names, row, strict=True) if t is not None} for row in values.rows]
        self.scope = frozenset(names)
        self.certain = frozenset(name for name in names if all(name in row for row in self._rows))

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        fixed = {**run.outer, **seed}
        for row in self._rows:
            run.budget.spend(1)
            if all(fixed.get(name, term) == term for name, term in row.items()):
                yield {**run.outer, **row}


def unseeded(before: frozenset[str], part: Node) -> tuple[str, ...]:
    """The variables on which rows of `part` may disagree with what is bound before: those no seed settles."""
    return tuple(sorted((before & part.scope) - part.certain))


def merged(row: Solution, found: Solution, checks: tuple[str, ...]) -> Solution | None:
    """Both rows as one; None where they disagree."""
    for name in checks:
        if name in row and name in found and row[name] != found[name]:
            return None
    return {**row, **found}


def _ordered(parts: Sequence[Node]) -> list[Node]:
    """Inline data first, then what is joined to what is bound already; otherwise as written."""
    remaining = sorted(parts, key=lambda part: not isinstance(part, ValuesNode))
    if len(remaining) > _MANY_PARTS:
        return remaining
    ordered: list[Node] = []
    bound: frozenset[str] = frozenset()
    while remaining:
        best = min(remaining, key=lambda part: not isinstance(part, ValuesNode) and not part.certain & bound)
        remaining.remove(best)
        ordered.append(best)
        bound |= best.scope
    return ordered
