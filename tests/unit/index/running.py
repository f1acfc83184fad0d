"""The kernels in a few words, for the tests of this folder: Python values in and out."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from hypothesis import HealthCheck, settings

from tidings.index.arrays import Bytes
from tidings.index.folding import Folder
from tidings.index.kernels.dictionary import Dictionary
from tidings.index.kernels.jit import standalone
from tidings.index.kernels.scan import READ, Terms, Triples, forget, read_event
from tidings.index.kernels.words import LONGEST, split
from tidings.index.names import ALL_BITS, Entries, WordEntries
from tidings.index.scanner import PADDING, padded
from tidings.rdf.terms import XSD_STRING, escape, iri

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
if not COMPILED:
    # A hash is meant to overflow, which plain numpy would tell each time.
    np.seterr(over="ignore")

_STRING = padded(iri(XSD_STRING).encode())
_read_event, _forget, _split = standalone(read_event), standalone(forget), standalone(split)


def examples(number: int) -> settings:
    """The same examples on every run; few where the kernels are not compiled."""
    return settings(
        max_examples=number if COMPILED else max(10, number // 50),
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


def joined(texts: Iterable[str]) -> tuple[Bytes, np.ndarray]:
    """Texts one after the other, and their bounds."""
    encoded = [text.encode() for text in texts]
    bounds = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(each) for each in encoded], out=bounds[1:])
    return padded(b"".join(encoded)), bounds


def words_of(
    text: str, folder: Folder, known: Iterable[str], *, room: int = 4096, weak: int = ALL_BITS
) -> int | list[str | None]:
    """The words of a text, None for those not `known`; or UNSURE, or FULL."""
    entries = WordEntries(weak)
    numbers = {entries.number(word): word for word in known}
    data = padded(escape(text).encode())
    out = np.zeros(room, np.int32)
    buffer = np.zeros(LONGEST + PADDING, np.uint8)
    found = int(_split(data, 0, data.size - PADDING, folder.tables, entries.table(), buffer, out, 0))
    return found if found < 0 else [numbers.get(int(number)) for number in out[:found]]


class Reader:
    """Reads lines, with scratch arrays for so many terms, a power of two."""

    def __init__(self, known: Dictionary | None = None, room: int = 256) -> None:
        self.known = Entries(ALL_BITS).table() if known is None else known
        self.terms = Terms(
            start=np.zeros(room, np.int64),
            end=np.zeros(room, np.int64),
            text_end=np.zeros(room, np.int64),
            kind=np.zeros(room, np.uint8),
            id=np.zeros(room, np.int32),
            hash=np.zeros(room, np.uint64),
            slots=np.full(4 * room, -1, np.int32),
            slot=np.zeros(room, np.int32),
        )
        self.triples = Triples(*(np.zeros(room, np.int32) for _ in range(3)))

    def read(
        self, text: bytes, start: int = 0, *, trusted: bool = False, quads: bool = True
    ) -> tuple[int, int, list[tuple[str, ...]]]:
        """What became of the event at `start`, where the next one begins, and the triples where it was read."""
        data = padded(text)
        status, next, count, size = _read_event(
            data, start, len(text), trusted, quads, self.known, self.terms, self.triples, _STRING
        )
        found = []
        if status == READ:
            spans = zip(self.terms.start[:count].tolist(), self.terms.end[:count].tolist(), strict=True)
            terms = [text[first:last].decode() for first, last in spans]
            numbers = zip(*(each[:size].tolist() for each in self.triples), strict=True)
            found = [tuple(terms[number] for number in triple) for triple in numbers]
        _forget(self.terms, count)
        return int(status), int(next), found

    def read_all(self, text: bytes) -> list[list[tuple[str, ...]]] | None:
        """The triples of all events; None where one of them is left to others."""
        events = []
        at = 0
        while at < len(text):
            status, at, triples = self.read(text, at)
            if status != READ:
                return None
            events.append(triples)
        return events
