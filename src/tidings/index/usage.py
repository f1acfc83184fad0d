"""How often atoms hold of an event, about: what many subscriptions ask for is likely to be common in events too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidings.index.atoms import Atom, Kind

# How many triples of an event are of such a kind, about; of texts, times the words they have.
WEIGHTS = {
    Kind.PROPERTY: 5.0,
    Kind.OBJECT: 1.0,
    Kind.SUBJECT: 1.0,
    Kind.NODE_S: 1.0,
    Kind.NODE_O: 1.0,
    Kind.WORD: 20.0,
    Kind.ANYWORD: 2.0,
    Kind.LITERAL: 50.0,
    Kind.CLASS_O: 0.7,
    Kind.HOME: 0.2,
}
# As if so many subscriptions had been there before, of which none had asked for anything that others do.
_BEFORE = 100
_MOST_NAMES = 1 << 20


class Usage:
    """Which names subscriptions ask for. The share of a name is how many of them do, about; it is never 0. Where two
    threads count at once, one of them may not be counted.
    """

    def __init__(self) -> None:
        self._asked: dict[str, int] = {}
        self._subscriptions = 0

    def count(self, names: Iterable[str]) -> list[float]:
        """The shares of the names that a subscription asks for, as they were before it; from then on it counts."""
        asked = self._asked
        if len(asked) > _MOST_NAMES:
            self._forget()
        scale = 1 / (_BEFORE + self._subscriptions)
        self._subscriptions += 1
        shares = []
        for name in names:
            count = asked.get(name, 0) + 1
            asked[name] = count
            shares.append(count * scale)
        return shares

    def cost(self, atom: Atom) -> float:
        """How often an atom holds."""
        scale = 1 / (_BEFORE + self._subscriptions)
        shares = [(1 + self._asked.get(name, 0)) * scale for name in (atom.first, atom.second) if name]
        return cost(WEIGHTS[atom.kind], independent(atom.kind), shares[0], shares[-1] if atom.second else 1.0)

    def often(self) -> tuple[int, Mapping[str, int]]:
        """How many subscriptions were counted, and the names that more than one of them asks for."""
        return self._subscriptions, {name: count for name, count in self._asked.items() if count > 1}

    def _forget(self) -> None:
        """What was asked for once. Others may be counting: a copy is made in one step."""
        self._asked = {name: count for name, count in self._asked.copy().items() if count > 1}
        if len(self._asked) > _MOST_NAMES // 2:
            self._asked.clear()


class FixedUsage(Usage):
    """What was counted once, and no more: whoever has the same one files every subscription alike."""

    def __init__(self, subscriptions: int, asked: Mapping[str, int]) -> None:
        super().__init__()
        self._subscriptions = subscriptions
        self._asked = dict(asked)

    def count(self, names: Iterable[str]) -> list[float]:
        scale = 1 / (_BEFORE + self._subscriptions)
        return [(1 + self._asked.get(name, 0)) * scale for name in names]


def independent(kind: Kind) -> bool:
    """Whether one of its names says nothing about the other: a word may be in the values of any property."""
    return kind is Kind.WORD


def cost(weight: float, independent: bool, one: float, other: float) -> float:
    """By the shares of the names of an atom; of one alone, the other is 1."""
    return weight * (one * other if independent else min(one, other))
