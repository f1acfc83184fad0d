"""Values of literals: equality, order, truth and casts, as SPARQL has them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tidings.rdf.terms import XSD, Term, blank, iri, literal
from tidings.rdf.values import FALSE, TRUE, cast, compare, equal, order_key, truth, value_of


def typed(text: str, datatype: str) -> Term:
    return literal(text, XSD + datatype)


IRI = iri("http://e.x/a")
UNKNOWN = literal("a", "http://e.x/type")


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (typed("5", "integer"), typed("05", "int"), True),
        (typed("5", "integer"), typed("5.0", "decimal"), True),
        (typed("0.1", "decimal"), typed("1e-1", "double"), True),
        (typed("0.1", "float"), typed("0.1", "double"), False),
        (typed("9" * 30, "integer"), typed("9" * 29 + "8", "integer"), False),
        (typed("NaN", "double"), typed("NaN", "double"), False),
        (typed("0", "double"), typed("-0", "double"), True),
        (typed("1", "boolean"), typed("true", "boolean"), True),
        (literal("a"), typed("a", "string"), True),
        (literal("a"), literal("b"), False),
        (literal("a", None, "en"), literal("a", None, "EN"), True),
        (literal("a", None, "en"), literal("a", None, "fr"), False),
        (literal("a", None, "en"), literal("a"), False),
        (literal("a", None, "en"), UNKNOWN, False),
        (literal("5"), typed("5", "integer"), False),
        (typed("x", "integer"), typed("x", "integer"), True),
        (typed("x", "integer"), typed("y", "integer"), None),
        (typed("x", "integer"), literal("x"), None),
        (UNKNOWN, UNKNOWN, True),
        (UNKNOWN, literal("b", "http://e.x/type"), None),
        (UNKNOWN, literal("a"), None),
        (IRI, IRI, True),
        (IRI, iri("http://e.x/b"), False),
        (IRI, literal("http://e.x/a"), False),
        (IRI, blank("a"), False),
        (typed("2000-01-01T00:00:00Z", "dateTime"), typed("2000-01-01T01:00:00+01:00", "dateTime"), True),
        (typed("2000-01-01T00:00:00Z", "dateTime"), typed("2000-01-01T00:00:00", "dateTime"), True),
        (typed("2000-01-01T00:00:00Z", "dateTimeStamp"), typed("2000-01-01T00:00:00Z", "dateTime"), True),
        (typed("2000-01-01", "date"), typed("2000-01-01Z", "date"), None),
        (typed("2000-01-01", "date"), typed("2000-01-03Z", "date"), False),
        (typed("2000-01-01", "date"), typed("2000-01-01T00:00:00", "dateTime"), False),
        (typed("P1Y", "yearMonthDuration"), typed("P12M", "duration"), True),
    ],
)
def test_equal(a: Term, b: Term, same: bool | None) -> None:
    assert equal(a, b) is same
    assert equal(b, a) is same
    assert compare("!=", a, b) is (None if same is None else not same)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (typed("5", "integer"), typed("10", "byte")),
        (typed("9" * 40, "integer"), typed("9" * 40 + ".5", "decimal")),
        (typed("-INF", "double"), typed("0", "integer")),
        (literal("Z"), literal("a")),
        (literal("\uffff"), literal("\U00010000")),
        (typed("false", "boolean"), typed("1", "boolean")),
        (typed("1999-12-31T23:59:59.999", "dateTime"), typed("2000-01-01T00:00:00Z", "dateTime")),
        (typed("2000-01-01", "date"), typed("2000-01-02", "date")),
        (typed("1999", "gYear"), typed("2000", "gYear")),
        (typed("PT1H", "dayTimeDuration"), typed("P1D", "dayTimeDuration")),
        (typed("P1M", "duration"), typed("P32D", "duration")),
    ],
)
def test_order(a: Term, b: Term) -> None:
    assert [compare(op, a, b) for op in ("<", "<=", ">", ">=")] == [True, True, False, False]
    assert [compare(op, b, a) for op in ("<", "<=", ">", ">=")] == [False, False, True, True]
    assert order_key(a) < order_key(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (typed("5", "integer"), literal("5")),
        (literal("a", None, "en"), literal("b", None, "en")),
        (IRI, IRI),
        (UNKNOWN, UNKNOWN),
        (typed("x", "integer"), typed("5", "integer")),
        (typed("2000-01-01", "date"), typed("2000-01-02T00:00:00", "dateTime")),
        (typed("P1M", "duration"), typed("P30D", "duration")),
    ],
)
def test_no_order(a: Term, b: Term) -> None:
    assert compare("<", a, b) is None
    assert compare(">=", a, b) is None


def test_nan_compares_false() -> None:
    nan, one = typed("NaN", "double"), typed("1", "integer")
    assert [compare(op, nan, one) for op in ("<", "<=", ">", ">=", "=", "!=")] == [*[False] * 5, True]


@pytest.mark.parametrize(
    ("term", "state"),
    [
        (TRUE, True),
        (typed("0", "boolean"), False),
        (typed("yes", "boolean"), False),
        (typed("0", "integer"), False),
        (typed("0.0", "decimal"), False),
        (typed("NaN", "double"), False),
        (typed("abc", "integer"), False),
        (typed("-1", "byte"), True),
        (literal(""), False),
        (literal("false"), True),
        (literal("x", None, "en"), True),
        (typed("2000-01-01", "date"), None),
        (UNKNOWN, None),
        (IRI, None),
        (blank("b"), None),
    ],
)
def test_truth(term: Term, state: bool | None) -> None:
    assert truth(term) is state


def test_total_order() -> None:
    terms = [
        None,
        blank("b"),
        IRI,
        typed("NaN", "double"),
        typed("-5", "integer"),
        typed("1", "float"),
        typed("1.5", "decimal"),
        literal("a"),
        literal("a", None, "en"),
        literal("b"),
        FALSE,
        TRUE,
        typed("2000-01-01", "date"),
        typed("2000-01-02", "date"),
        UNKNOWN,
    ]
    keys = [order_key(term) for term in terms]
    assert all(a < b for a, b in pairwise(keys))


@pytest.mark.parametrize(
    ("term", "datatype", "result"),
    [
        (IRI, "string", literal("http://e.x/a")),
        (typed("05", "integer"), "string", literal("5")),
        (typed("1.50", "decimal"), "string", literal("1.5")),
        (typed("1e0", "double"), "string", literal("1")),
        (typed("1", "boolean"), "string", literal("true")),
        (literal(" 5 "), "integer", typed("5", "integer")),
        (literal("5.5"), "integer", None),
        (literal("5.5"), "decimal", typed("5.5", "decimal")),
        (literal("1"), "boolean", TRUE),
        (literal("maybe"), "boolean", None),
        (typed("2.9", "double"), "integer", typed("2", "integer")),
        (typed("300", "integer"), "byte", None),
        (typed("INF", "double"), "integer", None),
        (typed("NaN", "double"), "boolean", FALSE),
        (typed("7", "integer"), "double", typed("7.0E0", "double")),
        (typed("0.1", "decimal"), "float", typed("1.0E-1", "float")),
        (TRUE, "integer", typed("1", "integer")),
        (literal("2000-01-01T00:00:00Z"), "dateTime", typed("2000-01-01T00:00:00Z", "dateTime")),
        (literal("yesterday"), "dateTime", None),
        (typed("2000-01-01T10:00:00Z", "dateTime"), "date", typed("2000-01-01Z", "date")),
        (typed("2000-01-01", "date"), "dateTime", typed("2000-01-01T00:00:00", "dateTime")),
        (typed("2000-01-01", "date"), "gYear", typed("2000", "gYear")),
        (typed("2000-01-01", "date"), "integer", None),
        (typed("5", "integer"), "date", None),
        (literal("5", None, "en"), "integer", None),
        (UNKNOWN, "string", None),
        (blank("b"), "string", None),
        (IRI, "integer", None),
    ],
)
def test_cast(term: Term, datatype: str, result: Term | None) -> None:
    assert cast(term, XSD + datatype) == result


def test_long_literals_have_values_too() -> None:
    assert equal(typed("1" * 5_000, "integer"), typed("0" + "1" * 5_000, "integer")) is True
    assert value_of(literal("x" * 1_000)) == "x" * 1_000
