"""What is told of a matcher's work: sections with notes and a table each, bounded however much there was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from tidings.match.explain.names import Names
from tidings.rdf.terms import Term, Triple

MOST_ROWS = 20
MOST_NODES = 60
MOST_SECTIONS = 40
MOST_LISTED = 8
MOST_COLUMNS = 8
_LONGEST_CELL = 200
_LONGEST_TERM = 40
_LONGEST_NOTE = 1000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under columns; `more` rows there were besides."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """One step of the work: notes, a table, and what comes of it."""

    title: str
    notes: tuple[str, ...] = ()
    table: Table | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Workings:
    """How a matcher came to its answer; `failure` is why it came to none."""

    matcher: str
    matches: bool
    failure: str | None
    sections: tuple[Section, ...]


def table(
    columns: Sequence[str],
    items: Iterable[T],
    row: Callable[[T], Sequence[str]],
    *,
    most: int = MOST_ROWS,
    left_out: int = 0,
) -> Table:
    """A table of the first items; the others are counted, and so are those left out before."""
    found = iter(items)
    rows = tuple(tuple(shortened(cell, _LONGEST_CELL) for cell in row(item)) for item in islice(found, most))
    more = left_out + sum(1 for _ in found)
    return Table(tuple(shortened(column, _LONGEST_CELL) for column in columns), rows, more)


def section(title: str, *notes: str, table: Table | None = None, outcome: str = "") -> Section:
    """A section without the notes that say nothing and the table that has no rows."""
    title, outcome, *others = (shortened(text, _LONGEST_NOTE) for text in (title, outcome, *notes))
    return Section(title, tuple(filter(None, others)), table if table and table.rows else None, outcome)


def bounded(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The first sections, and how many more there are."""
    found = iter(sections)
    first = tuple(islice(found, MOST_SECTIONS))
    more = sum(1 for _ in found)
    return (*first, Section(f"… and {more} more steps")) if more else first


def shortened(text: str, most: int) -> str:
    """A name tells most at its ends, so a long text loses its middle."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def listed(texts: Iterable[str], most: int = MOST_LISTED) -> str:
    """Texts with commas between, cut where there are many; a dash where there is none."""
    found = list(texts)
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more or "–"


def counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def triple_text(names: Names, triple: Triple) -> str:
    return f"({', '.join(shortened(names.term(term), _LONGEST_TERM) for term in triple)})"


class Kept:
    """The first rows of a table of terms that was there for a moment, and how many it had."""

    def __init__(self, columns: Sequence[str], rows: Collection[tuple[Term, ...]]) -> None:
        self.columns = columns
        self.rows = list(islice(rows, MOST_ROWS))
        self.total = len(rows)

    def table(self, names: Names, column: Callable[[str], str] = str) -> Table:
        """With the first columns, and a hint where there are more."""
        more = ["…"] if len(self.columns) > MOST_COLUMNS else []
        columns = [column(name) for name in self.columns[:MOST_COLUMNS]]
        return table(
            columns + more,
            self.rows,
            lambda row: [*map(names.term, row[:MOST_COLUMNS]), *more],
            left_out=self.total - len(self.rows),
        )


def drawn(root: T, children: Callable[[T], Iterable[T]]) -> Iterator[tuple[str, T]]:
    """The nodes of a tree from the root down, each with the branches before it, but not more than will be looked at."""
    todo: list[tuple[str, str, T]] = [("", "", root)]
    count = 0
    while todo:
        branch, below, node = todo.pop()
        yield branch, node
        count += 1
        last = True
        for child in reversed(list(children(node))):
            if count < MOST_NODES:
                todo.append((below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "), child))
            else:
                todo.append(("", "", child))
            last = False


def tree_table(
    columns: Sequence[str], root: T, children: Callable[[T], Iterable[T]], row: Callable[[str, T], Sequence[str]]
) -> Table:
    """A table with one row for each node of a tree."""
    return table(columns, drawn(root, children), lambda drawing: row(*drawing), most=MOST_NODES)
