"""Groups and what they become: Blocks, joins, and filters where SPARQL's algebra has them."""

from __future__ import annotations

import pytest

from tidings.errors import SubscriptionError
from tidings.lang import parse, to_text
from tidings.lang.pattern import (
    Block,
    Call,
    Const,
    Exists,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Query,
    TriplePattern,
    Union,
    Values,
    Var,
    variables,
)
from tidings.rdf.terms import Term, literal

X, Y, Z, G = Var("x"), Var("y"), Var("z"), Var("g")
TRUE = Const(literal("true", "http://www.w3.org/2001/XMLSchema#boolean"))
FALSE = Const(literal("false", "http://www.w3.org/2001/XMLSchema#boolean"))
ONE = Const(literal("1", "http://www.w3.org/2001/XMLSchema#integer"))
EMPTY = Block()


def triple(name: str) -> TriplePattern:
    return TriplePattern(X, Term(f"<http://e.x/{name}>"), Y)


def block(*names: str, filters: tuple[Const, ...] = ()) -> Block:
    return Block(tuple(map(triple, names)), filters=filters)


A, B, C = block("a"), block("b"), block("c")


def form(text: str) -> Pattern:
    """The form of a group; `@a` is short for a triple."""
    for name in "abc":
        text = text.replace(f"@{name}", f"?x <http://e.x/{name}> ?y .")
    query = parse(f"ASK {{ {text} }}")
    assert parse(to_text(query)) == query
    return query.where


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", EMPTY),
        ("{}", EMPTY),
        ("@a", A),
        ("@a @b", block("a", "b")),
        ("{ @a }", A),
        ("{ { { @a } } }", A),
        ("@a FILTER(true)", block("a", filters=(TRUE,))),
        ("FILTER(true) @a", block("a", filters=(TRUE,))),
        ("@a FILTER(true) @b FILTER(false)", block("a", "b", filters=(TRUE, FALSE))),
        ("FILTER(true)", block(filters=(TRUE,))),
        ("{ @a FILTER(true) } FILTER(false)", block("a", filters=(TRUE, FALSE))),
        ("@a { @b }", Join((A, B))),
        ("{ @a } @b", Join((A, B))),
        ("{ @a } { @b }", Join((A, B))),
        ("{ @a } { { @b } { @c } }", Join((A, Join((B, C))))),
        ("{ { @a } { @b } } @c", Join((Join((A, B)), C))),
        ("{ @a FILTER(true) } @b", Join((block("a", filters=(TRUE,)), B))),
        ("@a { @b FILTER(true) }", Join((A, block("b", filters=(TRUE,))))),
        ("@a FILTER(true) { @b }", Filter(Join((A, B)), (TRUE,))),
        ("{ @a { @b } FILTER(true) } FILTER(false)", Filter(Join((A, B)), (TRUE, FALSE))),
        ("{} @a", Join((EMPTY, A))),
        ("@a {}", Join((A, EMPTY))),
    ],
)
def test_blocks_joins_and_filters(text: str, expected: Pattern) -> None:
    assert form(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OPTIONAL { @a }", LeftJoin(EMPTY, A)),
        ("@a OPTIONAL { @b }", LeftJoin(A, B)),
        ("@a OPTIONAL { @b } OPTIONAL { @c }", LeftJoin(LeftJoin(A, B), C)),
        ("@a OPTIONAL { @b OPTIONAL { @c } }", LeftJoin(A, LeftJoin(B, C))),
        ("@a OPTIONAL { @b } @c", Join((LeftJoin(A, B), C))),
        ("@a { @b } OPTIONAL { @c }", LeftJoin(Join((A, B)), C)),
        ("@a { @b OPTIONAL { @c } }", Join((A, LeftJoin(B, C)))),
        ("@a OPTIONAL { @b FILTER(true) }", LeftJoin(A, B, (TRUE,))),
        ("@a OPTIONAL { { @b FILTER(true) } }", LeftJoin(A, block("b", filters=(TRUE,)))),
        ("@a OPTIONAL { { @b FILTER(true) } FILTER(false) }", LeftJoin(A, block("b", filters=(TRUE,)), (FALSE,))),
        ("@a OPTIONAL { FILTER(true) }", LeftJoin(A, EMPTY, (TRUE,))),
        ("@a OPTIONAL { @b { @c } FILTER(true) }", LeftJoin(A, Join((B, C)), (TRUE,))),
        ("@a OPTIONAL { { @b { @c } FILTER(true) } }", LeftJoin(A, Filter(Join((B, C)), (TRUE,)))),
        ("@a FILTER(true) OPTIONAL { @b }", Filter(LeftJoin(A, B), (TRUE,))),
        ("{ @a FILTER(true) } OPTIONAL { @b }", LeftJoin(block("a", filters=(TRUE,)), B)),
    ],
)
def test_optional(text: str, expected: Pattern) -> None:
    assert form(text) == expected


