"""What a workload is."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

from tidings.lang.pattern import Query
from tidings.ontology import Ontology
from tidings.rdf.event import Event, to_nquads
from tidings.rdf.terms import Term

Forms: TypeAlias = Iterator[tuple[str, Query]]

_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class Workload:
    """`forms` starts again at every call; there are `count`. `drawn` says how terms are."""

    name: str
    drawn: str
    count: int
    events: tuple[Event, ...]
    forms: Callable[[], Forms]
    ontology: Ontology
    hierarchy: str = "off"

    def nquads(self) -> bytes:
        """All events, each in one piece."""
        return b"".join(map(to_nquads, self.events))


def data() -> Path:
    """The folder of the public data sets: `TIDINGS_DATA`, or else `../shared/data`."""
    return Path(os.environ.get("TIDINGS_DATA") or "../shared/data")


def endless(dice: random.Random, weights: Mapping[Term, float] | Mapping[str, float]) -> Iterator[str]:
    """Draws, for ever: many at once take a tenth of the time."""
    items, cumulative = list(weights), list(accumulate(weights.values()))
    while True:
        yield from dice.choices(items, cum_weights=cumulative, k=_BATCH)


def zipf(items: Iterable[Term]) -> dict[Term, float]:
    """The first as often as the second twice, the third three times, …"""
    return {item: 1 / rank for rank, item in enumerate(items, 1)}


def numbered(queries: Iterator[Query]) -> Forms:
    return ((f"s{number:07}", query) for number, query in enumerate(queries))
