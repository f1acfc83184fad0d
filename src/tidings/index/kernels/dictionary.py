"""Bytes to numbers: an open-addressing table of slots, and a pool that holds every entry's bytes.

A slot holds an id and half of its hash; where that half agrees, the bytes are compared, so two entries never share an
id, whatever their hashes are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidings.index.arrays import Bytes, Longs, Words
from tidings.index.kernels.jit import inlined, kernel
from tidings.index.kernels.raw import equal, hashed

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(0xFFFFFFFF00000000)
_ONE = np.uint64(1)
_NONE = np.uint64(0)


class Dictionary(NamedTuple):
    """`slots` (a power of two of them, at most half of them taken): half a hash, and an id plus one; 0 is empty.

    Entry n is `pool[start[n]:start[n + 1]]`; `weak` is the mask that `hashed` takes, alone in its array.
    """

    slots: Words
    start: Longs
    pool: Bytes
    weak: Words


@inlined
def find_hashed(table: Dictionary, data: Bytes, start: int, end: int, hash: np.uint64) -> int:
    """The id of `data[start:end]`, whose hash is known; -1 where it has none."""
    mask = np.uint64(table.slots.size - 1)
    at = hash & mask
    half = hash & _HIGH
    while True:
        slot = table.slots[at]
        if slot == _NONE:
            return -1
        if slot & _HIGH == half:
            id = np.int64(slot & _LOW) - 1
            if equal(data, start, end, table.pool, table.start[id], table.start[id + 1]):
                return id
        at = (at + _ONE) & mask


@inlined
def find(table: Dictionary, data: Bytes, start: int, end: int) -> int:
    return find_hashed(table, data, start, end, hashed(data, start, end, table.weak[0]))


@kernel
def find_all(table: Dictionary, data: Bytes, bounds: Longs, found: Longs) -> None:
    """The id, or -1, of each `data[bounds[n]:bounds[n + 1]]`."""
    for n in range(bounds.size - 1):
        found[n] = find(table, data, bounds[n], bounds[n + 1])


@kernel
def find_one(table: Dictionary, data: Bytes, size: int) -> int:
    """The id, or -1, of `data[:size]`."""
    return find(table, data, 0, size)


@kernel
def insert(table: Dictionary, first: int, last: int) -> None:
    """Put the entries from `first` up to `last`, whose bytes are in the pool, into the slots; none is in there yet."""
    mask = np.uint64(table.slots.size - 1)
    for id in range(first, last):
        hash = hashed(table.pool, table.start[id], table.start[id + 1], table.weak[0])
        at = hash & mask
        while table.slots[at] != _NONE:
            at = (at + _ONE) & mask
        table.slots[at] = (hash & _HIGH) | np.uint64(id + 1)
