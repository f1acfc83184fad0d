"""The parts that a matcher's subscriptions are in: frozen segments, and the live one that takes new ones.

Subscriptions have numbers within their part. Of a frozen part nothing changes but that some are taken out, so any
number of threads may use it at once; the live one wants care, see `engine`.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from tidings.index.arrays import Longs
from tidings.index.columns import TextPool, Texts
from tidings.index.folding import shared_folder
from tidings.index.layout import Index
from tidings.index.scanner import Found, Scanner
from tidings.index.segment import Indices, Listed, Segment, joined, listed
from tidings.index.store import Store
from tidings.index.usage import Usage
from tidings.lang import parse_kept, to_text
from tidings.lang.pattern import Dialect, Query
from tidings.match.verify import Prepared
from tidings.ontology import Ontology

Source: TypeAlias = tuple[str, Dialect]
"""A subscription as text, and its dialect."""

_MOST_PREPARED = 10_000
_GONE: Source = ("", "sparql")


class Part(ABC):
    """What both kinds have in common: events through the kernels, and subscriptions made ready for the verifier."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._prepared: OrderedDict[int, Prepared] = OrderedDict()
        self.removed = 0
        """How many of its subscriptions are taken out."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many subscriptions it has, those that are taken out included."""

    def __len__(self) -> int:
        return self.size - self.removed

    @abstractmethod
    def index(self) -> Index: ...

    @abstractmethod
    def id(self, number: int) -> str: ...

    @abstractmethod
    def texts(self, low: int) -> Texts:
        """All ids, for numbers that begin at `low`."""

    @abstractmethod
    def query(self, number: int) -> Query: ...

    @abstractmethod
    def find(self, id: str) -> int:
        """The number of a subscription; -1 where there is none."""

    @abstractmethod
    def remove(self, number: int) -> None: ...

    @abstractmethod
    def numbers(self) -> list[int]:
        """Of all subscriptions that are not taken out."""

    def run(self, data: np.ndarray, stops: Longs, *, trusted: bool, quads: bool, start: int) -> Found:
        scanner: Scanner | None = getattr(self._own, "scanner", None)
        if scanner is None:
            scanner = self._own.scanner = Scanner(shared_folder())
        return scanner.run(data, stops, self.index(), trusted=trusted, quads=quads, start=start)

    @abstractmethod
    def later(self, number: int) -> Callable[[], Prepared]:
        """What gives the subscription, made ready, when it is called; also where it is taken out by then."""

    def prepared(self, number: int) -> Prepared:
        found = self._prepared.get(number)
        if found is None:
            found = self._prepared[number] = Prepared(self.query(number))
            if len(self._prepared) > _MOST_PREPARED:
                # One at a time: to make all of them ready again would hold up everybody.
                self._prepared.popitem(last=False)
        return found


class Frozen(Part):
    def __init__(self, segment: Segment) -> None:
        super().__init__()
        self.segment = segment
        self.removed = segment.size - segment.living()

    @property
    def size(self) -> int:
        return self.segment.size

    def index(self) -> Index:
        return self.segment.index

    def id(self, number: int) -> str:
        return self.segment.id(number)

    def texts(self, low: int) -> Texts:
        listed = self.segment.listed
        return Texts(low, low + self.size, listed.id_start, listed.id_pool)

    def query(self, number: int) -> Query:
        return parse_kept(*self.segment.text(number))

    def later(self, number: int) -> Callable[[], Prepared]:
        return partial(self.prepared, number)

    def find(self, id: str) -> int:
        return self.segment.find(id)

    def remove(self, number: int) -> None:
        self.segment.remove(number)
        self._prepared.pop(number, None)
        self.removed += 1

    def numbers(self) -> list[int]:
        numbers: list[int] = self.segment.numbers().tolist()
        return numbers


