"""Why a pattern has a solution or has none, for every construct: what is asked of its parts, and what decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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


def condition_of(query: Query) -> Pattern:
    """What must have a solution before solution modifiers see anything."""
    return Join((query.where, query.values)) if query.values else query.where


# --------------------------------------------------------------------------------------------------- it has a solution


def holds(probe: Probe, pattern: Pattern, solution: Solution) -> Iterator[Finding]:
    """The conditions of a pattern under one of its solutions."""
    names = probe.names
    match pattern:
        case Block():
            yield from block_holds(probe, pattern, solution, _inside(probe))
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
            yield Finding(True, f"MINUS {names.pattern(right)}", ("takes nothing away from this solution",))
        case Filter(pattern=inner, filters=filters):
            yield from holds(probe, inner, solution)
            for expr in filters:
                yield filter_finding(probe, expr, restricted(solution, variables(inner)), _inside(probe))
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
            yield Finding(True, "a sub-select", (names.row(solution),), parts=tuple(query_holds(probe, pattern, solution)))


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
    stays = f"nothing; {', '.join(unbound)} stay{'s' if len(unbound) == 1 else ''} without a value" if unbound else "nothing"
    return Finding(True, condition, (stays,))


def _chosen(probe: Probe, choices: tuple[Pattern, ...], solution: Solution) -> Finding:
    """The first choice that gives this very solution."""
    for number, choice in enumerate(choices, 1):
        for found in probe.solutions(choice, solution):
            if found.items() <= solution.items():
                return Finding(True, f"UNION, choice {number} of {len(choices)}", parts=tuple(holds(probe, choice, found)))
    return Finding(True, f"UNION of {len(choices)}")


# ---------------------------------------------------------------------------------------------------- it has none


def fails(probe: Probe, pattern: Pattern, given: Solution) -> tuple[Finding, ...]:
    """Why a pattern has no solution that agrees with `given`."""
    names = probe.names
    match pattern:
        case Block():
            return block_fails(probe, pattern, given, _inside(probe))
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
    """The parts one after the other, up to the first that does not join the ones before; it is explained on their values."""
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
            findings.append(filter_finding(probe, expr, nearest, _inside(probe)))
        else:
            findings.append(filter_missing(probe, expr, rows, nearest, _inside(probe)))
    return tuple(findings)


# -------------------------------------------------------------------------------------------------------------- EXISTS


class _inside:
    """Explains the group inside an EXISTS; a callable, since filters know nothing of patterns."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe

    def __call__(self, exists: Exists, solution: Solution, holds_as_written: bool) -> Finding:
        probe, pattern = self._probe, exists.pattern
        there = holds_as_written != exists.negated
        given = restricted(solution, variables(pattern))
        word = "NOT EXISTS" if exists.negated else "EXISTS"
        condition = f"{word} {probe.names.pattern(pattern)}"
        try:
            found = probe.solutions(pattern, given)
            if there and found:
                return Finding(holds_as_written, condition, ("the group has a solution",), parts=_as_parts(holds(probe, pattern, found[0]), exists))
            if not there and not found:
                inner = fails(probe, pattern, given)
                return Finding(holds_as_written, condition, ("the group has no solution",), parts=_as_parts(inner, exists))
        except EvaluationError:
            pass
        return Finding(holds_as_written, condition, (f"the group has {'a' if there else 'no'} solution",))
