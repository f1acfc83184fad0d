"""The gtopss dialect: what it reads, what it refuses and how it says so, and that its forms print back."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import SubscriptionError
from tidings.lang.gtopss import parse_gtopss, print_gtopss
from tidings.lang.pattern import Block, Constraint, Query, TriplePattern, Var
from tidings.rdf.terms import RDF_TYPE, XSD, Term, blank, iri, literal

BIB = "http://e.x/bib#"
PREFIX = f"PREFIX : <{BIB}>\n"


def name(local: str) -> Term:
    return iri(BIB + local)


def integer(value: int) -> Term:
    return literal(str(value), f"{XSD}integer")


def block(text: str) -> Block:
    where = parse_gtopss(text).where
    assert isinstance(where, Block)
    return where


def error(text: str) -> SubscriptionError:
    with pytest.raises(SubscriptionError) as caught:
        parse_gtopss(text, "x.gtopss")
    return caught.value


# -------------------------------------------------------------------------------------------------------------- reading


def test_the_papers_first_subscription() -> None:
    """A paper of one author at a conference after 2000: a constraint on a value."""
    query = parse_gtopss(
        PREFIX
        + """(Paper17, author, "Arno Jacobsen", {}, {})
             (Paper17, conference, SIGMOD, {}, {})
             (SIGMOD, year, ?z, {}, {?z > 2000})"""
    )
    assert query == Query(
        "gtopss",
        "SELECT",
        Block(
            triples=(
                TriplePattern(name("Paper17"), name("author"), literal("Arno Jacobsen")),
                TriplePattern(name("Paper17"), name("conference"), name("SIGMOD")),
                TriplePattern(name("SIGMOD"), name("year"), Var("z")),
            ),
            filters=(Constraint(Var("z"), ">", integer(2000)),),
        ),
        distinct=True,
    )


def test_the_papers_second_subscription() -> None:
    """The author's publications at a conference after 1999: a constraint on a class as well."""
    found = block(
        PREFIX
        + """(?y, author, "Arno Jacobsen", {?y <= Publication})
             (?y, conference, SIGMOD)
             (SIGMOD, year, ?x, {}, {?x > 1999})"""
    )
    assert found.filters == (
        Constraint(Var("y"), "<=", name("Publication")),
        Constraint(Var("x"), ">", integer(1999)),
    )
    assert not found.injective


def test_any_place_may_be_a_variable() -> None:
    assert block("(?x, ?p, ?x)").triples == (TriplePattern(Var("x"), Var("p"), Var("x")),)


def test_several_constraints_on_both_ends() -> None:
    found = block(PREFIX + "(?x, p, ?y, {?x<=C,?x!=D}, {?y≥3,?y<9})")
    assert [(c.var.name, c.op) for c in found.filters if isinstance(c, Constraint)] == [
        ("x", "<="),
        ("x", "!="),
        ("y", ">="),
        ("y", "<"),
    ]


def test_terms_of_all_kinds() -> None:
    found = block(PREFIX + "(_:b, a, C) (_:b, <http://e.x/p>, -1.5) (?x, p, false, {?x = xsd:int})")
    assert found.triples[0] == TriplePattern(blank("b"), RDF_TYPE, name("C"))
    assert found.triples[1].o == literal("-1.5", f"{XSD}decimal")
    assert found.triples[2].o == literal("false", f"{XSD}boolean")
    assert found.filters == (Constraint(Var("x"), "=", iri(f"{XSD}int")),)


# ------------------------------------------------------------------------------------------------------------- refusing


@pytest.mark.parametrize(
    ("body", "column", "reason"),
    [
        ("", 1, "expected a tuple"),
        ("(?x, p, ?y", 11, "expected ')'"),
        ("(?x, p)", 7, "expected ','"),
        ("(?x, 5, ?y)", 6, "expected a property"),
        ("(5, p, ?y)", 2, "a literal cannot be the subject"),
        ("(?x, p, ?y, ?x < 3)", 13, "expected '{'"),
        ("(?x, p, ?y, {?x < 3 ?x > 1})", 21, "expected ',' or '}'"),
        ("(?x, p, ?y, {?x <})", 18, "expected a literal or an IRI"),
        ("(?x, p, ?y, {?x ~ 3})", 17, "has no meaning here"),
        ("(?x, p, ?y, {?x && 3})", 17, "expected '=', '!=', '<', '<=', '>' or '>='"),
        ("(?x, p, ?y, {3 > ?x})", 14, "expected a constraint such as"),
        ("(?x, p, ?y, {?x < ?y})", 19, "compares with a literal or an IRI"),
        ("(?x, p, ?y, {?x < _:b})", 19, "compares with a literal or an IRI"),
        ("(Joe, p, ?y, {?x < 3})", 15, "the subject is no variable"),
        ("(?x, p, 5, {}, {?x > 3})", 17, "the object is no variable"),
        ("(?x, p, ?y, {?z < 3})", 14, "this constraint is on ?z, but the subject is ?x"),
        ("(?x, p, ?y, {}, {}, {})", 19, "expected ')'"),
        ("(?x, p, ?y), (?x, p, ?z)", 12, "expected '('"),
        ("(?x, q:p, ?y)", 6, "unknown prefix 'q:'"),
    ],
)
def test_errors_say_what_and_where(body: str, column: int, reason: str) -> None:
    found = error(PREFIX + body)
    assert (found.line, found.column) == (2, column)
    assert reason in found.reason


def test_constraints_in_the_wrong_set_are_explained() -> None:
    found = error(PREFIX + "(?x, p, ?y, {?y > 3})")
    assert "the subject is ?x" in found.reason
    assert found.hint == "the constraints on the subject come first, then those on the object"


# ------------------------------------------------------------------------------------------------------------- printing

NAMES = st.builds(name, st.sampled_from(["A", "B", "price"]))
LITERALS = st.one_of(
    st.builds(literal, st.text(max_size=8)),
    st.builds(literal, st.text(max_size=4), language=st.just("en")),
    st.builds(integer, st.integers()),
)
VARS = st.builds(Var, st.sampled_from(["x", "y", "z"]))
OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


@st.composite
def forms(draw: st.DrawFn) -> Query:
    triples, filters = [], []
    for _ in range(draw(st.integers(1, 4))):
        subject = draw(st.one_of(VARS, NAMES, st.just(blank("b"))))
        object = draw(st.one_of(VARS, NAMES, LITERALS))
        triples.append(TriplePattern(subject, draw(st.one_of(VARS, NAMES)), object))
        for node in (subject, object):
            if isinstance(node, Var):
                values = draw(st.lists(st.tuples(OPERATORS, st.one_of(NAMES, LITERALS)), max_size=2))
                filters += [Constraint(node, op, value) for op, value in values]
    return Query("gtopss", "SELECT", Block(tuple(triples), filters=tuple(filters)), distinct=True)


@given(forms())
def test_every_form_prints_back(query: Query) -> None:
    assert parse_gtopss(print_gtopss(query)) == query


@given(st.text(alphabet="(){}?x,<>=!\"'/#A p5\n≠", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    query: Query | None = None
    with contextlib.suppress(SubscriptionError):
        query = parse_gtopss(PREFIX + text)
    assert query is None or parse_gtopss(print_gtopss(query)) == query
