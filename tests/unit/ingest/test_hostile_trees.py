"""Trees that are made to do harm: each is told, none of them costs the process."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.unit.ingest.support import converted, events, problem

from tidings.rdf.limits import Limits

LONG = b"0123456789" * 20
LIMITS = Limits(max_event=4 << 20)


@contextmanager
def within(most: int) -> Iterator[None]:
    """No more memory than this is needed at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("data", "format", "said"),
    [
        (b'{"a":' * 500 + b"1" + b"}" * 500, "json", "nested more than 100 deep"),
        (b"[" * 1_000_000, "json", "nested too deeply"),
        (b"<a>" * 100_000, "xml", "elements nested more than 100 deep"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "xml", "declares the entity"),
        (b'<a x="' + b"y" * (8 << 20), "xml", "a tag or comment of more than 4 MiB"),
        (b"<a><!--" + b"y" * (8 << 20), "xml", "a tag or comment of more than 4 MiB"),
        (b'{"a": "' + b"x" * (2 << 20) + b'"}', "json", "a record of more than 1 MiB"),
        (b"<a>" + b"x" * (2 << 20) + b"</a>", "xml", "a record of more than 1 MiB"),
        (b"<a>" + b"<b/>" * 100_000 + b"</a>", "xml", "a record of more than 1 MiB"),
    ],
    ids=lambda value: value[:20].decode() if isinstance(value, bytes) else None,
)
def test_depth_entities_and_size(data: bytes, format: str, said: str) -> None:
    assert said in problem(data, format, limits=LIMITS, record="$" if format == "json" else None)


def test_entities_do_not_explode() -> None:
    declared = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    assert "declares the entity e0" in problem(f'<!DOCTYPE a [<!ENTITY e0 "x">{declared}]><a>&e11;</a>'.encode(), "xml")


def test_a_record_of_too_many_triples() -> None:
    limits = Limits(max_triples=1000)
    assert "1,000 triples" in problem(b"[[" + b"1," * 2000 + b"1]]", "json", limits=limits)
    assert "1,000 triples" in problem(b"<a>" + b"<b/>" * 600 + b"</a>", "xml", limits=limits)


def test_a_record_too_large_for_an_event_costs_no_other() -> None:
    data = b'[{"a": ["' + b"x" * 100 + b'"]}, {"a": [' + b'"x",' * 20_000 + b'"x"]}, {"a": 1}]'
    found, [error] = converted(data, "json", limits=Limits(max_event=1 << 20))
    assert len(found) == 2
    assert "the event is too large" in str(error)


def test_data_that_unpack_to_much_are_read_as_a_stream() -> None:
    data = gzip.compress(b'{"skip": [' + (b'"%b",' % LONG) * 40_000 + b'1], "items": [1]}', 6)
    with within(4 << 20):
        assert len(events(data, "json", record="$.items[*]")) == 1
    data = gzip.compress(b"<a>" + (b"<skip>%b</skip>" % LONG) * 40_000 + b"<i/></a>", 6)
    with within(4 << 20):
        assert len(events(data, "xml", record="/a/i")) == 1


@pytest.mark.parametrize(
    ("format", "before", "record", "after"),
    [
        ("json", b"[0", b',{"n": "0123456789", "m": [1, 2]}', b"]"),
        ("xml", b"<a>", b'<i n="0123456789"><m>1</m></i>', b"</a>"),
    ],
)
def test_many_records_need_the_memory_of_a_few(format: str, before: bytes, record: bytes, after: bytes) -> None:
    def peak(count: int, path: str) -> int:
        data = gzip.compress(before + record * count + after, 1)
        tracemalloc.start()
        try:
            taken = 0
            for _ in _lazily(data, format, path):
                taken += 1
            assert taken >= count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    path = "$[*]" if format == "json" else "//i"
    few, many = peak(2_000, path), peak(6_000, path)
    assert many < 1.5 * few + (1 << 20)


def _lazily(data: bytes, format: str, path: str) -> Iterator[object]:
    from tidings.ingest.base import How
    from tidings.ingest.read import read

    def fail(error: Exception) -> None:
        raise error

    return read(data, How(record=path), format=format, report=fail)
