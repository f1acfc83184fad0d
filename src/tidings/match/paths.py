"""Property paths (SPARQL 1.1, 18.4): sequences and alternatives count every way, `?`, `*`, `+` and `!` each pair once.

A path is walked from a node, forwards or backwards; only where neither end is known are all pairs listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

from tidings.lang.pattern import Alternative, Inverse, Link, Negated, Path, Repeat, Sequence
from tidings.match.meaning import TripleIndex
from tidings.match.run import Budget
from tidings.rdf.terms import Term

Pairs: TypeAlias = Iterator[tuple[Term, Term]]


def simplified(path: Path) -> Path:
    """The same path without repetitions directly inside repetitions: `(p+)?` is `p*`."""
    match path:
        case Repeat(path=Repeat(path=inner, least=least, most=most)):
            lower: Literal[0, 1] = 0 if 0 in (path.least, least) else 1
            return simplified(Repeat(inner, lower, None if None in (path.most, most) else 1))
        case Repeat(path=inner) | Inverse(path=inner):
            return replace(path, path=simplified(inner))
        case Sequence(steps=steps):
            return Sequence(tuple(map(simplified, steps)))
        case Alternative(choices=choices):
            return Alternative(tuple(map(simplified, choices)))
    return path


class Walk:
    """Paths over one graph, under one budget."""

    def __init__(self, graph: TripleIndex, budget: Budget) -> None:
        self.graph = graph
        self.budget = budget
        self._reached: dict[tuple[int, Term, bool], tuple[Term, ...]] = {}

    def pairs(self, path: Path, s: Term | None, o: Term | None, named: tuple[Term, ...]) -> Pairs:
        """Every way along the path between the ends, None being any node.

        A path of length zero joins every node of the graph with itself, and also the terms that the pattern itself
        names as its ends, in the graph or not: these are `named`.
        """
        if s is not None:
            if s in named or s in self.graph.nodes:
                for end in self.ends(path, s):
                    if o is None or end == o:
                        yield s, end
        elif o is not None:
            if o in named or o in self.graph.nodes:
                for start in self.ends(path, o, backwards=True):
                    yield start, o
        else:
            yield from self._all(path)

    def ends(self, path: Path, node: Term, backwards: bool = False) -> Iterator[Term]:
        """The nodes at the other end of every way along the path from `node`."""
        match path:
            case Link(iri=p):
                yield from self._step(node, p, backwards)
            case Inverse(path=inner):
                yield from self.ends(inner, node, not backwards)
            case Alternative(choices=choices):
                for choice in choices:
                    yield from self.ends(choice, node, backwards)
            case Sequence(steps=steps):
                yield from self._sequence(steps[::-1] if backwards else steps, node, backwards)
            case Repeat():
                yield from self._repeat(path, node, backwards)
            case Negated(forward=forward, inverse=inverse):
                if forward or not inverse:
                    yield from self._negated(forward, node, backwards)
                if inverse:
                    yield from self._negated(inverse, node, not backwards)

    def _step(self, node: Term, p: Term | None, backwards: bool) -> Iterator[Term]:
        found = self.graph.match(None, p, node) if backwards else self.graph.match(node, p, None)
        for triple in found:
            self.budget.spend(1)
            yield triple[0 if backwards else 2]

    def _sequence(self, steps: tuple[Path, ...], node: Term, backwards: bool) -> Iterator[Term]:
        """Between two steps stands a variable, so what is there is a node of the graph, even between steps of zero."""
        ways = [self.ends(steps[0], node, backwards)]
        while ways:
            reached = next(ways[-1], None)
            if reached is None:
                ways.pop()
            elif len(ways) == len(steps):
                yield reached
            elif reached in self.graph.nodes:
                ways.append(self.ends(steps[len(ways)], reached, backwards))

    def _repeat(self, path: Repeat, node: Term, backwards: bool) -> Iterator[Term]:
        """Each node once, nearest first; remembered, since a repeated path inside another is walked again and again."""
        key = (id(path), node, backwards)
        known = self._reached.get(key)
        if known is not None:
            self.budget.spend(len(known))
            yield from known
            return
        reached: dict[Term, None] = {}
        if path.least == 0:
            reached[node] = None
            yield node
        todo = [node]
        for start in todo:
            for end in self.ends(path.path, start, backwards):
                if end not in reached:
                    self.budget.keep_row()
                    reached[end] = None
                    yield end
                    if path.most is None:
                        todo.append(end)
        self._reached[key] = tuple(reached)

    def _negated(self, excluded: tuple[Term, ...], node: Term, backwards: bool) -> Iterator[Term]:
        found = self.graph.match(None, None, node) if backwards else self.graph.match(node, None, None)
        ends: dict[Term, None] = {}
        for triple in found:
            self.budget.spend(1)
            if triple[1] not in excluded:
                ends[triple[0 if backwards else 2]] = None
        yield from ends

    def _all(self, path: Path) -> Pairs:
        """Every way along the path, from every node."""
        match path:
            case Link(iri=p):
                for s, _, o in self.graph.match(None, p, None):
                    self.budget.spend(1)
                    yield s, o
            case Inverse(path=inner):
                for s, o in self._all(inner):
                    yield o, s
            case Alternative(choices=choices):
                for choice in choices:
                    yield from self._all(choice)
            case Sequence(steps=(first, *rest)):
                for s, middle in self._all(first):
                    for o in self._sequence(tuple(rest), middle, False) if rest else (middle,):
                        yield s, o
            case _:
                for s in self.graph.nodes:
                    self.budget.spend(1)
                    for o in self.ends(path, s):
                        yield s, o
