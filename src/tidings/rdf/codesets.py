"""Sets of characters as ranges of code points: what a character class of an XPath regular expression denotes."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from tidings.rdf.blocks import BLOCKS

CodeSet: TypeAlias = tuple[tuple[int, int], ...]
"""First and last code point of each range; sorted, apart from each other, never a surrogate."""

_LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
# Above this there is no letter with another case.
_LAST_CASED = 0x1E943

_NAME_START = (
    *((0x3A, 0x3A), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF)),
    *((0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F), (0x2C00, 0x2FEF), (0x3001, 0xD7FF)),
    *((0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF)),
)
_NAME_MORE = ((0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040))


def union(ranges: Iterable[tuple[int, int]]) -> CodeSet:
    """The ranges, in any order and overlapping, as one set."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def complement(codes: CodeSet) -> CodeSet:
    gaps: list[tuple[int, int]] = []
    start = 0
    for first, last in union([*codes, _SURROGATES]):
        if start < first:
            gaps.append((start, first - 1))
        start = last + 1
    if start <= _LAST:
        gaps.append((start, _LAST))
    return tuple(gaps)


def difference(codes: CodeSet, without: CodeSet) -> CodeSet:
    return complement(union([*complement(codes), *without]))


def any_case(codes: CodeSet) -> CodeSet:
    """The set with every case variant of its characters."""
    more = [(v, v) for c, variants in _variants().items() if _holds(codes, c) for v in variants]
    return union([*codes, *more])


@lru_cache(maxsize=64)
def escape_class(letter: str) -> CodeSet:
    """The set of a multi-character escape: `s`, `i`, `c`, `d`, `w`, or a complement by its capital."""
    if letter.isupper():
        return complement(escape_class(letter.lower()))
    match letter:
        case "s":
            return ((0x9, 0xA), (0xD, 0xD), (0x20, 0x20))
        case "i":
            return _NAME_START
        case "c":
            return union(_NAME_START + _NAME_MORE)
        case "d":
            return category("Nd")
        case _:
            return union(category("L") + category("M") + category("N") + category("S"))


@lru_cache(maxsize=512)
def category(name: str) -> CodeSet:
    """The set of `\\p{name}`: a general category, one or two letters, or a block after `Is`."""
    if name.startswith("Is"):
        block = BLOCKS.get(name[2:])
        if block is None:
            raise ValueError(f"there is no Unicode block '{name[2:]}'")
        return (block,)
    table = _categories()
    found = [r for key, ranges in table.items() if key == name or key[0] == name for r in ranges]
    if not found:
        raise ValueError(f"there is no Unicode category '{name}'")
    return union(found)


@lru_cache(maxsize=1)
def _categories() -> dict[str, list[tuple[int, int]]]:
    table: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for start, stop in ((0, _SURROGATES[0]), (_SURROGATES[1] + 1, _LAST + 1)):
        for key, group in groupby(range(start, stop), key=lambda c: unicodedata.category(chr(c))):
            codes = list(group)
            table[key].append((codes[0], codes[-1]))
    return dict(table)


@lru_cache(maxsize=1)
def _variants() -> dict[int, tuple[int, ...]]:
    """The other cases of every character that has some, one character each."""
    same: dict[str, list[int]] = defaultdict(list)
    for code in range(_LAST_CASED + 1):
        char = chr(code)
        folded = char.casefold()
        if len(folded) != 1:
            folded = char.lower()
        same[folded if len(folded) == 1 else char].append(code)
    return {c: tuple(orbit) for orbit in same.values() if len(orbit) > 1 for c in orbit}


def _holds(codes: CodeSet, code: int) -> bool:
    low, high = 0, len(codes)
    while low < high:
        middle = (low + high) // 2
        first, last = codes[middle]
        if code < first:
            high = middle
        elif code > last:
            low = middle + 1
        else:
            return True
    return False
