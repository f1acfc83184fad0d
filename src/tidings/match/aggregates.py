"""Grouping and aggregates (SPARQL 1.1, 11 and 18.5.1).

Values are taken in the order of their terms, so that sums of doubles, SAMPLE and GROUP_CONCAT do not depend on the
order in which solutions were found. An error among the values is an error of the aggregate, except for COUNT, which
does not count it, and SAMPLE, which takes another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tidings.match.base import Solution
from tidings.match.functions import FUNCTIONS, arithmetic
from tidings.match.run import Eval, Run
from tidings.rdf import numbers
from tidings.rdf.terms import Term, literal, parts
from tidings.rdf.values import order_key


@dataclass(frozen=True, slots=True)
class Aggregation:
    """One aggregate of a query, under the hidden name that stands for it; `arg` None is `COUNT(*)`."""

    name: str
    op: str
    distinct: bool
    arg: Eval | None
    separator: str


@dataclass(frozen=True, slots=True)
class Grouping:
    """GROUP BY: its keys (a key without a name is only grouped by) and the aggregates of the query."""

    keys: Sequence[tuple[str | None, Eval]]
    aggregations: Sequence[Aggregation]
    counted: frozenset[str]
    """The variables by which COUNT(DISTINCT *) tells solutions apart."""
    implicit: bool
    """No GROUP BY, but an aggregate: one group, even of nothing."""

    def rows(self, run: Run, rows: Iterable[Solution]) -> Iterator[Solution]:
        groups: dict[tuple[Term | None, ...], _Group] = {}
        if self.implicit:
            groups[()] = _Group(self, {})
        for row in rows:
            run.budget.spend(1 + len(self.keys) + len(self.aggregations))
            key = tuple([value(run, row) for _, value in self.keys])
            group = groups.get(key)
            if group is None:
                run.budget.keep_row()
                bound = {n: t for (n, _), t in zip(self.keys, key, strict=True) if n is not None and t is not None}
                group = groups[key] = _Group(self, bound)
            group.add(run, row)
        for group in groups.values():
            yield group.result(run)


@dataclass(slots=True)
class _Values:
    """What one aggregate has been given in one group."""

    terms: list[Term] = field(default_factory=list)
    rows: set[tuple[tuple[str, Term], ...]] = field(default_factory=set)
    count: int = 0
    errors: int = 0


class _Group:
    def __init__(self, grouping: Grouping, bound: Solution) -> None:
        self._grouping = grouping
        self._bound = bound
        self._values = [_Values() for _ in grouping.aggregations]

    def add(self, run: Run, row: Solution) -> None:
        for aggregation, values in zip(self._grouping.aggregations, self._values, strict=True):
            values.count += 1
            if aggregation.arg is not None:
                term = aggregation.arg(run, row)
                if term is None:
                    values.errors += 1
                else:
                    run.budget.spend(1)
                    values.terms.append(term)
            elif aggregation.distinct:
                run.budget.keep_row()
                values.rows.add(tuple(sorted((n, t) for n, t in row.items() if n in self._grouping.counted)))

    def result(self, run: Run) -> Solution:
        row = {**run.outer, **self._bound}
        for aggregation, values in zip(self._grouping.aggregations, self._values, strict=True):
            term = _aggregate(run, aggregation, values)
            if term is not None:
                row[aggregation.name] = term
        return row


def _aggregate(run: Run, aggregation: Aggregation, values: _Values) -> Term | None:
    if aggregation.arg is None:
        return _count(len(values.rows) if aggregation.distinct else values.count)
    if values.errors and aggregation.op not in ("COUNT", "SAMPLE"):
        return None
    terms = sorted(set(values.terms) if aggregation.distinct else values.terms)
    run.budget.spend(len(terms))
    match aggregation.op:
        case "COUNT":
            return _count(len(terms))
        case "GROUP_CONCAT":
            return _concat(run, terms, aggregation.separator)
    return _OPERATIONS[aggregation.op](run, terms)


def _count(count: int) -> Term:
    return numbers.to_term(numbers.integer(count))


def _sum(run: Run, terms: list[Term]) -> Term | None:
    add = arithmetic("+")
    total: Term | None = _count(0)
    for term in terms:
        if total is None:
            return None
        total = add(run, total, term)
    return total


def _avg(run: Run, terms: list[Term]) -> Term | None:
    total = _sum(run, terms)
    if total is None or not terms:
        return total
    return arithmetic("/")(run, total, _count(len(terms)))


def _concat(run: Run, terms: list[Term], separator: str) -> Term | None:
    texts = [FUNCTIONS["STR"](run, term) for term in terms]
    pieces = [parts(text).lexical for text in texts if text is not None]
    if len(pieces) < len(texts):
        return None
    run.budget.text(sum(map(len, pieces)) + len(separator) * len(pieces))
    return literal(separator.join(pieces))


_OPERATIONS: dict[str, Callable[[Run, list[Term]], Term | None]] = {
    "SUM": _sum,
    "AVG": _avg,
    "MIN": lambda run, terms: min(terms, key=order_key, default=None),
    "MAX": lambda run, terms: max(terms, key=order_key, default=None),
    "SAMPLE": lambda run, terms: min(terms, default=None),
}
