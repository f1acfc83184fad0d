"""The natural join of binding tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tidings.match.gtopss.graph import Column, MergedEdge, Name, Row, picker
from tidings.match.run import Budget

# So many pairs of column lists; the stars are shared, so that subscriptions have few different ones.
_PLANS = 4096


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns."""

    names: tuple[Name, ...]
    rows: Sequence[Row]


NO_COLUMNS = Table((), [()])
"""What joins with anything and leaves it as it is."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """How rows under some names join with a binding table: `pick` gives the values of the common columns from a row,
    `key` are their places in a publication edge, `rest` those of the columns that are new."""

    names: tuple[Name, ...]
    pick: Callable[[Row], object]
    key: tuple[int, ...]
    rest: tuple[int, ...]


def by_size(edges: Sequence[MergedEdge], budget: Budget) -> list[MergedEdge]:
    """The smallest binding table first, then always the smallest that shares a column with those before it."""
    budget.spend(len(edges) ** 2)
    left = sorted(edges, key=_size)
    ordered = [left.pop(0)]
    known = set(ordered[0].stars)
    while left:
        at = next((n for n, edge in enumerate(left) if not known.isdisjoint(edge.stars)), 0)
        ordered.append(left.pop(at))
        known.update(ordered[-1].stars)
    return ordered


def natural_join(b: Table, edge: MergedEdge, budget: Budget) -> Table:
    """b ⋈ the binding table of the edge: equality on all common columns."""
    plan = _plan(b.names, edge.columns)
    index = edge.table.by(plan.key, plan.rest)
    pick = plan.pick
    budget.spend(len(b.rows))
    if not plan.rest:
        return Table(b.names, [row for row in b.rows if pick(row) in index])
    if b is NO_COLUMNS:
        return Table(plan.names, index.get((), ()))
    joined: list[Row] = []
    for row in b.rows:
        found = index.get(pick(row))
        if found is not None:
            budget.keep_rows(len(found))
            joined += [row + values for values in found]
    return Table(plan.names, joined)


@lru_cache(_PLANS)
def _plan(names: tuple[Name, ...], columns: tuple[Column, ...]) -> _Plan:
    common = [(names.index(name), place) for name, place in columns if name in names]
    new = [(name, place) for name, place in columns if name not in names]
    key, rest = (tuple(place for _, place in part) for part in (common, new))
    return _Plan(names + tuple(name for name, _ in new), picker(tuple(at for at, _ in common)), key, rest)


def _size(edge: MergedEdge) -> int:
    return len(edge.table.rows)
