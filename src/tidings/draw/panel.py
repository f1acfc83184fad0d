"""What stands around a drawing: its title, the conditions of the subscription one by one, a legend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tidings.draw.lines import Line, Piece, breadth, draw_lines, height, paragraph, piece
from tidings.draw.svg import Box, Canvas, text_width
from tidings.draw.text import clean
from tidings.match.explain import MARKS, Finding

COLUMN = 400.0
_TITLE = (740.0, 1000.0)
_GUTTER = 28.0
_MOST_CONDITIONS = 40
_COLOURS = {True: "hit", False: "bad", None: "soft"}


def title_room(text: str) -> float:
    """How wide a drawing should be at least, for its title and the legend to be read."""
    least, most = _TITLE
    return min(max(least, text_width(clean(text), "title") + 1), most)


def conditions(findings: Sequence[Finding]) -> list[list[Line]]:
    """A block of lines for each condition: its mark, its text, and the evidence under it."""
    every = list(_flat(findings, 0))
    blocks = [_block(finding, depth) for finding, depth in every[:_MOST_CONDITIONS]]
    if more := len(every) - len(blocks):
        blocks.append([Line((Piece(f"… {more:,} more conditions", "note", "soft"),))])
    return blocks


def _flat(findings: Iterable[Finding], depth: int) -> Iterator[tuple[Finding, int]]:
    for finding in findings:
        yield finding, depth
        yield from _flat(finding.parts, depth + 1)


def _block(finding: Finding, depth: int) -> list[Line]:
    indent = 16.0 * min(depth, 6)
    colour = _COLOURS[finding.holds]
    mark = Piece(MARKS[finding.holds], "row", colour)
    room = COLUMN - indent - mark.w - 8
    ink = "bad" if finding.holds is False else "ink" if finding.holds else "soft"
    lines = [Line((mark, piece(finding.condition, "row", ink, room)), indent)]
    pale = "bad" if finding.holds is False else "soft"
    for evidence in finding.evidence[:4]:
        lines += paragraph(evidence, "note", pale, COLUMN, 3, indent=indent + 18)
    return lines


@dataclass(frozen=True, slots=True)
class Panel:
    """Blocks of lines in columns."""

    columns: list[list[Line]]

    @property
    def w(self) -> float:
        return sum(map(breadth, self.columns)) + _GUTTER * max(len(self.columns) - 1, 0)

    @property
    def h(self) -> float:
        return max(map(height, self.columns), default=0.0)

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        for column in self.columns:
            draw_lines(canvas, column, Box(x, y, breadth(column), height(column)))
            x += breadth(column) + _GUTTER


def panel(blocks: Sequence[list[Line]], count: int) -> Panel:
    """The blocks in at most so many columns of about the same height."""
    most = sum(map(height, blocks)) / max(count, 1)
    columns: list[list[Line]] = []
    for block in blocks:
        if not columns or (len(columns) < count and height(columns[-1]) + height(block) / 2 > most):
            columns.append([])
        columns[-1] += block
    return Panel(columns)


# -------------------------------------------------------------------------------------------------------------- legend


@dataclass(frozen=True, slots=True)
class Sample:
    """A sign, either a shape with these classes or a text of this colour, and what it means."""

    sign: str
    classes: str
    meaning: str


_SIGN = 30.0


def draw_legend(canvas: Canvas, samples: Sequence[Sample], x: float, y: float, room: float) -> float:
    """The legend in as many lines as it takes; returns its height."""
    right, top = x, y
    for sample in samples:
        sign = _SIGN if sample.sign in ("box", "round", "line", "up") else text_width(sample.sign, "note")
        w = sign + 7 + text_width(sample.meaning, "note") + 16
        if right > x and right + w > x + room:
            right, top = x, top + 20
        _draw_sign(canvas, sample, right, top, sign)
        canvas.text(right + sign + 7, top + 13, sample.meaning, "note", "soft")
        right += w
    return top + 20 - y


def _draw_sign(canvas: Canvas, sample: Sample, x: float, y: float, w: float) -> None:
    match sample.sign:
        case "box" | "round":
            canvas.box(Box(x, y + 2, w, 14), sample.classes, radius=3 if sample.sign == "box" else 7)
        case "line" | "up":
            canvas.path(f"M{x:.1f} {y + 9:.1f}h{w:.1f}", sample.classes, arrow="to-step" if sample.sign == "up" else "")
        case _:
            canvas.text(x, y + 13, sample.sign, "note", sample.classes)
