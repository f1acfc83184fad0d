"""Bytes: eight at a time, equality, the hash.

All arithmetic is on uint64 and wraps. Mixing in a signed number would give a float, so lengths are cast first.
"""

from __future__ import annotations

import numpy as np

from tidings.index.arrays import Bytes
from tidings.index.kernels.jit import inlined

_K1 = np.uint64(0x9E3779B97F4A7C15)
_K2 = np.uint64(0xD6E8FEB86659FD93)
_K3 = np.uint64(0xCA9B0C7EBA1DA115)
_S8 = np.uint64(8)
_S16 = np.uint64(16)
_S24 = np.uint64(24)
_S32 = np.uint64(32)
_S40 = np.uint64(40)
_S48 = np.uint64(48)
_S56 = np.uint64(56)
_S29 = np.uint64(29)
_U1, _U2, _U3, _U4, _U5, _U6, _U7 = (np.uint64(n) for n in range(1, 8))
_NONE = np.uint64(0)
_LOWEST = np.uint64(0x0101010101010101)
HIGHEST = np.uint64(0x8080808080808080)
# Beyond this many bytes at either end, the middle of a long term is not hashed: who finds the slot compares all of it.
_ENDS = 48


@inlined
def eight(data: Bytes, at: int) -> np.uint64:
    """Eight bytes as one number. With an unsigned index, the compiler makes a single load of it."""
    i = np.uint64(at)
    return (
        np.uint64(data[i])
        | (np.uint64(data[i + _U1]) << _S8)
        | (np.uint64(data[i + _U2]) << _S16)
        | (np.uint64(data[i + _U3]) << _S24)
        | (np.uint64(data[i + _U4]) << _S32)
        | (np.uint64(data[i + _U5]) << _S40)
        | (np.uint64(data[i + _U6]) << _S48)
        | (np.uint64(data[i + _U7]) << _S56)
    )


@inlined
def has_zero(number: np.uint64) -> bool:
    """Whether one of the eight bytes is zero."""
    return (number - _LOWEST) & ~number & HIGHEST != _NONE


@inlined
def equal(a: Bytes, a_start: int, a_end: int, b: Bytes, b_start: int, b_end: int) -> bool:
    """Whether two stretches of bytes are the same."""
    if a_end - a_start != b_end - b_start:
        return False
    shift = b_start - a_start
    at = a_start
    if a_end - a_start >= 8:
        # The last eight may overlap with those before: there is no rest to go through byte by byte.
        while at < a_end - 8:
            if eight(a, at) != eight(b, at + shift):
                return False
            at += 8
        return eight(a, a_end - 8) == eight(b, b_end - 8)
    while at < a_end:
        if a[at] != b[at + shift]:
            return False
        at += 1
    return True


@inlined
def _mixed(data: Bytes, start: int, end: int, mixed: np.uint64) -> np.uint64:
    at = start
    last = _NONE
    if end - start >= 8:
        while at < end - 8:
            mixed = (mixed ^ eight(data, at)) * _K2
            mixed ^= mixed >> _S29
            at += 8
        last = eight(data, end - 8)
    else:
        while at < end:
            last = (last << _S8) | np.uint64(data[at])
            at += 1
    mixed = (mixed ^ last) * _K3
    return mixed ^ (mixed >> _S32)


@inlined
def hashed(data: Bytes, start: int, end: int, weak: np.uint64) -> np.uint64:
    """A hash of `data[start:end]`, of which only the bits in `weak` are kept: all of them, except in tests."""
    mixed = (np.uint64(end - start) + _K1) * _K3
    if end - start <= 2 * _ENDS:
        mixed = _mixed(data, start, end, mixed)
    else:
        mixed = _mixed(data, end - _ENDS, end, _mixed(data, start, start + _ENDS, mixed))
    mixed = (mixed ^ (mixed >> _S32)) * _K2
    return (mixed ^ (mixed >> _S29)) & weak
