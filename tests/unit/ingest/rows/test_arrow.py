"""Arrow tables, Parquet files and pandas frames: every type keeps its values."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.ingest.rows.helpers import by_hand, converted, drained

from tidings.errors import EventError, TidingsError
from tidings.ingest.base import DATA, How
from tidings.ingest.rows import parquet as parquet_module
from tidings.ingest.rows.arrow import from_arrow
from tidings.rdf.limits import Limits
from tidings.rdf.terms import XSD, Term, literal
from tidings.rdf.values import parse_value

BERLIN = dt.timezone(dt.timedelta(hours=1))
COLUMNS: dict[str, tuple[pa.Array, list[Term]]] = {
    "text": (pa.array(['a"\n\0é', None]), [literal('a"\n\0é')]),
    "large": (pa.array(["a", None], pa.large_string()), [literal("a")]),
    "view": (pa.array(["a", None], pa.string_view()), [literal("a")]),
    "dictionary": (pa.array(["a", None]).dictionary_encode(), [literal("a")]),
    "int8": (pa.array([-5, None], pa.int8()), [literal("-5", f"{XSD}integer")]),
    "uint64": (pa.array([2**64 - 1, None], pa.uint64()), [literal(str(2**64 - 1), f"{XSD}integer")]),
    "double": (pa.array([0.1, None]), [literal("0.1", f"{XSD}double")]),
    "float": (pa.array([0.1, None], pa.float32()), [literal("0.1", f"{XSD}float")]),
    "half": (pa.array([1.5, None], pa.float16()), [literal("1.5", f"{XSD}float")]),
    "infinite": (pa.array([float("-inf"), None]), [literal("-INF", f"{XSD}double")]),
    "nan": (pa.array([float("nan"), None]), [literal("NaN", f"{XSD}double")]),
    "bool": (pa.array([False, None]), [literal("false", f"{XSD}boolean")]),
    "decimal": (pa.array([Decimal("1.50"), None]), [literal("1.50", f"{XSD}decimal")]),
    "small": (pa.array([Decimal("1E-12"), None]), [literal("0.000000000001", f"{XSD}decimal")]),
    "thousands": (pa.array([Decimal(5000), None], pa.decimal128(5, -3)), [literal("5000", f"{XSD}decimal")]),
    "date": (pa.array([dt.date(2024, 2, 29), None]), [literal("2024-02-29", f"{XSD}date")]),
    "date64": (pa.array([dt.date(2024, 2, 29), None], pa.date64()), [literal("2024-02-29", f"{XSD}date")]),
    "time": (pa.array([dt.time(1, 2, 3, 400_000), None]), [literal("01:02:03.4", f"{XSD}time")]),
    "local": (pa.array([dt.datetime(2024, 1, 2, 3, 4, 5), None]), [literal("2024-01-02T03:04:05", f"{XSD}dateTime")]),
    "zoned": (
        pa.array([dt.datetime(2024, 1, 2, 3, 4, 5, 60_000, BERLIN), None], pa.timestamp("ns", "Europe/Berlin")),
        [literal("2024-01-02T02:04:05.06Z", f"{XSD}dateTime")],
    ),
    "seconds": (pa.array([0, None], pa.timestamp("s")), [literal("1970-01-01T00:00:00", f"{XSD}dateTime")]),
    "duration": (pa.array([dt.timedelta(seconds=-90.5), None]), [literal("-PT90.5S", f"{XSD}dayTimeDuration")]),
    "binary": (pa.array([b"\x00\xfe", None]), [literal("00FE", f"{XSD}hexBinary")]),
    "fixed": (pa.array([b"ab", None], pa.binary(2)), [literal("6162", f"{XSD}hexBinary")]),
    "list": (pa.array([["b", "a", None, "b"], []]), [literal("a"), literal("b")]),
    "fixed list": (pa.array([[1, 2], None], pa.list_(pa.int64(), 2)), [literal(n, f"{XSD}integer") for n in "12"]),
    "null": (pa.nulls(2), []),
    "uuid": (
        pa.array([b"0123456789abcdef", None], pa.uuid()),
        [literal(b"0123456789abcdef".hex().upper(), f"{XSD}hexBinary")],
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_type(name: str) -> None:
    array, terms = COLUMNS[name]
    events = drained(from_arrow(pa.table({"a": array}), How()))
    expected = by_hand(f"{DATA}#row=1", {f"{DATA}a": terms})
    assert [(event.id, event.body) for event in events] == ([(expected.id, expected.body)] if terms else [])
    for term in terms:
        datatype = term.rpartition("^^<")[2][:-1] if "^^" in term else ""
        if datatype in (f"{XSD}dateTime", f"{XSD}date", f"{XSD}time", f"{XSD}decimal", f"{XSD}double"):
            assert parse_value(term[1:].partition('"')[0], datatype) is not None


def test_structures_are_columns_with_dots() -> None:
    table = pa.table({"s": pa.array([{"a": 1, "b": {"c": ["x"]}}, None])})
    (event,) = drained(from_arrow(table, How()))
    expected = {f"{DATA}s.a": [literal("1", f"{XSD}integer")], f"{DATA}s.b.c": [literal("x")]}
    assert event.body == by_hand(f"{DATA}#row=1", expected).body


@pytest.mark.parametrize(
    "array", [pa.array([[[1]]]), pa.array([[{"a": 1}]]), pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))]
)
def test_trees_are_refused_by_their_column(array: pa.Array) -> None:
    with pytest.raises(TidingsError, match=r"the column 'tree' has .* --as json"):
        drained(from_arrow(pa.table({"tree": array}), How()))


def test_anything_that_is_a_table() -> None:
    table = pa.table({"a": [1, 2, 3]})
    events = drained(from_arrow(table, How()))
    assert len(events) == 3
    frame = pd.DataFrame({"a": [1, 2, 3]})
    for other in (table.to_reader(1), table.to_batches(2), frame, iter([table.slice(0, 1), table.slice(1)])):
        assert drained(from_arrow(other, How())) == events
    with pytest.raises(TidingsError, match="int is no table"):
        drained(from_arrow(5, How()))
    with pytest.raises(TidingsError, match="two columns called 'a'"):
        drained(from_arrow(pa.table([[1], [2]], names=["a", "a"]), How()))
    with pytest.raises(EventError, match="larger than 3 bytes"):
        drained(from_arrow(pa.table({"a": ["long"]}), How(limits=Limits(max_term=3))))


def parquet(table: pa.Table, **options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def test_parquet_is_the_table_it_was_made_of() -> None:
    kinds = {name: array for name, (array, _) in COLUMNS.items() if name not in ("half", "view", "thousands", "large")}
    table = pa.table({**kinds, "k": ["x", "y"]})
    how = How(key=("k",), options={"types": {"text": "token"}})
    assert [(e.id, e.body) for e in converted("parquet", parquet(table, row_group_size=1), how)] == [
        (e.id, e.body) for e in drained(from_arrow(table, how))
    ]


def test_parquet_that_is_none() -> None:
    good = parquet(pa.table({"a": list(range(1000))}))
    for data in (b"", b"PAR1", b"x" * 100, good[:-20], good[:200] + b"\0" * 300 + good[500:]):
        with pytest.raises(EventError, match="no Parquet file that can be read"):
            converted("parquet", data)
    with pytest.raises(EventError, match="is larger than"):
        converted("parquet", good, How(limits=Limits(max_document=100)))
    with pytest.raises(TidingsError, match="no column 'z' for the key"):
        converted("parquet", good, How(key=("z",)))


def test_a_small_file_that_stands_for_very_much_text() -> None:
    text = pa.array(["x" * 1_000_000])
    repeats = pa.DictionaryArray.from_arrays(pa.array([0] * 50, pa.int32()), text)
    data = parquet(pa.table({"a": repeats}))
    assert len(data) < 200_000
    assert len(converted("parquet", data)) == 50
    one = pa.ListArray.from_arrays(pa.array([0, 500], pa.int32()), pa.DictionaryArray.from_arrays([0] * 500, text))
    with pytest.raises(EventError, match=r"476[.]8 MiB of text in few records"):
        converted("parquet", parquet(pa.table({"a": one})))


def test_a_small_file_that_says_it_has_very_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    data = parquet(pa.table({"a": pa.nulls(100_000, pa.int8())}))
    assert converted("parquet", data) == []
    monkeypatch.setattr(parquet_module, "_CELLS", 10_000)
    monkeypatch.setattr(parquet_module, "_CELLS_A_BYTE", 10)
    with pytest.raises(EventError, match=r"has 100,000 records in .* bytes, too many"):
        converted("parquet", data)


_COLUMN = st.sampled_from(
    [
        (pa.int64(), st.integers(-(2**63), 2**63 - 1), lambda v: literal(str(v), f"{XSD}integer")),
        (pa.string(), st.text(st.characters(exclude_categories=["Cs"])), literal),
        (pa.bool_(), st.booleans(), lambda v: literal(str(v).lower(), f"{XSD}boolean")),
        (pa.date32(), st.dates(), lambda v: literal(v.isoformat(), f"{XSD}date")),
        (pa.binary(), st.binary(), lambda v: literal(v.hex().upper(), f"{XSD}hexBinary")),
    ]
)


@given(st.data())
def test_rows_come_back_from_events(data: st.DataObject) -> None:
    """Row, event, row: the values of typed columns, and nulls."""
    kind, values, term = data.draw(_COLUMN)
    column = data.draw(st.lists(st.none() | values, min_size=1, max_size=8))
    table = pa.table({"k": list(range(len(column))), "v": pa.array(column, kind)})
    events = drained(from_arrow(table, How(key=("k",))))
    for number, (event, value) in enumerate(zip(events, column, strict=True)):
        terms = [] if value is None else [term(value)]
        expected = by_hand(f"{DATA}{number}", {f"{DATA}k": [literal(str(number), f"{XSD}integer")], f"{DATA}v": terms})
        assert (event.id, event.body) == (expected.id, expected.body)


@given(st.floats())
def test_numbers_come_back_from_events(number: float) -> None:
    (event,) = drained(from_arrow(pa.table({"a": [number]}), How()))
    text = event.body.split('"')[1]
    assert repr(float(text.replace("INF", "inf"))) == repr(number)
