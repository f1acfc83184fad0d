"""The lines of an event to its terms and triples, each different term once.

Only canonical text is read here (one space between terms, no escape that need not be one, `rdf.terms`); what is not is
told apart and left to the parsers of `rdf/`, which also say what is wrong with text that is no N-Quads at all. Text
that the package itself wrote is `trusted`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidings.index.arrays import Bytes, Ints, Longs, Words
from tidings.index.kernels.dictionary import Dictionary, find_hashed
from tidings.index.kernels.jit import inlined, kernel
from tidings.index.kernels.raw import HIGHEST, eight, equal, has_zero, hashed
from tidings.index.kernels.words import decode

IRI, BLANK, LITERAL = 0, 1, 2
# What became of an event's lines.
READ, ODD, TOO_MANY = 0, 1, 2

_LT, _GT, _QUOTE, _SPACE, _DOT, _NEWLINE = 60, 62, 34, 32, 46, 10
_BACKSLASH, _UNDERSCORE, _COLON, _AT, _HAT, _PERCENT, _SLASH, _HYPHEN = 92, 95, 58, 64, 94, 37, 47, 45
_HASH = 35
_BAD = -1

_U1, _U2, _U3 = np.uint64(1), np.uint64(2), np.uint64(3)
_NONE = np.uint64(0)
_QUOTES = np.uint64(0x2222222222222222)
_BACKSLASHES = np.uint64(0x5C5C5C5C5C5C5C5C)
_DELETES = np.uint64(0x7F7F7F7F7F7F7F7F)
_SPACES = np.uint64(0x2020202020202020)

# What a byte may be part of.
_IN_IRI, _IN_SCHEME, _IN_HOST, _AFTER_HOST, _ESCAPED = 1, 2, 4, 8, 16


def _byte_table() -> Bytes:
    table = np.zeros(256, np.uint8)
    for byte in range(128):
        char = chr(byte)
        if byte > _SPACE and byte != 127 and char not in '<>"{}|^`\\[]%#':
            table[byte] |= _IN_IRI
        if char.isalnum() or char in "+-.":
            table[byte] |= _IN_SCHEME
        if char.isalnum() or char in "-.":
            table[byte] |= _IN_HOST
        if char in "/>?#":
            table[byte] |= _AFTER_HOST
        if char in '"\\nrtbf':
            table[byte] |= _ESCAPED
    return table


_BYTES = _byte_table()


class Terms(NamedTuple):
    """The different terms of one event: term n is `data[start[n]:end[n]]`, `id[n]` is what the dictionary calls it or
    -1, and the text of a literal ends at `text_end[n]`. `slots` finds them again; `slot[n]` is where n is in there.
    """

    start: Longs
    end: Longs
    text_end: Longs
    kind: Bytes
    id: Ints
    hash: Words
    slots: Ints
    slot: Ints


class Triples(NamedTuple):
    """The triples of one event, as numbers of its terms."""

    s: Ints
    p: Ints
    o: Ints


@inlined
def _letter(byte: int) -> bool:
    return 97 <= (byte | 32) <= 122


@inlined
def _digit(byte: int) -> bool:
    return 48 <= byte <= 57


@inlined
def _hex(byte: int) -> bool:
    return _digit(byte) or 97 <= (byte | 32) <= 102


@kernel
def _iri_end(data: Bytes, at: int, stop: int, trusted: bool) -> int:
    """Behind the IRI whose bracket is at `at`; -1 where it is not one that is surely valid and absolute."""
    i = np.uint64(at + 1)
    last = np.uint64(stop)
    if trusted:
        while data[i] != _GT:
            i += _U1
        return np.int64(i) + 1
    if not _letter(data[i]):
        return _BAD
    while _BYTES[data[i]] & _IN_SCHEME:
        i += _U1
    if data[i] != _COLON:
        return _BAD
    i += _U1
    if data[i] == _SLASH and data[i + _U1] == _SLASH:
        i += _U2
        while _BYTES[data[i]] & _IN_HOST:
            i += _U1
        # A port, a user or an address in brackets is rare, and has rules of its own.
        if not _BYTES[data[i]] & _AFTER_HOST:
            return _BAD
    hashes = 0
    while i < last:
        kind = _BYTES[data[i]]
        if kind & _IN_IRI:
            i += _U1
        elif data[i] == _GT:
            return np.int64(i) + 1
        elif data[i] >= 0x80:
            code, next = decode(data, np.int64(i), stop)
            if not (0xA0 <= code <= 0xD7FF or 0xF900 <= code <= 0xFDCF or 0xFDF0 <= code <= 0xFFEF):
                return _BAD
            i = np.uint64(next)
        elif data[i] == _PERCENT:
            if not (_hex(data[i + _U1]) and _hex(data[i + _U2])):
                return _BAD
            i += _U3
        elif data[i] == _HASH and hashes == 0:
            hashes = 1
            i += _U1
        else:
            return _BAD
    return _BAD


@inlined
def _term_end(data: Bytes, at: int, stop: int) -> int:
    """The space behind a term, or a part of one, that holds none."""
    while at < stop and data[at] != _SPACE:
        at += 1
    return at


@kernel
def _blank_end(data: Bytes, at: int, stop: int, trusted: bool) -> int:
    """Behind the blank node whose underscore is at `at`."""
    if trusted:
        return _term_end(data, at, stop)
    if data[at + 1] != _COLON:
        return _BAD
    at += 2
    start = at
    while at < stop and data[at] != _SPACE:
        byte = data[at]
        if not (
            _letter(byte) or _digit(byte) or byte == _UNDERSCORE or (at > start and (byte == _HYPHEN or byte == _DOT))
        ):
            return _BAD
        at += 1
    return at if at > start and data[at - 1] != _DOT else _BAD


@inlined
def _plain(number: np.uint64) -> bool:
    """Whether eight bytes of text are all ASCII, and none a quote, a backslash or a control character."""
    return not (
        number & HIGHEST != _NONE
        or has_zero(number ^ _QUOTES)
        or has_zero(number ^ _BACKSLASHES)
        or has_zero(number ^ _DELETES)
        or (number - _SPACES) & ~number & HIGHEST != _NONE
    )


@kernel
def _text_end(data: Bytes, at: int, stop: int, trusted: bool) -> int:
    """The closing quote of the literal whose opening one is at `at`."""
    at += 1
    while at < stop:
        while at + 8 <= stop and _plain(eight(data, at)):
            at += 8
        byte = data[at]
        if byte == _QUOTE:
            return at
        if byte == _BACKSLASH:
            # Beyond these, an escape is canonical for some characters and not for others.
            if not trusted and not _BYTES[data[at + 1]] & _ESCAPED:
                return _BAD
            at += 2
        elif byte >= 0x80:
            code, at = decode(data, at, stop)
            if code < 0 or code == 0xFFFE or code == 0xFFFF:
                return _BAD
        elif byte < _SPACE or byte == 127:
            return _BAD
        else:
            at += 1
    return _BAD


@kernel
def _language_end(data: Bytes, at: int, stop: int) -> int:
    """Behind a language of 2 to 8 letters with at most a region or a script; the many other tags have many rules."""
    start = at
    while at < stop and 97 <= data[at] <= 122:
        at += 1
    if not 2 <= at - start <= 8:
        return _BAD
    if at < stop and data[at] == _HYPHEN:
        at += 1
        start = at
        digits = 0
        while at < stop and (97 <= data[at] <= 122 or _digit(data[at])):
            digits += _digit(data[at])
            at += 1
        length = at - start
        if not ((digits == 0 and (length == 2 or length == 4)) or (digits == 3 and length == 3)):
            return _BAD
    return at


@kernel
def _suffix_end(data: Bytes, at: int, stop: int, trusted: bool, string: Bytes) -> int:
    """Behind the language or the datatype, if any, of the literal whose closing quote is before `at`."""
    if at >= stop or data[at] == _SPACE:
        return at
    if data[at] == _AT:
        return _term_end(data, at, stop) if trusted else _language_end(data, at + 1, stop)
    if data[at] != _HAT or data[at + 1] != _HAT or data[at + 2] != _LT:
        return _BAD
    start = at + 2
    end = _iri_end(data, start, stop, trusted)
    # xsd:string is not written, and rdf:langString has no literals of this form.
    if end >= 0 and not trusted and (equal(data, start, end, string, 0, 41) or data[end - 2] == 103):
        return _BAD
    return end


@inlined
def _local(
    data: Bytes, terms: Terms, known: Dictionary, count: int, start: int, end: int, text_end: int, kind: int
) -> int:
    """The number of a term of this event, which is `count` where it is a new one."""
    hash = hashed(data, start, end, known.weak[0])
    mask = terms.slots.size - 1
    at = np.int64(hash >> np.uint64(7)) & mask
    while True:
        n = terms.slots[at]
        if n < 0:
            break
        if terms.hash[n] == hash and equal(data, start, end, data, terms.start[n], terms.end[n]):
            return n
        at = (at + 1) & mask
    terms.slots[at] = count
    terms.slot[count] = at
    terms.start[count] = start
    terms.end[count] = end
    terms.text_end[count] = text_end
    terms.kind[count] = kind
    terms.hash[count] = hash
    terms.id[count] = find_hashed(known, data, start, end, hash)
    return count


@inlined
def forget(terms: Terms, count: int) -> None:
    """Make the slots of an event's terms free for the next one."""
    for n in range(count):
        terms.slots[terms.slot[n]] = -1


