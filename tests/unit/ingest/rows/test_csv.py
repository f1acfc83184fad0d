"""CSV and TSV: the direct mapping, dialects, types by look, and what is wrong with single records."""

from __future__ import annotations

import csv
import io
import random

import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.ingest.rows.helpers import by_hand, converted, lines, only, reasons

from tidings.errors import EventError, TidingsError
from tidings.ingest.base import DATA, How
from tidings.ingest.rows import blocks as blocks_module
from tidings.ingest.rows.csv import CsvPlan, Typed
from tidings.ingest.rows.csv_text import Dialect
from tidings.ingest.rows.form import RowMap
from tidings.ingest.rows.types import PATTERNS, type_of
from tidings.rdf.identity import id_of
from tidings.rdf.limits import DEFAULT_LIMITS
from tidings.rdf.terms import HOME, XSD, XSD_INTEGER, iri, literal
from tidings.rdf.values import parse_value


def test_a_row_is_an_event() -> None:
    data = b"id,name,price,when,ok,note\n7,Caf\xc3\xa9,1.50,2024-02-29,true,\n8,x,2,2024-03-01,false,007\n"
    first, second = converted("csv", data)
    assert first == by_hand(
        f"{DATA}#row=1",
        {
            f"{DATA}id": [literal("7", XSD_INTEGER)],
            f"{DATA}name": [literal("Café")],
            f"{DATA}price": [literal("1.50", f"{XSD}decimal")],
            f"{DATA}when": [literal("2024-02-29", f"{XSD}date")],
            f"{DATA}ok": [literal("true", f"{XSD}boolean")],
        },
    )
    assert f'<{DATA}#row=2> <{DATA}note> "007" .' in lines(second)
    assert f'<{DATA}#row=2> <{DATA}price> "2"^^<{XSD}decimal> .' in lines(second)


def test_keys_classes_links_and_types_as_the_user_says() -> None:
    how = How(
        base="http://e.x/",
        key=("dept", "no"),
        classes=("http://e.x/C", "http://e.x/B"),
        options={"links": {"boss": "http://e.x/p/", "team": "http://e.x/{team}/{no}"}, "types": {"no": "string"}},
    )
    body = only(converted("csv", b"dept,no,boss,team\nA/b,1,x y,t\n", how))
    s = "<http://e.x/A%2Fb/1>"
    assert body.splitlines() == [
        f"{s} <http://e.x/boss> <http://e.x/p/x%20y> .",
        f'{s} <http://e.x/dept> "A/b" .',
        f'{s} <http://e.x/no> "1" .',
        f"{s} <http://e.x/team> <http://e.x/t/1> .",
        f"{s} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.x/B> .",
        f"{s} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.x/C> .",
    ]


def test_the_home_vertex() -> None:
    (event,) = converted("csv", b"a,b\n1,_:x\n", How(home=True, classes=("http://e.x/C",)))
    assert [line.split(" ", 1)[0] for line in lines(event)] == [HOME] * 4
    identifier = f'"{DATA}#row=1"^^<http://www.w3.org/2001/XMLSchema#anyURI>'
    assert f"_:H <http://purl.org/dc/terms/identifier> {identifier} ." in lines(event)
    assert event.id == id_of(event.body)


def test_rows_that_are_the_same_are_different_events() -> None:
    assert len({event.id for event in converted("csv", b"a\nx\nx\n")}) == 2
    assert len({event.id for event in converted("csv", b"a\nx\nx\n", How(home=True))}) == 2


