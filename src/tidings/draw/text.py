"""Text that has to fit: how wide it gets, where it is cut, and what of it may be in an XML document at all.

Nobody knows which font a reader has. The widths here are those of DejaVu Sans, the widest of the common ones, so that
what fits by them fits by any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import category, east_asian_width

_BY_WIDTH = {
    0.30: "'IJijl",
    0.35: " ,./:;\\|",
    0.40: "-f()[]t",
    0.45: "!r·",
    0.50: '"*_`–',
    0.60: "?cszFkvxyL•",
    0.65: "$0123456789EPSTYabdeghnopqu{}",
    0.70: "ABCRVXZK",
    0.80: "&DGHOQNU",
    0.85: "#+<=>^~w⊑≡✓✗→↔↻",
    1.00: "%@WmM…—",
}
_WIDTHS = {character: width for width, characters in _BY_WIDTH.items() for character in characters}
_BOLD = 1.16
_OTHER = 0.75
_WIDE = 1.05
_PICTOGRAM = 1.4
# Not allowed in XML, or able to turn the text around it.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_SPACE = re.compile(r"\s+")
# A line does not end with the sign of a step.
_WORD = re.compile(r"(?:[⊑≡] )?\S+")
_LONGEST = 4_000


def clean(text: str) -> str:
    """`text` in one line of bounded length, with what is unsafe in it made visible."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return _SPACE.sub(" ", _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", cut))


def width(text: str, size: float, *, bold: bool = False) -> float:
    """An upper bound of the width of one line."""
    return sum(map(_em, text)) * size * (_BOLD if bold else 1)


def _em(character: str) -> float:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if character >= "\U0001f000":
        return _PICTOGRAM
    if east_asian_width(character) in "WF":
        return _WIDE
    return 0 if category(character) in ("Mn", "Me", "Cf") else _OTHER


def fit(text: str, room: float, size: float, *, bold: bool = False, keep_end: bool = False) -> str:
    """The text, or as much of its beginning (or its end) as there is room for, with an ellipsis."""
    if width(text, size, bold=bold) <= room:
        return text
    left = room - width("…", size, bold=bold)
    kept = 0
    for character in reversed(text) if keep_end else text:
        left -= width(character, size, bold=bold)
        if left < 0:
            break
        kept += 1
    return f"…{text[len(text) - kept :]}" if keep_end else f"{text[:kept].rstrip()}…"


def wrapped(text: str, room: float, size: float, most: int) -> list[str]:
    """The text in at most so many lines; a word that is too long for a line is cut, and so is the last line."""
    lines = list(_lines(text, room, size))
    if len(lines) > most:
        lines[most - 1 :] = [" ".join(lines[most - 1 :])]
    return [fit(line, room, size) for line in lines]


def _lines(text: str, room: float, size: float) -> Iterator[str]:
    line = ""
    for word in _WORD.findall(text):
        longer = f"{line} {word}" if line else word
        if line and width(longer, size) > room:
            yield line
            longer = word
        while width(longer, size) > room and len(longer) > 1:
            head = fit(longer, room + width("…", size), size).removesuffix("…") or longer[0]
            yield head
            longer = longer[len(head) :]
        line = longer
    yield line
