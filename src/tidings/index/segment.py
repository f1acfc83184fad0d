"""A segment: compiled subscriptions as arrays that do not change any more, except that subscriptions can be taken out.

It may lie in memory or in a snapshot; `arrays` and `of_arrays` are the way there and back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, cast, get_type_hints

import numpy as np
from numpy.typing import NDArray

from tidings.index.arrays import Bytes, Ints, Longs, Words
from tidings.index.kernels.rows import find_row, hash_rows, place_bytes
from tidings.index.layout import Index
from tidings.lang.pattern import Dialect

Indices: TypeAlias = NDArray[np.integer[Any]]

DIALECTS: tuple[Dialect, ...] = ("sparql", "ops", "gtopss")


class Listed(NamedTuple):
    """The subscriptions by number. The id of n is `id_pool[id_start[n]:id_start[n + 1]]`, and so is its text."""

    id_start: Longs
    id_pool: Bytes
    id_order: Ints  # the numbers, by the hashes of their ids
    text_start: Longs
    text_pool: Bytes
    dialect: Bytes  # a place in DIALECTS


@dataclass(frozen=True)
class Segment:
    index: Index
    listed: Listed

    @property
    def size(self) -> int:
        """How many subscriptions it has, the ones taken out included."""
        return int(self.listed.dialect.size)

    def id(self, number: int) -> str:
        start = self.listed.id_start
        return self.listed.id_pool[start[number] : start[number + 1]].tobytes().decode()

    def text(self, number: int) -> tuple[str, Dialect]:
        start = self.listed.text_start
        text = self.listed.text_pool[start[number] : start[number + 1]].tobytes().decode()
        return text, DIALECTS[self.listed.dialect[number]]

    def find(self, id: str) -> int:
        """The number of a subscription that is not taken out; -1 where there is none."""
        if self.size == 0:
            return -1
        data = np.frombuffer(id.encode() or b"\0", np.uint8)
        listed = self.listed
        number = find_row(listed.id_start, listed.id_pool, listed.id_order, self._weak, data.copy(), len(id.encode()))
        return number if number >= 0 and self.alive(number) else -1

    def alive(self, number: int) -> bool:
        first, last = self._rules(number)
        return bool(self.index.rules.alive[first:last].any())

    def remove(self, number: int) -> None:
        """Take a subscription out: at once, also for who is matching."""
        first, last = self._rules(number)
        self.index.rules.alive[first:last] = 0

    def living(self) -> int:
        """How many are not taken out."""
        return self.size if self.index.rules.alive.all() else int(self.numbers().size)

    def numbers(self) -> Ints:
        """The subscriptions that are not taken out."""
        rules = self.index.rules
        return np.unique(rules.subscription[rules.alive == 1])

    @property
    def bytes_held(self) -> int:
        """By all arrays but the texts."""
        texts = self.listed.text_pool.nbytes + self.listed.text_start.nbytes
        return sum(array.nbytes for array in arrays(self).values()) - texts

    @cached_property
    def _weak(self) -> Words:
        return self.index.names.terms.weak

    def _rules(self, number: int) -> tuple[int, int]:
        """Its rules; those of one subscription are side by side."""
        of = self.index.rules.subscription
        # Of the same kind as the array: else numpy would make another array of all of it.
        first, last = np.searchsorted(of, np.array((number, number + 1), np.int32)).tolist()
        return first, last


def listed(ids: Sequence[str], texts: Sequence[str], dialects: Sequence[Dialect], weak: Words) -> Listed:
    """The list of these subscriptions."""
    id_start, id_pool = _pool(ids)
    text_start, text_pool = _pool(texts)
    kinds = np.array([DIALECTS.index(each) for each in dialects], np.uint8)
    return Listed(id_start, id_pool, _by_hash(id_start, id_pool, weak), text_start, text_pool, kinds)


def joined(parts: Sequence[tuple[Listed, Indices, Indices]], weak: Words) -> Listed:
    """Those of each part that have these numbers, at these places of the whole."""
    id_start, id_pool = _chosen([(each.id_start, each.id_pool, kept, at) for each, kept, at in parts])
    text_start, text_pool = _chosen([(each.text_start, each.text_pool, kept, at) for each, kept, at in parts])
    kinds = np.zeros(id_start.size - 1, np.uint8)
    for each, kept, at in parts:
        kinds[at] = each.dialect[kept]
    return Listed(id_start, id_pool, _by_hash(id_start, id_pool, weak), text_start, text_pool, kinds)


def _pool(texts: Sequence[str]) -> tuple[Longs, Bytes]:
    encoded = [text.encode() for text in texts]
    start = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=start[1:])
    return start, np.frombuffer(b"".join(encoded), np.uint8).copy()


def _chosen(parts: Sequence[tuple[Longs, Bytes, Indices, Indices]]) -> tuple[Longs, Bytes]:
    sizes = np.zeros(sum(kept.size for _, _, kept, _ in parts), np.int64)
    for start, _, kept, at in parts:
        sizes[at] = start[kept + 1] - start[kept]
    first = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=first[1:])
    pool = np.empty(int(first[-1]), np.uint8)
    for start, data, kept, at in parts:
        place_bytes(start[kept], start[kept + 1], data, first[at], pool)
    return first, pool


def _by_hash(start: Longs, pool: Bytes, weak: Words) -> Ints:
    hashes = np.zeros(start.size - 1, np.uint64)
    hash_rows(start, pool, weak, hashes)
    return np.argsort(hashes).astype(np.int32)


# -------------------------------------------------------------------------------------------------------------- flat


def arrays(segment: Segment) -> dict[str, NDArray[Any]]:
    """All arrays of a segment by name."""
    return dict(_flat("index", segment.index)) | dict(_flat("listed", segment.listed))


def of_arrays(named: Mapping[str, NDArray[Any]]) -> Segment:
    """The segment that has these arrays; KeyError names the first that is missing."""
    return Segment(cast(Index, _nested("index", Index, named)), cast(Listed, _nested("listed", Listed, named)))


def _flat(name: str, value: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    if isinstance(value, tuple):
        for field in cast(Any, value)._fields:
            yield from _flat(f"{name}.{field}", getattr(value, field))
    else:
        yield name, value


def _nested(name: str, kind: Any, named: Mapping[str, NDArray[Any]]) -> Any:
    if not hasattr(kind, "_fields"):
        return named[name]
    hints = get_type_hints(kind)
    return kind(*(_nested(f"{name}.{field}", hints[field], named) for field in kind._fields))
