"""Plans: what becomes of all subscriptions of one shape, but for their names.

The compilation (`rules_of`, `program`) sees marks in place of the names, and a `_Recorder` in place of the tables that
number them: what it makes of a mark is a reference, and a plan says where the references are. So the second time a
shape is seen it is compiled for all that follow, and of each of those only the numbers are filled in (`Store`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from tidings.index.atoms import All, Atom, Condition, Kind
from tidings.index.filing import filing
from tidings.index.programs import program
from tidings.index.rules import Rule, rules_of
from tidings.index.shape import SPECIAL, Shape
from tidings.index.usage import WEIGHTS, independent
from tidings.lang.pattern import Query
from tidings.rdf.terms import Term

# References are above all numbers that a code has otherwise.
_TERMS, _PROPERTIES, _WORDS, _NUMBERS = (n << 40 for n in range(1, 5))

# Bounds on what is remembered: parts and letters of keys, of one and of all.
_LONGEST = 4_096
_MOST = 1 << 20


class PlannedAtom(NamedTuple):
    head: int
    """What its kind is in the key of an atom."""
    first: int
    second: int
    """Where its numbers are among those filled in."""
    weight: float
    independent: bool
    one: int
    other: int
    """Where the shares of its names are, for `usage.cost`."""


@dataclass(frozen=True, slots=True)
class PlannedRule:
    code: Callable[[Sequence[int]], tuple[int, ...]]
    """Picks the code out of the filled-in numbers."""
    atoms: tuple[PlannedAtom, ...]
    condition: Condition
    places: Mapping[Atom, int]
    """Where the atoms of the condition are in `atoms`."""
    conjunction: bool
    """Whether the condition is just that some atoms hold."""

    def filed(self, costs: Sequence[float]) -> tuple[Sequence[int] | None, Sequence[int]]:
        """What `filing` says at these costs, by the places of the atoms."""
        if self.conjunction:
            order = sorted(range(len(costs)), key=costs.__getitem__)
            return order[:1], order[1:]
        places = self.places
        found = filing(self.condition, lambda atom: costs[places[atom]])
        under = None if found.under is None else [places[atom] for atom in found.under]
        return under, [places[atom] for atom in found.needs]


@dataclass(frozen=True, slots=True)
class Plan:
    """The filled-in numbers are `fixed`, then those of the terms, of the properties and of the words, which are places
    in the names of the subscription with `more` behind them, then the places of the floating-point `numbers`.
    """

    more: tuple[str, ...]
    fixed: tuple[int, ...]
    terms: tuple[int, ...]
    properties: tuple[int, ...]
    words: tuple[int, ...]
    numbers: tuple[float, ...]
    wanted: tuple[int, ...]
    asked: tuple[int, ...]
    """Which of the names are those of atoms; these have shares, and behind them is a 1."""
    texts: tuple[int, ...]
    """Which filled-in numbers are properties whose values' words are asked for."""
    rules: tuple[PlannedRule, ...]


class Plans:
    """The plans of the shapes seen so far, within bounds. `universal` are the classes that every resource has."""

    def __init__(self, universal: frozenset[Term]) -> None:
        self._universal = universal
        self._special = SPECIAL | universal
        self._plans: dict[tuple[object, ...], Plan | None] = {}
        self._size = 0

    def of(self, query: Query) -> tuple[Plan, list[str]]:
        """The plan for a subscription, and its names."""
        try:
            shape = Shape(query, self._special)
            plan = self._shared(query, shape)
        except RecursionError:
            plan = None
        return (self.alone(query), []) if plan is None else (plan, shape.names())

    def _shared(self, query: Query, shape: Shape) -> Plan | None:
        """The plan for a shape that was seen before."""
        key = tuple(shape.key)
        plan = self._plans.get(key)
        if plan is None:
            if key in self._plans:
                plan = planned(rules_of(shape.marked(query), self._universal), shape.marks(), self._universal)
            self._remember(key, shape, plan)
        return plan

    def alone(self, query: Query) -> Plan:
        """The plan for this very subscription, which has no names then."""
        return planned(rules_of(query, self._universal), (), self._universal)

    def _remember(self, key: tuple[object, ...], shape: Shape, plan: Plan | None) -> None:
        """Keep a plan, or that the shape was seen."""
        size = shape.size
        if size > _LONGEST:
            return
        self._size += size
        if self._size > _MOST:
            self._plans.clear()
            self._size = size
        self._plans[key] = plan


@lru_cache(maxsize=4)
def shared_plans(universal: frozenset[Term]) -> Plans:
    """The same for all stores: plans know no numbers."""
    return Plans(universal)


# --------------------------------------------------------------------------------------------------------- compilation


