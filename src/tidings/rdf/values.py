"""Values: what literals denote, and how SPARQL compares, orders, tests and casts them.

None stands for "no value" (an ill-typed literal, an unknown datatype) and for SPARQL's type error. Strictness follows
XSD's lexical spaces: white space around a number makes it ill-typed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from tidings.rdf import numbers
from tidings.rdf.numbers import NUMERIC_TYPES, Kind, Number, parse_number, promoted
from tidings.rdf.temporal import (
    DURATION_TYPES,
    MOMENT_TYPES,
    XSD_DATE,
    XSD_DATETIMESTAMP,
    Duration,
    Moment,
    determinate,
    duration_key,
    duration_positions,
    format_moment,
    parse_duration,
    parse_moment,
)
from tidings.rdf.terms import (
    XSD_BOOLEAN,
    XSD_DATETIME,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_FLOAT,
    XSD_STRING,
    Term,
    iri_text,
    is_iri,
    is_literal,
    literal,
    parts,
)


class Tagged(NamedTuple):
    """A string with a language."""

    text: str
    language: str


Value: TypeAlias = Number | Moment | Duration | Tagged | bool | str

TRUE = literal("true", XSD_BOOLEAN)
FALSE = literal("false", XSD_BOOLEAN)

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_KINDS = {XSD_DECIMAL: Kind.DECIMAL, XSD_FLOAT: Kind.FLOAT, XSD_DOUBLE: Kind.DOUBLE}
_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

CASTS = frozenset(NUMERIC_TYPES | MOMENT_TYPES | DURATION_TYPES | {XSD_STRING, XSD_BOOLEAN})
"""The datatypes whose IRI is also the name of a cast."""


# Longer terms are parsed again rather than kept.
_SHORT = 256


def value_of(term: Term) -> Value | None:
    """The value of a literal; None for an ill-typed one, an unknown datatype, and what is no literal."""
    if not is_literal(term):
        return None
    return _short_value(term) if len(term) <= _SHORT else _value(term)


def _value(term: Term) -> Value | None:
    lexical, datatype, language = parts(term)
    if language is not None:
        return Tagged(lexical, language)
    return parse_value(lexical, datatype)


_short_value = lru_cache(maxsize=65_536)(_value)


def parse_value(lexical: str, datatype: str) -> Value | None:
    """The value of a lexical form in a datatype other than rdf:langString."""
    if datatype == XSD_STRING:
        return lexical
    if datatype in NUMERIC_TYPES:
        return parse_number(lexical, datatype)
    if datatype == XSD_BOOLEAN:
        return _BOOLEANS.get(lexical)
    if datatype in MOMENT_TYPES:
        return parse_moment(lexical, datatype)
    if datatype in DURATION_TYPES:
        return parse_duration(lexical, datatype)
    return None


def boolean(value: bool) -> Term:
    return TRUE if value else FALSE


def number_of(term: Term) -> Number | None:
    value = value_of(term)
    return value if isinstance(value, Number) else None


def truth(term: Term) -> bool | None:
    """The effective boolean value (SPARQL 1.1, 17.2.2)."""
    value = value_of(term)
    match value:
        case bool():
            return value
        case Number():
            return numbers.is_true(value)
        case str():
            return bool(value)
        case Tagged():
            return bool(value.text)
        case None if is_literal(term) and parts(term).datatype in NUMERIC_TYPES | {XSD_BOOLEAN}:
            return False
    return None


def compare(op: str, a: Term, b: Term) -> bool | None:
    """`a op b`, op one of `= != < <= > >=`, as SPARQL has it."""
    if op in _ORDERINGS:
        return _ordered(_ORDERINGS[op], a, b)
    same = equal(a, b)
    return same if same is None or op == "=" else not same


def equal(a: Term, b: Term) -> bool | None:
    """SPARQL's `=`: value equality where both values are known, else term equality.

    Two different literals are known to be unequal when both have values, or one has a language; an ill-typed literal or
    an unknown datatype might denote anything, so there it is an error.
    """
    if a == b:
        value = value_of(a)
        return not isinstance(value, Number) or value.value == value.value
    if not is_literal(a) or not is_literal(b):
        return False
    x, y = value_of(a), value_of(b)
    if isinstance(x, Tagged) or isinstance(y, Tagged):
        return False
    if x is None or y is None:
        return None
    if isinstance(x, Number) and isinstance(y, Number):
        p, q = promoted(x, y)
        return p == q
    if isinstance(x, Moment) and isinstance(y, Moment):
        if x.kind != y.kind:
            return False
        return x.position == y.position if determinate(x, y) else None
    return type(x) is type(y) and x == y


def _ordered(holds: Callable[[Any, Any], bool], a: Term, b: Term) -> bool | None:
    match value_of(a), value_of(b):
        case Number() as x, Number() as y:
            return holds(*promoted(x, y))
        case (str() as x, str() as y) | (bool() as x, bool() as y):
            return holds(x, y)
        case Moment() as x, Moment() as y if x.kind == y.kind and determinate(x, y):
            return holds(x.position, y.position)
        case Duration() as x, Duration() as y:
            answers = {holds(p, q) for p, q in zip(duration_positions(x), duration_positions(y), strict=True)}
            return answers.pop() if len(answers) == 1 else None
    return None


def order_key(term: Term | None) -> tuple[int, int, object, str]:
    """A total order of terms for ORDER BY, MIN and MAX: it never contradicts `<`, and ends with the term's text."""
    if term is None:
        return 0, 0, 0, ""
    if not is_literal(term):
        return (2 if is_iri(term) else 1), 0, 0, term
    value = value_of(term)
    match value:
        case bool():
            return 3, 2, value, term
        case Number():
            return 3, 0, numbers.order_key(value), term
        case str():
            return 3, 1, (value, ""), term
        case Tagged():
            return 3, 1, (value.text, value.language), term
        case Moment():
            return 3, 3, (value.kind, value.position), term
        case Duration():
            return 3, 4, duration_key(value), term
    return 3, 5, (parts(term).datatype, parts(term).lexical), term


