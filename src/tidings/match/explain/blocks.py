"""Why a conjunction holds, and why it does not: as much of it as can hold together, and what is then missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from tidings.errors import EvaluationError
from tidings.lang.pattern import Block, ClassOf, Expr, Node, PathPattern, TriplePattern, Var, variables
from tidings.match.base import Solution
from tidings.match.explain.evidence import (
    bound,
    class_found,
    class_missing,
    path_condition,
    path_found,
    path_missing,
    triple_found,
    triple_missing,
)
from tidings.match.explain.filters import Inside, expression_variables, filter_finding, filter_text
from tidings.match.explain.model import Finding
from tidings.match.explain.probe import Probe, restricted
from tidings.rdf.terms import HOME, RDF_TYPE, Term

_MOST_VALUES = 20
_MOST_OTHERS = 3


@dataclass(frozen=True, slots=True)
class _Filter:
    expr: Expr


_Condition: TypeAlias = TriplePattern | PathPattern | ClassOf | _Filter


def block_holds(probe: Probe, block: Block, solution: Solution, inside: Inside) -> Iterator[Finding]:
    full = next(iter(probe.solutions(block, solution)), solution)
    for condition in _conditions(block):
        yield _found(probe, condition, full, inside)


def block_fails(probe: Probe, block: Block, given: Solution, inside: Inside) -> tuple[Finding, ...]:
    """The conditions in order, each kept if it can hold together with those kept before.

    What is kept is then as much as can hold at once, and the rest is explained on a solution of it: the nearest miss.
    """
    if block.injective and HOME not in probe.meaning.asserted.nodes:
        return (Finding(False, "the home vertex _:H", ("the event has no blank node _:H",)),)
    kept: list[_Condition] = []
    findings: dict[_Condition, Finding] = {}
    for condition in _connected(_conditions(block)):
        if isinstance(condition, ClassOf) and not _placed(condition, kept):
            continue
        try:
            if probe.has(_block([*kept, condition], block.injective), given):
                kept.append(condition)
        except EvaluationError as error:
            findings[condition] = Finding(None, _text(probe, condition), (f"not examined: {error}",))
    nearest = next(iter(probe.solutions(_block(kept, block.injective), given)), {}) | given
    for condition in _conditions(block):
        if condition in kept:
            findings[condition] = _found(probe, condition, nearest, inside)
        elif condition not in findings:
            findings[condition] = _missing(probe, condition, block, kept, nearest, inside)
    return tuple(findings[condition] for condition in dict.fromkeys(_conditions(block)))


def _placed(condition: ClassOf, kept: list[_Condition]) -> bool:
    """Whether an arc that is kept says which vertex the class is asked of."""
    return any(condition.node in (arc.s, arc.o) for arc in kept if isinstance(arc, TriplePattern))


def _conditions(block: Block) -> list[_Condition]:
    """In the order in which they are explained; classes asked for twice are asked for once."""
    return [*block.triples, *block.paths, *dict.fromkeys(block.classes), *map(_Filter, block.filters)]


def _connected(conditions: list[_Condition]) -> Iterator[_Condition]:
    """The triples and paths, each meeting one before it where possible (no large products), then the rest."""
    joins: list[TriplePattern | PathPattern] = [c for c in conditions if isinstance(c, TriplePattern | PathPattern)]
    met: set[Node] = {HOME}
    while joins:
        chosen = next((c for c in joins if met & set(_ends(c))), joins[0])
        joins.remove(chosen)
        met.update(_ends(chosen))
        yield chosen
    yield from (c for c in conditions if isinstance(c, ClassOf | _Filter))


def _ends(condition: TriplePattern | PathPattern) -> tuple[Node, ...]:
    return tuple(n for n in (condition.s, condition.o) if isinstance(n, Var) or n == HOME)


def _block(conditions: Iterable[_Condition], injective: bool) -> Block:
    every = list(conditions)
    return Block(
        triples=tuple(c for c in every if isinstance(c, TriplePattern)),
        paths=tuple(c for c in every if isinstance(c, PathPattern)),
        classes=tuple(c for c in every if isinstance(c, ClassOf)),
        filters=tuple(c.expr for c in every if isinstance(c, _Filter)),
        injective=injective,
    )


def _text(probe: Probe, condition: _Condition) -> str:
    match condition:
        case TriplePattern():
            return probe.names.triple(condition)
        case PathPattern():
            return path_condition(probe, condition)
        case ClassOf(node=node, cls=cls):
            return f"{probe.names.node(node)} is a {probe.names.term(cls)}"
        case _Filter(expr=expr):
            return filter_text(probe, expr)


def _on(finding: Finding, condition: _Condition, solution: Solution) -> Finding:
    """The finding with what it is about: the condition itself, and its variables."""
    match condition:
        case TriplePattern(s=s, p=p, o=o):
            asked: TriplePattern | None = condition
        case ClassOf(node=s, cls=o):
            p, asked = RDF_TYPE, TriplePattern(s, RDF_TYPE, o)
        case PathPattern(s=s, o=o):
            p, asked = RDF_TYPE, None
        case _Filter():
            return finding
    mentioned = [node for node in (s, p, o) if isinstance(node, Var)]
    return replace(finding, asked=asked, bindings=restricted(solution, mentioned))


def _found(probe: Probe, condition: _Condition, solution: Solution, inside: Inside) -> Finding:
    return _on(_evidence(probe, condition, solution, inside), condition, solution)


def _evidence(probe: Probe, condition: _Condition, solution: Solution, inside: Inside) -> Finding:
    match condition:
        case TriplePattern():
            return triple_found(probe, condition, solution)
        case PathPattern():
            return path_found(probe, condition, solution)
        case ClassOf():
            return class_found(probe, condition, solution)
        case _Filter(expr=expr):
            return filter_finding(probe, expr, solution, inside)


def _missing(
    probe: Probe, condition: _Condition, block: Block, kept: list[_Condition], nearest: Solution, inside: Inside
) -> Finding:
    return _on(_lack(probe, condition, block, kept, nearest, inside), condition, nearest)


def _lack(
    probe: Probe, condition: _Condition, block: Block, kept: list[_Condition], nearest: Solution, inside: Inside
) -> Finding:
    match condition:
        case TriplePattern():
            clash = _same_vertex(probe, [*kept, condition], nearest) if block.injective else None
            return (
                Finding(False, _text(probe, condition), (clash,))
                if clash
                else triple_missing(probe, condition, nearest)
            )
        case PathPattern():
            return path_missing(probe, condition, nearest, _reached(probe, condition, nearest))
        case ClassOf():
            return class_missing(probe, condition, nearest)
        case _Filter(expr=expr):
            if any(v.name not in nearest for v in expression_variables(expr) if v in variables(block)):
                return Finding(None, _text(probe, condition))
            rows = _rows(probe, _block(kept, block.injective))
            return filter_missing(probe, expr, rows, nearest, inside)


def _same_vertex(probe: Probe, conditions: list[_Condition], nearest: Solution) -> str | None:
    """Where the arcs are there but two vertices of the subscription would have to be one vertex of the event."""
    arcs = [c for c in conditions if isinstance(c, TriplePattern)]
    for solution in probe.solutions(_block(arcs, injective=False), nearest):
        taken: dict[Term, Node] = {}
        for node in dict.fromkeys(n for arc in arcs for n in (arc.s, arc.o)):
            term = bound(node, solution)
            if term is not None and taken.setdefault(term, node) != node:
                pair = f"{probe.names.node(taken[term])} and {probe.names.node(node)}"
                return f"{pair} must be different vertices, but there is only {probe.names.term(term)} for both"
    return None


def _reached(probe: Probe, condition: PathPattern, nearest: Solution) -> set[Term]:
    start = bound(condition.s, nearest)
    if start is None:
        return set()
    end = Var("*end")
    open_ended = Block(paths=(replace(condition, s=start, o=end),))
    return {row[end.name] for row in probe.solutions(open_ended, limit=_MOST_VALUES)}


def filter_missing(probe: Probe, expr: Expr, rows: list[Solution], nearest: Solution, inside: Inside) -> Finding:
    """The filter on the nearest miss, and the values that its variables have in the other rows."""
    finding = filter_finding(probe, expr, nearest, inside)
    if finding.holds:
        return replace(finding, holds=None, evidence=(*finding.evidence, "but not together with the rest"))
    mentioned = list(dict.fromkeys(expression_variables(expr)))
    tried = probe.names.row(restricted(nearest, mentioned))
    others = dict.fromkeys(probe.names.row(restricted(row, mentioned)) for row in rows)
    more = [f"nor with {row}" for row in others if row and row != tried]
    return replace(finding, evidence=(*finding.evidence, *more[:_MOST_OTHERS]))


def _rows(probe: Probe, kept: Block) -> list[Solution]:
    try:
        return probe.solutions(kept, limit=_MOST_VALUES)
    except EvaluationError:
        return []
