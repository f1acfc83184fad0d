"""What is published and what is asked for: drawn by a seed, and so simple that a line of Python knows who matches."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

X = "http://x/"
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_WORDS = ("red", "green", "blue", "quick", "slow")
KINDS = 4


@dataclass(frozen=True, slots=True)
class Thing:
    """An event, by its number."""

    number: int
    kind: int
    price: int
    words: tuple[str, ...]
    urgent: bool

    @property
    def id(self) -> str:
        return f"{X}event/{self.number}"

    def nquads(self, price: int | None = None) -> str:
        """With another `price`, it is another event of the same id."""
        about, graph = f"<{X}thing/{self.number}>", f"<{self.id}>"
        lines = [
            f"{about} <{X}kind> <{X}kind/{self.kind}> {graph} .",
            f'{about} <{X}price> "{self.price if price is None else price}"^^<{_INTEGER}> {graph} .',
            f'{about} <{X}says> "{" ".join(self.words)}" {graph} .',
        ]
        if self.urgent:
            lines.append(f"{about} <{X}is> <{X}urgent> {graph} .")
        return "\n".join(lines) + "\n"


def thing(number: int, dice: random.Random) -> Thing:
    words = tuple(dice.sample(_WORDS, 2))
    return Thing(number, dice.randrange(KINDS), dice.randrange(100), words, dice.random() < 0.3)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, and what it asks, in Python."""

    text: str
    matches: Callable[[Thing], bool]


def _query(pattern: str) -> str:
    return f"PREFIX : <{X}> SELECT ?t {{ {pattern} }}"


def asked(dice: random.Random) -> Asked:
    kind, price, word = dice.randrange(KINDS), dice.randrange(10, 90), dice.choice(_WORDS)
    match dice.randrange(5):
        case 0:
            text = _query(f"?t :kind <{X}kind/{kind}> ; :price ?p FILTER(?p < {price})")
            return Asked(text, lambda thing: thing.kind == kind and thing.price < price)
        case 1:
            return Asked(_query(f"?t :price ?p FILTER(?p >= {price})"), lambda thing: thing.price >= price)
        case 2:
            text = _query(f'?t :says ?w FILTER ftcontains(?w, "{word}")')
            return Asked(text, lambda thing: word in thing.words)
        case 3:
            text = _query(f"?t :kind <{X}kind/{kind}> FILTER NOT EXISTS {{ ?t :is :urgent }}")
            return Asked(text, lambda thing: thing.kind == kind and not thing.urgent)
        case _:
            return Asked(_query("?t :kind ?k"), lambda thing: True)
