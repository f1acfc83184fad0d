"""Numbers: the value spaces of xsd:integer and its derived types, xsd:decimal, xsd:float and xsd:double.

Integers and decimals are exact at any size; both are `Decimal`, which is read and written in linear time where `int`
is not. Floats are rounded to single precision once. As soon as one operand is a float or double, so is the other.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import IntEnum
from typing import NamedTuple

from tidings.errors import BudgetExceeded
from tidings.rdf.terms import XSD, XSD_DECIMAL, XSD_DOUBLE, XSD_FLOAT, XSD_INTEGER, Term, literal

MAX_DIGITS = 100_000
"""Arithmetic on, or giving, exact numbers longer than this is refused."""

_LEAST_PRECISION = 34


class Kind(IntEnum):
    """The four numeric types that operators know, in the order of promotion."""

    INTEGER = 0
    DECIMAL = 1
    FLOAT = 2
    DOUBLE = 3


class Number(NamedTuple):
    """`value` is a Decimal for the exact kinds, a float for the others."""

    kind: Kind
    value: Decimal | float


_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_FLOATING = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}

_DATATYPES = {
    Kind.INTEGER: XSD_INTEGER,
    Kind.DECIMAL: XSD_DECIMAL,
    Kind.FLOAT: XSD_FLOAT,
    Kind.DOUBLE: XSD_DOUBLE,
}

_RANGES: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
INTEGER_TYPES = {XSD + name: bounds for name, bounds in _RANGES.items()}
"""Every integer type by its IRI, with its least and greatest value."""

NUMERIC_TYPES = frozenset(INTEGER_TYPES) | {XSD_DECIMAL, XSD_FLOAT, XSD_DOUBLE}


def parse_number(lexical: str, datatype: str) -> Number | None:
    """The value of a numeric literal; None where the lexical form is not one of its datatype's."""
    if datatype in INTEGER_TYPES:
        if not _INTEGER.fullmatch(lexical):
            return None
        exact = _normal(Decimal(lexical))
        least, most = INTEGER_TYPES[datatype]
        fits = (least is None or exact >= least) and (most is None or exact <= most)
        return Number(Kind.INTEGER, exact) if fits else None
    if datatype == XSD_DECIMAL:
        return Number(Kind.DECIMAL, _normal(Decimal(lexical))) if _DECIMAL.fullmatch(lexical) else None
    special = _SPECIAL.get(lexical)
    if special is None and not _FLOATING.fullmatch(lexical):
        return None
    if datatype == XSD_DOUBLE:
        return Number(Kind.DOUBLE, float(lexical) if special is None else special)
    return Number(Kind.FLOAT, _single_of_text(lexical) if special is None else special)


def integer(value: int) -> Number:
    return Number(Kind.INTEGER, Decimal(value))


def convert(number: Number, kind: Kind) -> Number | None:
    """The number as another kind, as XPath casts it; None where there is no such value (NaN is no decimal)."""
    value = number.value
    if kind >= Kind.FLOAT:
        return Number(kind, _floating(number, kind))
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = _normal(Decimal(value))
    if kind == Kind.INTEGER:
        value = _normal(Decimal(value.to_integral_value(ROUND_CEILING if value < 0 else ROUND_FLOOR, _EXACT)))
    return Number(kind, value)


def promoted(a: Number, b: Number) -> tuple[Decimal, Decimal] | tuple[float, float]:
    """Both values in the one kind in which operators take them."""
    kind = max(a.kind, b.kind)
    if kind >= Kind.FLOAT:
        return _floating(a, kind), _floating(b, kind)
    assert isinstance(a.value, Decimal)
    assert isinstance(b.value, Decimal)
    return a.value, b.value


def compute(op: str, a: Number, b: Number) -> Number | None:
    """`a op b`, op one of `+ - * /`; None for a division of exact numbers by zero.

    A result too long to be worth computing is a failure of the whole evaluation; as an error of SPARQL it would be a
    silent no.
    """
    kind = max(a.kind, b.kind)
    x, y = promoted(a, b)
    if isinstance(x, float) and isinstance(y, float):
        result = _divide_floating(x, y) if op == "/" else _FLOATING_OPERATORS[op](x, y)
        return Number(kind, _single(result) if kind == Kind.FLOAT else result)
    assert isinstance(x, Decimal)
    assert isinstance(y, Decimal)
    _check_digits(x, y)
    if op == "/":
        return Number(Kind.DECIMAL, _divide_exact(x, y)) if y else None
    exact = _normal(_EXACT_OPERATORS[op](x, y))
    _check_digits(exact)
    return Number(kind, exact)


def negate(number: Number) -> Number:
    value = number.value
    return Number(number.kind, -value if isinstance(value, float) else _normal(value.copy_negate()))


