"""Why a filter holds under a solution, or why it does not: the values it compared, the words it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from tidings.lang.fulltext import print_fulltext, words
from tidings.lang.pattern import (
    Aggregate,
    Call,
    Const,
    Constraint,
    Exists,
    Expr,
    FtAnd,
    FtContains,
    FtExpr,
    FtNear,
    FtNot,
    FtOr,
    FtPhrase,
    Var,
    variables,
)
from tidings.match.base import Solution
from tidings.match.explain.evidence import derivation
from tidings.match.explain.model import Finding
from tidings.match.explain.probe import Probe
from tidings.match.explain.provenance import class_steps, origin
from tidings.match.fulltext import contains, spans
from tidings.rdf.terms import RDF_TYPE, Term, is_iri, is_literal, parts

Inside: TypeAlias = Callable[[Exists, Solution, bool], Finding]
"""Explains the group of an EXISTS under a solution, given whether the EXISTS as written holds."""

_CONTEXT_WORDS = 2


def filter_finding(probe: Probe, expr: Expr, solution: Solution, inside: Inside) -> Finding:
    """The filter under the solution; its parts where it is made of several conditions."""
    finding = _condition(probe, expr, solution, inside)
    return Finding(finding.holds, f"FILTER {finding.condition}", finding.evidence, parts=finding.parts)


def _condition(probe: Probe, expr: Expr, solution: Solution, inside: Inside) -> Finding:
    holds = probe.holds(expr, solution)
    condition = probe.names.expression(expr)
    match expr:
        case Exists():
            return inside(expr, solution, holds)
        case Call(op="&&" | "||" | "!", args=args):
            inner = tuple(_condition(probe, arg, solution, inside) for arg in args)
            return Finding(holds, condition, parts=inner)
        case FtContains(var=var, text=text):
            return Finding(holds, condition, tuple(_text(probe, var, text, solution)))
        case Constraint(value=value) if is_iri(value):
            return Finding(holds, condition, tuple(_is_a(probe, expr, solution)))
    return Finding(holds, condition, tuple(_values(probe, expr, solution)))


# -------------------------------------------------------------------------------------------------------------- values


def expression_variables(expr: Expr) -> Iterator[Var]:
    """The variables that the expression mentions, those inside EXISTS too."""
    match expr:
        case Var():
            yield expr
        case Call(args=args):
            for arg in args:
                yield from expression_variables(arg)
        case FtContains(var=var) | Constraint(var=var):
            yield var
        case Exists(pattern=pattern):
            yield from variables(pattern)
        case Aggregate(arg=arg):
            if arg is not None:
                yield from expression_variables(arg)


def _values(probe: Probe, expr: Expr, solution: Solution) -> Iterator[str]:
    """The values of the variables, then of what was computed from them."""
    for var in dict.fromkeys(expression_variables(expr)):
        term = solution.get(var.name)
        yield f"?{var.name} is {probe.names.term(term)}" if term else f"?{var.name} has no value"
    computed = [arg for arg in expr.args if isinstance(arg, Call)] if isinstance(expr, Call) else []
    for arg in computed:
        value = probe.value(arg, solution)
        yield f"{probe.names.expression(arg)} is {probe.names.term(value) if value else 'an error'}"
    if not isinstance(expr, Const | Constraint) and probe.value(expr, solution) is None:
        yield "these cannot be compared or computed with: an error, which is not true"


def _is_a(probe: Probe, constraint: Constraint, solution: Solution) -> Iterator[str]:
    """The steps between a node and a class, up or down, whichever there are."""
    names, ontology = probe.names, probe.ontology
    node = solution.get(constraint.var.name)
    if node is None:
        yield f"?{constraint.var.name} has no value"
        return
    yield f"?{constraint.var.name} is {names.term(node)}"
    if is_literal(node):
        yield "a literal is never below or above a class"
        return
    yield from _hierarchy(probe, node, constraint.value)
    source = origin((node, RDF_TYPE, constraint.value), probe.meaning, ontology)
    if source:
        yield from derivation(probe, source)


def _hierarchy(probe: Probe, node: Term, cls: Term) -> Iterator[str]:
    steps = class_steps(node, cls, probe.ontology) or class_steps(cls, node, probe.ontology)
    if steps:
        yield from map(probe.names.step, steps)
    elif steps is None:
        for triple in sorted(probe.meaning.asserted):
            if triple[0] == node and triple[1].endswith("#subClassOf>"):
                yield probe.names.triple(triple)


# ----------------------------------------------------------------------------------------------------------- full text


def _text(probe: Probe, var: Var, wanted: FtExpr, solution: Solution) -> Iterator[str]:
    term = solution.get(var.name)
    if term is None:
        yield f"?{var.name} has no value"
    elif not is_literal(term):
        yield f"?{var.name} is {probe.names.term(term)}, which is no text"
    else:
        text = words(parts(term).lexical)
        yield f"?{var.name} is {probe.names.term(term)}"
        yield from _words(wanted, text)


def _words(wanted: FtExpr, text: tuple[str, ...]) -> Iterator[str]:
    """Which strings are in the text and where, which are not."""
    match wanted:
        case FtAnd(items=items) | FtOr(items=items):
            for item in items:
                yield from _words(item, text)
        case FtNot(item=item):
            yield from _words(item, text)
        case FtPhrase() | FtNear():
            found = sorted(spans(wanted, text))
            if found:
                yield f"{print_fulltext(wanted)} is there: {_quoted(text, *found[0])}"
                return
            yield f"{print_fulltext(wanted)} is not there"
            if isinstance(wanted, FtNear):
                yield from _words(wanted.left, text)
                yield from _words(wanted.right, text)


def _quoted(text: tuple[str, ...], start: int, end: int) -> str:
    """The words found, in brackets, with a few around them."""
    first, last = max(0, start - _CONTEXT_WORDS), min(len(text), end + 1 + _CONTEXT_WORDS)
    before, found, after = text[first:start], text[start : end + 1], text[end + 1 : last]
    opening, closing = "… " if first else "", " …" if last < len(text) else ""
    middle = " ".join([*before, f"[{' '.join(found)}]", *after])
    return f"{opening}{middle}{closing}"


__all__ = ["Inside", "contains", "expression_variables", "filter_finding"]
