"""Lines of text in pieces: each piece with its font and colour, measured, placed one behind the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidings.draw.svg import SIZES, Box, Canvas, fitted, text_width
from tidings.draw.text import clean, wrapped

_GAP = 7.0
_HEIGHTS = {"title": 24.0, "sub": 18.0, "name": 20.0, "row": 17.0, "note": 15.0, "small": 14.0}


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that stays together, and apart from its neighbours whatever way they are written."""

    text: str
    font: str
    colour: str
    full: str = ""
    """The whole text, where it is shortened."""

    @property
    def w(self) -> float:
        return text_width(self.text, self.font)


@dataclass(frozen=True, slots=True)
class Line:
    pieces: tuple[Piece, ...]
    indent: float = 0.0
    ground: str = ""
    """The class of the ground under it, if it has one."""

    @property
    def w(self) -> float:
        return self.indent + sum(piece.w for piece in self.pieces) + _GAP * (len(self.pieces) - 1)

    @property
    def h(self) -> float:
        return max(_HEIGHTS[piece.font] for piece in self.pieces)


def piece(text: str, font: str, colour: str, room: float, *, full: str = "", keep_end: bool = False) -> Piece:
    """A piece cut to the room that there is."""
    whole = clean(text)
    short = fitted(whole, font, room, keep_end=keep_end)
    return Piece(short, font, colour, full or (whole if short != whole else ""))


def paragraph(
    text: str, font: str, colour: str, room: float, most: int, *, indent: float = 0.0, ground: str = ""
) -> list[Line]:
    """A text in several lines."""
    whole = clean(text)
    parts = wrapped(whole, room - indent, SIZES[font], most)
    full = whole if parts[-1].endswith("…") else ""
    return [Line((Piece(part, font, colour, full),), indent, ground) for part in parts]


def height(lines: Iterable[Line]) -> float:
    return sum(line.h for line in lines)


def breadth(lines: Iterable[Line]) -> float:
    return max((line.w for line in lines), default=0.0)


def draw_lines(canvas: Canvas, lines: Sequence[Line], box: Box, *, margin: float = 0.0) -> None:
    """The lines from the top of the box; a ground reaches from side to side of it."""
    y = box.y
    for line in lines:
        if line.ground:
            canvas.box(Box(box.x, y, box.w, line.h), line.ground, radius=0)
        x = box.x + margin + line.indent
        for part in line.pieces:
            canvas.text(x, y + line.h - 4.6, part.text, part.font, part.colour, title=part.full)
            x += part.w + _GAP
        y += line.h
