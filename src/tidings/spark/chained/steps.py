"""Subscriptions as chains of steps: one pattern after the other, the one that leaves the fewest quads first.

A step takes rows of bindings and quads to new rows. It is a row of a table itself (`STEPS`), so that all subscriptions
that are at their first, second, … step are joined with the quads at once. A row of bindings is a list of terms; which
variables they are of is known from the subscription and the step. Those that nothing will ask for are dropped, so that
rows which differ in these alone become one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidings.lang.conjunctive import Conjunction
from tidings.lang.pattern import Block, ClassOf, Expr, TriplePattern, Var
from tidings.match.plan import names_in

STEPS = (
    "number int, step int, mask int, terms array<string>, sources array<int>, same array<int>, named array<int>, "
    "graphs array<string>, made array<int>, vertices int, apart array<string>, kept array<int>"
)
ARCS = 8
"""Added to the mask of a step that is about the arcs of the OPS model, and not about all triples."""

SUBJECT, PROPERTY, OBJECT, NAME = -1, -2, -3, -4
"""In `made`: where a term of the quad, or the name of the event, is put."""

_PLACES = (SUBJECT, PROPERTY, OBJECT)
_BOUND_SHARE = 0.05
_CONSTANT_SHARE = 0.1


class Step(NamedTuple):
    """A pattern of a subscription; `number` is the subscription's.

    `mask` has a bit for each place that is known: by one of `terms`, or by an element of the row before, from 1 on, in
    `sources`. `same` are pairs of places, one after the other, that have to be equal; `named` places that have to be
    the event's name, as all `graphs` have to. `made` is what the row is then: elements of the one before, or places of
    the quad. The first `vertices` of it are different from each other and from all of `apart`. `kept` is what remains
    of the row when the conditions of the step have been looked at.
    """

    number: int
    step: int
    mask: int
    terms: list[str | None]
    sources: list[int | None]
    same: list[int]
    named: list[int]
    graphs: list[str]
    made: list[int]
    vertices: int
    apart: list[str]
    kept: list[int]


class Conditions(NamedTuple):
    """What a row has to satisfy after a step: a block without patterns. `names` are the variables of the row."""

    names: tuple[str, ...]
    block: Block


class Chain(NamedTuple):
    """A subscription: its steps, and the conditions behind them."""

    steps: tuple[Step, ...]
    conditions: Mapping[int, Conditions]


class Frequencies(NamedTuple):
    """How many quads have a property, of how many."""

    of: Mapping[str, int]
    total: int

    def estimate(self, pattern: TriplePattern, bound: set[str]) -> float:
        """About how many quads a pattern leaves where these variables are bound."""
        places = (pattern.s, pattern.p, pattern.o)
        size = float(self.total) if isinstance(pattern.p, Var) else float(self.of.get(pattern.p, 0)) + 0.5
        known = sum(1 for place in places if isinstance(place, Var) and place.name in bound)
        constants = sum(1 for place in (pattern.s, pattern.o) if not isinstance(place, Var))
        return float(size * _BOUND_SHARE**known * _CONSTANT_SHARE**constants)


def chain_of(number: int, subscription: Conjunction, counted: Frequencies) -> Chain:
    """The steps of a subscription."""
    return _Chaining(number, subscription).chain(_ordered(subscription, counted))


def _ordered(subscription: Conjunction, counted: Frequencies) -> list[TriplePattern]:
    left = list(dict.fromkeys(subscription.block.triples))
    bound: set[str] = set()
    ordered = []
    while left:
        best = min(left, key=lambda pattern: counted.estimate(pattern, bound))
        left.remove(best)
        ordered.append(best)
        bound |= _names(best)
    return ordered


def _names(pattern: TriplePattern) -> set[str]:
    return {place.name for place in (pattern.s, pattern.p, pattern.o) if isinstance(place, Var)}


class _Chaining:
    """A chain under way: what is bound, and what the rows hold of it."""

    def __init__(self, number: int, subscription: Conjunction) -> None:
        self._number = number
        self._block = block = subscription.block
        self._graphs = {name.name for name in subscription.graphs if isinstance(name, Var)}
        self._graph_names = [str(name) for name in subscription.graphs if not isinstance(name, Var)]
        ends = dict.fromkeys(place for triple in block.triples for place in (triple.s, triple.o))
        self._vertices = [place.name for place in ends if isinstance(place, Var)] if block.injective else []
        self._apart = [str(place) for place in ends if not isinstance(place, Var)] if block.injective else []
        scope = self._graphs.union(*map(_names, block.triples))
        parts: list[Expr | ClassOf] = [*block.filters, *block.classes]
        self._waiting = [(part, names_in(part) & scope) for part in parts]
        self._bound = set(self._graphs)
        self._row: list[str] = []

    def chain(self, patterns: Sequence[TriplePattern]) -> Chain:
        steps, conditions = [], {}
        for number, pattern in enumerate(patterns):
            later = set[str]().union(*map(_names, patterns[number + 1 :]))
            step, behind = self._step(number, pattern, later)
            steps.append(step)
            if behind is not None:
                conditions[number] = behind
        return Chain(tuple(steps), conditions)

    def _step(self, number: int, pattern: TriplePattern, later: set[str]) -> tuple[Step, Conditions | None]:
        looked_up = self._looked_up(pattern)
        unsettled = not self._bound.issuperset(self._vertices)
        self._bound |= looked_up.new.keys()
        now = [(part, names) for part, names in self._waiting if names <= self._bound]
        self._waiting = [(part, names) for part, names in self._waiting if not names <= self._bound]
        vertices = [name for name in self._vertices if name in self._bound] if unsettled else []
        needed = later.union(*(names for _, names in self._waiting))
        if not self._bound.issuperset(self._vertices):
            needed |= set(self._vertices)
        needed = needed & self._bound - self._graphs
        asked = needed.union(*(names for _, names in now))
        row = [*vertices, *sorted(asked.difference(vertices))]
        kept = [name for name in row if name in needed]
        step = Step(
            self._number,
            number,
            looked_up.mask,
            looked_up.terms,
            looked_up.sources,
            looked_up.same,
            looked_up.named,
            self._graph_names if number == 0 else [],
            [self._source(name, looked_up.new) for name in row],
            len(vertices),
            self._apart if vertices else [],
            [row.index(name) + 1 for name in kept],
        )
        self._row = kept
        return step, Conditions(tuple(row), _only([part for part, _ in now])) if now else None

    def _looked_up(self, pattern: TriplePattern) -> _LookedUp:
        found = _LookedUp(ARCS if self._block.injective else 0, [], [], {}, [], [])
        for bit, (place, code) in enumerate(zip((pattern.s, pattern.p, pattern.o), _PLACES, strict=True)):
            term: str | None = None
            source: int | None = None
            if not isinstance(place, Var):
                term = place
            elif place.name in self._graphs:
                found.named.append(code)
            elif place.name in self._bound:
                source = self._row.index(place.name) + 1
            elif place.name in found.new:
                found.same.extend([found.new[place.name], code])
            else:
                found.new[place.name] = code
            if term is not None or source is not None:
                found.mask |= 1 << bit
            found.terms.append(term)
            found.sources.append(source)
        return found

    def _source(self, name: str, new: Mapping[str, int]) -> int:
        if name in self._graphs:
            return NAME
        return new[name] if name in new else self._row.index(name) + 1


@dataclass(slots=True)
class _LookedUp:
    """How the quads of a pattern are found: see `Step`. `new` are the variables that it binds, and where."""

    mask: int
    terms: list[str | None]
    sources: list[int | None]
    new: dict[str, int]
    same: list[int]
    named: list[int]


def _only(parts: Sequence[Expr | ClassOf]) -> Block:
    """These conditions and nothing else."""
    classes = tuple(part for part in parts if isinstance(part, ClassOf))
    return Block(filters=tuple(part for part in parts if not isinstance(part, ClassOf)), classes=classes)