@pytest.mark.parametrize("base", ["http://e.x/", "http://e.x/ns#", "urn:a:", "http://e.x/é/"])
def test_bases(base: str) -> None:
    body = only(converted("csv", "a b,ü\n1,2\n".encode(), How(base=base)))
    assert body.startswith(f"<{base}{'' if '#' in base else '#'}row=1> <{base}a%20b> ")
    assert f"<{base}ü>" in body


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (How(key=("z",)), "no column 'z' for the key"),
        (How(options={"types": {"z": "integer"}}), "no column 'z' for a type"),
        (How(options={"types": {"a": "not one"}}), "no datatype"),
        (How(options={"links": {"a": "no iri"}}), "makes no absolute IRI"),
        (How(options={"delimiter": ",,"}), "one ASCII character"),
        (How(options={"delimiter": '"'}), "same character"),
        (How(options={"header": 3}), "'header'"),
        (How(options={"encoding": "klingon"}), "no encoding"),
        (How(options={"colour": 1}), "'colour' is no option"),
    ],
)
def test_what_a_user_can_get_wrong(how: How, reason: str) -> None:
    with pytest.raises(TidingsError, match=reason):
        converted("csv", b"a\n1\n", how)


@pytest.mark.parametrize("delimiter", ",;\t|")
def test_the_delimiter_is_found(delimiter: str) -> None:
    text = delimiter.join(["a", "b", '"c,;|"']) + "\n" + delimiter.join(["1", '"x,y;z|q\t"', "3"]) + "\n"
    body = only(converted("csv", text.encode()))
    assert body.count("\n") == 3
    assert '<urn:tidings:data:b> "x,y;z|q\\t" .' in body


def test_tab_separated() -> None:
    assert f'<{DATA}b%2Cc> "2,3"' in only(converted("tsv", b"a\tb,c\n1\t2,3\n"))


def test_headers_of_every_kind() -> None:
    names = "".join(converted("csv", b'a,,a,a_2,"x\ny", \n1,2,3,4,5,6\n')[0].body)
    for name in ("a", "_col.2", "a_3", "a_2", "x%0Ay", "_col.6"):
        assert f"<{DATA}{name}> " in names
    assert f"<{DATA}_col.2> " in only(converted("csv", b"1,2\n", How(options={"header": False})))
    assert f"<{DATA}q> " in only(converted("csv", b"1,2\n", How(options={"header": ["p", "q"]})))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_bom_and_blank_lines(newline: str) -> None:
    text = "\ufeff" + newline.join(["", "a,b", "", '1,"x\ny"', "", "", "2,"]) + newline
    first, second = converted("csv", text.encode())
    assert lines(first)[1] == f'<{DATA}#row=1> <{DATA}b> "x\\ny" .'
    assert lines(second) == [f'<{DATA}#row=2> <{DATA}a> "2"^^<{XSD_INTEGER}> .']


def test_the_last_record_needs_no_line_end() -> None:
    assert len(converted("csv", b"a\n1\n2")) == 2
    assert converted("csv", b"a\n") == []


def test_other_encodings() -> None:
    for encoding in ("latin-1", "utf-16", "cp1252"):
        data = "a\nÄ\n".encode(encoding)
        assert '"Ä"' in only(converted("csv", data, How(options={"encoding": encoding})))
    with pytest.raises(EventError, match="probably UTF-16"):
        converted("csv", "a\nÄ\n".encode("utf-16"))
    with pytest.raises(EventError, match="is not utf-16"):
        converted("csv", b"\xff\xfea\x00\n", How(options={"encoding": "utf-16"}))


def test_wrong_records_are_told_with_their_lines_and_cost_no_other() -> None:
    told: list[EventError] = []
    data = b'a,b\n1,"x\ny"\n2\n3,4,5\n\n4,\xff\n5,5" pipe\n6,"z"tail\n'
    events = converted("csv", data, told=told)
    assert reasons(told) == [
        (4, "the record has 1 cells, and the header 2"),
        (5, "the record has 3 cells, and the header 2"),
        (7, "the record is not UTF-8"),
    ]
    assert [event.body.split("row=")[1].split(">")[0] for event in events] == ["1", "5", "6"]
    assert '"5\\" pipe"' in events[1].body
    assert '"ztail"' in events[2].body


