"""What every character becomes before a text is cut into words, as arrays: see `lang.fulltext.words`.

A text is normalised as a whole, but most characters do not mind their neighbours: what such a character becomes can be
looked up by itself. The others (marks that combine, letters that compose with the one before) are marked, and a text
with one of them is left to `lang.fulltext`. So is one with a character whose page of the tables is not there yet; the
next one with it will find the page.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from threading import Lock
from typing import NamedTuple

import numpy as np

from tidings.index.arrays import Bytes, Ints
from tidings.lang.fulltext import words

PAGE = 256
# The kinds of characters, after folding.
BREAK, PART, MARK, SINGLE = 0, 1, 2, 3
UNICODE = unicodedata.unidata_version

_PAGES = 0x110000 // PAGE
_LAST_COMPOSED = 0x20000
_HANGUL_VOWELS_AND_TAILS = range(0x1160, 0x1200)
_UNKNOWN = -1


class Folding(NamedTuple):
    """Character c becomes the characters `code[n]` of the kinds `kind[n]`, n from `first[e]` up to `first[e + 1]`,
    where e = `entry[page[c // 256] * 256 + c % 256]`; a page or an entry of -1 is not known, or not known by itself.
    """

    page: Ints
    entry: Ints
    first: Ints
    code: Ints
    kind: Bytes


class Folder:
    """The tables, which grow by the pages that texts turn out to need."""

    tables: Folding
    """The present ones: never changed but replaced, so that a kernel may go on with those it has."""

    def __init__(self) -> None:
        none = np.zeros(0, np.int32)
        self.tables = Folding(
            np.full(_PAGES, _UNKNOWN, np.int32), none, np.zeros(1, np.int32), none, np.zeros(0, np.uint8)
        )
        self._texts: dict[str, int] = {}
        self._learning = Lock()
        self.learn("a")

    def learn(self, text: str) -> None:
        """Have the pages of these characters. Threads may learn at once."""
        with self._learning:
            self._learn(text)

    def _learn(self, text: str) -> None:
        old = self.tables
        missing = [n for n in sorted({ord(char) // PAGE for char in text}) if old.page[n] == _UNKNOWN]
        if not missing:
            return
        page, before = old.page.copy(), len(self._texts)
        page[missing] = np.arange(len(missing)) + old.entry.size // PAGE
        numbers = [self._number(chr(code)) for n in missing for code in range(n * PAGE, (n + 1) * PAGE)]
        new = list(self._texts)[before:]
        ends = old.first[-1] + np.cumsum([len(each) for each in new], dtype=np.int32)
        every = "".join(new)
        self.tables = Folding(
            page,
            np.concatenate([old.entry, np.array(numbers, np.int32)]),
            np.concatenate([old.first, ends]),
            np.concatenate([old.code, np.array([ord(char) for char in every], np.int32)]),
            np.concatenate([old.kind, np.array([_kind(char) for char in every], np.uint8)]),
        )

    def _number(self, char: str) -> int:
        folded = _folded(char)
        return _UNKNOWN if folded is None else self._texts.setdefault(folded, len(self._texts))


@cache
def shared_folder() -> Folder:
    """The one of this process: characters are what they are, whichever the subscriptions."""
    return Folder()


def _folded(char: str) -> str | None:
    """What a character becomes; breaks are all alike; None where the neighbours matter."""
    stages = [unicodedata.normalize("NFKC", char)]
    stages.append(stages[-1].casefold())
    stages.append(unicodedata.normalize("NFKC", stages[-1]))
    for stage in stages:
        if stage and (unicodedata.combining(stage[0]) or stage[0] in _composing()):
            return None
    return stages[-1] if any(_kind(each) != BREAK for each in stages[-1]) or not stages[-1] else " "


@cache
def _kind(char: str) -> int:
    if not words(char):
        return BREAK
    if len(words(f"{char}a")) == 2:
        return SINGLE
    return MARK if unicodedata.category(char)[0] == "M" else PART


@cache
def _composing() -> frozenset[str]:
    """The characters that may become one with the character before them."""
    found = set(map(chr, _HANGUL_VOWELS_AND_TAILS))
    for code in range(_LAST_COMPOSED):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)
