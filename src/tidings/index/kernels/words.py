"""A literal to its words, by the tables of `index.folding`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidings.index.arrays import Bytes, Ints, Words
from tidings.index.folding import BREAK, MARK, PAGE, SINGLE, Folding
from tidings.index.kernels.dictionary import Dictionary, find
from tidings.index.kernels.jit import inlined, kernel
from tidings.index.kernels.raw import HIGHEST, eight

LONGEST = 1000
"""The bytes that a word may have here; a text with a longer one is left to `lang.fulltext`."""
UNSURE = -1
FULL = -2

_BACKSLASH, _SPACE = 92, 32
_NONE, _U1, _S32 = np.uint64(0), np.uint64(1), np.uint64(32)
_U8, _S3, _S56, _S64 = np.uint64(8), np.uint64(3), np.uint64(56), np.uint64(64)
_K = np.uint64(0x9E3779B97F4A7C15)
# What an ASCII byte becomes as part of a word; 0 where it is not.
_FOLDED = np.array([ord(chr(n).lower()) if n < 128 and chr(n).isalnum() else 0 for n in range(256)], np.uint8)
# The same for eight bytes at once. To a byte below 128, adding 128 - x sets the highest bit if it is x or more.
_LOWEST = np.uint64(0x0101010101010101)
_SMALL = np.uint64(0x20) * _LOWEST
_FROM_A, _AFTER_Z, _FROM_0, _AFTER_9 = (np.uint64(128 - ord(char)) * _LOWEST for char in "a{0:")
_EVERY = ~_NONE


@inlined
def decode(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """The character at `at` and where the next one begins; -1 where the bytes are not UTF-8."""
    first = np.int64(data[at])
    if first < 0x80:
        return first, at + 1
    if first < 0xC2 or first > 0xF4:
        return -1, at
    length = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if at + length > end:
        return -1, at
    code = first & (0xFF >> (length + 1))
    for n in range(1, length):
        more = np.int64(data[at + n])
        if more & 0xC0 != 0x80:
            return -1, at
        code = (code << 6) | (more & 0x3F)
    if length == 3 and (code < 0x800 or 0xD800 <= code < 0xE000):
        return -1, at
    if length == 4 and (code < 0x10000 or code > 0x10FFFF):
        return -1, at
    return code, at + length


@inlined
def encode(code: int, into: Bytes, at: int) -> int:
    """Write a character as UTF-8; where the next one goes."""
    if code < 0x80:
        into[at] = code
        return at + 1
    if code < 0x800:
        into[at] = 0xC0 | (code >> 6)
        into[at + 1] = 0x80 | (code & 0x3F)
        return at + 2
    if code < 0x10000:
        into[at] = 0xE0 | (code >> 12)
        into[at + 1] = 0x80 | ((code >> 6) & 0x3F)
        into[at + 2] = 0x80 | (code & 0x3F)
        return at + 3
    into[at] = 0xF0 | (code >> 18)
    into[at + 1] = 0x80 | ((code >> 12) & 0x3F)
    into[at + 2] = 0x80 | ((code >> 6) & 0x3F)
    into[at + 3] = 0x80 | (code & 0x3F)
    return at + 4


class Vocabulary(NamedTuple):
    """The words that subscriptions ask for. One of up to eight bytes is its own key, since no word has a zero in it:
    `id[n]` is that of the word `key[n]`, an empty slot has the key 0. Longer ones are in a dictionary, which gives the
    place of their ids in `long_id`.
    """

    key: Words
    id: Ints
    long: Dictionary
    long_id: Ints


@inlined
def _short_slot(vocabulary: Vocabulary, key: np.uint64) -> int:
    """Where the short word is, or would be."""
    mask = np.uint64(vocabulary.key.size - 1)
    mixed = key * _K
    at = ((mixed ^ (mixed >> _S32)) & vocabulary.long.weak[0]) & mask
    while vocabulary.key[at] != key and vocabulary.key[at] != _NONE:
        at = (at + _U1) & mask
    return np.int64(at)


@inlined
def _id(vocabulary: Vocabulary, key: np.uint64, buffer: Bytes, length: int) -> int:
    """The id of the word in the buffer, whose first eight bytes are the key; -1 where nobody asks for it."""
    if length <= 8:
        at = _short_slot(vocabulary, key)
        return vocabulary.id[at] if vocabulary.key[at] == key else -1
    place = find(vocabulary.long, buffer, 0, length)
    return vocabulary.long_id[place] if place >= 0 else -1


@kernel
def find_word(vocabulary: Vocabulary, data: Bytes, length: int) -> int:
    """The id of the folded word `data[:length]`, or -1. `data` has eight bytes at least, zeros behind the word."""
    return _id(vocabulary, eight(data, 0), data, length)


@kernel
def insert_short(vocabulary: Vocabulary, keys: Words, ids: Ints) -> None:
    """Put words of up to eight bytes into the table; those that are in there get the new id."""
    for n in range(keys.size):
        at = _short_slot(vocabulary, keys[n])
        vocabulary.key[at] = keys[n]
        vocabulary.id[at] = ids[n]


@inlined
def _skip_escape(data: Bytes, at: int) -> int:
    """Behind the escape that begins at `at`. Whatever is escaped in canonical text ends a word."""
    letter = data[at + 1]
    return at + (6 if letter == 117 else 10 if letter == 85 else 2)


@inlined
def _not_in_words(eight_bytes: np.uint64) -> np.uint64:
    """The highest bit of each byte that is no ASCII letter or digit."""
    low = eight_bytes & ~HIGHEST
    small = low | _SMALL
    letters = (small + _FROM_A) & ~(small + _AFTER_Z)
    digits = (low + _FROM_0) & ~(low + _AFTER_9)
    return (~(letters | digits) | eight_bytes) & HIGHEST


@inlined
def _plain(data: Bytes, at: int, end: int, known: Vocabulary, buffer: Bytes, out: Ints, n: int) -> tuple[int, int]:
    """Append words as long as they are ASCII. Where it stopped, at the end or at the first word that is not, and the
    new count, or FULL.
    """
    while at < end:
        word = eight(data, at)
        others = _not_in_words(word)
        length = np.int64(8)
        if others != _NONE:
            # The bytes below the lowest of the bits, counted by adding them up in the highest byte.
            below = ((others & (~others + _U1)) - _U1) & _LOWEST
            length = np.int64((below * _LOWEST) >> _S56) - 1
        else:
            while at + length < end and _FOLDED[data[np.uint64(at + length)]] != 0:
                length += 1
        if at + length > end:
            length = np.int64(end - at)
        stop = np.int64(at + length)
        after = data[np.uint64(stop)] if stop < end else _SPACE
        if after >= 0x80 or length >= LONGEST:
            return at, n
        if length > 0:
            if n >= out.size:
                return at, FULL
            if length > 8:
                for i in range(length):
                    buffer[np.uint64(i)] = _FOLDED[data[np.uint64(at + i)]]
            else:
                word = (word | _SMALL) & (_EVERY >> (_S64 - (np.uint64(length) << _S3)))
            out[n] = _id(known, word, buffer, length)
            n += 1
        at = _skip_escape(data, stop) if after == _BACKSLASH else stop + 1
    return end, n


@inlined
def _folded(
    data: Bytes, start: int, end: int, folds: Folding, known: Vocabulary, buffer: Bytes, out: Ints, n: int
) -> tuple[int, int]:
    """Append the words from `start` on up to one behind which there is an ASCII character; where that is, and the new
    count, or UNSURE or FULL.
    """
    at = start
    length, key, alone = 0, _NONE, False  # the word so far; alone: of one character, and its marks
    place, last_place = 0, 0  # what is still to come of what a character became
    while True:
        ended = False
        if place < last_place:
            kind = folds.kind[place]
            if length and (kind == BREAK or kind == SINGLE or (alone and kind != MARK)):
                ended = True
            else:
                if kind != BREAK:
                    if length >= LONGEST:
                        return at, UNSURE
                    alone = alone or kind == SINGLE
                    before, length = length, encode(folds.code[place], buffer, length)
                    for i in range(before, min(length, 8)):
                        key |= np.uint64(buffer[i]) << np.uint64(8 * i)
                place += 1
        elif at >= end:
            if length == 0:
                return end, n
            ended = True
        elif data[at] < 0x80:
            if length == 0 and at > start:
                return at, n
            folded = _FOLDED[data[at]]
            if folded == 0 or alone:
                ended = length > 0
                if not ended:
                    return at, n
            else:
                if length < 8:
                    key |= np.uint64(folded) << np.uint64(8 * length)
                buffer[length] = folded
                length += 1
                at += 1
                if length >= LONGEST:
                    return at, UNSURE
        else:
            code, at = decode(data, at, end)
            page = folds.page[code // PAGE] if code >= 0 else -1
            entry = folds.entry[page * PAGE + code % PAGE] if page >= 0 else -1
            if entry < 0:
                return at, UNSURE
            place, last_place = folds.first[entry], folds.first[entry + 1]
        if ended:
            if n >= out.size:
                return at, FULL
            out[n] = _id(known, key, buffer, length)
            n += 1
            length, key, alone = 0, _NONE, False


@inlined
def split(
    data: Bytes, start: int, end: int, folds: Folding, known: Vocabulary, buffer: Bytes, out: Ints, n: int
) -> int:
    """Append the words of the canonically escaped text `data[start:end]` to `out`, from `n` on; words that nobody asks
    for are -1. The new count, or UNSURE where the tables do not suffice, or FULL where `out` does not.
    """
    at = start
    while at < end and n >= 0:
        at, n = _plain(data, at, end, known, buffer, out, n)
        if at < end and n >= 0:
            at, n = _folded(data, at, end, folds, known, buffer, out, n)
    return n