def test_the_other_elements() -> None:
    assert form("@a MINUS { @b } @c") == Join((Minus(A, B), C))
    assert form("MINUS { @b }") == Minus(EMPTY, B)
    assert form("{ @a } UNION { @b } UNION {}") == Union((A, B, EMPTY))
    assert form("{ { @a } UNION { @b } } UNION { @c }") == Union((Union((A, B)), C))
    assert form("{ @a FILTER(true) } UNION { @b }") == Union((block("a", filters=(TRUE,)), B))
    assert form("{ @a } UNION { @b } . @c") == Join((Union((A, B)), C))
    assert form("GRAPH ?g { @a }") == Graph(G, A)
    assert form("GRAPH <http://e.x/g> { @a FILTER(true) }") == Graph(
        Term("<http://e.x/g>"), block("a", filters=(TRUE,))
    )
    assert form("GRAPH ?g {}") == Graph(G, EMPTY)
    assert form("@a BIND(1 AS ?z) @b") == Join((Extend(A, Z, ONE), B))
    assert form("@a { @b BIND(1 AS ?z) }") == Join((A, Extend(B, Z, ONE)))
    assert form("BIND(1 AS ?z)") == Extend(EMPTY, Z, ONE)
    assert form("@a FILTER EXISTS { @b }") == Block(A.triples, filters=(Exists(B, False),))
    assert form("@a FILTER(!(NOT EXISTS { @b }))") == Block(A.triples, filters=(Call("!", (Exists(B, True),)),))


def test_sub_selects() -> None:
    inner = Query("sparql", "SELECT", A)
    assert form("SELECT * { @a }") == inner
    assert form("{ SELECT * { @a } }") == inner
    assert form("{ SELECT * { @a } } FILTER(true)") == Filter(inner, (TRUE,))
    assert form("@b { SELECT * { @a } }") == Join((B, inner))
    assert form("@b OPTIONAL { SELECT * { @a } }") == LeftJoin(B, inner)
    with pytest.raises(SubscriptionError, match="expected '}', found 'FILTER'"):
        form("SELECT * { @a } FILTER(true)")


def test_values() -> None:
    one, two = Term(ONE.term), Term('"b"@en')
    assert form("VALUES ?x { 1 'b'@en UNDEF }") == Values((X,), ((one,), (two,), (None,)))
    assert form("VALUES (?x ?y) { (1 UNDEF) (UNDEF 'b'@en) }") == Values((X, Y), ((one, None), (None, two)))
    assert form("VALUES (?x) {}") == Values((X,), ())
    assert form("VALUES () { () () }") == Values((), ((), ()))
    assert form("@a VALUES ?x { 1 } @b") == Join((A, Values((X,), ((one,),)), B))


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("VALUES (?x ?y) { (1) }", "this row has 1 values, but there are 2 variables", 18),
        ("VALUES (?x ?y) { (1 2 3) }", "this row has 3 values, but there are 2 variables", 18),
        ("VALUES (?x ?x) {}", "?x is here twice", 12),
        ("VALUES (?x) { 1 }", "expected '(' or '}', found '1'", 15),
        ("VALUES ?x { ?y }", "expected an IRI, a literal or UNDEF, found '?y'", 13),
        ("VALUES ?x { _:a }", "expected an IRI, a literal or UNDEF, found '_:a'", 13),
        ("VALUES 5 {}", "expected a variable or '(', found '5'", 8),
        ("?x a ?y BIND(1 AS ?y)", "?y already has a value here, BIND cannot give it another", 19),
        ("OPTIONAL { ?x a ?y } BIND(1 AS ?y)", "?y already has a value here, BIND cannot give it another", 32),
        ("BIND(1 AS ?y) BIND(2 AS ?y)", "?y already has a value here, BIND cannot give it another", 25),
        (
            "VALUES ?y {} { BIND(2 AS ?y) } BIND(2 AS ?y)",
            "?y already has a value here, BIND cannot give it another",
            42,
        ),
        ("GRAPH ?y {} BIND(2 AS ?y)", "?y already has a value here, BIND cannot give it another", 23),
        ("BIND(1 AS 5)", "expected a variable, found '5'", 11),
        ("BIND(1)", "expected AS or an operator, found ')'", 7),
        ("GRAPH _:g {}", "expected a variable or an IRI, found '_:g'", 7),
        ("SERVICE <http://e.x/> {}", "SERVICE is not available in subscriptions", 1),
        ("{} UNION", "expected '{', found '}'", 10),
        ("FILTER ?x", "expected '(' or a function call, found '?x'", 8),
        ("FILTER(COUNT(?x) > 1)", "COUNT is an aggregate and has no place in a pattern", 8),
        ("BIND(SUM(?x) AS ?y)", "SUM is an aggregate and has no place in a pattern", 6),
    ],
)
def test_what_groups_refuse(text: str, reason: str, column: int) -> None:
    with pytest.raises(SubscriptionError) as caught:
        form(text)
    assert caught.value.reason == reason
    assert caught.value.column == len("ASK { ") + column


@pytest.mark.parametrize(
    "text",
    [
        "?x a ?y { BIND(1 AS ?y) }",
        "MINUS { ?x a ?y } BIND(1 AS ?y)",
        "FILTER(?y > 1) BIND(1 AS ?y)",
        "FILTER EXISTS { ?x a ?y } BIND(1 AS ?y)",
        "{ SELECT ?x { ?x a ?y } } BIND(1 AS ?y)",
        "BIND(1 AS ?y) OPTIONAL { ?x a ?y }",
    ],
)
def test_bind_looks_at_its_own_group_only(text: str) -> None:
    assert Var("y") in variables(form(text))