class Live(Part):
    """Takes new subscriptions. The store is made for the first of them: with a large ontology that takes a moment.

    It keeps them as texts, as segments do: of thousands of forms, the collector would have to look at every part.
    """

    def __init__(self, known: Callable[[], Ontology], weak: int, usage: Usage | None = None) -> None:
        super().__init__()
        self._known = known
        self._weak = weak
        self.usage = usage or Usage()
        """What is asked for here and was in the parts before it."""
        self._store: Store | None = None
        self._index: Index | None = None
        self._ids: list[str] = []
        self._pool = TextPool()
        self._sources: list[Source | None] = []
        self._numbers: dict[str, int] = {}

    @property
    def size(self) -> int:
        return len(self._ids)

    @property
    def store(self) -> Store:
        if self._store is None:
            self._store = Store(self._known(), self._weak, usage=self.usage)
        return self._store

    def add(self, id: str, query: Query) -> None:
        number, source = len(self._ids), (to_text(query), query.dialect)
        self.store.add(number, query)
        self._ids.append(id)
        self._sources.append(source)
        self._numbers[id] = number
        self._index = None

    @property
    def stale(self) -> bool:
        """Whether something was added that the arrays do not have yet."""
        return self._index is None

    def refresh(self) -> None:
        self._index = self.store.index()

    def index(self) -> Index:
        assert self._index is not None, "a live part is refreshed before it is used"
        return self._index

    def id(self, number: int) -> str:
        return self._ids[number]

    def texts(self, low: int) -> Texts:
        return self._pool.texts(low, self._ids)

    def query(self, number: int) -> Query:
        return parse_kept(*self._source(number))

    def later(self, number: int) -> Callable[[], Prepared]:
        return partial(_prepared, self._source(number))

    def _source(self, number: int) -> Source:
        source = self._sources[number]
        assert source is not None, "a subscription that was taken out does not match"
        return source

    def find(self, id: str) -> int:
        return self._numbers.get(id, -1)

    def remove(self, number: int) -> None:
        self.store.remove(number)
        if self._numbers[self._ids[number]] == number:
            del self._numbers[self._ids[number]]
        self._sources[number] = None
        self._prepared.pop(number, None)
        self.removed += 1

    def numbers(self) -> list[int]:
        return sorted(self._numbers.values())

    def living(self) -> list[tuple[str, Source]]:
        """Its subscriptions as they are now, in the order in which they came."""
        pairs = zip(self._ids, self._sources, strict=False)
        return [(id, source) for id, source in pairs if source is not None]

    def freeze(self) -> Segment:
        """The same subscriptions, frozen."""
        index, kept = self.store.freeze()
        chosen = [(self._ids[number], self._sources[number]) for number in kept.tolist()]
        return Segment(index, _listed(chosen, self._weak))


def merged(base: Segment | None, lives: Sequence[Live], known: Callable[[], Ontology], weak: int) -> Segment:
    """One segment of all these. What is live is compiled once more, into a copy of the frozen arrays: the numbers of
    the live part mean nothing in them.
    """
    if base is None and len(lives) == 1:
        return lives[0].freeze()
    usage = lives[-1].usage if lives else None
    store = Store(known(), weak, usage=usage) if base is None else Store.thawed(base.index, known(), usage)
    older = 0 if base is None else base.size
    added = [pair for live in lives for pair in live.living()]
    for number, (_, source) in enumerate(added, older):
        store.add(number, parse_kept(*source))
        # Whoever matches meanwhile should not wait for the interpreter.
        time.sleep(0)
    index, kept = store.freeze()
    recent = _listed([added[number - older] for number in kept[kept >= older].tolist()], weak)
    if base is None:
        return Segment(index, recent)
    old, new = np.flatnonzero(kept < older), np.flatnonzero(kept >= older)
    parts: list[tuple[Listed, Indices, Indices]] = [(base.listed, kept[old], old), (recent, np.arange(new.size), new)]
    return Segment(index, joined(parts, base.index.names.terms.weak))


def _prepared(source: Source) -> Prepared:
    return Prepared(parse_kept(*source))


def _listed(chosen: Sequence[tuple[str, Source | None]], weak: int) -> Listed:
    """What a segment keeps of subscriptions besides their rules. One that was taken out just now has no text."""
    sources = [source or _GONE for _, source in chosen]
    texts, dialects = [text for text, _ in sources], [dialect for _, dialect in sources]
    return listed([id for id, _ in chosen], texts, dialects, np.array([weak], np.uint64))
