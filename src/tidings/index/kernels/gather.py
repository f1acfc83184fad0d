"""The answers of a batch as columns of text: which rows there are, and the bytes that each of them has."""

from __future__ import annotations

import numpy as np

from tidings.index.arrays import Bytes, Ints, Longs
from tidings.index.kernels.dictionary import Dictionary, find, insert
from tidings.index.kernels.jit import inlined, kernel
from tidings.index.kernels.raw import eight

_U1, _U2, _U3, _U4, _U5, _U6, _U7, _U8 = (np.uint64(n) for n in range(1, 9))
_S8, _S16, _S24, _S32, _S40, _S48, _S56 = (np.uint64(8 * n) for n in range(1, 8))
_BYTE = np.uint64(0xFF)
_LT = 60
_TAIL = 4
"""What stands behind the name of the graph of a canonical line: `> .` and the newline."""


@kernel
def name_events(
    data: Bytes, ends: Longs, skipped: Bytes, known: Dictionary, count: int, numbers: Ints, new: Bytes
) -> int:
    """Number the events that end at `ends` by the names of their graphs, and say which names are new.

    `known` has `count` names, and room for as many more as there are events. Gives how many it has now.
    """
    for event in range(ends.size):
        numbers[event] = -1
        new[event] = 0
        if skipped[event]:
            continue
        end = ends[event] - _TAIL
        start = end
        while data[np.uint64(start - 1)] != _LT:
            start -= 1
        number = find(known, data, start, end)
        if number < 0:
            number = count
            at = known.start[count]
            for place in range(start, end):
                known.pool[np.uint64(at)] = data[np.uint64(place)]
                at += 1
            count += 1
            known.start[count] = at
            insert(known, number, count)
            new[event] = 1
        numbers[event] = number
    return count


@kernel
def rows_that(answers: Ints, answer: int, names: Ints, kept: Bytes, events: Ints, numbers: Ints) -> int:
    """The rows that have this answer and an event that is kept: the name of the event, and the subscription. `answers`
    are (event, subscription, answer), one after the other.
    """
    n = np.uint64(0)
    at = np.uint64(0)
    while at < np.uint64(answers.size):
        event = np.uint64(answers[at])
        if answers[at + _U2] == answer and kept[event]:
            events[n] = names[event]
            numbers[n] = answers[at + _U1]
            n += _U1
        at += _U3
    return np.int64(n)


@kernel
def measure_rows(start: Longs, low: int, high: int, numbers: Ints, offsets: Ints) -> None:
    """How long the text of each number from `low` up to `high` is, one place farther on: number `low + n` is the row n
    of `start`.
    """
    for row in range(numbers.size):
        number = numbers[row]
        if low <= number < high:
            n = np.uint64(number - low)
            offsets[np.uint64(row) + _U1] = start[n + _U1] - start[n]


@kernel
def add_up(offsets: Ints, largest: int) -> int:
    """From lengths to where each text begins. How many of them there are before that is more than `largest`."""
    total = 0
    for row in range(1, offsets.size):
        total += offsets[np.uint64(row)]
        if total > largest:
            return row - 1
        offsets[np.uint64(row)] = total
    return offsets.size - 1


@inlined
def _put_eight(out: Bytes, at: np.uint64, number: np.uint64) -> None:
    """Eight bytes at once: the compiler makes one store of these."""
    out[at] = number & _BYTE
    out[at + _U1] = (number >> _S8) & _BYTE
    out[at + _U2] = (number >> _S16) & _BYTE
    out[at + _U3] = (number >> _S24) & _BYTE
    out[at + _U4] = (number >> _S32) & _BYTE
    out[at + _U5] = (number >> _S40) & _BYTE
    out[at + _U6] = (number >> _S48) & _BYTE
    out[at + _U7] = number >> _S56


@kernel
def copy_rows(start: Longs, pool: Bytes, low: int, high: int, numbers: Ints, offsets: Ints, out: Bytes) -> None:
    """The texts of the same, each to where `offsets` says."""
    for row in range(numbers.size):
        number = numbers[row]
        if low <= number < high:
            n = np.uint64(number - low)
            source = np.uint64(start[n])
            last = np.uint64(start[n + _U1])
            target = np.uint64(offsets[row])
            if source + _U8 <= last:
                # Eight at a time, and the last eight once more: most texts do not end where the others do.
                end = target + (last - source)
                while source + _U8 < last:
                    _put_eight(out, target, eight(pool, source))
                    source += _U8
                    target += _U8
                _put_eight(out, end - _U8, eight(pool, last - _U8))
            else:
                while source < last:
                    out[target] = pool[source]
                    source += _U1
                    target += _U1
