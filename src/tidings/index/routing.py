"""What a subscription is filed under, by name: where it lives among shards, and which events must come there, follow.

An index files a rule under atoms of which one holds wherever the rule applies (`filing`). So an event has to be sent to
a shard where one of the atoms holds that something is filed under there, and to no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from tidings.index.arrays import Ints, Words
from tidings.index.atoms import Atom, Kind
from tidings.index.kernels.dictionary import Dictionary
from tidings.index.kernels.words import Vocabulary
from tidings.index.layout import Index, Names
from tidings.index.plans import Plan, PlannedRule, shared_plans
from tidings.index.usage import Usage, cost
from tidings.lang.pattern import Query
from tidings.rdf.terms import Term

Under: TypeAlias = tuple[Atom, ...] | None
"""Atoms of which one holds wherever a subscription matches; None where every event has to be tried."""

_LOW = np.uint64((1 << 30) - 1)
_FIRST, _KIND = np.uint64(30), np.uint64(60)


class Filer:
    """Tells what subscriptions are filed under by whoever has the same usage."""

    def __init__(self, universal: frozenset[Term], usage: Usage) -> None:
        self._plans = shared_plans(universal)
        self._usage = usage

    def under(self, query: Query) -> Under:
        """Those of all its rules, each once."""
        plan, own = self._plans.of(query)
        names = [*own, *plan.more]
        filled = _filled(plan, names)
        shares = [*self._usage.count([names[n] for n in plan.asked]), 1.0]
        found: dict[Atom, None] = {}
        for rule in plan.rules:
            under = _under(rule, filled, shares)
            if under is None:
                return None
            found.update(dict.fromkeys(under))
        return tuple(found)


def _filled(plan: Plan, names: Sequence[str]) -> list[str]:
    """What a `Store` fills in, with names in place of their numbers."""
    numbers = (*plan.terms, *plan.properties, *plan.words)
    return [*("" for _ in plan.fixed), *(names[n] for n in numbers)]


def _under(rule: PlannedRule, filled: Sequence[str], shares: Sequence[float]) -> Under:
    costs = [cost(each.weight, each.independent, shares[each.one], shares[each.other]) for each in rule.atoms]
    under, _ = rule.filed(costs)
    if under is None:
        return None
    chosen = (rule.atoms[place] for place in under)
    return tuple(Atom(Kind((each.head >> 60) - 1), filled[each.first], filled[each.second]) for each in chosen)


# ------------------------------------------------------------------------------------------------ from arrays to names


def filed_atoms(index: Index) -> Iterator[Atom]:
    """The atoms that something is filed under in a frozen index. What is tried on every event is not among them."""
    there = index.atoms.key != 0
    keys, ids = index.atoms.key[there], index.atoms.id[there]
    keys = keys[np.diff(index.filed.first)[ids] > 0]
    names = _Texts(index.names)
    kinds = ((keys >> _KIND) - np.uint64(1)).astype(np.int64)
    firsts, seconds = (keys >> _FIRST & _LOW).astype(np.int64), (keys & _LOW).astype(np.int64)
    for kind, first, second in zip(kinds.tolist(), firsts.tolist(), seconds.tolist(), strict=True):
        yield names.atom(Kind(kind), first, second)


class _Texts:
    """The names of numbers."""

    def __init__(self, names: Names) -> None:
        self._terms = names.terms
        asked = np.flatnonzero(names.property >= 0)
        self._property: Ints = np.zeros(asked.size, np.int32)
        self._property[names.property[asked]] = asked
        self._words = _WordTexts(names.words, names.word.size)

    def atom(self, kind: Kind, first: int, second: int) -> Atom:
        match kind:
            case Kind.PROPERTY:
                return Atom(kind, self._of_property(first))
            case Kind.OBJECT | Kind.CLASS_O:
                return Atom(kind, self._of_property(first), _entry(self._terms, second))
            case Kind.SUBJECT:
                return Atom(kind, _entry(self._terms, first), self._of_property(second))
            case Kind.WORD:
                return Atom(kind, self._of_property(first), self._words.text(second))
            case Kind.ANYWORD:
                return Atom(kind, self._words.text(first))
            case _:
                return Atom(kind, _entry(self._terms, first))

    def _of_property(self, number: int) -> str:
        return _entry(self._terms, int(self._property[number]))


class _WordTexts:
    def __init__(self, vocabulary: Vocabulary, count: int) -> None:
        there = vocabulary.key != 0
        self._short: Words = np.zeros(count, np.uint64)
        self._short[vocabulary.id[there]] = vocabulary.key[there]
        self._long = vocabulary.long
        size = vocabulary.long.start.size - 1
        self._place: Ints = np.full(count, -1, np.int32)
        self._place[vocabulary.long_id[:size]] = np.arange(size)

    def text(self, number: int) -> str:
        place = int(self._place[number])
        if place >= 0:
            return _entry(self._long, place)
        return int(self._short[number]).to_bytes(8, "little").rstrip(b"\0").decode()


def _entry(table: Dictionary, number: int) -> str:
    return table.pool[table.start[number] : table.start[number + 1]].tobytes().decode()
