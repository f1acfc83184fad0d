"""The conjunctive core: triple patterns, paths, classes and filters under one solution, by backtracking over indexes.

The order of the patterns is chosen for each event: the fewest candidates first, then what is joined to it. A filter
is applied as soon as its variables are bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from tidings.lang.pattern import Block, PathPattern, TriplePattern, Var
from tidings.lang.pattern import Node as Place
from tidings.match.base import Solution
from tidings.match.meaning import Meaning, TripleIndex
from tidings.match.nodes import Condition, Node, holds
from tidings.match.paths import Walk, simplified
from tidings.match.run import Run
from tidings.rdf.terms import Term

# A variable bound by an earlier pattern leaves about this part of the candidates.
_BOUND_SHARE = 0.05
_PATH_FROM_NODE = 16.0
_NOTHING: frozenset[str] = frozenset()
# Events differ, and so may the best order; this many are kept compiled.
_MOST_ORDERS = 64


class Item(ABC):
    """One pattern of a block."""

    names: frozenset[str]

    @abstractmethod
    def candidates(self, meaning: Meaning) -> float:
        """How many candidates its constants leave; 0 where there is no solution."""

    @abstractmethod
    def share(self, bound: set[str]) -> float:
        """The part of the candidates that remains when these variables are bound."""

    @abstractmethod
    def step(self, bound: frozenset[str], conditions: Sequence[Condition]) -> Step:
        """The pattern as a step behind those that bind `bound`, with the filters that can be decided after it."""


class Step(ABC):
    @abstractmethod
    def extend(self, run: Run, row: Solution) -> Iterator[Solution]:
        """The rows that follow from `row` by this pattern."""


class BlockNode(Node):
    def __init__(self, block: Block, conditions: Sequence[Condition]) -> None:
        """From a block and its compiled filters (those for `classes` included)."""
        vertices = Vertices(block) if block.injective else None
        self._items: list[Item] = [TripleItem(t, vertices) for t in block.triples]
        self._items += [PathItem(p) for p in block.paths]
        self.scope = self.certain = frozenset(name for item in self._items for name in item.names)
        self._conditions = conditions
        self._compiled: dict[tuple[tuple[int, ...], frozenset[str]], tuple[list[Condition], list[Step]]] = {}

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        row = {**run.outer, **seed} if run.outer else seed
        bound = frozenset([name for name in self.scope if name in row]) if row else _NOTHING
        order = self._order(run, bound)
        if order is None:
            return
        compiled = self._compiled.get((order, bound))
        if compiled is None:
            compiled = self._compile(order, bound)
        at_once, steps = compiled
        if at_once and not holds(at_once, run, row):
            return
        if steps:
            yield from _backtrack(steps, run, row)
        else:
            yield row

    def _order(self, run: Run, bound: frozenset[str]) -> tuple[int, ...] | None:
        """The patterns in the order to try them; None where one of them has no candidates."""
        key = (self, bound)
        if key not in run.memo:
            run.memo[key] = self._find_order(run, bound)
        order: tuple[int, ...] | None = run.memo[key]
        return order

    def _find_order(self, run: Run, bound: frozenset[str]) -> tuple[int, ...] | None:
        run.budget.spend(len(self._items) ** 2)
        counts: dict[int, float] = {}
        for number, item in enumerate(self._items):
            counts[number] = item.candidates(run.meaning)
            if not counts[number]:
                return None
        if len(counts) == 1:
            return (0,)
        known = set(bound)
        order: list[int] = []
        while counts:
            best = min(counts, key=lambda number: counts[number] * self._items[number].share(known))
            order.append(best)
            known |= self._items[best].names
            del counts[best]
        return tuple(order)

    def _compile(self, order: tuple[int, ...], bound: frozenset[str]) -> tuple[list[Condition], list[Step]]:
        """The filters that need no pattern, and the patterns, each with the filters to apply behind it."""
        if len(self._compiled) >= _MOST_ORDERS:
            self._compiled.clear()
        known = bound
        steps: list[Step] = []
        for number in order:
            item = self._items[number]
            after = known | item.names
            steps.append(item.step(known, [c for c in self._conditions if self._ready(c, after, known)]))
            known = after
        compiled = [c for c in self._conditions if self._ready(c, bound)], steps
        self._compiled[order, bound] = compiled
        return compiled

    def _ready(self, condition: Condition, bound: frozenset[str], before: frozenset[str] | None = None) -> bool:
        """Whether the filter can be decided, and could not before: what the block never binds stays unbound."""
        needed = condition.names & self.scope
        return needed <= bound and (before is None or not needed <= before)


def _backtrack(steps: list[Step], run: Run, row: Solution) -> Iterator[Solution]:
    ways = [steps[0].extend(run, row)]
    last = len(steps)
    while ways:
        found = next(ways[-1], None)
        if found is None:
            ways.pop()
        elif len(ways) == last:
            yield found
        else:
            ways.append(steps[len(ways)].extend(run, found))


# -------------------------------------------------------------------------------------------------------------- triples


class Vertices:
    """The vertices of an OPS subscription: no two of them map to the same vertex of the event."""

    def __init__(self, block: Block) -> None:
        places = dict.fromkeys(place for t in block.triples for place in (t.s, t.o))
        self.variables = [place.name for place in places if isinstance(place, Var)]
        self.constants = frozenset(place for place in places if not isinstance(place, Var))

    def taken(self, row: Solution, vertex: Term) -> bool:
        return vertex in self.constants or any(row.get(name) == vertex for name in self.variables)


class TripleItem(Item):
    """A triple pattern over E*, or an arc of the OPS model where the block's vertices are given."""

    def __init__(self, pattern: TriplePattern, vertices: Vertices | None) -> None:
        self.places: tuple[Place, Place, Place] = (pattern.s, pattern.p, pattern.o)
        self.vertices = vertices
        self.names = frozenset(place.name for place in self.places if isinstance(place, Var))
        constants = [(number, place) for number, place in enumerate(self.places) if not isinstance(place, Var)]
        self._constant_places = tuple(number for number, _ in constants)
        self._constants = tuple(place for _, place in constants)

    def index(self, meaning: Meaning) -> TripleIndex:
        return meaning.entailed if self.vertices is None else meaning.arc_index

    def candidates(self, meaning: Meaning) -> float:
        return len(self.index(meaning).find(self._constant_places, self._constants))

    def share(self, bound: set[str]) -> float:
        return _BOUND_SHARE ** len(self.names & bound)

    def step(self, bound: frozenset[str], conditions: Sequence[Condition]) -> Step:
        return TripleStep(self, bound, conditions)