def planned(rules: Iterable[Rule], names: Sequence[str], universal: frozenset[Term]) -> Plan:
    """The plan for rules that have these names, some or all of which may be marks."""
    recorder = _Recorder(names, universal)
    numbers: list[float] = []
    codes: list[list[int]] = []
    conditions: list[Condition] = []
    for rule in rules:
        made = program(rule.block, recorder, ask=rule.ask, base=_NUMBERS + len(numbers))
        numbers += made.numbers
        codes.append(made.code)
        conditions.append(rule.condition)
    atoms = [{atom: recorder.atom(atom) for atom in _atoms(condition)} for condition in conditions]
    fixed = sorted({0, *(value for code in codes for value in code if value < _TERMS)})
    places = {value: place for place, value in enumerate((*fixed, *recorder.references(), *_numbers(numbers)))}
    return Plan(
        more=recorder.more(),
        fixed=tuple(fixed),
        terms=tuple(recorder.terms),
        properties=tuple(recorder.properties),
        words=tuple(recorder.words),
        numbers=tuple(numbers),
        wanted=tuple(recorder.wanted),
        asked=tuple(recorder.asked),
        texts=tuple(places[property] for property in recorder.texts),
        rules=tuple(
            _rule(code, condition, found, places)
            for code, condition, found in zip(codes, conditions, atoms, strict=True)
        ),
    )


def _numbers(numbers: Sequence[float]) -> range:
    return range(_NUMBERS, _NUMBERS + len(numbers))


def _rule(
    code: Sequence[int], condition: Condition, atoms: Mapping[Atom, PlannedAtom], places: Mapping[int, int]
) -> PlannedRule:
    return PlannedRule(
        itemgetter(*(places[value] for value in code)),
        tuple(atom._replace(first=places[atom.first], second=places[atom.second]) for atom in atoms.values()),
        condition,
        {atom: place for place, atom in enumerate(atoms)},
        conjunction=bool(atoms)
        and all(isinstance(item, Atom) for item in (condition.items if isinstance(condition, All) else (condition,))),
    )


def _atoms(condition: Condition) -> Iterable[Atom]:
    """Its atoms, each once, in order."""
    found: dict[Atom, None] = {}
    todo = [condition]
    while todo:
        part = todo.pop()
        if isinstance(part, Atom):
            found[part] = None
        else:
            todo += reversed(part.items)
    return found


class _Recorder:
    """Gives references for names. A reference is the place of a name among the terms, the properties or the words."""

    def __init__(self, names: Sequence[str], universal: frozenset[Term]) -> None:
        self.universal = universal
        self._given = len(names)
        self._names = {name: place for place, name in enumerate(names)}
        self.terms: dict[int, int] = {}
        self.properties: dict[int, int] = {}
        self.words: dict[int, int] = {}
        self.wanted: dict[int, None] = {}
        self.texts: dict[int, None] = {}
        self.asked: dict[int, int] = {}

    def term(self, term: Term) -> int:
        return _TERMS + self._place(term, self.terms)

    def property(self, term: Term) -> int:
        return _PROPERTIES + self._place(term, self.properties)

    def word(self, word: str) -> int:
        return _WORDS + self._place(word, self.words)

    def want(self, what: int) -> None:
        self.wanted[what] = None

    def ask_words(self, property: int) -> None:
        self.texts[property] = None

    def atom(self, atom: Atom) -> PlannedAtom:
        """With references for its numbers."""
        first, second = Term(atom.first), Term(atom.second)
        match atom.kind:
            case Kind.PROPERTY:
                numbers = self.property(first), 0
            case Kind.OBJECT | Kind.CLASS_O:
                numbers = self.property(first), self.term(second)
            case Kind.SUBJECT:
                numbers = self.term(first), self.property(second)
            case Kind.NODE_S | Kind.NODE_O | Kind.LITERAL | Kind.HOME:
                numbers = self.term(first), 0
            case Kind.WORD:
                numbers = self.property(first), self.word(second)
            case Kind.ANYWORD:
                numbers = self.word(first), 0
        one = self.asked.setdefault(self._names[first], len(self.asked))
        other = self.asked.setdefault(self._names[second], len(self.asked)) if second else -1
        return PlannedAtom((atom.kind + 1) << 60, *numbers, WEIGHTS[atom.kind], independent(atom.kind), one, other)

    def references(self) -> Iterable[int]:
        """All that were given, as their numbers will be laid out."""
        yield from range(_TERMS, _TERMS + len(self.terms))
        yield from range(_PROPERTIES, _PROPERTIES + len(self.properties))
        yield from range(_WORDS, _WORDS + len(self.words))

    def more(self) -> tuple[str, ...]:
        """The names that came up besides the given ones."""
        return tuple(self._names)[self._given :]

    def _place(self, name: str, among: dict[int, int]) -> int:
        return among.setdefault(self._names.setdefault(name, len(self._names)), len(among))
