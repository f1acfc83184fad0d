"""Expressions: precedence, calls, aggregates, and what is refused."""

from __future__ import annotations

import pytest

from tidings.errors import SubscriptionError
from tidings.lang import parse, to_text
from tidings.lang.pattern import Aggregate, Block, Call, Const, Expr, FtContains, FtPhrase, Var
from tidings.rdf.terms import XSD, Term, literal

A, B, C = Var("a"), Var("b"), Var("c")


def number(text: str) -> Const:
    kind = "double" if "e" in text else "decimal" if "." in text else "integer"
    return Const(literal(text, XSD + kind))


def text(value: str) -> Const:
    return Const(literal(value))


def call(op: str, *args: Expr) -> Call:
    return Call(op, args)


def expression(source: str) -> Expr:
    query = parse(f"PREFIX xsd: <{XSD}> ASK {{ FILTER({source}) }}")
    assert parse(to_text(query)) == query
    assert isinstance(query.where, Block)
    return query.where.filters[0]


def column(source: str) -> Expr:
    """A selected expression, where aggregates are allowed."""
    query = parse(f"SELECT ({source} AS ?result) {{ ?a ?b ?c }}")
    assert parse(to_text(query)) == query
    assert query.projection is not None
    found = query.projection[0].expr
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("?a", A),
        ("((?a))", A),
        ("?a || ?b || ?c", call("||", A, B, C)),
        ("(?a || ?b) || ?c", call("||", call("||", A, B), C)),
        ("?a || ?b && ?c", call("||", A, call("&&", B, C))),
        ("(?a || ?b) && ?c", call("&&", call("||", A, B), C)),
        ("!?a && ?b", call("&&", call("!", A), B)),
        ("!(?a && ?b)", call("!", call("&&", A, B))),
        ("?a = ?b && ?b != ?c", call("&&", call("=", A, B), call("!=", B, C))),
        ("?a<=?b||?a>=?b", call("||", call("<=", A, B), call(">=", A, B))),
        ("(?a = ?b) = ?c", call("=", call("=", A, B), C)),
        ("?a + ?b * ?c", call("+", A, call("*", B, C))),
        ("(?a + ?b) * ?c", call("*", call("+", A, B), C)),
        ("?a - ?b - ?c", call("-", call("-", A, B), C)),
        ("?a - (?b - ?c)", call("-", A, call("-", B, C))),
        ("?a / ?b * ?c", call("*", call("/", A, B), C)),
        ("?a < ?b + 1", call("<", A, call("+", B, number("1")))),
        ("-?a", call("u-", A)),
        ("+?a * -?b", call("*", call("u+", A), call("u-", B))),
        ("-5", number("-5")),
        ("- 5", call("u-", number("5"))),
        ("-(5)", call("u-", number("5"))),
        ("-(-5)", call("u-", number("-5"))),
        ("-(-?a)", call("u-", call("u-", A))),
        ("?a-5", call("-", A, number("5"))),
        ("?a -5 * 2", call("-", A, call("*", number("5"), number("2")))),
        ("?a+1.5-2e0", call("-", call("+", A, number("1.5")), number("2e0"))),
        ("?a * -5", call("*", A, number("-5"))),
        ("?a - -5", call("-", A, number("-5"))),
        ("1 -1", call("-", number("1"), number("1"))),
        ("?a IN ()", call("IN", A)),
        ("?a in (1, ?b)", call("IN", A, number("1"), B)),
        ("?a NOT IN (1) && ?b", call("&&", call("NOT IN", A, number("1")), B)),
        ("?a + 1 IN (?b)", call("IN", call("+", A, number("1")), B)),
        ("!(?a IN (?b))", call("!", call("IN", A, B))),
        ("<http://e.x/a>", Const(Term("<http://e.x/a>"))),
        ("'a'@en = \"b\"", call("=", Const(Term('"a"@en')), text("b"))),
        ("!true", call("!", Const(literal("true", XSD + "boolean")))),
    ],
)
def test_operators(source: str, expected: Expr) -> None:
    assert expression(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("str(?a)", call("STR", A)),
        ("URI(?a)", call("IRI", A)),
        ("isURI(?a)", call("ISIRI", A)),
        ("sameTerm(?a, ?b)", call("SAMETERM", A, B)),
        ("BOUND(?a)", call("BOUND", A)),
        ("NOW()", call("NOW")),
        ("BNODE()", call("BNODE")),
        ("BNODE('a')", call("BNODE", text("a"))),
        ("CONCAT()", call("CONCAT")),
        ("CONCAT(?a, ?b, ?c)", call("CONCAT", A, B, C)),
        ("COALESCE(?a, 1/0)", call("COALESCE", A, call("/", number("1"), number("0")))),
        ("IF(?a, ?b, ?c)", call("IF", A, B, C)),
        ("SUBSTR(?a, 1)", call("SUBSTR", A, number("1"))),
        ("SUBSTR(?a, 1, 2)", call("SUBSTR", A, number("1"), number("2"))),
        ("REGEX(?a, '^b')", call("REGEX", A, text("^b"))),
        ("REGEX(?a, ?b, 'i')", call("REGEX", A, B, text("i"))),
        ("REPLACE(?a, 'b', 'c', 'i')", call("REPLACE", A, text("b"), text("c"), text("i"))),
        ("encode_for_uri(?a)", call("ENCODE_FOR_URI", A)),
        ("xsd:integer(?a)", call(f"<{XSD}integer>", A)),
        (f"<{XSD}dateTime>(?a) < ?b", call("<", call(f"<{XSD}dateTime>", A), B)),
        ("ftContains(?a, 'b') && !ftcontains(?c, 'b')", None),
    ],
)
def test_calls(source: str, expected: Expr | None) -> None:
    found = expression(source)
    if expected is None:
        b = FtPhrase("b", ("b",))
        expected = call("&&", FtContains(A, b), call("!", FtContains(C, b)))
    assert found == expected


