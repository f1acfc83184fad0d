"""The workings of a matcher as text: titles, notes under them, tables that fit the width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from unicodedata import combining, east_asian_width

from tidings.match.workings.model import Table, Workings, shortened

_INDENT = "  "
_GAP = "  "
_NARROWEST = 8
_NARROWEST_NOTE = 40


def workings_text(workings: Workings, width: int = 120) -> str:
    """The whole of it, ready to print."""
    answer = "a match" if workings.matches else "no match"
    if workings.failure is not None:
        answer = f"none, {workings.failure}"
    lines = [f"How the matcher '{workings.matcher}' comes to its answer: {answer}"]
    for section in workings.sections:
        lines += ["", *_wrapped(section.title, width, "")]
        for note in section.notes:
            lines += _wrapped(note, width)
        if section.table is not None:
            lines += [f"{_INDENT}{line}".rstrip() for line in table_lines(section.table, width - len(_INDENT))]
        lines += _wrapped(section.outcome, width)
    return "\n".join(lines)


def _wrapped(note: str, width: int, indent: str = _INDENT) -> list[str]:
    return wrap(note, max(width, _NARROWEST_NOTE), initial_indent=indent, subsequent_indent=_INDENT * 2)


def table_lines(table: Table, width: int) -> Iterator[str]:
    """The rows under their columns; what does not fit loses the middle of its longest cells."""
    rows = [[_flat(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    most = _fitting(widths, width - len(_GAP) * (len(widths) - 1))
    widths = [min(own, most) for own in widths]
    for number, row in enumerate(rows):
        yield _GAP.join(_padded(shortened(cell, most), own) for cell, own in zip(row, widths, strict=True))
        if number == 0:
            yield _GAP.join("─" * own for own in widths)
    if table.more:
        yield f"… and {table.more} more {'row' if table.more == 1 else 'rows'}"


def _fitting(widths: Sequence[int], width: int) -> int:
    """How wide a column may be, so that all of them fit."""
    most = max(widths, default=0)
    while most > _NARROWEST and sum(min(own, most) for own in widths) > width:
        most -= 1
    return most


def _flat(cell: str) -> str:
    return cell.replace("\t", " ").replace("\n", " ")


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _width(text: str) -> int:
    """The columns that a text takes in a terminal."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