def test_a_quote_that_never_closes_is_told_where_its_record_begins() -> None:
    told: list[EventError] = []
    assert len(converted("csv", b'a,b\n1,2\n3,"open\n4,5\n', told=told)) == 1
    assert reasons(told) == [(3, "the record ends inside quotes")]


def test_a_record_without_its_key_is_told() -> None:
    told: list[EventError] = []
    assert len(converted("csv", b"a,b\n,1\nx,2\n", How(key=("a",)), told)) == 1
    assert reasons(told) == [(2, "record 1: the record has no value for 'a', which it needs")]


def test_documents_without_a_header() -> None:
    for data in (b"", b"\n\n", b"\xef\xbb\xbf"):
        with pytest.raises(EventError, match="is empty"):
            converted("csv", data)
    with pytest.raises(EventError, match="the header has no end"):
        converted("csv", b'"a,b\n1,2\n')
    with pytest.raises(EventError, match="the header is not UTF-8"):
        converted("csv", b"\xff,b\n1,2\n")


@pytest.mark.parametrize(
    ("values", "datatype"),
    [
        (["1", "-20", "0"], "integer"),
        (["1", "2.5", "-0.10"], "decimal"),
        (["1e5", "2", "NaN", "-INF"], "double"),
        (["true", "false"], "boolean"),
        (["2024-02-29", "1999-12-31"], "date"),
        (["2024-02-29T23:59:59.5Z", "1999-12-31T00:00:00+14:00"], "dateTime"),
        (["01"], None),
        (["+1"], None),
        (["1", "x"], None),
        (["TRUE"], None),
        (["2023-02-29"], None),
        (["2024-13-01"], None),
        (["2024-01-01 10:00:00"], None),
        (["NaN"], None),
        ([], None),
    ],
)
def test_types_by_look(values: list[str], datatype: str | None) -> None:
    assert type_of(values) == (None if datatype is None else f"{XSD}{datatype}")


@given(st.sampled_from(sorted(PATTERNS)), st.data())
def test_what_looks_like_a_type_is_a_value_of_it(datatype: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(f"\\A(?:{PATTERNS[datatype]})\\Z", alphabet=st.characters(max_codepoint=127)))
    assert parse_value(text, datatype) is not None


def test_a_later_cell_that_does_not_fit_is_a_string() -> None:
    data = b"n\n" + b"1\n" * 1000 + b"1x\n01\n\n-5\n"
    *_, odd, zero, last = converted("csv", data)
    assert odd.body.endswith(f' <{DATA}n> "1x" .\n')
    assert zero.body.endswith(f' <{DATA}n> "01" .\n')
    assert last.body.endswith(f' <{DATA}n> "-5"^^<{XSD_INTEGER}> .\n')


def test_only_the_first_thousand_records_decide() -> None:
    before = converted("csv", b"n\n" + b"1\n" * 999 + b"x\n")
    behind = converted("csv", b"n\n" + b"1\n" * 1000 + b"x\n")
    assert before[0].body.endswith('"1" .\n')
    assert behind[0].body.endswith(f'"1"^^<{XSD_INTEGER}> .\n')


def test_blocks_are_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["x", 'q"q', "a\r\nb"], ["", "5", "é" * 40], ["1", ",", "\n"]] * 20
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([["a", "b", "c"], *rows])
    data = text.getvalue().encode() + b'7,8\n1,"2" x,3\n\n9,"'
    told: list[EventError] = []
    whole = converted("csv", data, told=told)
    assert len(whole) == 61
    for size in (1, 2, 3, 16, 50, 1000):
        monkeypatch.setattr(blocks_module, "BLOCK", size)
        also: list[EventError] = []
        assert converted("csv", data, told=also) == whole
        assert list(map(str, also)) == list(map(str, told))


