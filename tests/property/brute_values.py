"""Values of literals for the brute-force checks, on Python's own numbers and nothing from the package."""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from tests.property import model as m


class TypeProblem(Exception):
    """SPARQL's error: an expression without a value."""


class Value(NamedTuple):
    """`space` is the value space: integer, decimal, float and double are all "number".

    `kind` is which of these, and for a time whether it has a "zone".
    """

    space: str
    value: object
    kind: str = ""


_RANGES: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-128, 127),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
}
_KINDS = ("integer", "decimal", "float", "double")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|INF)|NaN")
_ZONE = r"(Z|[+-][0-9]{2}:[0-9]{2})?"
_DATE = re.compile(r"(-?[0-9]{4,})-([0-9]{2})-([0-9]{2})" + _ZONE)
_DATETIME = re.compile(r"(-?[0-9]{4,})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)" + _ZONE)
_GYEAR = re.compile(r"(-?[0-9]{4,})" + _ZONE)
_GYEARMONTH = re.compile(r"(-?[0-9]{4,})-([0-9]{2})" + _ZONE)
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)" + _ZONE)


@cache
def value_of(term: m.Lit) -> Value | None:
    """The value, or None where the literal is ill-typed or of an unknown datatype."""
    lexical, datatype = term.lexical, term.datatype
    if term.language:
        return Value("tagged", (lexical, term.language.lower()))
    if not datatype.startswith(m.XSD):
        return None
    name = datatype.removeprefix(m.XSD)
    if name == "string":
        return Value("string", lexical)
    if name == "boolean":
        known = {"true": True, "1": True, "false": False, "0": False}
        return Value("boolean", known[lexical]) if lexical in known else None
    if name in _RANGES:
        least, most = _RANGES[name]
        if not _INTEGER.fullmatch(lexical):
            return None
        number = int(lexical)
        inside = (least is None or least <= number) and (most is None or number <= most)
        return Value("number", Fraction(number), "integer") if inside else None
    if name == "decimal":
        return Value("number", Fraction(lexical), "decimal") if _DECIMAL.fullmatch(lexical) else None
    if name in ("float", "double"):
        if not _DOUBLE.fullmatch(lexical):
            return None
        number = float(lexical.replace("INF", "inf"))
        return Value("number", single(number) if name == "float" else number, name)
    instant = _instant(name, lexical)
    zone = "zone" if re.search(_ZONE[:-1] + "$", lexical) else ""
    return Value(name.removesuffix("Stamp"), instant, zone) if instant is not None else None


def single(number: float) -> float:
    """Rounded to single precision."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _instant(name: str, lexical: str) -> Fraction | None:
    """Seconds on the time line (or since midnight), an absent time zone being UTC."""
    if name in ("dateTime", "dateTimeStamp") and (found := _DATETIME.fullmatch(lexical)):
        year, month, day, hour, minute, second, zone = found.groups()
        if name == "dateTimeStamp" and not zone:
            return None
        return _seconds(int(year), int(month), int(day), int(hour), int(minute), Fraction(second), zone)
    if name == "date" and (found := _DATE.fullmatch(lexical)):
        year, month, day, zone = found.groups()
        return _seconds(int(year), int(month), int(day), 0, 0, Fraction(0), zone)
    if name == "gYear" and (found := _GYEAR.fullmatch(lexical)):
        return _seconds(int(found[1]), 1, 1, 0, 0, Fraction(0), found[2])
    if name == "gYearMonth" and (found := _GYEARMONTH.fullmatch(lexical)):
        return _seconds(int(found[1]), int(found[2]), 1, 0, 0, Fraction(0), found[3])
    if name == "time" and (found := _TIME.fullmatch(lexical)):
        hour, minute, second, zone = found.groups()
        return _seconds(1972, 12, 31, int(hour), int(minute), Fraction(second), zone)
    return None


_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _seconds(
    year: int, month: int, day: int, hour: int, minute: int, second: Fraction, zone: str | None
) -> Fraction | None:
    if not (1 <= month <= 12 and 1 <= day <= _MONTHS[month - 1] + (month == 2 and _leap(year))):
        return None
    if not (hour < 24 and minute < 60 and second < 60):
        return None
    days = sum(366 if _leap(y) else 365 for y in range(1900, year)) - sum(
        366 if _leap(y) else 365 for y in range(year, 1900)
    )
    days += sum(_MONTHS[: month - 1]) + (1 if month > 2 and _leap(year) else 0) + day - 1
    offset = 0
    if zone and zone != "Z":
        offset = (int(zone[1:3]) * 60 + int(zone[4:6])) * (-1 if zone[0] == "-" else 1)
    return Fraction(days * 86400 + hour * 3600 + (minute - offset) * 60) + second


# ----------------------------------------------------------------------------------------------------------- comparison


def promote(left: Value, right: Value) -> tuple[object, object, str]:
    """Two numbers in the wider of their kinds."""
    kind = max(left.kind, right.kind, key=_KINDS.index)
    return _in_kind(left.value, kind), _in_kind(right.value, kind), kind


def _in_kind(number: object, kind: str) -> object:
    if kind in ("integer", "decimal"):
        return number
    assert isinstance(number, Fraction | float)
    try:
        wide = float(number)
    except OverflowError:
        wide = math.inf if number > 0 else -math.inf
    return single(wide) if kind == "float" else wide


def equal(left: m.RdfTerm, right: m.RdfTerm) -> bool:
    """SPARQL's `=`, with an error where two literals may or may not be the same value."""
    if not (isinstance(left, m.Lit) and isinstance(right, m.Lit)):
        return left == right
    a, b = value_of(left), value_of(right)
    if a and b and a.space == b.space:
        return _compare(a, b, "=")
    if left == right:
        return True
    if "tagged" in (a.space if a else "", b.space if b else ""):
        return False
    if a is None or b is None:
        raise TypeProblem(f"{left} and {right} may be the same value")
    return False


