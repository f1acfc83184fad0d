"""Which events have been seen, in a few bytes each.

A run may see a hundred million events, so no id is kept: a key is 128 bits of its hash, in flat arrays, with an
open-addressing table of 4-byte entries over them (the layout of Python's own dict). About 35 bytes an event in all.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Literal, Protocol, TypeAlias

Verdict: TypeAlias = Literal["new", "same", "other"]


class Numbering:
    """Numbers keys from 0 in the order of their first appearance, without keeping them."""

    __slots__ = ("_high", "_low", "_mask", "_table")

    def __init__(self) -> None:
        self._low = array("Q")
        self._high = array("Q")
        self._table = array("I", bytes(4 * 64))
        self._mask = 63

    def __len__(self) -> int:
        return len(self._low)

    def __contains__(self, key: str) -> bool:
        low, high = _hash(key)
        return bool(self._table[self._slot(low, high)])

    def number(self, key: str) -> tuple[int, bool]:
        """The number of `key`, and whether it is a new one."""
        low, high = _hash(key)
        slot = self._slot(low, high)
        if entry := self._table[slot]:
            return entry - 1, False
        self._low.append(low)
        self._high.append(high)
        self._table[slot] = len(self._low)
        if len(self._low) * 3 > len(self._table) * 2:
            self._grow()
        return len(self._low) - 1, True

    def _slot(self, low: int, high: int) -> int:
        """The slot of the table that holds the key, or the free one where it belongs."""
        table, mask = self._table, self._mask
        slot = low & mask
        while entry := table[slot]:
            if self._low[entry - 1] == low and self._high[entry - 1] == high:
                break
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        size = 2 * len(self._table)
        table, mask = array("I", bytes(4 * size)), size - 1
        for entry, low in enumerate(self._low, 1):
            slot = low & mask
            while table[slot]:
                slot = (slot + 1) & mask
            table[slot] = entry
        self._table, self._mask = table, mask


def _hash(key: str) -> tuple[int, int]:
    digest = blake2b(key.encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


class Seen(Protocol):
    """Something that knows which events have been seen."""

    def __len__(self) -> int: ...

    def add(self, id: str, fingerprint: bytes, since: int = 0) -> tuple[Verdict, bool]:
        """Whether the event is new, and whether one of its id came in since there were `since` events."""


class SeenEvents:
    """The events of a run: the same id with the same triples is the same event, with others it is a conflict."""

    __slots__ = ("_fingerprints", "_ids")

    def __init__(self) -> None:
        self._ids = Numbering()
        self._fingerprints = array("Q")

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: str) -> bool:
        return id in self._ids

    def add(self, id: str, fingerprint: bytes, since: int = 0) -> tuple[Verdict, bool]:
        """Whether the event is new, and whether one of its id came in since there were `since` events."""
        number, new = self._ids.number(id)
        value = int.from_bytes(fingerprint[:8], "little")
        if new:
            self._fingerprints.append(value)
            return "new", False
        return ("same" if self._fingerprints[number] == value else "other"), number >= since
