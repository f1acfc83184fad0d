"""Columns of text, worked on as a whole: escapes of literals, percent-encoding, and which IRIs are sound.

Nothing here loops over cells, but for text so odd that a pass over the column for each character would cost more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyoxigraph as ox

from tidings.rdf.terms import escape

Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_MOST_PASSES = 40
"""A column with more kinds of characters to replace is rather done cell by cell."""

_PLANES = "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
_UCSCHAR = f"\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef{_PLANES}"
_NOT_SAFE = re.compile(f"[^A-Za-z0-9._~\\-{_UCSCHAR}]")
_NOT_UNRESERVED = re.compile(r"[^A-Za-z0-9._~\-]")
_NOT_RESERVED = re.compile(r"[^A-Za-z0-9._~\-:/?#\[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})")
_NOT_LABEL = re.compile(r"[^A-Za-z0-9]")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


def buffer_of(text: pa.Array) -> Bytes:
    """The bytes of all cells of a column, one after the other."""
    offsets, data = text.buffers()[1:3]
    if data is None or len(text) == 0:
        return np.empty(0, np.uint8)
    places = np.frombuffer(offsets, np.int32)
    return np.frombuffer(data, np.uint8)[places[text.offset] : places[text.offset + len(text)]]


def lengths(text: pa.Array) -> Ints:
    """How many bytes each cell has; none where it is null."""
    if len(text) == 0:
        return np.empty(0, np.int64)
    places = np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]
    found: Ints = np.diff(places).astype(np.int64)
    if text.null_count:
        found[np.asarray(text.is_null())] = 0
    return found


def escaped(text: pa.Array) -> pa.Array:
    """Every cell as the inside of a quoted literal."""
    data = buffer_of(text)
    if not ((data < 0x20).any() or (data == 0x22).any() or (data == 0x5C).any() or (data >= 0x7F).any()):
        return text
    found = np.flatnonzero(np.bincount(data, minlength=256))
    odd = [int(byte) for byte in found if byte < 0x20 or byte in (0x22, 0x5C, 0x7F)]
    if 0x5C in odd:
        odd.remove(0x5C)
        odd.insert(0, 0x5C)
    for character in [*map(chr, odd), *(["\ufffe", "\uffff"] if 0xEF in found else [])]:
        text = pc.replace_substring(text, character, escape(character))
    return text


def safe(text: pa.Array) -> pa.Array:
    """Percent-encoded but for unreserved characters and letters of other scripts: R2RML's IRI-safe form."""
    return _encoded(text, _NOT_SAFE, percent)


def unreserved(text: pa.Array) -> pa.Array:
    """Percent-encoded but for unreserved ASCII characters: `{name}` in a URI template."""
    return _encoded(text, _NOT_UNRESERVED, percent)


def reserved(text: pa.Array) -> pa.Array:
    """Percent-encoded but for what may stand anywhere in a URI: `{+name}` in a URI template."""
    return _each(text, lambda cell: _NOT_RESERVED.sub(_percent_match, cell)) if _any(text, _NOT_RESERVED) else text


def label(text: pa.Array) -> pa.Array:
    """As the label of a blank node; different texts have different labels."""
    return _encoded(text, _NOT_LABEL, lambda character: percent(character).replace("%", "_"))


def percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def safe_text(text: str) -> str:
    """One text in R2RML's IRI-safe form."""
    return _NOT_SAFE.sub(_percent_match, text)


def _percent_match(match: re.Match[str]) -> str:
    return percent(match[0])


def _any(text: pa.Array, odd: re.Pattern[str]) -> bool:
    return odd.search(buffer_of(text).tobytes().decode()) is not None


def _encoded(text: pa.Array, odd: re.Pattern[str], code: Callable[[str], str]) -> pa.Array:
    data = buffer_of(text)
    if data.size == 0:
        return text
    found = set(odd.findall(_seen(data)))
    if len(found) > _MOST_PASSES:
        return _each(text, lambda cell: odd.sub(lambda match: code(match[0]), cell))
    for character in sorted(found, key=lambda each: each not in "%_"):
        text = pc.replace_substring(text, character, code(character))
    return text


def _seen(data: Bytes) -> str:
    """A text in which every character of the data occurs: the data, or, where they are ASCII, just its characters."""
    counts = np.bincount(data, minlength=256)
    if counts[0x80:].any():
        return data.tobytes().decode()
    return "".join(map(chr, np.flatnonzero(counts)))


def _each(text: pa.Array, change: Callable[[str], str]) -> pa.Array:
    return pa.array([None if cell is None else change(cell) for cell in text.to_pylist()], pa.string())


# What this takes is surely an absolute IRI; what it does not take may still be one.
_PLAIN_IRI = (
    r"^[A-Za-z][A-Za-z0-9+.\-]*:(?://[A-Za-z0-9.\-]+(?::[0-9]{1,5})?(?:[/?]|$))?(?:[A-Za-z0-9._~!$&'()*+,;=:@\-]"
    r"|%[0-9A-Fa-f]{2}|[/?])*(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?\-]|%[0-9A-Fa-f]{2})*)?$"
)


def sound_iris(text: pa.Array) -> Mask:
    """Which cells are absolute IRIs; a null is none."""
    plain = np.asarray(pc.fill_null(pc.match_substring_regex(text, _PLAIN_IRI), False))
    # A path that begins with // would be an authority.
    doubtful = ~plain | np.asarray(pc.fill_null(pc.match_substring(text, ":///"), False))
    places = np.flatnonzero(doubtful & np.asarray(text.is_valid()))
    sound: Mask = plain.copy()
    if places.size:
        sound[places] = [is_iri_text(cell) for cell in text.take(pa.array(places)).to_pylist()]
    return sound


def is_language(tag: str) -> bool:
    return _LANGUAGE.fullmatch(tag) is not None


@lru_cache(maxsize=4096)
def is_iri_text(text: str) -> bool:
    """Whether this is an absolute IRI, without its brackets."""
    try:
        ox.NamedNode(text)
    except ValueError:
        return False
    return True
