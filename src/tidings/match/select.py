"""From the solutions of a pattern to those of a query: groups, HAVING, expressions, order, projection, slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tidings.match.aggregates import Grouping
from tidings.match.base import Solution
from tidings.match.nodes import Condition, Node, holds
from tidings.match.run import Eval, Run
from tidings.rdf.terms import Term
from tidings.rdf.values import order_key


@dataclass(frozen=True, slots=True)
class Column:
    """A projected expression, or one that ORDER BY needs."""

    name: str
    value: Eval
    cost: int


@dataclass(frozen=True, slots=True)
class Select:
    """A compiled query, without what ASK and CONSTRUCT make of its solutions."""

    where: Node
    grouping: Grouping | None
    having: Sequence[Condition]
    values: Node | None
    """VALUES behind a query that groups: it joins the groups, not the solutions they are made of."""
    columns: Sequence[Column]
    order: Sequence[tuple[Eval, bool]]
    """Keys, and whether they descend."""
    projection: tuple[str, ...]
    distinct: bool
    limit: int | None
    offset: int

    def rows(self, run: Run, seed: Solution, *, ordered: bool = True) -> Iterator[Solution]:
        """The solutions, projected. Where only their number matters they need not be ordered."""
        if self.limit == 0:
            return iter(())
        rows = self.where.rows(run, seed)
        if self.grouping is not None:
            rows = self.grouping.rows(run, rows)
        if self.having:
            rows = (row for row in rows if holds(self.having, run, row))
        if self.values is not None:
            rows = self._joined(run, rows, self.values)
        if self.columns:
            rows = (self._extended(run, row) for row in rows)
        if self.order and ordered:
            rows = iter(_sorted(run, rows, self.order))
        rows = ({n: row[n] for n in self.projection if n in row} for row in rows)
        if self.distinct:
            rows = self._without_repeats(run, rows)
        if self.limit is None and not self.offset:
            return rows
        return islice(rows, self.offset, None if self.limit is None else self.offset + self.limit)

    def _extended(self, run: Run, row: Solution) -> Solution:
        run.new_solution()
        extended = dict(row)
        for column in self.columns:
            run.budget.spend(column.cost)
            term = column.value(run, extended)
            if term is not None:
                extended[column.name] = term
        return extended

    def _joined(self, run: Run, rows: Iterable[Solution], values: Node) -> Iterator[Solution]:
        data = list(values.rows(run, {}))
        for row in rows:
            for more in data:
                run.budget.spend(1)
                if all(row.get(name, term) == term for name, term in more.items()):
                    yield {**row, **more}

    def _without_repeats(self, run: Run, rows: Iterable[Solution]) -> Iterator[Solution]:
        seen: set[tuple[Term | None, ...]] = set()
        for row in rows:
            run.budget.spend(1)
            key = tuple([row.get(name) for name in self.projection])
            if key not in seen:
                run.budget.keep_row()
                seen.add(key)
                yield row


def row_key(names: Sequence[str], row: Solution) -> tuple[str, ...]:
    """The order of rows where the query asks for none: that of their terms' texts, unbound first."""
    return tuple([row.get(name, "") for name in names])


def kept(run: Run, rows: Iterable[Solution]) -> list[Solution]:
    """All rows, each of them paid for."""
    found = []
    for row in rows:
        run.budget.keep_row()
        found.append(row)
    return found


def _sorted(run: Run, rows: Iterable[Solution], order: Sequence[tuple[Eval, bool]]) -> list[Solution]:
    """By the keys, the first one foremost; ties by all that the rows hold."""
    found = kept(run, rows)
    names = sorted({name for row in found for name in row})
    found.sort(key=lambda row: row_key(names, row))
    for value, descending in reversed(order):
        run.budget.spend(len(found))
        _sort(run, found, value, descending)
    return found


def _sort(run: Run, rows: list[Solution], value: Eval, descending: bool) -> None:
    rows.sort(key=lambda row: order_key(value(run, row)), reverse=descending)


class SelectNode(Node):
    """A sub-select. Only what it projects is seen from outside."""

    def __init__(self, select: Select, plain: frozenset[str], certain: frozenset[str]) -> None:
        """`plain` are the projected variables that are not computed, `certain` those of them that are always bound."""
        self._select = select
        self._plain = plain
        self._streams = select.grouping is None and select.limit is None and not select.offset
        self.scope = frozenset(select.projection)
        self.certain = certain

    def rows(self, run: Run, seed: Solution) -> Iterator[Solution]:
        outer = {name: term for name, term in run.outer.items() if name in self._plain}
        inner = run.under(outer) if run.outer else run
        found: Iterable[Solution]
        if self._streams:
            found = self._select.rows(inner, seed, ordered=False)
        else:
            found = self._table(inner, tuple(sorted(seed))).get(tuple(seed[name] for name in sorted(seed)), ())
        for row in found:
            run.budget.spend(1)
            if all(row.get(name, term) == term for name, term in run.outer.items()):
                yield {**run.outer, **row}

    def _table(self, run: Run, names: tuple[str, ...]) -> dict[tuple[Term, ...], list[Solution]]:
        """All rows, made once for an evaluation, by their values of the variables that joins ask by."""
        outer = tuple(sorted(run.outer.items()))
        table: dict[tuple[Term, ...], list[Solution]] | None = run.memo.get((self, outer, names))
        if table is None:
            everything = run.memo.get((self, outer))
            if everything is None:
                everything = run.memo[self, outer] = kept(run, self._select.rows(run, {}))
            table = run.memo[self, outer, names] = {}
            for row in everything:
                run.budget.spend(1)
                table.setdefault(tuple(row[name] for name in names), []).append(row)
        return table