@inlined
def read_event(
    data: Bytes,
    start: int,
    stop: int,
    trusted: bool,
    quads: bool,
    known: Dictionary,
    terms: Terms,
    triples: Triples,
    string: Bytes,
) -> tuple[int, int, int, int]:
    """Read the lines from `start` on, up to `stop` or, of quads, to the end of the graph of the first line.

    What became of them, where the next event begins, and how many terms and triples there are. `data` goes on for some
    bytes behind `stop`. Where the lines are ODD, the next event begins where a line names another graph in the same
    plain way, and whoever reads them again finds out whether that is so.
    """
    count = 0
    size = 0
    at = start
    graph = -1
    graph_end = -1
    subject = -1
    while at < stop:
        if size >= triples.s.size or count + 3 > terms.start.size:
            return TOO_MANY, at, count, size
        line = at
        # The subject is mostly that of the line before.
        s = -1
        if subject >= 0:
            length = terms.end[subject] - terms.start[subject]
            if at + length < stop and data[at + length] == _SPACE:
                if equal(data, at, at + length, data, terms.start[subject], terms.end[subject]):
                    s = subject
                    at += length
        s_start = at
        s_kind = IRI
        if s < 0:
            if data[at] == _LT:
                at = _iri_end(data, at, stop, trusted)
            elif data[at] == _UNDERSCORE:
                at = _blank_end(data, at, stop, trusted)
                s_kind = BLANK
            else:
                at = _BAD
            if at < 0:
                return ODD, line, count, size
        s_end = at
        if data[at] != _SPACE or data[at + 1] != _LT:
            return ODD, line, count, size
        p_start = at + 1
        p_end = _iri_end(data, p_start, stop, trusted)
        if p_end < 0 or data[p_end] != _SPACE:
            return ODD, line, count, size
        o_start = p_end + 1
        text_end = -1
        o_kind = IRI
        if data[o_start] == _LT:
            at = _iri_end(data, o_start, stop, trusted)
        elif data[o_start] == _UNDERSCORE:
            at = _blank_end(data, o_start, stop, trusted)
            o_kind = BLANK
        elif data[o_start] == _QUOTE:
            o_kind = LITERAL
            text_end = _text_end(data, o_start, stop, trusted)
            at = _suffix_end(data, text_end + 1, stop, trusted, string) if text_end >= 0 else _BAD
        else:
            at = _BAD
        if at < 0 or data[at] != _SPACE:
            return ODD, line, count, size
        o_end = at
        at += 1
        if quads:
            if graph >= 0 and equal(data, at, at + graph_end - graph, data, graph, graph_end):
                at += graph_end - graph
            else:
                if data[at] != _LT:
                    return ODD, line, count, size
                end = _iri_end(data, at, stop, trusted)
                if end < 0:
                    return ODD, line, count, size
                if graph >= 0:
                    return READ, line, count, size
                graph = at
                graph_end = end
                at = end
            if data[at] != _SPACE:
                return ODD, line, count, size
            at += 1
        if data[at] != _DOT or data[at + 1] != _NEWLINE:
            return ODD, line, count, size
        at += 2
        if s < 0:
            s = _local(data, terms, known, count, s_start, s_end, -1, s_kind)
            count += s == count
            subject = s
        p = _local(data, terms, known, count, p_start, p_end, -1, IRI)
        count += p == count
        o = _local(data, terms, known, count, o_start, o_end, text_end, o_kind)
        count += o == count
        triples.s[size] = s
        triples.p[size] = p
        triples.o[size] = o
        size += 1
    return READ, at, count, size
