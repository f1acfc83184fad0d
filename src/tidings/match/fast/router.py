"""Which shards an event has to be sent to: an index of the atoms that something is filed under in each of them.

It is run by the kernels that match, over the same bytes: what they say of hierarchies, words and datatypes when a shard
is looked into, they say here. A subscription of this index stands for a shard; its id is the shard's number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tidings.index.arrays import Ints, Longs
from tidings.index.atoms import ALWAYS, Atom, Some
from tidings.index.folding import shared_folder
from tidings.index.layout import REFILED, Index
from tidings.index.routing import Under, filed_atoms
from tidings.index.rules import Rule
from tidings.index.scanner import Scanner
from tidings.index.segment import Segment, listed
from tidings.index.store import Store
from tidings.lang.pattern import Block
from tidings.match.fast import keeping
from tidings.ontology import Ontology

_AT_ONCE = 1_000


class Routed(NamedTuple):
    """The rows of events and the shards they are sent to, each pair once, by row; and how many events were read."""

    rows: Ints
    shards: Ints
    events: int


class Filed(NamedTuple):
    """What is filed under in a shard, and whether something there has to be tried on every event."""

    shard: int
    atoms: Iterable[Atom]
    always: bool

    @staticmethod
    def of(shard: int, segment: Segment) -> Filed:
        return Filed(shard, filed_atoms(segment.index), bool(segment.index.rules.always.size))


class Router:
    """What is learned later is in an index of its own. Not for two threads at once."""

    def __init__(self, segment: Segment, known: Callable[[], Ontology]) -> None:
        self._known = known
        self._frozen = _Part(segment.index, [int(segment.id(number)) for number in range(segment.size)])
        self._more: _Building | None = None
        self._live: _Part | None = None

    @classmethod
    def open(cls, folder: Path) -> Router:
        kept = keeping.open_kept(folder, kind=keeping.ROUTES)
        return cls(kept.segment, lambda: kept.ontology)

    @classmethod
    def of(cls, ontology: Ontology, filed: Iterable[Filed]) -> Router:
        return cls(_frozen(ontology, filed), lambda: ontology)

    def learn(self, shard: int, under: Under) -> None:
        """Something is filed so in a shard."""
        if self._more is None:
            self._more = _Building(self._known())
        self._more.add(shard, under)
        self._live = None

    def run(self, data: np.ndarray, stops: Longs, *, trusted: bool, start: int = 0) -> Routed:
        """Where the events go that end at `stops`, up to one that the kernels do not read."""
        first = self._frozen.run(data, stops, trusted=trusted, start=start)
        if self._more is None or not first.events:
            return first
        if self._live is None:
            self._live = _Part(self._more.index(), self._more.shards)
        more = self._live.run(data, stops[: first.events], trusted=trusted, start=start)
        return _once(np.append(first.rows, more.rows), np.append(first.shards, more.shards), first.events)


class _Part:
    def __init__(self, index: Index, shards: Sequence[int]) -> None:
        self._index = index
        self._shards = np.array(shards, np.int32)

    @cached_property
    def _scanner(self) -> Scanner:
        return Scanner(shared_folder())

    def run(self, data: np.ndarray, stops: Longs, *, trusted: bool, start: int) -> Routed:
        found = self._scanner.run(data, stops, self._index, trusted=trusted, quads=False, start=start)
        return _once(found.answers[:, 0], self._shards[found.answers[:, 1]], int(found.begins.size))


def _once(rows: Ints, shards: Ints, events: int) -> Routed:
    pairs = np.unique(rows.astype(np.int64) << 32 | shards)
    return Routed((pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32), events)


class _Building:
    def __init__(self, ontology: Ontology) -> None:
        self._store = Store(ontology)
        self.shards: list[int] = []

    def add(self, shard: int, under: Under) -> None:
        self._store.add_rules(len(self.shards), [Rule(Block(), False, ALWAYS if under is None else Some(under))])
        self.shards.append(shard)

    def index(self) -> Index:
        return self._store.index()

    def freeze(self) -> Segment:
        index, kept = self._store.freeze()
        # A rule here is no more than its atoms, and these say it all.
        how = np.full(index.rules.how.size, REFILED, np.uint8)
        ids = [str(self.shards[number]) for number in kept.tolist()]
        names = listed(ids, ids, ["sparql"] * len(ids), index.names.terms.weak)
        return Segment(index._replace(rules=index.rules._replace(how=how)), names)


def save_router(folder: Path, ontology: Ontology, filed: Iterable[Filed]) -> None:
    """Make a router in a folder."""
    keeping.save(folder, _frozen(ontology, filed), ontology, keeping.ROUTES)


def _frozen(ontology: Ontology, filed: Iterable[Filed]) -> Segment:
    building = _Building(ontology)
    for shard, atoms, always in filed:
        if always:
            building.add(shard, None)
        for several in _chunks(atoms):
            building.add(shard, several)
    return building.freeze()


def _chunks(atoms: Iterable[Atom]) -> Iterator[tuple[Atom, ...]]:
    each = iter(atoms)
    while several := tuple(islice(each, _AT_ONCE)):
        yield several
