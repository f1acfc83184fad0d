"""Records as mappings from references to values, for RML."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.unit.ingest.support import given

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How
from tidings.ingest.trees.records import records


def fail(error: EventError) -> None:
    raise error


def test_json() -> None:
    data = (
        b'{"items": [{"id": 7, "a": {"b": "x"}, "t": ["p", null, "q"], "d": 1.50, "e": 1e3, "a.b": true, "n": null}]}'
    )
    [(number, record)] = records(given(data), How(record="$.items[*]"), fail, format="json")
    assert number == 1
    assert record["id"] == 7
    assert record["$.a.b"] == "x"
    assert record["a.b"] is True
    assert record["t[*]"] == ["p", "q"]
    assert record["t[2]"] == "q"
    assert (record["d"], record["e"]) == (Decimal("1.50"), 1000.0)
    assert list(record) == ["id", "d", "e", "a.b"]
    assert "n" not in record
    assert "a" not in record


def test_xml() -> None:
    data = b'<c><i id="7" xmlns:x="u:x"><x:t>T</x:t><a><n k="1">N</n><n>M</n></a>tail</i></c>'
    [(_, record)] = records(given(data), How(record="/c/i"), fail, format="xml")
    assert record["@id"] == "7"
    assert record["t"] == "T"
    assert record["a/n"] == ["N", "M"]
    assert record["a/n/@k"] == "1"
    assert record["text()"] == "tail"
    assert record["."] == "TNMtail"
    assert list(record) == ["@id", "t"]
    assert record.get("none") is None


def test_problems_are_reported() -> None:
    told: list[EventError] = []
    assert [n for n, _ in records(given(b"[1, 2, x"), How(), told.append, format="json")] == [1, 2]
    assert list(records(given(b"<a>"), How(), told.append, format="xml")) == []
    assert len(told) == 2
    with pytest.raises(UsageError):
        list(records(given(b""), How(), fail, format="csv"))