class TripleStep(Step):
    """What is known of the pattern's places forms the key of an index; the other places bind variables."""

    def __init__(self, item: TripleItem, bound: frozenset[str], conditions: Sequence[Condition]) -> None:
        self._item = item
        self._conditions = conditions
        self._cost = 1 + sum(c.cost for c in conditions)
        self._key: list[tuple[Term | None, str]] = []
        self._new: list[tuple[int, str]] = []
        self._same: list[tuple[int, int]] = []
        known: list[int] = []
        first: dict[str, int] = {}
        for number, place in enumerate(item.places):
            if not isinstance(place, Var) or place.name in bound:
                known.append(number)
                self._key.append((None, place.name) if isinstance(place, Var) else (place, ""))
            elif place.name in first:
                self._same.append((number, first[place.name]))
            else:
                first[place.name] = number
                self._new.append((number, place.name))
        self._known = tuple(known)

    def extend(self, run: Run, row: Solution) -> Iterator[Solution]:
        key = tuple([row[name] if term is None else term for term, name in self._key])
        budget, cost, vertices = run.budget, self._cost, self._item.vertices
        for triple in self._item.index(run.meaning).find(self._known, key):
            budget.left -= cost
            if budget.left < 0:
                budget.exhausted()
            if self._same and any(triple[a] != triple[b] for a, b in self._same):
                continue
            found = row.copy()
            for number, name in self._new:
                if vertices is not None and number != 1 and vertices.taken(found, triple[number]):
                    break
                found[name] = triple[number]
            else:
                for condition in self._conditions:
                    if not condition.test(run, found):
                        break
                else:
                    yield found


# ---------------------------------------------------------------------------------------------------------------- paths


class PathItem(Item):
    def __init__(self, pattern: PathPattern) -> None:
        self.path = simplified(pattern.path)
        self.ends: tuple[Place, Place] = (pattern.s, pattern.o)
        self.constants = tuple(end for end in self.ends if not isinstance(end, Var))
        self.names = frozenset(end.name for end in self.ends if isinstance(end, Var))

    def candidates(self, meaning: Meaning) -> float:
        return _PATH_FROM_NODE if self.constants else 1.0 + len(meaning.triples) * _PATH_FROM_NODE

    def share(self, bound: set[str]) -> float:
        return _BOUND_SHARE ** len(self.names & bound)

    def step(self, bound: frozenset[str], conditions: Sequence[Condition]) -> Step:
        return PathStep(self, bound, conditions)


class PathStep(Step):
    def __init__(self, item: PathItem, bound: frozenset[str], conditions: Sequence[Condition]) -> None:
        self._item = item
        self._conditions = conditions
        self._new = [(n, e.name) for n, e in enumerate(item.ends) if isinstance(e, Var) and e.name not in bound]
        self._loop = len(self._new) == 2 and self._new[0][1] == self._new[1][1]

    def extend(self, run: Run, row: Solution) -> Iterator[Solution]:
        s, o = (row.get(end.name) if isinstance(end, Var) else end for end in self._item.ends)
        outer = tuple(run.outer[name] for name in self._item.names if name in run.outer)
        walk: Walk = run.memo.get("walk") or run.memo.setdefault("walk", Walk(run.meaning.entailed, run.budget))
        for pair in walk.pairs(self._item.path, s, o, self._item.constants + outer):
            run.budget.spend(1)
            if self._loop and pair[0] != pair[1]:
                continue
            found = {**row, **{name: pair[number] for number, name in self._new}}
            if holds(self._conditions, run, found):
                yield found
