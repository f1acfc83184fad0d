"""Files of subscriptions: every kind, and everything that may be wrong in one."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tidings.errors import SubscriptionError, UsageError
from tidings.lang import parse
from tidings.lang import rows as file_rows
from tidings.lang.files import Subscription, read_subscriptions

ASK = "ASK { ?s ?p ?o }"
OPS = "PREFIX : <http://e.x/> (_:H, ?1, (A, p, B))"
GTOPSS = "PREFIX : <http://e.x/> (?x, p, ?y)"


def read(path: Path) -> tuple[list[Subscription], list[str]]:
    errors: list[SubscriptionError] = []
    found = list(read_subscriptions(path, report=errors.append))
    folder = path if path.is_dir() else path.parent
    return found, [str(error).replace(f"{folder}/", "") for error in errors]


def ids(found: Iterable[Subscription]) -> list[str]:
    return [subscription.id for subscription in found]


def ndjson(path: Path, *rows: Any) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


# -------------------------------------------------------------------------------------------------- folders and queries


def test_a_folder_is_read_in_name_order(tmp_path: Path) -> None:
    for name, text in {"b.ops": OPS, "a.rq": ASK, "c.d.gtopss": GTOPSS, "notes.txt": "", ".a.rq": "x"}.items():
        (tmp_path / name).write_text(text)
    found, errors = read(tmp_path)
    assert not errors
    assert [(s.id, s.dialect, s.line) for s in found] == [
        ("a", "sparql", None),
        ("b", "ops", None),
        ("c.d", "gtopss", None),
    ]
    assert found[0].query == parse(ASK)
    assert found[0].text == ASK
    assert found[0].source == str(tmp_path / "a.rq")


def test_one_stem_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.ops").write_text(OPS)
    (tmp_path / "a.rq").write_text(ASK)
    found, errors = read(tmp_path)
    assert [s.dialect for s in found] == ["ops"]
    assert errors == ["a.rq: the id 'a' is taken already, by a.ops"]


def test_a_bad_query_file_costs_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.rq").write_text("SELECT *\nWHERE { ?s ?p }")
    (tmp_path / "b.rq").write_bytes(b"ASK { ?s ?p\n 'caf\xe9' }")
    (tmp_path / "c.rq").write_text(ASK)
    found, errors = read(tmp_path)
    assert ids(found) == ["c"]
    assert errors[0].splitlines()[1:] == ["  | WHERE { ?s ?p }", "  |               ^"]
    assert errors[0].startswith("a.rq:2:15: expected ")
    assert errors[1] == "b.rq:2: not UTF-8: byte 0xE9"


def test_one_query_file(tmp_path: Path) -> None:
    path = tmp_path / "cheap.rq"
    path.write_bytes(b"\xef\xbb\xbf" + ASK.encode())
    assert ids(read(path)[0]) == ["cheap"]
    packed = tmp_path / "packed.v2.rq.gz"
    packed.write_bytes(gzip.compress(ASK.encode()))
    assert ids(read(packed)[0]) == ["packed.v2"]


def test_a_query_file_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "MAX_ROW", 100)
    path = tmp_path / "a.rq"
    path.write_text(ASK + " " * 100)
    assert read(path) == ([], ["a.rq: the file has more than 100 bytes"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p / "none.rq", "no such file or folder"),
        (lambda p: p, "the folder has no subscription files"),
        (lambda p: (p / "x.txt", (p / "x.txt").write_text(""))[0], "not a file of subscriptions"),
    ],
)
def test_wrong_use(tmp_path: Path, make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(make(tmp_path))


# --------------------------------------------------------------------------------------------------------------- NDJSON


def test_ndjson_fields(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "query": OPS,
        "dialect": "ops",
        "created": "2024-05-01T12:00:00Z",
        "cancelled": "2024-06-01T12:00:00+02:00",
        "subscriber": "me",
        "options": {"payload": True},
        "more": 1,
    }
    path = ndjson(tmp_path / "s.ndjson", row, "", {"id": 7, "query": ASK, "dialect": None, "options": '{"ttl": 5}'})
    (first, second), errors = read(path)
    assert not errors
    assert (first.dialect, first.created, first.cancelled) == ("ops", row["created"], row["cancelled"])
    assert (first.subscriber, first.options, first.line) == ("me", {"payload": True}, 1)
    assert (second.id, second.dialect, second.options, second.line) == ("7", "sparql", {"ttl": 5}, 3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query": ASK}, "s.jsonl:1: there is no field 'id'\n  hint: the fields are 'query'"),
        ({"id": "", "query": ASK}, "s.jsonl:1: subscription '': the field 'id' is empty"),
        ({"id": "a"}, "s.jsonl:1: subscription 'a': there is no field 'query'"),
        ({"id": "a", "query": None}, "s.jsonl:1: subscription 'a': the field 'query' is empty"),
        ({"id": True, "query": ASK}, "the field 'id' is a boolean, it should be a string"),
        ({"id": "a", "query": 5}, "s.jsonl:1: subscription 'a': the field 'query' is a number"),
        ({"id": "a", "query": ["x"]}, "the field 'query' is a list"),
        ({"id": "a", "query": ASK, "dialect": "sql"}, "unknown dialect 'sql'; the dialects are sparql, ops, gtopss"),
        ({"id": "a", "query": ASK, "created": "now"}, "the field 'created' is not a date and time such as"),
        ({"id": "a", "query": ASK, "options": [1]}, "the field 'options' is a list, it should be a JSON object"),
        ({"id": "a", "query": ASK, "options": "{"}, "the field 'options' is not valid JSON"),
        ({"id": "a", "query": "ASK { ?s ?p '\ud800' }"}, "the field 'query' is not valid UTF-8"),
        ([1], "s.jsonl:1: the line is a list, it should be one JSON object"),
        ('{"id": "a", }', "s.jsonl:1:13: not JSON"),
        ("[" * 100_000, "s.jsonl:1"),
    ],
)
def test_a_bad_row_is_named_and_the_rest_goes_on(tmp_path: Path, row: Any, message: str) -> None:
    path = ndjson(tmp_path / "s.jsonl", row, {"id": "good", "query": ASK})
    found, errors = read(path)
    assert ids(found) == ["good"]
    assert len(errors) == 1
    assert message in errors[0]


def test_an_error_in_the_query_has_both_places(tmp_path: Path) -> None:
    path = ndjson(tmp_path / "s.ndjson", {"id": "a", "query": ASK}, {"id": "x", "query": "ASK {\n ?s ?p }"})
    _, (error,) = read(path)
    first, *quoted = error.splitlines()
    assert first.startswith("s.ndjson:2: subscription 'x': line 2, column 8: expected ")
    assert quoted[:2] == ["  |  ?s ?p }", "  |        ^"]


def test_an_id_twice_is_refused_the_second_time(tmp_path: Path) -> None:
    rows = [{"id": "a", "query": "oops"}, {"id": "a", "query": ASK}, {"id": "a", "query": ASK}]
    found, errors = read(ndjson(tmp_path / "s.ndjson", *rows))
    assert [(s.id, s.line) for s in found] == [("a", 2)]
    assert errors[1] == "s.ndjson:3: subscription 'a': the id 'a' is taken already, by line 2"


def test_lines_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "s.ndjson"
    good = json.dumps({"id": "a", "query": ASK}).encode()
    path.write_bytes(b'\xef\xbb\xbf{"id": "caf\xe9"}\r\n' + good + b"\r\n\n")
    found, errors = read(path)
    assert ids(found) == ["a"]
    assert errors == ["s.ndjson:1: not UTF-8: byte 0xE9"]


def test_lines_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "MAX_ROW", 200)
    monkeypatch.setattr(file_rows, "_CHUNK", 64)
    long = {"id": "long", "query": ASK + " " * 500}
    rows = [{"id": "a", "query": ASK}, long, {"id": "b", "query": ASK}, long]
    found, errors = read(ndjson(tmp_path / "s.ndjson", *rows))
    assert ids(found) == ["a", "b"]
    assert errors == [f"s.ndjson:{n}: the line has more than 200 bytes" for n in (2, 4)]


def test_compressed_and_cut_off(tmp_path: Path) -> None:
    data = "".join(json.dumps({"id": f"s{i}", "query": ASK}) + "\n" for i in range(5000)).encode()
    whole, cut = tmp_path / "s.ndjson.gz", tmp_path / "t.ndjson.gz"
    whole.write_bytes(gzip.compress(data))
    cut.write_bytes(gzip.compress(data)[:-200])
    assert len(read(whole)[0]) == 5000
    found, errors = read(cut)
    assert len(found) < 5000
    assert len(errors) == 1
    assert "cut off or damaged" in errors[0]
    zst = tmp_path / "s.ndjson.zst"
    with pa.output_stream(str(zst), compression="zstd") as stream:
        stream.write(data)
    assert len(read(zst)[0]) == 5000


# ------------------------------------------------------------------------------------------------------ CSV and Parquet


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "dialect", "query", "options", "created"])
        writer.writerow(["a", "", "ASK {\n ?s ?p ?o\n}", '{"ttl": 1}', ""])
        writer.writerow(["b", "ops", OPS, "", "2024-05-01"])
        writer.writerow(["c", "", "ASK {", "", ""])
        writer.writerow(["d", "", ASK])
        writer.writerow(["e", "", ASK, "", ""])
    found, errors = read(path)
    assert [(s.id, s.dialect, s.line) for s in found] == [("a", "sparql", 2), ("b", "ops", 5), ("e", "sparql", 8)]
    assert found[0].options == {"ttl": 1}
    assert found[0].created is None
    assert errors[0].startswith("s.csv:6: subscription 'c': line 1, column 6: expected ")
    assert errors[1] == "s.csv:7: 3 fields where the first line names 5 columns"


def test_csv_that_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(b"id,query\ncaf\xe9," + ASK.encode() + b'\nx,"ASK" {}\ny,' + ASK.encode() + b"\n")
    found, errors = read(path)
    assert ids(found) == ["y"]
    assert "the field 'id' is not valid UTF-8" in errors[0]
    assert errors[1].startswith("s.csv:3: not CSV: ")
    path.write_text("name,text\na,b\n")
    assert read(path) == ([], ["s.csv:1: the first line should name the columns, 'id' and 'query' among them"])


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    moment = datetime(2024, 5, 1, 12, tzinfo=UTC)
    table = pa.table(
        {
            "id": pa.array([1, 2, 3]),
            "query": [ASK, OPS, "ASK {"],
            "dialect": [None, "ops", "sparql"],
            "created": pa.array([moment, None, None], pa.timestamp("ns", "UTC")),
            "options": pa.array([{"ttl": 1}, None, None]),
            "other": [b"x", b"y", b"z"],
        }
    )
    pq.write_table(table, path)
    found, errors = read(path)
    assert [(s.id, s.dialect, s.line) for s in found] == [("1", "sparql", 1), ("2", "ops", 2)]
    assert found[0].created == "2024-05-01T12:00:00+00:00"
    assert found[0].options == {"ttl": 1}
    assert errors[0].startswith("s.parquet:3: subscription '3': line 1, column 6: ")


def test_parquet_that_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    path.write_bytes(b"PAR1 no")
    found, errors = read(path)
    assert not found
    assert len(errors) == 1
    assert errors[0].startswith("s.parquet: the Parquet file cannot be read")
    pq.write_table(pa.table({"x": [1]}), path)
    assert read(path) == ([], ["s.parquet: the table should have the columns 'id' and 'query'"])


def test_an_empty_name_is_not_the_folder_one_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.rq").write_text("ASK { ?s ?p ?o }")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="empty"):
        list(read_subscriptions("", report=print))
