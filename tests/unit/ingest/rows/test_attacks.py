"""Hostile tables: size, quotes, bytes that are no text, bombs. Each costs a message, and its neighbours nothing."""

from __future__ import annotations

import gzip
import io
import tracemalloc

import pytest
from tests.unit.ingest.rows.helpers import converted, drained, lines, reasons

from tidings.errors import EventError
from tidings.ingest.base import How, Input
from tidings.ingest.registry import converter
from tidings.rdf.limits import MIB, Limits
from tidings.rdf.sources import Stream


def test_a_row_of_ten_megabytes() -> None:
    told: list[EventError] = []
    data = b"a,b\n1,x\n2," + b"y" * (10 * MIB) + b"\n3,z\n"
    events = converted("csv", data, told=told)
    assert [event.body.split("row=")[1][0] for event in events] == ["1", "3"]
    assert reasons(told) == [(3, "record 2: the value of 'b' is larger than 4 MiB")]


def test_a_line_of_ten_megabytes() -> None:
    told: list[EventError] = []
    data = b'{"a": 1}\n{"a": "' + b"y" * (10 * MIB) + b'"}\n{"a": 3}\n'
    assert len(converted("jsonl", data, told=told)) == 2
    assert reasons(told) == [(2, "record 2: the value of 'a' is larger than 4 MiB")]


def test_a_row_of_many_large_cells() -> None:
    told: list[EventError] = []
    limits = Limits(max_term=MIB, max_event=3 * MIB)
    cells = b",".join([b"z" * (MIB - 10)] * 4)
    assert len(converted("csv", b"a,b,c,d\n1,2,3,4\n" + cells + b"\n5,6,7,8\n", How(limits=limits), told)) == 2
    assert reasons(told) == [(3, "the record is larger than 3 MiB")]


class Endless(io.RawIOBase):
    """A document that begins with some text and goes on with the same for ever, up to a size."""

    def __init__(self, head: bytes, again: bytes, size: int) -> None:
        self._head, self._again, self._left = head, again, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._head or self._again * (len(buffer) // len(self._again) + 1)
        data = data[: min(len(buffer), self._left)]
        self._head = self._head[len(data) :]
        self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)


@pytest.mark.parametrize(
    ("kind", "head", "again"),
    [("csv", b'a,b\n1,2\n3,"', b'x,y\n""z\n'), ("csv", b"a,b\n1,2\n", b"x,"), ("jsonl", b'{"a": 1}\n{"b": "', b"xyz ")],
)
def test_a_record_without_end_is_bounded_in_memory(kind: str, head: bytes, again: bytes) -> None:
    told: list[EventError] = []
    limits = Limits(max_event=MIB)
    tracemalloc.start()
    try:
        with Stream("x", io.BufferedReader(Endless(head, again, 48 * MIB))) as stream:
            events = drained(converter(kind)(Input("x", stream), How(limits=limits), told.append))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(events) == 1
    assert [(line, reason) for line, reason in reasons(told)] == [
        (3 if kind == "csv" else 2, "the record is larger than 1 MiB")
    ]
    assert peak < 24 * MIB


def test_bytes_that_are_no_text() -> None:
    told: list[EventError] = []
    events = converted("csv", b"a,b\n1,\x00\x01\n2,\xc3\x28\n3,\xed\xa0\x80\n4,\xf4\x90\x80\x80\n5,\x7f\n", told=told)
    assert [line for line, _ in reasons(told)] == [3, 4, 5]
    assert [lines(event)[1].split(" ", 2)[2] for event in events] == ['"\\u0000\\u0001" .', '"\\u007F" .']


def test_a_bomb_in_gzip_is_read_as_far_as_the_reader_wants() -> None:
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000, 9)
    assert len(bomb) < 100_000
    with Stream("x", io.BytesIO(bomb)) as stream:
        batches = converter("csv")(Input("x", stream), How(), lambda _: None)
        first = next(batches)
        assert 0 < first.num_rows < 1_000_000
        batches.close()  # type: ignore[attr-defined]


def test_a_bomb_in_gzip_that_is_one_record() -> None:
    told: list[EventError] = []
    data = gzip.compress(b"a,b\n1,2\n3," + b"0" * (30 * MIB), 9)
    assert len(converted("csv", data, How(limits=Limits(max_event=MIB)), told)) == 1
    assert reasons(told) == [(3, "the record is larger than 1 MiB")]


def test_damaged_gzip() -> None:
    data = gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)
    with pytest.raises(EventError, match="cut off or damaged"):
        converted("csv", data[:-100])


def test_more_columns_than_there_may_be() -> None:
    with pytest.raises(EventError, match="has 20,000 columns"):
        converted("csv", b"a," * 19_999 + b"a\n")
    with pytest.raises(EventError, match="the header has no end in the first"):
        converted("csv", b"a," * MIB)


def test_names_that_are_much_longer_than_values() -> None:
    names = b",".join(b"n" * 30_000 + b"%d" % number for number in range(10))
    events = converted("csv", names + b"\n" + b"1,2,3,4,5,6,7,8,9,0\n" * 300)
    assert len(events) == 300
    assert len(events[0].body) > 300_000


def test_an_array_of_too_many_values() -> None:
    told: list[EventError] = []
    data = b'{"a": [' + b",".join(b"%d" % number for number in range(2000)) + b'], "b": 1}\n{"a": 1}\n'
    assert len(converted("jsonl", data, How(limits=Limits(max_triples=1000)), told)) == 1
    assert reasons(told) == [(1, "record 1: an event may have 1,000 triples, and this has more")]


def test_text_of_very_many_odd_characters_in_keys() -> None:
    odd = "".join(chr(0xE000 + number) for number in range(6000))
    (event,) = converted("csv", f"k\n{odd}\n".encode(), How(key=("k",)))
    assert "%EE%80%80%EE%80%81" in event.body