def absolute(number: Number) -> Number:
    value = number.value
    return Number(number.kind, abs(value) if isinstance(value, float) else value.copy_abs())


def round_with(number: Number, mode: str) -> Number:
    """`CEIL`, `FLOOR` or `ROUND` (a half goes up), in the kind of the number."""
    value = number.value
    if isinstance(value, float) and not math.isfinite(value):
        return number
    exact = Decimal(value)
    if mode == "ROUND":
        exact = _EXACT.add(exact, Decimal("0.5"))
    exact = exact.to_integral_value(ROUND_CEILING if mode == "CEIL" else ROUND_FLOOR, _EXACT)
    if isinstance(value, float):
        return Number(number.kind, math.copysign(float(exact), value if not exact else float(exact)))
    return Number(number.kind, _normal(exact))


def is_true(number: Number) -> bool:
    """The effective boolean value: neither zero nor NaN."""
    return bool(number.value) and number.value == number.value


def order_key(number: Number) -> tuple[int, Decimal]:
    """A total order that never contradicts `<`: exact values, NaN first."""
    value = number.value
    if value != value:
        return 0, Decimal(0)
    return 1, Decimal(value)


def to_term(number: Number) -> Term:
    """The number as a literal in canonical form."""
    return literal(canonical(number), _DATATYPES[number.kind])


def canonical(number: Number) -> str:
    """XSD's canonical form: `5`, `2.5`, `1.0E1`."""
    value = number.value
    if isinstance(value, Decimal):
        return _plain(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    sign, digits, exponent = _shortest(value, number.kind)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def to_text(number: Number) -> str:
    """What XPath's cast to a string gives: like the canonical form, doubles of usual size without an exponent."""
    value = number.value
    if isinstance(value, Decimal) or not math.isfinite(value):
        return canonical(number)
    if value and not 1e-6 <= abs(value) < 1e6:
        return canonical(number)
    sign, digits, exponent = _shortest(value, number.kind)
    return sign + _plain(Decimal((0, tuple(map(int, digits)), exponent - len(digits) + 1)))


_FLOATING_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_EXACT_OPERATORS: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": _EXACT.add,
    "-": _EXACT.subtract,
    "*": _EXACT.multiply,
}


def _normal(value: Decimal) -> Decimal:
    """Exact numbers have one zero."""
    return value or Decimal(0)


def _check_digits(*values: Decimal) -> None:
    if max(map(_digits, values)) > MAX_DIGITS:
        raise BudgetExceeded(f"a computation with numbers of more than {MAX_DIGITS:,} digits")


def _digits(value: Decimal) -> int:
    exponent = value.as_tuple().exponent if value.is_zero() else value.adjusted()
    assert isinstance(exponent, int)
    return max(len(value.as_tuple().digits), abs(exponent))


def _divide_exact(x: Decimal, y: Decimal) -> Decimal:
    """The quotient to 34 significant digits, and at least that many behind the point where it is large."""
    whole = max(0, x.adjusted() - y.adjusted() + 1) if x else 0
    return _normal(Context(prec=_LEAST_PRECISION + whole, Emax=MAX_EMAX, Emin=MIN_EMIN).divide(x, y))


def _divide_floating(x: float, y: float) -> float:
    if y:
        return x / y
    if not x or math.isnan(x):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _shortest(value: float, kind: Kind) -> tuple[str, str, int]:
    """Sign, fewest digits that read back as the same value, and the exponent of the first digit."""
    if kind == Kind.DOUBLE:
        text = repr(value)
    else:
        text = next(t for t in (f"{value:.{n}e}" for n in range(9)) if _single(float(t)) == value)
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    significant = "".join(map(str, digits)).rstrip("0") or "0"
    return "-" if sign else "", significant, (exponent + len(digits) - 1) if value else 0


def _floating(number: Number, kind: Kind) -> float:
    value = number.value
    if kind == Kind.DOUBLE:
        return float(value)
    return _single(value) if isinstance(value, float) else _single_of_text(format(value, "f"))


def _single(value: float) -> float:
    """The nearest single precision number."""
    try:
        result: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return result


def _single_of_text(text: str) -> float:
    """The nearest single precision number to a decimal text.

    Rounding to double and then to single may round twice. Rounding to odd first does not: the double keeps, in its
    last bit, that something was cut off.
    """
    double = float(text)
    if not double or math.isinf(double):
        return double
    exact = Decimal(text)
    if exact == Decimal(double):
        return _single(double)
    cut = math.nextafter(double, 0.0) if abs(Decimal(double)) > abs(exact) else double
    bits: int = struct.unpack("q", struct.pack("d", cut))[0]
    return _single(cut if bits & 1 else math.nextafter(cut, math.copysign(math.inf, double)))