def cast(term: Term, datatype: str) -> Term | None:
    """The value as another datatype, one of CASTS: SPARQL 1.1, 17.5, and XPath for the types not named there."""
    if is_iri(term) and datatype == XSD_STRING:
        return literal(iri_text(term))
    value = value_of(term)
    if value is None or isinstance(value, Tagged):
        return None
    if datatype == XSD_STRING:
        return literal(_to_string(term, value))
    if isinstance(value, str):
        lexical = value.strip(" \t\n\r")
        parsed = parse_value(lexical, datatype)
        return None if parsed is None else _written(parsed, datatype, lexical)
    if datatype == XSD_BOOLEAN:
        state = truth(term) if isinstance(value, bool | Number) else None
        return None if state is None else boolean(state)
    if datatype in NUMERIC_TYPES:
        return _cast_number(numbers.integer(int(value)) if isinstance(value, bool) else value, datatype)
    if isinstance(value, Moment) and datatype in MOMENT_TYPES:
        return _cast_moment(value, datatype)
    return term if isinstance(value, Duration) and parts(term).datatype == datatype else None


def _cast_number(value: Value, datatype: str) -> Term | None:
    if not isinstance(value, Number):
        return None
    converted = numbers.convert(value, _KINDS.get(datatype, Kind.INTEGER))
    if converted is None:
        return None
    text = numbers.canonical(converted)
    return None if parse_number(text, datatype) is None else literal(text, datatype)


def _cast_moment(value: Moment, datatype: str) -> Term | None:
    if datatype == XSD_DATETIMESTAMP and value.zone is None:
        return None
    if value.kind == XSD_DATE and datatype in (XSD_DATETIME, XSD_DATETIMESTAMP):
        value = value._replace(hour=0, minute=0, second=Decimal(0))
    text = format_moment(value, XSD_DATETIME if datatype == XSD_DATETIMESTAMP else datatype)
    return None if text is None else literal(text, datatype)


def _to_string(term: Term, value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Number():
            return numbers.to_text(value)
        case Moment():
            return format_moment(value, value.kind) or parts(term).lexical
    return parts(term).lexical


def _written(value: Value, datatype: str, lexical: str) -> Term:
    match value:
        case bool():
            return boolean(value)
        case Number():
            return literal(numbers.canonical(value), datatype)
    return literal(lexical, datatype)
