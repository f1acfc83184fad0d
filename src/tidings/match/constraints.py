"""The constraints of G-ToPSS: a value comparison against a literal, is-a against a class."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tidings.match.meaning import Meaning
from tidings.rdf.numbers import Number, promoted
from tidings.rdf.temporal import XSD_DATE, XSD_GYEAR, XSD_GYEARMONTH, Moment
from tidings.rdf.terms import XSD_DATETIME, Term, is_literal, parts
from tidings.rdf.values import value_of

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# These stand for a stretch of one time line and compare by where it starts.
_ON_TIME_LINE = frozenset([XSD_DATETIME, XSD_DATE, XSD_GYEAR, XSD_GYEARMONTH])


def satisfies(node: Term, op: str, value: Term, meaning: Meaning) -> bool:
    """Whether `node op value` holds: never between a literal and what is none, not even `!=`."""
    if is_literal(value):
        return is_literal(node) and _compare(node, op, value)
    return not is_literal(node) and _is_a(node, op, value, meaning)


def _compare(node: Term, op: str, value: Term) -> bool:
    holds = _OPERATORS[op]
    match value_of(node), value_of(value):
        case Number() as x, Number() as y:
            return holds(*promoted(x, y))
        case Moment() as x, Moment() as y if x.kind == y.kind or {x.kind, y.kind} <= _ON_TIME_LINE:
            return holds(x.position, y.position)
    return holds(parts(node).lexical, parts(value).lexical)


def _is_a(node: Term, op: str, cls: Term, meaning: Meaning) -> bool:
    match op:
        case "=":
            return meaning.has_edge(node, cls)
        case "!=":
            return not meaning.has_edge(node, cls)
        case "<=":
            return meaning.is_a(node, cls)
        case "<":
            return meaning.is_a(node, cls) and not meaning.is_same(node, cls)
        case ">=":
            return meaning.is_a(cls, node)
    return meaning.is_a(cls, node) and not meaning.is_same(node, cls)
