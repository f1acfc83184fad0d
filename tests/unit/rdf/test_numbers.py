"""Numbers: exact ones at any size, floats rounded once, arithmetic, rounding, text."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from tidings.errors import BudgetExceeded
from tidings.rdf import numbers
from tidings.rdf.numbers import MAX_DIGITS, Kind, Number, canonical, compute, parse_number, promoted, to_text
from tidings.rdf.terms import XSD


def number(text: str, datatype: str) -> Number:
    found = parse_number(text, XSD + datatype)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "datatype", "value"),
    [
        ("5", "integer", 5),
        ("+05", "integer", 5),
        ("-0", "integer", 0),
        ("9" * 5_000, "integer", Decimal("9" * 5_000)),
        ("127", "byte", 127),
        ("5.", "decimal", 5),
        (".5", "decimal", Decimal("0.5")),
        ("1.50", "decimal", Decimal("1.5")),
        ("1e2", "double", 100.0),
        ("1e400", "double", math.inf),
        ("-INF", "double", -math.inf),
        ("0.1", "float", 0.10000000149011612),
        ("1e40", "float", math.inf),
        ("16777217", "float", 16777216.0),
    ],
)
def test_values(text: str, datatype: str, value: object) -> None:
    assert number(text, datatype).value == value


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("", "integer"),
        (" 5", "integer"),
        ("5\n", "integer"),
        ("5.0", "integer"),
        ("٥", "integer"),
        ("1_0", "integer"),
        ("300", "byte"),
        ("-1", "unsignedInt"),
        ("0", "positiveInteger"),
        ("1", "nonPositiveInteger"),
        (str(2**63), "long"),
        ("1e2", "decimal"),
        (".", "decimal"),
        ("inf", "double"),
        ("nan", "float"),
        ("0x1p3", "double"),
    ],
)
def test_ill_typed(text: str, datatype: str) -> None:
    assert parse_number(text, XSD + datatype) is None


def test_float_is_rounded_once() -> None:
    # Just above the middle of two singles: rounding to double first would land on the middle, and then go to even.
    assert number("1.00000005960464477539062500001", "float").value == 1.0000001192092896
    assert number("1.000000059604644775390625", "float").value == 1.0


def test_promotion() -> None:
    assert promoted(number("0.1", "decimal"), number("0.1", "double")) == (0.1, 0.1)
    big, bigger = number("9007199254740992", "integer"), number("9007199254740993", "integer")
    assert big.value != bigger.value
    double = number("9007199254740992", "double")
    assert promoted(bigger, double)[0] == double.value


@pytest.mark.parametrize(
    ("op", "a", "b", "result"),
    [
        ("+", ("1", "integer"), ("2", "byte"), "3"),
        ("*", ("1" * 40, "integer"), ("10", "integer"), "1" * 40 + "0"),
        ("-", ("0.3", "decimal"), ("0.1", "decimal"), "0.2"),
        ("/", ("10", "integer"), ("4", "integer"), "2.5"),
        ("/", ("1", "double"), ("0", "integer"), "INF"),
        ("/", ("-1", "double"), ("0", "integer"), "-INF"),
        ("/", ("0", "double"), ("0", "integer"), "NaN"),
        ("+", ("1", "float"), ("1", "decimal"), "2.0E0"),
        ("*", ("1e30", "float"), ("1e30", "float"), "INF"),
    ],
)
def test_arithmetic(op: str, a: tuple[str, str], b: tuple[str, str], result: str) -> None:
    found = compute(op, number(*a), number(*b))
    assert found is not None
    assert canonical(found) == result


def test_division_has_many_digits() -> None:
    third = compute("/", number("1", "integer"), number("3", "integer"))
    assert third is not None
    assert canonical(third).startswith("0." + "3" * 30)
    assert third.kind == Kind.DECIMAL
    large = compute("/", number("1" + "0" * 50, "integer"), number("3", "integer"))
    assert large is not None
    assert canonical(large).partition(".")[0] == "3" * 50


def test_no_value() -> None:
    assert compute("/", number("1", "integer"), number("0", "integer")) is None


def test_too_long_to_compute_is_a_failure_and_no_silent_error() -> None:
    huge = number("9" * MAX_DIGITS, "integer")
    longer = number("9" * (MAX_DIGITS + 1), "integer")
    with pytest.raises(BudgetExceeded, match="100,000 digits"):
        compute("*", huge, huge)
    with pytest.raises(BudgetExceeded, match="100,000 digits"):
        compute("-", longer, longer)


@pytest.mark.parametrize(
    ("text", "datatype", "modes"),
    [
        ("2.5", "decimal", {"ROUND": "3", "CEIL": "3", "FLOOR": "2"}),
        ("-2.5", "decimal", {"ROUND": "-2", "CEIL": "-2", "FLOOR": "-3"}),
        ("-0.4", "double", {"ROUND": "-0.0E0", "CEIL": "-0.0E0", "FLOOR": "-1.0E0"}),
        ("0.49999999999999994", "double", {"ROUND": "0.0E0", "CEIL": "1.0E0", "FLOOR": "0.0E0"}),
        ("INF", "double", {"ROUND": "INF"}),
        ("7", "integer", {"ROUND": "7"}),
    ],
)
def test_rounding(text: str, datatype: str, modes: dict[str, str]) -> None:
    found = {mode: canonical(numbers.round_with(number(text, datatype), mode)) for mode in modes}
    assert found == modes


@pytest.mark.parametrize(
    ("text", "datatype", "canonically", "cast"),
    [
        ("007", "integer", "7", "7"),
        ("2.500", "decimal", "2.5", "2.5"),
        ("3.0", "decimal", "3", "3"),
        ("100", "double", "1.0E2", "100"),
        ("1234567", "double", "1.234567E6", "1.234567E6"),
        ("1e-7", "double", "1.0E-7", "1.0E-7"),
        ("0.1", "float", "1.0E-1", "0.1"),
        ("-0", "double", "-0.0E0", "-0"),
        ("NaN", "float", "NaN", "NaN"),
        ("-INF", "double", "-INF", "-INF"),
    ],
)
def test_text(text: str, datatype: str, canonically: str, cast: str) -> None:
    assert canonical(number(text, datatype)) == canonically
    assert to_text(number(text, datatype)) == cast


def test_convert() -> None:
    truncated = numbers.convert(number("-2.7", "double"), Kind.INTEGER)
    assert truncated is not None
    assert canonical(truncated) == "-2"
    assert numbers.convert(number("NaN", "double"), Kind.DECIMAL) is None
    exact = numbers.convert(number("0.1", "double"), Kind.DECIMAL)
    assert exact is not None
    assert exact.value == Decimal.from_float(0.1)