@pytest.mark.parametrize("seed", range(4))
def test_the_two_ways_to_read_are_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow's parser, the rule where that refuses a block, and Python's reader as a second opinion."""
    chance = random.Random(seed)
    for _ in range(400):
        width = chance.choice([1, 2, 3])
        data = "".join(chance.choice('a,"\n\r b\0é') for _ in range(chance.randint(0, 14))).encode()
        if chance.random() < 0.5:
            text = io.StringIO()
            writer = csv.writer(text, lineterminator=chance.choice(["\n", "\r\n", "\r"]), quoting=chance.choice([0, 1]))
            for _ in range(chance.randint(1, 4)):
                writer.writerow(
                    ["".join(chance.choice('a,"\n\r é') for _ in range(chance.randint(0, 4))) for _ in range(width)]
                )
            data = text.getvalue().encode()
        fast = _cells(data, width)
        with monkeypatch.context() as patched:
            patched.setattr("tidings.ingest.rows.csv._Reading._parsed", lambda *_: None)
            assert _cells(data, width) == fast
        try:
            rows = [row for row in csv.reader(io.StringIO(data.decode(), newline="")) if row]
        except csv.Error:
            continue
        if not any("inside quotes" in reason for _, reason in fast[1]):
            assert [cells for _, _, cells in fast[0]] == [tuple(x or None for x in r) for r in rows if len(r) == width]


def _cells(
    data: bytes, width: int
) -> tuple[list[tuple[int, int, tuple[str | None, ...]]], list[tuple[int | None, str]]]:
    told: list[EventError] = []
    names = tuple("abc"[:width])
    plan = CsvPlan(Dialect(), names, (Typed(None),) * width, RowMap(()), DEFAULT_LIMITS, 0, 1)
    found = []
    for records in plan.records(io.BytesIO(data).read, "x", told.append):
        columns = [records.columns[name][0].text.to_pylist() for name in names]
        for row, (number, cells) in enumerate(zip(records.numbers.tolist(), zip(*columns, strict=True), strict=True)):
            span = records.place(row)
            assert span is not None
            found.append((number, span.line, cells))
    return found, reasons(told)


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(_TEXT, _TEXT, st.integers(), st.booleans()), min_size=1, max_size=6), st.booleans())
@example([("\x00\x07\ufffe\uffff", '_:H "\\', 0, True)], False)
def test_rows_come_back_from_events(rows: list[tuple[str, str, int, bool]], quoting: bool) -> None:
    """Row, event, row: strings of every kind, numbers of every size, and what is empty."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL if quoting else csv.QUOTE_MINIMAL)
    writer.writerow(["s", "t", "n", "b"])
    writer.writerows([s, t, n, "true" if b else "false"] for s, t, n, b in rows)
    types = {"s": "string", "t": "string"}
    events = converted("csv", text.getvalue().encode(), How(options={"types": types}))
    assert len(events) == len(rows)
    for number, (event, (s, t, n, b)) in enumerate(zip(events, rows, strict=True), 1):
        boolean = literal("true" if b else "false", f"{XSD}boolean")
        values = {
            "n": [literal(str(n), XSD_INTEGER)],
            "b": [boolean],
            "s": [literal(s)] * bool(s),
            "t": [literal(t)] * bool(t),
        }
        assert event == by_hand(f"{DATA}#row={number}", {f"{DATA}{name}": terms for name, terms in values.items()})
        back = {p.rpartition(":")[2][:-1]: o for _, p, o in event.triples()}
        assert (back.get("s"), back["n"]) == (literal(s) if s else None, literal(str(n), XSD_INTEGER))


@given(_TEXT.filter(bool))
def test_every_key_makes_a_sound_iri(key: str) -> None:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["k"], [key]])
    (event,) = converted("csv", text.getvalue().encode(), How(key=("k",)))
    subject = event.triples()[0][0]
    assert event.triples() == [(subject, iri(f"{DATA}k"), event.triples()[0][2])]
    assert len(list(ox.parse(event.body.encode(), format=ox.RdfFormat.N_TRIPLES))) == 1
