"""What one comparison with a constant says about another: `?x > 5` implies `?x > 3` and contradicts `?x < 4`.

Only what holds for every value of the variable is claimed. Three things stand in the way of plain arithmetic:

- A float or double meets an exact constant rounded (0.1 = 0.1e0 is true), so two constants are surely different only
  with a gap between them that no rounding closes, and are comparable without one only if rounded alike.
- In SPARQL a comparison holds only for values of the constant's kind; two kinds exclude each other.
- In G-ToPSS a value of another kind is compared with the constant as text, so a claim must hold for texts as well.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from tidings.lang.pattern import Call, Const, Constraint, Expr, Var
from tidings.rdf.numbers import Kind, Number
from tidings.rdf.temporal import XSD_DATE, XSD_GYEAR, XSD_GYEARMONTH, Moment
from tidings.rdf.terms import XSD_DATETIME, Term, is_literal, parts
from tidings.rdf.values import value_of

_MIRROR = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATION = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_TIME_LINE = frozenset({XSD_DATE, XSD_DATETIME, XSD_GYEAR, XSD_GYEARMONTH})

_RELATIVE_GAP = Decimal(2) ** -20
_ABSOLUTE_GAP = Decimal("1e-37")
_LARGEST = Decimal("3.4e38")


class Comparison(NamedTuple):
    """`var op value`; `text_too` is G-ToPSS's way to compare."""

    var: Var
    op: str
    value: Term
    text_too: bool


class _Point(NamedTuple):
    """A constant on the line of its kind. Numbers with the same `rounding` meet another number rounded alike."""

    kind: str
    rounding: int
    value: Any


def comparison_of(expr: Expr) -> Comparison | None:
    """The comparison an expression is, if it is one of a variable with a constant."""
    match expr:
        case Call(op=op, args=(Var() as var, Const(term=term))) if op in _MIRROR:
            return Comparison(var, op, term, False)
        case Call(op=op, args=(Const(term=term), Var() as var)) if op in _MIRROR:
            return Comparison(var, _MIRROR[op], term, False)
        case Call(op="IN", args=(Var() as var, Const(term=term))):
            return Comparison(var, "=", term, False)
        case Constraint(var=var, op=op, value=value) if is_literal(value):
            return Comparison(var, op, value, True)
    return None


def implies(a: Comparison, b: Comparison) -> bool:
    """Whether every value for which `a` holds is one for which `b` does; both are of the same variable."""
    if a.text_too != b.text_too:
        return False
    if (a.op, a.value) == (b.op, b.value):
        return True
    if a.text_too:
        lexical = _implies(a.op, _text(a.value), b.op, _text(b.value))
        return lexical and _same_kind_implies(_time_line(a.value), a.op, _time_line(b.value), b.op)
    x, y = _point(a.value), _point(b.value)
    return x is not None and y is not None and x.kind == y.kind and _implies(a.op, x, b.op, y)


def contradicts(a: Comparison, b: Comparison) -> bool:
    """Whether no value satisfies both."""
    if a.text_too != b.text_too:
        return False
    if not a.text_too and "!=" not in (a.op, b.op):
        kinds = _kind(a.value), _kind(b.value)
        if None not in kinds and kinds[0] != kinds[1]:
            return True
        if kinds[0] == "resource" and (a.op, b.op) == ("=", "=") and a.value != b.value:
            return True
    if a.value == b.value and {a.op, b.op} == {"=", "!="}:
        return True
    return implies(a, b._replace(op=_NEGATION[b.op])) or implies(b, a._replace(op=_NEGATION[a.op]))


def holds(a: Term, op: str, b: Term) -> bool:
    """Whether SPARQL's comparison of two constants is surely true."""
    x, y = _point(a), _point(b)
    if x is None or y is None:
        return a == b and op == "=" and not is_literal(a)
    return x.kind == y.kind and _implies("=", x, op, y)