def test_iri_keeps_the_base() -> None:
    query = parse("BASE <http://e.x/> ASK { FILTER(IRI('a') = URI(?b)) }")
    base = Const(Term("<http://e.x/>"))
    assert isinstance(query.where, Block)
    assert query.where.filters == (call("=", call("IRI", text("a"), base), call("IRI", B, base)),)
    assert parse(to_text(query)) == query
    with pytest.raises(SubscriptionError, match="the base must be an IRI"):
        expression("IRI(?a, ?b)")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("COUNT(*)", Aggregate("COUNT", False, None)),
        ("count(DISTINCT *)", Aggregate("COUNT", True, None)),
        ("COUNT(DISTINCT ?a)", Aggregate("COUNT", True, A)),
        ("SUM(?a + 1) / 2", call("/", Aggregate("SUM", False, call("+", A, number("1"))), number("2"))),
        ("SAMPLE(?a)", Aggregate("SAMPLE", False, A)),
        ("GROUP_CONCAT(?a)", Aggregate("GROUP_CONCAT", False, A)),
        ("GROUP_CONCAT(DISTINCT ?a ; separator = '\"\\n')", Aggregate("GROUP_CONCAT", True, A, '"\n')),
    ],
)
def test_aggregates(source: str, expected: Expr) -> None:
    assert column(source) == expected


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 = 2 = 3", "comparisons do not chain"),
        ("1 IN (2) = 3", "comparisons do not chain"),
        ("!!?a", "expected an expression, found '!'"),
        ("- -?a", "expected an expression, found '-'"),
        ("?a +", "expected an expression, found ')'"),
        ("?a ?b", "expected ')' or an operator, found '?b'"),
        ("?a, ?b", "expected ')' or an operator, found ','"),
        ("()", "expected an expression, found ')'"),
        ("_:a", "expected an expression, found '_:a'"),
        ("STR()", "STR takes 1 arguments, here are 0"),
        ("SUBSTR(?a)", "SUBSTR takes 2 or 3 arguments, here are 1"),
        ("NOW(?a)", "NOW takes 0 arguments, here are 1"),
        ("BOUND(1)", "expected a variable, found '1'"),
        ("STR ?a", "expected '(', found '?a'"),
        ("STRLENN(?a)", "unknown function 'STRLENN'"),
        ("RAND()", "RAND is not available in subscriptions"),
        ("UUID()", "UUID is not available in subscriptions"),
        ("STRUUID()", "STRUUID is not available in subscriptions"),
        ("<http://e.x/f>(?a)", "unknown function <http://e.x/f>"),
        ("xsd:anyURI(?a)", f"unknown function <{XSD}anyURI>"),
        ("xsd:integer(?a, ?b)", f"<{XSD}integer> takes one argument, here are 2"),
        ("NOT ?a", "expected EXISTS, found '?a'"),
        ("?a NOT (1)", "expected IN, found '('"),
        ("ftcontains('a', 'b')", "expected a variable, found ''a''"),
        ("ftcontains(?a 'b')", "expected ',', found ''b''"),
        ("ftcontains(?a, 'b' 'c')", "expected ftAND, ftOR, ftNEAR or ')', found ''c''"),
    ],
)
def test_what_is_no_expression(source: str, reason: str) -> None:
    with pytest.raises(SubscriptionError) as caught:
        expression(source)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "source", ["REGEX(?a, '(')", r"REGEX(?a, '(a)\\1')", "REGEX(?a, 'a', 'z')", "REPLACE(?a, '[', '')"]
)
def test_patterns_that_do_not_compile_are_found_now(source: str) -> None:
    with pytest.raises(SubscriptionError) as caught:
        expression(source)
    assert caught.value.source_line is not None
    assert caught.value.column is not None
    assert caught.value.source_line[caught.value.column - 1] == "'"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("COUNT(?a AS ?n)", "expected ')', found 'AS'"),
        ("SUM(*)", "expected an expression, found '*'"),
        ("SUM(COUNT(?a))", "COUNT is an aggregate and has no place inside another aggregate"),
        ("GROUP_CONCAT(?a ; separator = ?b)", "expected a string, found '?b'"),
        ("COUNT(?a ; separator = ',')", "expected ')', found ';'"),
    ],
)
def test_what_is_no_aggregate(source: str, reason: str) -> None:
    with pytest.raises(SubscriptionError) as caught:
        column(source)
    assert caught.value.reason == reason
