"""Why a pattern has a solution or has none, for every construct: what is asked of its parts, and what decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tidings.errors import EvaluationError
from tidings.lang.pattern import (
    Aggregate,
    Block,
    Call,
    Const,
    Exists,
    Expr,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Projection,
    Query,
    Union,
    Values,
    Var,
    variables,
)
from tidings.match.base import Solution
from tidings.match.explain.blocks import block_fails, block_holds, filter_missing
from tidings.match.explain.filters import filter_finding
from tidings.match.explain.model import Finding
from tidings.match.explain.probe import Probe, restricted, values
from tidings.rdf.terms import iri

_MOST_ROWS = 20
_MOST_GROUPS = 3
_MOST_SHOWN = 2


def condition_of(query: Query) -> Pattern:
    """What must have a solution before solution modifiers see anything."""
    return Join((query.where, query.values)) if query.values and not _is_grouped(query) else query.where


# --------------------------------------------------------------------------------------------------- it has a solution


def holds(probe: Probe, pattern: Pattern, solution: Solution) -> Iterator[Finding]:
    """The conditions of a pattern under one of its solutions."""
    names = probe.names
    match pattern:
        case Block():
            yield from block_holds(probe, pattern, solution, _Inside(probe))
        case Join(parts=parts):
            for part in parts:
                yield from holds(probe, part, restricted(solution, variables(part)))
        case LeftJoin(left=left, right=right):
            yield from holds(probe, left, restricted(solution, variables(left)))
            yield _optional(probe, pattern, right, solution)
        case Union(choices=choices):
            yield _chosen(probe, choices, solution)
        case Minus(left=left, right=right):
            yield from holds(probe, left, solution)
            yield Finding(True, f"MINUS {names.pattern(right)}", ("takes nothing away",))
        case Filter(pattern=inner, filters=filters):
            yield from holds(probe, inner, solution)
            for expr in filters:
                yield filter_finding(probe, expr, restricted(solution, variables(inner)), _Inside(probe))
        case Extend(pattern=inner, var=var, expr=expr):
            yield from holds(probe, inner, {k: v for k, v in solution.items() if k != var.name})
            value = solution.get(var.name)
            said = f"?{var.name} is {names.term(value)}" if value else f"an error: ?{var.name} has no value"
            yield Finding(True, f"BIND({names.expression(expr)} AS ?{var.name})", (said,))
        case Graph(name=name, pattern=inner):
            evidence = (f"the event is <{probe.event}>",)
            yield Finding(True, f"GRAPH {names.node(name)}", evidence, parts=tuple(holds(probe, inner, solution)))
        case Values():
            yield Finding(True, f"VALUES {' '.join(map(names.node, pattern.vars))}", (names.row(solution),))
        case Query():
            yield Finding(
                True, "a sub-select", (names.row(solution),), parts=tuple(query_holds(probe, pattern, solution))
            )


def _optional(probe: Probe, pattern: LeftJoin, right: Pattern, solution: Solution) -> Finding:
    condition = f"OPTIONAL {probe.names.pattern(right)}"
    left = restricted(solution, variables(pattern.left))
    joined = Join((values(left), right))
    both = Filter(joined, pattern.conditions) if pattern.conditions else joined
    extended = probe.solutions(both, solution)
    if extended:
        inner = restricted(extended[0], variables(right))
        return Finding(True, condition, parts=tuple(holds(probe, right, inner)))
    unbound = [probe.names.node(v) for v in variables(right) if v not in variables(pattern.left) and not v.hidden]
    stays = (
        f"nothing; {', '.join(unbound)} stay{'s' if len(unbound) == 1 else ''} without a value"
        if unbound
        else "nothing"
    )
    return Finding(True, condition, (stays,))


def _chosen(probe: Probe, choices: tuple[Pattern, ...], solution: Solution) -> Finding:
    """The first choice that gives this very solution."""
    for number, choice in enumerate(choices, 1):
        for found in probe.solutions(choice, solution):
            if found.items() <= solution.items():
                return Finding(
                    True, f"UNION, choice {number} of {len(choices)}", parts=tuple(holds(probe, choice, found))
                )
    return Finding(True, f"UNION of {len(choices)}")


# ---------------------------------------------------------------------------------------------------- it has none


def fails(probe: Probe, pattern: Pattern, given: Solution) -> tuple[Finding, ...]:
    """Why a pattern has no solution that agrees with `given`."""
    names = probe.names
    match pattern:
        case Block():
            return block_fails(probe, pattern, given, _Inside(probe))
        case Join(parts=parts):
            return _join_fails(probe, parts, given)
        case LeftJoin(left=left) if not probe.has(left, given):
            return fails(probe, left, given)
        case Union(choices=choices):
            return tuple(
                Finding(False, f"UNION, choice {number} of {len(choices)}", parts=fails(probe, choice, given))
                for number, choice in enumerate(choices, 1)
            )
        case Minus(left=left, right=right):
            return _minus_fails(probe, left, right, given)
        case Filter(pattern=inner, filters=filters):
            return _filter_fails(probe, inner, filters, given)
        case Extend(pattern=inner, var=var) if not probe.has(inner, _without(given, var)):
            return fails(probe, inner, _without(given, var))
        case Graph(name=name, pattern=inner):
            if not isinstance(name, Var) and name != iri(probe.event):
                return (Finding(False, f"GRAPH {names.term(name)}", (f"the event is <{probe.event}>",)),)
            return (Finding(False, f"GRAPH {names.node(name)}", parts=fails(probe, inner, given)),)
        case Query():
            return (Finding(False, "a sub-select", parts=query_fails(probe, pattern, given)),)
    said = f"nothing that agrees with {names.row(given)}" if given else "nothing"
    return (Finding(False, names.pattern(pattern), (said,)),)


def _without(given: Solution, var: Var) -> Solution:
    return {name: term for name, term in given.items() if name != var.name}


def _join_fails(probe: Probe, parts: tuple[Pattern, ...], given: Solution) -> tuple[Finding, ...]:
    """The parts up to the first that does not join the ones before it; that one is explained on their values."""
    nearest = given
    findings: list[Finding] = []
    kept: list[Pattern] = []
    for part in parts:
        found = probe.solutions(Join((*kept, part)), given)
        if found:
            kept.append(part)
            nearest = given | found[0]
            continue
        for before in kept:
            findings += holds(probe, before, restricted(nearest, variables(before)))
        return (*findings, *fails(probe, part, restricted(nearest, variables(part))))
    return tuple(findings)


def _minus_fails(probe: Probe, left: Pattern, right: Pattern, given: Solution) -> tuple[Finding, ...]:
    found = probe.solutions(left, given)
    if not found:
        return fails(probe, left, given)
    shared = [v for v in variables(left) if v in variables(right)]
    taken = probe.solutions(right, restricted(found[0], shared))
    evidence = (f"takes away {probe.names.row(restricted(found[0], shared))}",) if taken else ()
    parts = tuple(holds(probe, right, taken[0])) if taken else ()
    minus = Finding(False, f"MINUS {probe.names.pattern(right)}", evidence)
    inside = Finding(True, "the group that is taken away has a solution", parts=parts)
    return (*holds(probe, left, found[0]), replace(minus, parts=(inside,) if parts else ()))


def _filter_fails(probe: Probe, inner: Pattern, filters: tuple[Expr, ...], given: Solution) -> tuple[Finding, ...]:
    rows = probe.solutions(inner, given, limit=_MOST_ROWS)
    if not rows:
        return fails(probe, inner, given)
    kept: list[Expr] = []
    for expr in filters:
        if probe.has(Filter(inner, (*kept, expr)), given):
            kept.append(expr)
    nearest = probe.solutions(Filter(inner, tuple(kept)), given)[0] if kept else rows[0]
    findings = list(holds(probe, inner, nearest))
    for expr in filters:
        if expr in kept:
            findings.append(filter_finding(probe, expr, nearest, _Inside(probe)))
        else:
            findings.append(filter_missing(probe, expr, rows, nearest, _Inside(probe)))
    return tuple(findings)


# -------------------------------------------------------------------------------------------------------------- EXISTS


@dataclass(frozen=True, slots=True)
class _Inside:
    """Explains the group of an EXISTS; handed down as a callable, since filters know nothing of patterns."""

    probe: Probe

    def __call__(self, exists: Exists, solution: Solution, holds_as_written: bool) -> Finding:
        there = holds_as_written != exists.negated
        try:
            inner = self._there(exists.pattern, solution) if there else self._not_there(exists, solution)
        except EvaluationError:
            inner = ()
        word = "NOT EXISTS" if exists.negated else "EXISTS"
        condition = f"{word} {self.probe.names.pattern(exists.pattern)}"
        return Finding(holds_as_written, condition, (_said(there, inner),), parts=inner)

    def _there(self, pattern: Pattern, solution: Solution) -> tuple[Finding, ...]:
        found = self.probe.solutions(pattern, solution)
        return tuple(holds(self.probe, pattern, found[0])) if found else ()

    def _not_there(self, exists: Exists, solution: Solution) -> tuple[Finding, ...]:
        """What the group lacks is of interest only where it should have had a solution."""
        given = restricted(solution, variables(exists.pattern))
        if exists.negated or self.probe.has(exists.pattern, given):
            return ()
        return fails(self.probe, exists.pattern, given)


def _said(there: bool, inner: tuple[Finding, ...]) -> str:
    """What an EXISTS found, in a line."""
    if not there:
        return "there is none"
    found = [finding.evidence[0] for finding in inner if finding.evidence]
    return f"there is {', '.join(found[:_MOST_SHOWN])}" if found else "there is one"


# ------------------------------------------------------------------------------------------------------------- queries


def query_holds(probe: Probe, query: Query, row: Solution) -> Iterator[Finding]:
    """Why a query gives this row."""
    condition = condition_of(query)
    found = probe.solutions(condition, row) or probe.solutions(condition)
    if found:
        yield from holds(probe, condition, found[0])
    for expr in query.having:
        yield Finding(True, f"HAVING {probe.names.expression(expr)}", tuple(_groups(probe, query, expr, row)))


def query_fails(probe: Probe, query: Query, given: Solution) -> tuple[Finding, ...]:
    """Why a query gives no row that agrees with `given`."""
    condition = condition_of(query)
    fixed = {} if _is_grouped(query) else restricted(given, variables(condition))
    found = probe.solutions(condition, fixed)
    if not found:
        return fails(probe, condition, fixed)
    findings = tuple(holds(probe, condition, found[0]))
    if query.limit == 0:
        return (*findings, Finding(False, "LIMIT 0", ("such a query never gives a solution",)))
    rows = probe.rows(_as_select(query, limit=None, offset=0))
    if not rows and query.having:
        having = [
            Finding(False, f"HAVING {probe.names.expression(e)}", tuple(_groups(probe, query, e, {})))
            for e in query.having
        ]
        return (*findings, *having)
    if not rows and query.values:
        return (*findings, Finding(False, "VALUES behind the query", ("no group agrees with it",)))
    if len(rows) <= query.offset:
        only = "is only 1 solution" if len(rows) == 1 else f"are only {len(rows)} solutions"
        return (*findings, Finding(False, f"OFFSET {query.offset}", (f"there {only}",)))
    shown = tuple(probe.names.row(row) for row in rows[:_MOST_GROUPS])
    return (
        *findings,
        Finding(False, f"agreement with {probe.names.row(given)}", tuple(f"it gives {row}" for row in shown)),
    )


def _as_select(query: Query, **changes: Any) -> Query:
    """The rows behind the query, whatever its form."""
    if query.form == "SELECT":
        return replace(query, dialect="sparql", **changes)
    return replace(query, dialect="sparql", form="SELECT", projection=None, template=(), **changes)


def _is_grouped(query: Query) -> bool:
    columns = [p.expr for p in query.projection or () if p.expr is not None]
    keys = [key.expr for key in query.order]
    return query.group is not None or any(_aggregates(e) for e in (*columns, *query.having, *keys))


def _aggregates(expr: Expr) -> bool:
    if isinstance(expr, Call):
        return any(map(_aggregates, expr.args))
    return isinstance(expr, Aggregate)


def _groups(probe: Probe, query: Query, having: Expr, row: Solution) -> Iterator[str]:
    """What a HAVING condition compares, in each of the first groups that agree with `row`."""
    keys = [v for key in query.group or () if (v := key.var or key.expr) and isinstance(v, Var)]
    args = having.args if isinstance(having, Call) else (having,)
    operands = {Var(f" {i}"): arg for i, arg in enumerate(args) if not isinstance(arg, Const | Var)}
    columns = (*map(Projection, keys), *(Projection(var, expr) for var, expr in operands.items()))
    if not columns:
        return
    rows = probe.rows(_as_select(query, projection=columns, having=(), order=(), limit=None, offset=0, distinct=False))
    agreeing = [r for r in rows if all(row.get(v.name, r.get(v.name)) == r.get(v.name) for v in keys)]
    for group in agreeing[:_MOST_GROUPS]:
        said = [
            f"{probe.names.expression(expr)} is {probe.names.term(term)}"
            for var, expr in operands.items()
            if (term := group.get(var.name)) is not None
        ]
        which = probe.names.row(restricted(group, keys))
        yield f"{which}: {', '.join(said)}" if which else ", ".join(said)
