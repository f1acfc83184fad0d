"""The ops dialect: what it reads, what it refuses and how it says so, and that its forms print back."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import SubscriptionError
from tidings.lang.lexer import MAX_NESTING
from tidings.lang.ops import parse_ops, print_ops
from tidings.lang.pattern import Block, Call, ClassOf, Const, Query, TriplePattern, Var
from tidings.rdf.terms import DAML, HOME, RDF, XSD, Term, blank, iri, literal

AUCTION = "http://e.x/auction#"
PREFIX = f"PREFIX : <{AUCTION}>\n"


def name(local: str) -> Term:
    return iri(AUCTION + local)


def block(text: str) -> Block:
    where = parse_ops(text).where
    assert isinstance(where, Block)
    return where


def error(text: str) -> SubscriptionError:
    with pytest.raises(SubscriptionError) as caught:
        parse_ops(text, "x.ops")
    return caught.value


# -------------------------------------------------------------------------------------------------------------- reading


def test_the_papers_subscription_reads_as_printed() -> None:
    query = parse_ops(
        f"""PREFIX : <{AUCTION}>   PREFIX units: <http://e.x/units#>
        (_:H, ?1, (Selling, target, Computer))
        (_:H, ?2, (Selling, price, MoneyValue))
        (?2, units:dollar, (MoneyValue, currency, daml:Thing))
        (?2, ?3, (MoneyValue, rdf:value, xsd:decimal),?3<400.00)
        """
    )
    one, two, three, dollar = Var("1"), Var("2"), Var("3"), iri("http://e.x/units#dollar")
    assert query == Query(
        "ops",
        "SELECT",
        Block(
            triples=(
                TriplePattern(HOME, name("target"), one),
                TriplePattern(HOME, name("price"), two),
                TriplePattern(two, name("currency"), dollar),
                TriplePattern(two, iri(f"{RDF}value"), three),
            ),
            filters=(Call("<", (three, Const(literal("400.00", f"{XSD}decimal")))),),
            classes=(
                *(ClassOf(HOME, name("Selling")), ClassOf(one, name("Computer"))),
                *(ClassOf(HOME, name("Selling")), ClassOf(two, name("MoneyValue"))),
                *(ClassOf(two, name("MoneyValue")), ClassOf(dollar, iri(f"{DAML}Thing"))),
                *(ClassOf(two, name("MoneyValue")), ClassOf(three, iri(f"{XSD}decimal"))),
            ),
            injective=True,
        ),
        distinct=True,
    )


@pytest.mark.parametrize("between", [" ", "\n", ", ", " AND ", " and ", "// so on: it's\n", "# more\n"])
def test_patterns_may_be_separated(between: str) -> None:
    text = f"{PREFIX}(_:H, ?1, (A, p, B)){between}(?1, ?2, (B, q, C))"
    assert len(block(text).triples) == 2


def test_comments_do_not_begin_inside_iris_and_strings() -> None:
    found = block(f'{PREFIX}(_:H, ?1, (A, <http://e.x//p>, B), ?1 != "a // b # c") // the end')
    assert found.triples[0].p == iri("http://e.x//p")
    assert found.filters == (Call("!=", (Var("1"), Const(literal("a // b # c")))),)


def test_bare_names_stand_in_the_empty_prefix_or_relative_to_base() -> None:
    assert block(f"{PREFIX}(_:H, Joe, (A, p, B))").triples[0].o == name("Joe")
    assert block("BASE <http://e.x/b/> (_:H, Joe, (A, p, B))").triples[0].o == iri("http://e.x/b/Joe")
    both = f"BASE <http://e.x/b/> {PREFIX}(_:H, Joe, (A, p, B), )".replace(", )", ")")
    assert block(both).triples[0].o == name("Joe")


def test_well_known_prefixes_can_be_declared_anew() -> None:
    text = "PREFIX rdf: <http://e.x/> (_:H, ?1, (owl:Thing, rdf:value, rdfs:Resource))"
    assert block(text).triples[0].p == iri("http://e.x/value")


def test_vertices_are_terms_of_any_kind() -> None:
    text = f'{PREFIX}(_:H, 5, (A, p, B)) (_:H, "x"@EN, (A, p, B)) (_:H, _:b, (A, p, B)) (_:H, true, (A, p, B))'
    objects = [t.o for t in block(text).triples]
    assert objects == [
        literal("5", f"{XSD}integer"),
        literal("x", language="en"),
        blank("b"),
        literal("true", f"{XSD}boolean"),
    ]


@pytest.mark.parametrize(
    ("condition", "shown"),
    [
        ("?1<5&&?1>3", "?1 < 5 && ?1 > 3"),
        ("?1<=5||?1>=9", "?1 <= 5 || ?1 >= 9"),
        ("?1≤5 || ?1≥9 || ?1≠7", "?1 <= 5 || ?1 >= 9 || ?1 != 7"),
        ("!(?1 = 5)", "!(?1 = 5)"),
        ('regex(?1, "^a", "i")', 'REGEX(?1, "^a", "i")'),
        ("400 > ?1", "400 > ?1"),
        ("?1 = Joe", f"?1 = <{AUCTION}Joe>"),
        ("(?1 = 1 || ?1 = 2) && ?1 != 3", "(?1 = 1 || ?1 = 2) && ?1 != 3"),
    ],
)
def test_conditions(condition: str, shown: str) -> None:
    text = print_ops(parse_ops(f"{PREFIX}(_:H, ?1, (A, p, B), {condition})"))
    assert shown in text.replace(f"^^<{XSD}integer>", "").replace('"5"', "5").replace('"3"', "3").replace(
        '"9"', "9"
    ).replace('"7"', "7").replace('"1"', "1").replace('"2"', "2").replace('"400"', "400")


# ------------------------------------------------------------------------------------------------------------- refusing


@pytest.mark.parametrize(
    ("body", "line", "column", "reason"),
    [
        ("", 2, 1, "expected a statement pattern"),
        ("(_:H, ?1, (A, p, B)", 2, 20, "expected ')'"),
        ("(_:H ?1, (A, p, B))", 2, 6, "expected ','"),
        ("(_:H, ?1)", 2, 9, "expected ','"),
        ("(_:H, ?1, A)", 2, 11, "expected '('"),
        ("(_:H, ?1, (A, p))", 2, 16, "expected ','"),
        ("(_:H, ?1, (A, p, B)),", 2, 22, "expected a further statement pattern"),
        ("(_:H, ?1, (A, rdf:type, B))", 2, 15, "rdf:type cannot be the property"),
        ("(_:H, ?1, (A, a, B))", 2, 15, "rdf:type cannot be the property"),
        ("(_:H, ?1, (A, ?p, B))", 2, 15, "a property cannot be a variable"),
        ("(_:H, ?1, (?c, p, B))", 2, 12, "a class cannot be a variable"),
        ("(_:H, ?1, (A, p, 5))", 2, 18, "expected the class of the object"),
        ('("x", ?1, (A, p, B))', 2, 2, "a literal cannot be the subject"),
        ("(_:H, ?1, (x:A, p, B))", 2, 12, "unknown prefix 'x:'"),
        ("(_:H, ?1, (A, p, B), ?1 < ?2)", 2, 27, "'?2' has no place in this condition"),
        ("(_:H, 5, (A, p, B), ?1 < 2)", 2, 21, "a condition needs a variable as the object"),
        ("(_:H, ?1, (A, p, B), ?1)", 2, 22, "?1 by itself has no place"),
        ("(_:H, ?1, (A, p, B), 1 < 2)", 2, 22, "a comparison of two terms"),
        ("(_:H, ?1, (A, p, B), ?1 + 1 < 2)", 2, 22, "'+' has no place"),
        ("(_:H, ?1, (A, p, B), strlen(?1) < 2)", 2, 22, "'STRLEN' has no place"),
        ("(_:H, ?1, (A, p, B), regex(?1, ?1))", 2, 22, "a computed regular expression"),
        ('(_:H, ?1, (A, p, B), regex("a", "b"))', 2, 22, "a regular expression on anything but"),
        ("(_:H, ?1, (A, p, B), count(?1) > 2)", 2, 22, "aggregate"),
        ("(_:H, ?1, (A, p, B), exists {?1 ?2 ?3})", 2, 22, "EXISTS"),
        ("(?1, ?2, (A, p, B))", 1, 1, "no statement pattern starts at the home vertex"),
        ("(_:H, ?1, (A, p, B))\n(?2, ?1, (A, p, B))", 3, 2, "no path leads from the home vertex _:H to ?2"),
        ("(_:H, ?1, (A, p, B))\n(?2, ?3, (A, p, B))\n(?3, ?2, (A, p, B))", 3, 2, "to ?2"),
    ],
)
def test_errors_say_what_and_where(body: str, line: int, column: int, reason: str) -> None:
    found = error(PREFIX + body)
    assert (found.line, found.column) == (line, column)
    assert reason in found.reason
    assert str(found).startswith(f"x.ops:{line}:{column}: ")


def test_a_regular_expression_must_compile() -> None:
    found = error(f"{PREFIX}(_:H, ?1, (A, p, B), regex(?1, '['))")
    assert "regular expression" in found.reason
    assert found.line == 2


def test_a_bare_name_needs_a_namespace() -> None:
    found = error("(_:H, ?1, (Selling, p, B))")
    assert "'Selling' has no prefix" in found.reason
    assert found.hint is not None
    assert "PREFIX :" in found.hint


def test_an_error_quotes_the_line_as_written() -> None:
    found = error(f"{PREFIX}(_:H, ?1, (A, p, B), ?1<5 || ?1 < ?2) // no")
    assert found.source_line == "(_:H, ?1, (A, p, B), ?1<5 || ?1 < ?2) // no"
    caret = str(found).splitlines()[2]
    assert caret == "  | " + " " * 34 + "^"


def test_nesting_is_bounded() -> None:
    deep = "(" * (MAX_NESTING + 5) + "?1 < 5" + ")" * (MAX_NESTING + 5)
    assert "nested too deeply" in error(f"{PREFIX}(_:H, ?1, (A, p, B), {deep})").reason
    assert "nested too deeply" in error(PREFIX + "(_:H, ?1, (A, p, B), " + "(" * 100_000).reason


# ------------------------------------------------------------------------------------------------------------- printing

LOCALS = st.sampled_from(["A", "B", "price", "value", "x1"])
NAMES = st.builds(name, LOCALS)
LITERALS = st.one_of(
    st.builds(literal, st.text(max_size=8)),
    st.builds(literal, st.text(max_size=4), language=st.sampled_from(["en", "de-at"])),
    st.builds(lambda n: literal(str(n), f"{XSD}integer"), st.integers()),
    st.builds(literal, st.text(max_size=4), st.sampled_from([f"{XSD}int", "http://e.x/dt"])),
)
VARS = st.builds(Var, st.sampled_from(["1", "2", "x", "y", "_z"]))
OBJECTS = st.one_of(VARS, NAMES, LITERALS, st.just(HOME), st.just(blank("b")))


def conditions(var: Var) -> st.SearchStrategy[Call]:
    constants = st.builds(Const, st.one_of(NAMES, LITERALS))
    operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    compared = st.builds(
        lambda op, c, swap: Call(op, (c, var) if swap else (var, c)), operators, constants, st.booleans()
    )
    regexes = st.builds(lambda text: Call("REGEX", (var, Const(literal(text)))), st.sampled_from(["a+", '"', "\\\\d"]))
    return st.recursive(
        compared | regexes,
        lambda inner: st.one_of(
            st.builds(
                lambda op, args: Call(op, tuple(args)), st.sampled_from(["&&", "||"]), st.lists(inner, min_size=2)
            ),
            st.builds(lambda arg: Call("!", (arg,)), inner),
        ),
        max_leaves=5,
    )


@st.composite
def forms(draw: st.DrawFn) -> Query:
    reached = [HOME]
    triples, classes, filters = [], [], []
    for _ in range(draw(st.integers(1, 5))):
        subject, object = draw(st.sampled_from(reached)), draw(OBJECTS)
        triples.append(TriplePattern(subject, draw(NAMES), object))
        classes += [ClassOf(subject, draw(NAMES)), ClassOf(object, draw(NAMES))]
        if isinstance(object, Var) and draw(st.booleans()):
            filters.append(draw(conditions(object)))
        if isinstance(object, Var) or object[0] != '"':
            reached.append(object)
    return Query(
        "ops",
        "SELECT",
        Block(tuple(triples), filters=tuple(filters), classes=tuple(classes), injective=True),
        distinct=True,
    )


@given(forms())
def test_every_form_prints_back(query: Query) -> None:
    assert parse_ops(print_ops(query)) == query


@given(st.text(alphabet="()_:H?1,<>=!&|\"'/#{}A pxsd\n≤", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    query: Query | None = None
    with contextlib.suppress(SubscriptionError):
        query = parse_ops(PREFIX + text)
    assert query is None or parse_ops(print_ops(query)) == query
