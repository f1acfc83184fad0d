"""Rows of different lengths, one after the other in one array; and the ids of subscriptions, which are such rows."""

from __future__ import annotations

from tidings.index.arrays import Bytes, Ints, Longs, Words
from tidings.index.kernels.dictionary import Dictionary, find
from tidings.index.kernels.jit import kernel
from tidings.index.kernels.raw import equal, hashed

_SPACE, _LT, _GT = 32, 60, 62


@kernel
def gather(first: Longs, last: Longs, values: Ints, out: Ints) -> None:
    """The rows `values[first[n]:last[n]]`, one after the other."""
    at = 0
    for n in range(first.size):
        for place in range(first[n], last[n]):
            out[at] = values[place]
            at += 1


@kernel
def place_bytes(first: Longs, last: Longs, values: Bytes, at: Longs, out: Bytes) -> None:
    """Put each of the rows `values[first[n]:last[n]]` where `at[n]` says."""
    for n in range(first.size):
        for place in range(last[n] - first[n]):
            out[at[n] + place] = values[first[n] + place]


@kernel
def hash_rows(start: Longs, pool: Bytes, weak: Words, out: Words) -> None:
    """The hash of each `pool[start[n]:start[n + 1]]`."""
    for n in range(start.size - 1):
        out[n] = hashed(pool, start[n], start[n + 1], weak[0])


@kernel
def find_row(start: Longs, pool: Bytes, order: Ints, weak: Words, data: Bytes, size: int) -> int:
    """Which row `data[:size]` is, or -1; `order` has the rows by their hashes."""
    hash = hashed(data, 0, size, weak[0])
    low, high = 0, order.size
    while low < high:
        middle = (low + high) // 2
        row = order[middle]
        if hashed(pool, start[row], start[row + 1], weak[0]) < hash:
            low = middle + 1
        else:
            high = middle
    while low < order.size:
        row = order[low]
        if equal(pool, start[row], start[row + 1], data, 0, size):
            return row
        if hashed(pool, start[row], start[row + 1], weak[0]) != hash:
            return -1
        low += 1
    return -1


@kernel
def mentioning(start: Longs, pool: Bytes, terms: Dictionary, out: Bytes) -> None:
    """Which of the texts `pool[start[n]:start[n + 1]]` have one of these IRIs in them, brackets included."""
    for n in range(start.size - 1):
        at = start[n]
        last = start[n + 1]
        while at < last and not out[n]:
            if pool[at] == _LT:
                end = at + 1
                while end < last and pool[end] != _GT and pool[end] != _LT and pool[end] > _SPACE:
                    end += 1
                if end < last and pool[end] == _GT and find(terms, pool, at, end + 1) >= 0:
                    out[n] = 1
                at = end
            else:
                at += 1
