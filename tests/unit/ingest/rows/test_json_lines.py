"""JSON lines: numbers as they are written, arrays, objects, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.ingest.rows.helpers import by_hand, converted, lines, only, reasons

from tidings.errors import EventError, TidingsError
from tidings.ingest.base import DATA, How
from tidings.ingest.rows import blocks as blocks_module
from tidings.ingest.rows import json_columns
from tidings.ingest.rows.text import safe_text
from tidings.rdf.limits import Limits
from tidings.rdf.terms import XSD_BOOLEAN, XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER, Term, literal


def values(text: str, how: How | None = None) -> list[str]:
    """The objects of the one event of a line."""
    return [
        line.split(" ", 2)[2].removesuffix(" .") for line in only(converted("jsonl", text.encode(), how)).splitlines()
    ]


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("1", literal("1", XSD_INTEGER)),
        ("-0", literal("0", XSD_INTEGER)),
        ("12345678901234567890123", literal("12345678901234567890123", XSD_INTEGER)),
        ("9" * 5000, literal("9" * 5000, XSD_INTEGER)),
        ("1.50", literal("1.50", XSD_DECIMAL)),
        ("0.1000000000000000055511151231257827", literal("0.1000000000000000055511151231257827", XSD_DECIMAL)),
        ("1E400", literal("1E400", XSD_DOUBLE)),
        ("1.0e-3", literal("1.0e-3", XSD_DOUBLE)),
        ("true", literal("true", XSD_BOOLEAN)),
        ('""', literal("")),
        ('"5"', literal("5")),
        (r'"\u0000\ud83d\ude00\n"', literal("\0😀\n")),
    ],
)
def test_scalars(written: str, term: Term) -> None:
    assert values(f'{{"a": {written}}}\n') == [term]


def test_no_value_is_no_triple() -> None:
    assert converted("jsonl", b'{"a": null, "b": [], "c": [null], "d": {}}\n{}\n\n') == []


def test_arrays_are_several_values_and_objects_have_dots() -> None:
    text = '{"a": [1, "x", 2.5, true, "x", null], "b": {"c": {"d": 1}, "e": ["y"]}, "b.e": "z"}\n'
    (event,) = converted("jsonl", text.encode())
    many = [literal("1", XSD_INTEGER), literal("x"), literal("2.5", XSD_DECIMAL), literal("true", XSD_BOOLEAN)]
    nested = {f"{DATA}b.c.d": [literal("1", XSD_INTEGER)], f"{DATA}b.e": [literal("y"), literal("z")]}
    assert event == by_hand(f"{DATA}#row=1", {f"{DATA}a": many, **nested})


def test_a_name_by_two_ways_has_two_values() -> None:
    assert values('{"a": {"b": 1}, "a.b": 2}') == [literal("1", XSD_INTEGER), literal("2", XSD_INTEGER)]


def test_what_is_wrong_is_told_with_its_line_and_costs_no_other() -> None:
    told: list[EventError] = []
    data = (
        b'{"a": 1}\n[1]\n{"a": }\n{"a": [{"b": 1}]}\n{"a": [[1]]}\n{"a": NaN}\n{"a": "\xff"}\n{"a": "\\ud800"}\n'
        b'{"a": 1} {"a": 2}\n\n{"a": 2}\r\n'
    )
    events = converted("jsonl", data, told=told)
    assert [event.body.split("row=")[1][:2].rstrip(">") for event in events] == ["1", "10"]
    assert sorted(reasons(told), key=lambda each: each[0] or 0) == [
        (2, "the line is no JSON object"),
        (3, "is no JSON: Expecting value"),
        (4, "'a' is an array of objects"),
        (5, "'a' is an array of arrays"),
        (6, "is no JSON: NaN is no JSON"),
        (7, "the line is not UTF-8"),
        (8, "a text has half of a surrogate pair, which is no character"),
        (9, "is no JSON: Extra data"),
    ]


def test_depth_is_bounded() -> None:
    told: list[EventError] = []
    deep = '{"a":' * 200 + "1" + "}" * 200
    deeper = '{"a":' * 100_000 + "1" + "}" * 100_000
    assert converted("jsonl", f"{deep}\n{deeper}\n".encode(), told=told) == []
    assert [reason for _, reason in reasons(told)] == ["the record is nested too deeply"] * 2


def test_keys_links_types_and_home() -> None:
    how = How(
        base="http://e.x/",
        key=("id",),
        home=True,
        options={"links": {"of": "http://e.x/o/"}, "types": {"d": "date", "n": "double"}},
    )
    (event,) = converted("jsonl", b'{"id": [7], "of": ["a", 3], "d": "2024-01-01", "n": 1}\n', how)
    assert lines(event) == [
        '_:H <http://e.x/d> "2024-01-01"^^<http://www.w3.org/2001/XMLSchema#date> .',
        f'_:H <http://e.x/id> "7"^^<{XSD_INTEGER}> .',
        f'_:H <http://e.x/n> "1"^^<{XSD_DOUBLE}> .',
        "_:H <http://e.x/of> <http://e.x/o/3> .",
        "_:H <http://e.x/of> <http://e.x/o/a> .",
        '_:H <http://purl.org/dc/terms/identifier> "http://e.x/7"^^<http://www.w3.org/2001/XMLSchema#anyURI> .',
    ]
    told: list[EventError] = []
    assert converted("jsonl", b'{"id": [7, 8]}\n{"of": 1}\n', how, told) == []
    assert [reason for _, reason in reasons(told)] == [
        "record 1: 'id' has several values where one is needed",
        "record 2: the record has no value for 'id', which it needs",
    ]


def test_an_option_that_is_none() -> None:
    with pytest.raises(TidingsError, match="'delimiter' is no option of JSON lines"):
        converted("jsonl", b"{}\n", How(options={"delimiter": ","}))


_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4).filter(lambda name: "." not in name)
_SCALARS = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda d: f"{d:f}")
_VALUES = _SCALARS | st.lists(_SCALARS, max_size=3)


def term_of(value: Any) -> Term:
    if isinstance(value, bool):
        return literal("true" if value else "false", XSD_BOOLEAN)
    return literal(str(value), XSD_INTEGER) if isinstance(value, int) else literal(value)


def row_event(number: int, row: dict[str, Any]) -> Any:
    found = {
        f"{DATA}{safe_text(name)}": [
            term_of(x) for x in (value if isinstance(value, list) else [value]) if x is not None
        ]
        for name, value in row.items()
    }
    return by_hand(f"{DATA}#row={number}", found)


@given(st.lists(st.dictionaries(_NAMES, _VALUES, max_size=5), max_size=8), st.booleans(), st.sampled_from([0, 16]))
def test_records_come_back_from_events(rows: list[dict[str, Any]], ascii: bool, sparse: int) -> None:
    """Record, event, record: as columns, and (`sparse` 0) as names and values."""
    data = "".join(json.dumps(row, ensure_ascii=ascii) + "\n" for row in rows).encode()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_columns, "SPARSE", sparse)
        events = converted("jsonl", data)
    expected = [row_event(number, row) for number, row in enumerate(rows, 1)]
    assert events == [event for event in expected if event.body]


@given(_NUMBERS)
def test_numbers_keep_their_text(text: str) -> None:
    assert values(f'{{"a": {text}}}') == [literal(text, XSD_DECIMAL)]


@pytest.mark.parametrize("form", ['{"n%d": %d}', '{"a": {"n%d": %d}}'])
def test_many_names_are_read_in_time_of_their_text(form: str) -> None:
    data = "".join(form % (number, number) + "\n" for number in range(20_000))
    events = converted("jsonl", data.encode())
    assert len(events) == 20_000
    prefix = "a." if "a" in form else ""
    assert lines(events[-1]) == [f'<{DATA}#row=20000> <{DATA}{prefix}n19999> "19999"^^<{XSD_INTEGER}> .']


def test_blocks_are_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'\xef\xbb\xbf{"a": 1}\n\n{"b": "\xc3\xa9"}\r\nbad\n{"a": [1, 2]}'
    told: list[EventError] = []
    whole = converted("jsonl", data, told=told)
    assert len(whole) == 3
    for size in (1, 2, 5, 16):
        monkeypatch.setattr(blocks_module, "BLOCK", size)
        also: list[EventError] = []
        assert converted("jsonl", data, told=also) == whole
        assert list(map(str, also)) == list(map(str, told))


def test_a_record_that_is_too_large() -> None:
    told: list[EventError] = []
    big = json.dumps({"a": "x" * 5000})
    events = converted("jsonl", f'{{"a": 1}}\n{big}\n{{"a": 2}}\n'.encode(), How(limits=Limits(max_term=1000)), told)
    assert len(events) == 2
    assert reasons(told) == [(2, "record 2: the value of 'a' is larger than 1000 bytes")]