_ORDERED = {"number", "string", "boolean", "dateTime", "date"}


def less(left: m.RdfTerm, right: m.RdfTerm, op: str) -> bool:
    """SPARQL's `<`, `<=`, `>`, `>=`."""
    if isinstance(left, m.Lit) and isinstance(right, m.Lit):
        a, b = value_of(left), value_of(right)
        if a and b and a.space == b.space and a.space in _ORDERED:
            return _compare(a, b, op)
    raise TypeProblem(f"no order between {left} and {right}")


def _compare(a: Value, b: Value, op: str) -> bool:
    if a.space == "number":
        x, y, _ = promote(a, b)
        return compare(x, y, op)
    if a.space == "date" and a.kind != b.kind and abs(_seconds_of(a) - _seconds_of(b)) <= 14 * 3600:
        raise TypeProblem("a date without a time zone may be up to fourteen hours to either side")
    return compare(a.value, b.value, op)


def _seconds_of(value: Value) -> Fraction:
    assert isinstance(value.value, Fraction)
    return value.value


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(x: object, y: object, op: str) -> bool:
    return _OPERATORS[op](x, y)


def truth(term: m.RdfTerm) -> bool:
    """The effective boolean value."""
    if isinstance(term, m.Lit):
        value = value_of(term)
        name = term.datatype.removeprefix(m.XSD)
        if name == "boolean" or name in _RANGES or name in _KINDS:
            if value is None:
                return False
            return bool(value.value) and not (isinstance(value.value, float) and math.isnan(value.value))
        if name == "string" or term.language:
            return term.lexical != ""
    raise TypeProblem(f"{term} is neither true nor false")


# ----------------------------------------------------------------------------------------------------------- arithmetic


def arithmetic(op: str, left: m.RdfTerm, right: m.RdfTerm) -> m.Lit:
    a = value_of(left) if isinstance(left, m.Lit) else None
    b = value_of(right) if isinstance(right, m.Lit) else None
    if not (a and b and a.space == b.space == "number"):
        raise TypeProblem(f"{left} {op} {right}")
    x, y, kind = promote(a, b)
    assert isinstance(x, Fraction | float)
    assert isinstance(y, Fraction | float)
    if op == "/":
        if kind in ("integer", "decimal"):
            if y == 0:
                raise TypeProblem("division by zero")
            return number_term(x / y, "decimal")
        return number_term(_float_division(float(x), float(y)), kind)
    return number_term({"+": x + y, "-": x - y, "*": x * y}[op], kind)


def _float_division(x: float, y: float) -> float:
    if y != 0:
        return x / y
    if x == 0 or math.isnan(x):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def number_term(number: Fraction | float, kind: str) -> m.Lit:
    """A computed number; its lexical form counts for nothing, results are compared by `computed_key`."""
    if kind == "integer":
        return m.integer(int(number))
    if kind == "decimal":
        return m.Lit(_decimal(Fraction(number)), m.XSD + "decimal")
    number = single(float(number)) if kind == "float" else float(number)
    lexical = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(str(number), repr(number))
    return m.Lit(lexical, m.XSD + kind)


def _decimal(number: Fraction) -> str:
    digits = 40
    scaled = round(abs(number) * 10**digits)
    text = str(scaled).rjust(digits + 1, "0")
    whole, rest = text[:-digits], text[-digits:].rstrip("0")
    return ("-" if number < 0 else "") + whole + (f".{rest}" if rest else "")


def computed_key(term: m.Lit) -> tuple[str, object]:
    """What a computed number is compared by: its datatype and value, inexact ones as far as both sides can know."""
    value = value_of(term)
    if value is None or value.space != "number":
        return ("term", term)
    number = value.value
    if isinstance(number, float):
        return (value.kind, f"{number:.12e}" if value.kind == "double" else f"{number:.5e}")
    assert isinstance(number, Fraction)
    return (value.kind, round(number, 12))
