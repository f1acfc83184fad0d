"""Numbers to columns of text, and the names of events to numbers: what stands in a table of answers."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tidings.index.arrays import Bytes, Ints, Longs
from tidings.index.growing import Growing
from tidings.index.kernels.dictionary import Dictionary, insert
from tidings.index.kernels.gather import add_up, copy_rows, measure_rows, name_events

_LARGEST = 2**31 - 1
_ALL_BITS = 0xFFFFFFFFFFFFFFFF


class Texts(NamedTuple):
    """The texts of the numbers from `low` up to `high`: that of `low + n` is `pool[start[n]:start[n + 1]]`."""

    low: int
    high: int
    start: Longs
    pool: Bytes


def column(texts: Sequence[Texts], numbers: Ints) -> pa.ChunkedArray:
    """The text of each number, as strings, in chunks that have room for them."""
    parts = [_read_only(part) for part in texts]
    chunks = []
    first = 0
    while first < numbers.size:
        chunks.append(_chunk(parts, numbers[first:]))
        first += len(chunks[-1])
    return pa.chunked_array(chunks, pa.string())


def _read_only(texts: Texts) -> Texts:
    """Arrays of a snapshot cannot be written, and kernels are compiled for these or for others: here, for these."""
    start, pool = texts.start.view(), texts.pool.view()
    start.flags.writeable = pool.flags.writeable = False
    return texts._replace(start=start, pool=pool)


def _chunk(texts: Sequence[Texts], numbers: Ints) -> pa.StringArray:
    """As many of them as fit."""
    # Arrow keeps what is given back; from the system, memory would come anew every time, to be filled with zeros first.
    offsets = pa.allocate_buffer(4 * (numbers.size + 1))
    ends: Ints = np.frombuffer(offsets, np.int32)
    ends[0] = 0
    for part in texts:
        measure_rows(part.start, part.low, part.high, numbers, ends)
    size = add_up(ends, _LARGEST)
    data = pa.allocate_buffer(int(ends[size]))
    for part in texts:
        copy_rows(part.start, part.pool, part.low, part.high, numbers[:size], ends, np.frombuffer(data, np.uint8))
    return pa.StringArray.from_buffers(size, offsets, data)


class TextPool:
    """The texts of a list that only grows, made when they are asked for. For many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._start = Growing(np.int64)
        self._start.append(0)
        self._pool = Growing(np.uint8)

    def texts(self, low: int, listed: Sequence[str]) -> Texts:
        with self._lock:
            done = self._start.size - 1
            if len(listed) > done:
                encoded = [text.encode() for text in listed[done:]]
                self._start.extend(self._pool.size + np.cumsum([len(text) for text in encoded]))
                self._pool.extend(np.frombuffer(b"".join(encoded), np.uint8))
            return Texts(low, low + self._start.size - 1, self._start.array, self._pool.array)


class EventNames:
    """The names of the events of a run, each with a number, in the order of their first appearance."""

    def __init__(self) -> None:
        self._slots = np.zeros(64, np.uint64)
        self._start = Growing(np.int64)
        self._start.append(0)
        self._pool = Growing(np.uint8)
        self._weak = np.full(1, _ALL_BITS, np.uint64)

    def __len__(self) -> int:
        return self._start.size - 1

    def take(self, data: Bytes, ends: Longs, skipped: Bytes, room: int) -> tuple[Ints, Bytes]:
        """The numbers of the events that end at `ends`, all in `room` bytes of data, and which of them are new."""
        numbers = np.empty(ends.size, np.int32)
        new = np.empty(ends.size, np.uint8)
        known = self._with_room(ends.size, room)
        self._start.size = 1 + name_events(data, ends, skipped, known, len(self), numbers, new)
        self._pool.size = int(self._start.array[self._start.size - 1])
        return numbers, new

    def number(self, name: str) -> tuple[int, bool]:
        """The number of this name, and whether it is new."""
        text = f"<{name}> .\n".encode()
        data = np.frombuffer(text, np.uint8)
        numbers, new = self.take(data, np.full(1, data.size), np.zeros(1, np.uint8), data.size)
        return int(numbers[0]), bool(new[0])

    def texts(self) -> Texts:
        return Texts(0, len(self), self._start.array, self._pool.array)

    def name(self, number: int) -> str:
        start, end = self._start.array[number : number + 2].tolist()
        return self._pool.array[start:end].tobytes().decode()

    def _with_room(self, events: int, size: int) -> Dictionary:
        self._start.reserve(self._start.size + events)
        self._pool.reserve(self._pool.size + size)
        if 2 * (len(self) + events) > self._slots.size:
            wanted = 4 * (len(self) + events)
            self._slots = np.zeros(1 << (wanted - 1).bit_length(), np.uint64)
            insert(self._dictionary(), 0, len(self))
        return self._dictionary()

    def _dictionary(self) -> Dictionary:
        return Dictionary(self._slots, self._start.array, self._pool.array, self._weak)
