"""The natural join of binding tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.match.gtopss.graph import MergedEdge, Name, Row
from tidings.match.run import Budget


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns."""

    names: tuple[Name, ...]
    rows: list[Row]


NO_COLUMNS = Table((), [()])
"""What joins with anything and leaves it as it is."""


def by_size(edges: Sequence[MergedEdge], budget: Budget) -> list[MergedEdge]:
    """The smallest binding table first, then always the smallest that shares a column with those before it."""
    budget.spend(len(edges) ** 2)
    left = sorted(edges, key=lambda edge: len(edge.table.rows))
    ordered: list[MergedEdge] = []
    known: set[Name] = set()
    while left:
        tied = (edge for edge in left if any(name in known for name, _ in edge.columns))
        chosen = next(tied, left[0])
        left.remove(chosen)
        ordered.append(chosen)
        known.update(name for name, _ in chosen.columns)
    return ordered


def natural_join(b: Table, edge: MergedEdge, budget: Budget) -> Table:
    """b ⋈ the binding table of the edge: equality on all common columns."""
    common = [(b.names.index(name), place) for name, place in edge.columns if name in b.names]
    new = [(name, place) for name, place in edge.columns if name not in b.names]
    index = edge.table.by(tuple(place for _, place in common), tuple(place for _, place in new))
    at = [position for position, _ in common]
    joined: list[Row] = []
    for row in b.rows:
        budget.spend(1)
        for values in index.get(tuple([row[position] for position in at]), ()):
            budget.keep_row()
            joined.append(row + values)
    return Table(b.names + tuple(name for name, _ in new), joined)
