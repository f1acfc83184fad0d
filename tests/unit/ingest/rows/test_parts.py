"""Large files in parts: the same events and errors as the whole, wherever it is cut."""

from __future__ import annotations

import io
import pickle
from itertools import pairwise

import pytest
from tests.unit.ingest.rows.helpers import converted, drained

from tidings.errors import EventError, TidingsError
from tidings.ingest.base import How
from tidings.ingest.rows import blocks as blocks_module
from tidings.ingest.rows.parts import convert_range, plan_file, splits
from tidings.rdf.event import Event
from tidings.rdf.limits import Limits

CSV = b'\xef\xbb\xbfn,s\n\n1,"a\n""b"\n2,x\n\n3\n4,5" y\n5,"z"\n' + b"".join(
    b'%d,"q,\n%d"\n' % (n, n) for n in range(6, 26)
)
JSONL = b'\xef\xbb\xbf{"a": 1}\n\nbad\n' + b"".join(b'{"a": %d, "b": ["x"]}\r\n' % n for n in range(20)) + b'{"a": 0}'


def in_parts(kind: str, data: bytes, how: How, size: int) -> tuple[list[Event], list[str], int]:
    told: list[EventError] = []
    plan = plan_file(kind, io.BytesIO(data).read, how, "x", told.append)
    plan = pickle.loads(pickle.dumps(plan))
    parts = list(splits(plan, io.BytesIO(data).read, size))
    assert all(before.stop == after.start for before, after in pairwise(parts))
    events: list[Event] = []
    for part in parts:
        stream = io.BytesIO(data)
        stream.seek(part.start)
        events += drained(convert_range(plan, part, stream.read, "x", told.append))
    return events, list(map(str, told)), len(parts)


@pytest.mark.parametrize(("size", "block"), [(1, 1), (1, 40), (100, 40), (10**6, 2**20)])
@pytest.mark.parametrize(("kind", "data"), [("csv", CSV), ("jsonl", JSONL), ("csv", CSV[3:-1]), ("jsonl", b"")])
def test_parts_are_the_whole(kind: str, data: bytes, size: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[EventError] = []
    whole = converted(kind, data, How(), told)
    monkeypatch.setattr(blocks_module, "BLOCK", block)
    events, errors, count = in_parts(kind, data, How(), size)
    assert events == whole
    assert errors == list(map(str, told))
    assert count > 5 or size > 30 or block > 40 or not data


@pytest.mark.parametrize("block", [16, 100, 2**20])
def test_records_that_are_too_large_are_counted(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "BLOCK", block)
    how = How(limits=Limits(max_event=300))
    big = b'1,"' + b'x""\n' * 200 + b'"\n'
    data = b"n,s\n1,a\n" + big + big + b"2,b\n" + b"3,c\n" * 10 + big + b"4,d\n"
    told: list[EventError] = []
    whole = converted("csv", data, how, told)
    assert len(whole) == 13
    assert [each.line for each in told] == [3, 204, 416]
    for size in (1, 50, 10**6):
        events, errors, _ = in_parts("csv", data, how, size)
        assert events == whole
        assert errors == list(map(str, told))
    lines = b'{"a": 1}\n' + b'{"a": "' + b"x" * 2000 + b'"}\n{"a": 2}\n'
    assert [event.body.split("row=")[1][0] for event in converted("jsonl", lines, how, [])] == ["1", "3"]


def test_with_a_mapping() -> None:
    mapping = b"""@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
    <urn:m> rml:logicalSource [ rml:source "b" ; rml:referenceFormulation <http://semweb.mmlab.be/ns/ql#CSV> ] ;
      rr:subjectMap [ rr:template "urn:e:{n}" ] ; rr:predicateObjectMap [ rr:predicate <urn:p> ;
        rr:objectMap [ rr:parentTriplesMap <urn:o> ; rr:joinCondition [ rr:child "n" ; rr:parent "k" ] ] ] .
    <urn:o> rml:logicalSource [ rml:source "c" ; rml:referenceFormulation <http://semweb.mmlab.be/ns/ql#CSV> ] ;
      rr:subjectMap [ rr:template "urn:o:{k}" ] ."""
    how = How(mapping=mapping, options={"sources": {"c": b"k\n7\n20\n"}})
    told: list[EventError] = []
    whole = converted("csv", CSV, how, told)
    assert len(whole) == 2
    events, errors, _ = in_parts("csv", CSV, how, 40)
    assert (events, errors) == (whole, list(map(str, told)))
    described = How(mapping=b'{"@context": "http://www.w3.org/ns/csvw", "url": "http://e.x/t"}')
    assert in_parts("csv", CSV, described, 40)[0] == converted("csv", CSV, described, [])


def test_what_is_not_read_in_parts() -> None:
    with pytest.raises(TidingsError, match="'parquet' is not read in parts"):
        plan_file("parquet", io.BytesIO().read, How(), "x", print)
    with pytest.raises(TidingsError, match="not UTF-8"):
        plan_file("csv", io.BytesIO(CSV).read, How(options={"encoding": "latin-1"}), "x", print)


def test_a_file_that_has_become_shorter() -> None:
    plan = plan_file("csv", io.BytesIO(CSV).read, How(), "x", print)
    (part,) = splits(plan, io.BytesIO(CSV).read)
    with pytest.raises(EventError, match="has it changed"):
        drained(convert_range(plan, part, io.BytesIO(CSV[part.start : -20]).read, "x", lambda _: None))
