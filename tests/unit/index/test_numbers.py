"""Numbers in the kernel: TRUE and FALSE are what the exact values say; where it is not sure, it says so."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.index.running import examples

from tidings.index.kernels.jit import standalone
from tidings.index.kernels.numbers import DECIMAL, DOUBLE, INTEGER, KINDS, NOT_A_NUMBER, compared, parsed
from tidings.index.layout import EQUAL, FALSE, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL, NOT_EQUAL, TRUE, UNSURE
from tidings.index.names import NameTables
from tidings.index.scanner import PADDING, padded
from tidings.lang import parse
from tidings.match.fast import Fast
from tidings.match.meaning import Meaning
from tidings.match.verify import matches
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.numbers import NUMERIC_TYPES
from tidings.rdf.terms import XSD, Term, iri, literal
from tidings.rdf.values import compare, number_of

_parsed, _compared = standalone(parsed), standalone(compared)

OPERATORS = {
    "<": LESS,
    "<=": LESS_OR_EQUAL,
    ">": GREATER,
    ">=": GREATER_OR_EQUAL,
    "=": EQUAL,
    "!=": NOT_EQUAL,
}
DATATYPES = ("integer", "decimal", "double", "float", "int", "byte", "unsignedByte", "negativeInteger")
PLAIN = ["0", "-0", "+0", "1", "-1", "7", "007", "10", "100", "999999999999999", "123456789012345", "16777216"]
PLAIN += ["16777217", "33554433", "-16777217", "1000000000000000", "9007199254740993", "99999999999999999999"]
POINTS = ["0.1", "-0.1", ".5", "5.", "5.0", "0.30", "1.0000001", "0.9999999", "4.000000000000001", "99999999999999.9"]
POINTS += ["0.000000000000001", "3.999999999999999999999", "7.00000000000000000001", "0.1000000015"]
POWERS = ["1e0", "1E2", "1e-2", "1.5e1", "0.3e1", "1e15", "1e99", "1e-99", "4.0e2", "400e0", "9.99999999999999e13"]
POWERS += ["123456789012345e-1", "1e100", "1e38", "1e39", "1e-45", "1e-46", "0e5", "-1e-50", "1e+2"]
BROKEN = [
    "",
    "+",
    "-",
    ".",
    "e5",
    "1e",
    "1e+",
    "--1",
    "1.2.3",
    "1 ",
    " 1",
    "1x",
    "0x1",
    "1_0",
    "INF",
    "-INF",
    "NaN",
    "١",
]
LEXICAL = [*PLAIN, *POINTS, *POWERS, *BROKEN]
CONSTANTS = [
    *(literal(text, XSD + name) for text in PLAIN for name in ("integer", "decimal", "double", "float", "int")),
    *(literal(text, XSD + name) for text in POINTS for name in ("decimal", "double", "float")),
    *(literal(text, XSD + name) for text in POWERS for name in ("double", "float")),
]


def said(value: Term, lexical: str, datatype: str, op: str, other: Term) -> int:
    """What the kernel says of a comparison with a constant that a double holds exactly."""
    data = padded(lexical.encode())
    number = number_of(other)
    assert number is not None
    kind = kind_of(datatype)
    sure, about = _parsed(data, 0, data.size - PADDING, kind)
    found = int(_compared(about, OPERATORS[op], float(number.value))) if sure and kind != NOT_A_NUMBER else UNSURE
    expected = compare(op, value, other)
    assert found == UNSURE or found == (TRUE if expected else FALSE), f"{value} {op} {other}: {found}, not {expected}"
    assert found == UNSURE or expected is not None
    return found


def exact(constant: Term) -> bool:
    number = number_of(constant)
    return number is not None and abs(float(number.value)) < 1e15 and float(number.value) == number.value


@cache
def kind_of(datatype: str) -> int:
    """As what kind of number the index has a datatype read."""
    names = NameTables(Ontology.empty())
    return int(names.tables().number[names.term(iri(XSD + datatype))])


EXACT = [constant for constant in CONSTANTS if exact(constant)]


@pytest.mark.parametrize("datatype", DATATYPES)
def test_never_wrong(datatype: str) -> None:
    for lexical in LEXICAL:
        value = literal(lexical, XSD + datatype)
        for other in EXACT:
            for op in OPERATORS:
                said(value, lexical, datatype, op, other)


@pytest.mark.parametrize("lexical", BROKEN)
def test_what_is_no_number_is_not_sure(lexical: str) -> None:
    data = padded(lexical.encode())
    for kind in (INTEGER, DECIMAL, DOUBLE):
        assert not _parsed(data, 0, data.size - PADDING, kind)[0]


@pytest.mark.parametrize(
    ("lexical", "datatype", "other"),
    [
        ("5", "integer", "7"),
        ("400", "integer", "400"),
        ("4.0e2", "double", "400"),
        ("0.5", "decimal", "7"),
    ],
)
def test_it_is_sure_of_the_usual(lexical: str, datatype: str, other: str) -> None:
    value = literal(lexical, XSD + datatype)
    for op in OPERATORS:
        assert said(value, lexical, datatype, op, literal(other, f"{XSD}integer")) != UNSURE


digits = st.text("0123456789", max_size=16)
near = st.sampled_from(["", "0", "00", "000000", "1", "99999", "000001", "999999999"])


@st.composite
def written(draw: st.DrawFn, datatype: str) -> str:
    text = draw(st.sampled_from(["", "-", "+"])) + draw(digits) + draw(near)
    if datatype != "integer":
        text += draw(st.sampled_from(["", ".", "."])) + draw(near) + draw(digits)
    if datatype in ("double", "float"):
        text += draw(st.sampled_from(["", "e", "E-", "e+"])) + draw(
            st.sampled_from(["", "0", "1", "5", "14", "40", "99"])
        )
    return text


@examples(700)
@given(st.sampled_from(DATATYPES), st.sampled_from(DATATYPES), st.data())
def test_any_two_numbers(datatype: str, other_type: str, data: st.DataObject) -> None:
    lexical, other = data.draw(written(datatype)), literal(data.draw(written(other_type)), XSD + other_type)
    if exact(other):
        for op in OPERATORS:
            found = said(literal(lexical, XSD + datatype), lexical, datatype, op, other)
            note(f"sure: {found != UNSURE}")


@examples(700)
@given(st.integers(0, 10**15 - 1), st.integers(0, 14), st.integers(-14, 14), st.integers(-1, 1))
def test_an_integer_that_a_double_comes_near(number: int, point: int, power: int, step: int) -> None:
    """Digits, a point and a power that bring them near a whole number."""
    text = f"{number:015d}"
    lexical = f"{text[: 15 - point]}.{text[15 - point :]}e{power}"
    value = literal(lexical, f"{XSD}double")
    whole = round(number * 10.0 ** (power - point)) + step
    if abs(whole) < 10**15:
        for op in OPERATORS:
            said(value, lexical, "double", op, literal(str(whole), f"{XSD}integer"))


def test_the_datatypes_that_are_compared() -> None:
    assert [kind_of(name) for name in ("integer", "decimal", "double")] == [INTEGER, DECIMAL, DOUBLE]
    assert [kind_of(name) for name in ("string", "dateTime")] == [NOT_A_NUMBER] * 2
    assert sorted(KINDS) == sorted(NUMERIC_TYPES)
    assert len(set(KINDS.values())) == len(KINDS)


ROUNDED = [
    ("7", "integer", "<", "7.00000000000000000001", "decimal"),
    ("7", "integer", "=", "7.00000000000000000001", "decimal"),
    ("4", "decimal", ">", "3.999999999999999999999", "decimal"),
    ("16777217", "float", "=", "16777217", "double"),
    ("16777217", "float", "<", "1.6777217e7", "double"),
    ("1e-50", "float", ">", "0", "integer"),
    ("1e-50", "float", "=", "0", "integer"),
    ("0.1", "decimal", "=", "0.1", "decimal"),
    ("0.1", "float", "=", "0.1", "double"),
    ("100000000000001", "integer", "=", "100000000000001", "float"),
]


@pytest.mark.parametrize(("lexical", "datatype", "op", "other", "other_type"), ROUNDED)
def test_numbers_that_a_double_does_not_hold(lexical: str, datatype: str, op: str, other: str, other_type: str) -> None:
    """Through the whole matcher: what is rounded on the way in is as dangerous as what is rounded in the kernel."""
    value, constant = literal(lexical, XSD + datatype), literal(other, XSD + other_type)
    query = parse(f"ASK {{ ?x <e:p> ?y FILTER(?y {op} {constant}) }}")
    event = Event.of("urn:e", [(Term("<e:s>"), Term("<e:p>"), value)])
    engine = Fast(Ontology.empty())
    engine.add("s", query)
    assert bool(engine.match(event, print)) == matches(query, Meaning(event, Ontology.empty()))
