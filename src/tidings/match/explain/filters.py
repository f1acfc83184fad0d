"""Why a filter holds under a solution, or why it does not: the values it compared, the words it found."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from tidings.lang.fulltext import print_fulltext
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
from tidings.match.explain.probe import Probe, restricted
from tidings.match.explain.provenance import class_steps, origin
from tidings.match.fulltext import Words, contains
from tidings.rdf.terms import RDF_TYPE, is_iri, is_literal

Inside: TypeAlias = Callable[[Exists, Solution, bool], Finding]
"""Explains the group of an EXISTS under a solution, given whether the EXISTS as written holds."""

_CONTEXT_WORDS = 2
_COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">="])


def filter_finding(probe: Probe, expr: Expr, solution: Solution, inside: Inside) -> Finding:
    """The filter under the solution; its parts where it is made of several conditions."""
    return replace(_condition(probe, expr, solution, inside), condition=filter_text(probe, expr))


def filter_text(probe: Probe, expr: Expr) -> str:
    """The filter as it would be written."""
    text = probe.names.expression(expr)
    match expr:
        case Constraint():
            return text
        case Exists(pattern=pattern, negated=negated):
            return f"FILTER {'NOT EXISTS' if negated else 'EXISTS'} {probe.names.pattern(pattern)}"
        case FtContains():
            return f"FILTER {text}"
    return f"FILTER({text})"


def _condition(probe: Probe, expr: Expr, solution: Solution, inside: Inside) -> Finding:
    finding = _decided(probe, expr, solution, inside)
    return replace(finding, bindings=restricted(solution, expression_variables(expr)))


def _decided(probe: Probe, expr: Expr, solution: Solution, inside: Inside) -> Finding:
    holds = probe.holds(expr, solution)
    condition = probe.names.expression(expr)
    match expr:
        case Exists():
            return inside(expr, solution, holds)
        case Call(op="&&" | "||" | "!", args=args):
            inner = tuple(_condition(probe, arg, solution, inside) for arg in args)
            return Finding(holds, condition, parts=inner)
        case FtContains():
            return Finding(holds, condition, tuple(_text(probe, expr, holds, solution)))
        case Constraint(value=value) if is_iri(value):
            return Finding(holds, condition, tuple(_is_a(probe, expr, holds, solution)))
    return Finding(holds, condition, tuple(_values(probe, expr, holds, solution)))


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


def _values(probe: Probe, expr: Expr, holds: bool, solution: Solution) -> Iterator[str]:
    """What was compared, and the values of the variables where not simply they were."""
    op, sides = _compared(expr)
    mentioned = dict.fromkeys(var.name for var in expression_variables(expr))
    if not sides or not all(isinstance(side, Var | Const) for side in sides):
        yield from (f"?{name} is {probe.names.term(solution[name])}" for name in mentioned if name in solution)
    unbound = [f"?{name}" for name in mentioned if name not in solution]
    if unbound:
        yield f"{' and '.join(unbound)} {'has' if len(unbound) == 1 else 'have'} no value"
    elif sides:
        yield _comparison(probe, sides, op, holds, solution)
    elif probe.value(expr, solution) is None:
        yield "an error, which is not true"


def _compared(expr: Expr) -> tuple[str, tuple[Expr, ...]]:
    """The operator and the sides of a comparison; no sides where it is none."""
    match expr:
        case Call(op=op, args=args) if op in _COMPARISONS:
            return op, args
        case Constraint(var=var, op=op, value=value):
            return op, (var, Const(value))
    return "", ()


def _comparison(probe: Probe, sides: tuple[Expr, ...], op: str, holds: bool, solution: Solution) -> str:
    values = [probe.value(side, solution) for side in sides]
    left, right = [probe.names.term(value) if value else "an error" for value in values]
    return f"{left} {op} {right}" if holds else f"{left} is not {op} {right}"


def _is_a(probe: Probe, constraint: Constraint, holds: bool, solution: Solution) -> Iterator[str]:
    """The way between a node and a class, up or down, whichever there is."""
    names = probe.names
    node = solution.get(constraint.var.name)
    if node is None:
        yield f"?{constraint.var.name} has no value"
        return
    yield f"?{constraint.var.name} is {names.term(node)}"
    if is_literal(node):
        yield "is-a is about things, and never true of a literal"
        return
    upward = class_steps(node, constraint.value, probe.meaning)
    typed = None if upward is not None else origin((node, RDF_TYPE, constraint.value), probe.meaning)
    downward = class_steps(constraint.value, node, probe.meaning)
    if upward is None and typed is None and downward is None:
        yield f"nothing relates it to {names.term(constraint.value)}"
    yield from derivation(probe, typed) if typed else names.steps(upward or downward or ())
    if not holds and constraint.op == "=":
        yield "no statement relates the two directly"
    elif not holds and upward is not None and all(step.relation == "≡" for step in upward):
        yield f"{constraint.op} leaves out the class itself and its synonyms"


# ----------------------------------------------------------------------------------------------------------- full text


def _text(probe: Probe, wanted: FtContains, holds: bool, solution: Solution) -> Iterator[str]:
    name, term = f"?{wanted.var.name}", solution.get(wanted.var.name)
    if term is None:
        yield f"{name} has no value"
    elif not is_literal(term):
        yield f"{name} is {probe.names.term(term)}, which is no text"
    else:
        if not holds:
            yield f"{name} is {probe.names.term(term)}"
        yield from _words(wanted.text, probe.meaning.words(term), holds)


def _words(wanted: FtExpr, text: Words, holds: bool) -> Iterator[str]:
    """Which strings are in the text and where, which are not: those that make the whole hold, or not."""
    match wanted:
        case FtAnd(items=items) | FtOr(items=items):
            telling = [item for item in items if contains(text, item, _spend_nothing) == holds]
            for item in telling:
                yield from _words(item, text, holds)
        case FtNot(item=item):
            yield from _words(item, text, not holds)
        case FtPhrase() | FtNear() if holds:
            span = next(_spans(wanted, text, 0, len(text.words)), None)
            yield f"{print_fulltext(wanted)} is there" + (f": {_quoted(text.words, *span)}" if span else "")
        case FtPhrase() | FtNear():
            yield f"{print_fulltext(wanted)} is not there"
            if isinstance(wanted, FtNear):
                for part in (wanted.left, wanted.right):
                    yield from _words(part, text, contains(text, part, _spend_nothing))


def _spans(wanted: FtExpr, text: Words, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Occurrences, first to last word, that start between two places."""
    match wanted:
        case FtPhrase(words=phrase):
            places = text.places.get(phrase[0], [])
            for place in places[bisect_left(places, first) : bisect_right(places, last)]:
                if text.words[place : place + len(phrase)] == phrase:
                    yield place, place + len(phrase) - 1
        case FtOr(items=items):
            for item in items:
                yield from _spans(item, text, first, last)
        case FtNear(left=left, least=least, most=most, right=right):
            for start, end in _spans(left, text, first, last):
                for _, after in _spans(right, text, end + 1 + least, end + 1 + most):
                    yield start, after


def _spend_nothing(steps: int) -> None:
    pass


def _quoted(text: tuple[str, ...], start: int, end: int) -> str:
    """The words found, in brackets, with a few around them."""
    first, last = max(0, start - _CONTEXT_WORDS), min(len(text), end + 1 + _CONTEXT_WORDS)
    before, found, after = text[first:start], text[start : end + 1], text[end + 1 : last]
    opening, closing = "… " if first else "", " …" if last < len(text) else ""
    middle = " ".join([*before, f"[{' '.join(found)}]", *after])
    return f"{opening}{middle}{closing}"
