"""What every matcher is: add, remove, match, stats. One file and one registry line make a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from tidings.lang.pattern import Query
from tidings.rdf.event import Event
from tidings.rdf.terms import Term

Solution: TypeAlias = dict[str, Term]
"""One row of bindings: variable names without `?`; an unbound variable is absent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a notification carries. `construct` is N-Triples text, for CONSTRUCT queries alone."""

    bindings: tuple[Solution, ...]
    construct: str | None = None


@dataclass(slots=True)
class Match:
    """One subscription that matches one event; its answer is computed when it is first asked for."""

    event: str
    subscription: str
    source: str = ""
    _answer: Answer | Callable[[], Answer] = field(default_factory=lambda: Answer(()), repr=False, compare=False)

    @property
    def answer(self) -> Answer:
        if not isinstance(self._answer, Answer):
            self._answer = self._answer()
        return self._answer

    @property
    def bindings(self) -> tuple[Solution, ...]:
        return self.answer.bindings

    @property
    def construct(self) -> str | None:
        return self.answer.construct


@dataclass(frozen=True, slots=True)
class Failure:
    """A subscription that could not be evaluated on an event: reported, never a silent no."""

    event: str
    subscription: str
    reason: str


Report: TypeAlias = Callable[[Failure], None]


class Engine(Protocol):
    """A matcher. Subscriptions come as forms; matches come sorted by subscription id (code points)."""

    name: str

    def add(self, id: str, query: Query) -> None:
        """Take a subscription; an `UnsupportedError` names a construct this matcher does not define."""

    def remove(self, id: str) -> None:
        """Forget a subscription; KeyError where there is none of that id."""

    def match(self, event: Event, report: Report) -> list[Match]: ...

    def stats(self) -> Mapping[str, int | float]: ...

    def __len__(self) -> int: ...

    def __contains__(self, id: object) -> bool: ...
