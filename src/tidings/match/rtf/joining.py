"""The repair of RTF and iBroker: the rows that the tuples of one query matched, joined on the variables they share.

Only whether the join is empty is asked. Tables are gone through depth first, the smallest first and then what is
connected to it. A partial row is cut down to the variables that later tables still have, and tried once only: so no
more is ever looked at than a join that projects early would build, and a first result ends it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeAlias

from tidings.match.run import Budget
from tidings.rdf.terms import Term, Triple

Row: TypeAlias = tuple[Term, ...]

# A row that is remembered takes room, where one that is looked at takes only time.
_REMEMBERED = 4


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What one tuple matched: rows over the variables it shares with others."""

    columns: tuple[str, ...]
    rows: Set[Row]


def projected(triples: Iterable[Triple], places: Sequence[int]) -> set[Row]:
    """The triples cut down to these places."""
    match places:
        case [place]:
            return {(triple[place],) for triple in triples}
        case []:
            return {() for _ in triples}
    return set(map(itemgetter(*places), triples))


def joins(tables: Iterable[Table], budget: Budget) -> bool:
    """Whether the natural join of tables that are not empty has a row."""
    joined = [table for table in tables if table.columns]
    if len(joined) < 2:
        return True
    columns = joined[0].columns
    if len(columns) == 1 and all(table.columns == columns for table in joined):
        return _meet(joined, budget)
    return search(planned(joined, budget), budget)


def _meet(tables: list[Table], budget: Budget) -> bool:
    """All tables are of one variable, as where all tuples speak of one resource."""
    first, *others = sorted((table.rows for table in tables), key=len)
    budget.spend(len(first))
    return any(all(row in rows for rows in others) for row in first)


@dataclass(slots=True)
class Step:
    """One table: looked up by places of the row so far; of that row and its own, `keep` is what is needed later.

    `seen` are the rows so kept, over `columns`: those of the join up to here, as far as it was searched.
    """

    table: Table
    columns: tuple[str, ...]
    key: tuple[int, ...]
    keep: tuple[int, ...]
    index: dict[Row, list[Row]]
    seen: set[Row] = field(default_factory=set)


def planned(tables: list[Table], budget: Budget) -> list[Step]:
    """The tables in the order in which they are gone through."""
    steps: list[Step] = []
    left = sorted(tables, key=lambda table: len(table.rows))
    row: tuple[str, ...] = ()
    while left:
        known = set(row)
        table = next((t for t in left if not known.isdisjoint(t.columns)), left[0])
        left.remove(table)
        later = {name for t in left for name in t.columns}
        key = [name for name in table.columns if name in known]
        both = row + table.columns
        kept = tuple(dict.fromkeys(name for name in both if name in later))
        budget.spend(len(table.rows))
        steps.append(
            Step(
                table,
                kept,
                tuple(row.index(name) for name in key),
                tuple(both.index(name) for name in kept),
                _indexed(table.rows, [table.columns.index(name) for name in key]),
            )
        )
        row = kept
    return steps


def _indexed(rows: Iterable[Row], places: list[int]) -> dict[Row, list[Row]]:
    index: dict[Row, list[Row]] = {}
    for row in rows:
        index.setdefault(tuple([row[place] for place in places]), []).append(row)
    return index


def search(steps: list[Step], budget: Budget) -> bool:
    """Whether a row comes through all steps."""
    todo: list[tuple[int, Row]] = [(0, ())]
    while todo:
        depth, row = todo.pop()
        if depth == len(steps):
            return True
        step = steps[depth]
        for found in step.index.get(tuple([row[place] for place in step.key]), ()):
            budget.spend(1)
            both = row + found
            kept = tuple([both[place] for place in step.keep])
            if kept not in step.seen:
                budget.spend(_REMEMBERED)
                step.seen.add(kept)
                todo.append((depth + 1, kept))
    return False