def selects_xsd(comparison: Comparison) -> bool:
    """Whether it holds for literals of XSD's types alone."""
    return not comparison.text_too and comparison.op != "!=" and _point(comparison.value) is not None


# --------------------------------------------------------------------------------------------------------------- points


def _same_kind_implies(x: _Point | None, a: str, y: _Point | None, b: str) -> bool:
    """For values of the kind of one constant but not of the other, one comparison would be by value, one by text."""
    if x is None or y is None:
        return x is y
    return x.kind == y.kind and _implies(a, x, b, y)


def _implies(a: str, x: _Point, b: str, y: _Point) -> bool:
    """`v a x` implies `v b y`, for every v of the kind of x and y."""
    if a == "!=":
        return b == "!=" and x == y
    if a in ("<", "<="):
        return _implies_above(_MIRROR[a], x, _MIRROR[b], y, down=True)
    if a == "=" and b in ("<", "<="):
        return _implies_above(">=", x, _MIRROR[b], y, down=True)
    if a == "=" and b == "=":
        return x == y
    if a == "=" and b == "!=":
        return _beyond(x, y, False) or _beyond(x, y, True)
    return _implies_above(">=" if a == "=" else a, x, b, y, down=False)


def _implies_above(a: str, x: _Point, b: str, y: _Point, down: bool) -> bool:
    """The same for `a` one of `>` and `>=`; `down` reads both the other way round."""
    if b == ">=" or (b in (">", "!=") and a == ">"):
        return _not_before(x, y, down)
    return b in (">", "!=") and _beyond(x, y, down)


def _not_before(x: _Point, y: _Point, down: bool) -> bool:
    """What is at or beyond x is at or beyond y, and what is beyond x is beyond y."""
    alike = x.rounding == y.rounding
    return (alike and (x.value <= y.value if down else x.value >= y.value)) or _beyond(x, y, down)


def _beyond(x: _Point, y: _Point, down: bool) -> bool:
    """What is at x or beyond is beyond y, however it is rounded."""
    if x.kind != "number":
        return bool(x.value < y.value if down else x.value > y.value)
    near, far = _clamped(y.value), _clamped(x.value)
    if down:
        near, far = far, near
    return far - near > _RELATIVE_GAP * max(abs(far), abs(near)) + _ABSOLUTE_GAP


def _clamped(value: Decimal | float) -> Decimal:
    exact = Decimal(value)
    return max(min(exact, _LARGEST), -_LARGEST)


@lru_cache(maxsize=65_536)
def _point(term: Term) -> _Point | None:
    """The constant among SPARQL's values whose order is total; None for other kinds, and for NaN."""
    value = value_of(term)
    match value:
        case bool():
            return _Point("boolean", 0, value)
        case Number():
            return _number(value)
        case str():
            return _Point("string", 0, value)
        case Moment(kind=kind, position=position) if kind == XSD_DATETIME:
            return _Point("dateTime", 0, position)
    return None


@lru_cache(maxsize=65_536)
def _time_line(term: Term) -> _Point | None:
    """The constant among the values that G-ToPSS compares as such: numbers and moments of the time line."""
    value = value_of(term)
    if isinstance(value, Number):
        return _number(value) or _Point("NaN", 0, 0)
    if isinstance(value, Moment):
        return _Point("moment" if value.kind in _TIME_LINE else value.kind, 0, value.position)
    return None


def _number(number: Number) -> _Point | None:
    if number.value != number.value:
        return None
    return _Point("number", 0 if number.kind <= Kind.DECIMAL else int(number.kind), number.value)


def _text(term: Term) -> _Point:
    return _Point("text", 0, parts(term).lexical)


def _kind(term: Term) -> str | None:
    """The kind of values for which a comparison other than `!=` with the constant can hold; None: not known."""
    if not is_literal(term):
        return "resource"
    point = _point(term)
    return point.kind if point is not None else None
