"""The benchmark of what is no RDF: its workloads say what they should, in every format, and its verdicts follow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("feedparser")
pytest.importorskip("html5lib")
pytest.importorskip("pypdf")
pytest.importorskip("PIL")

from tidings.bench.fast_timing import Timed
from tidings.bench.ingest import _of_files, _of_formats
from tidings.bench.ingest_formats import FEED, ROWS, Format, Point, formats, measure
from tidings.bench.ingest_large import Large, Spread, Streamed, streamed
from tidings.bench.workloads.ingest import feeds, rows
from tidings.bench.workloads.ingest.words import Words
from tidings.ingest.registry import KINDS


@dataclass(frozen=True, slots=True)
class Tiny:
    items: int = 60
    rows: int = 40
    records: int = 5
    documents: int = 2


@pytest.mark.parametrize("format", list(formats(Tiny(), 1)), ids=lambda format: format.name)
def test_a_format_is_measured(format: Format) -> None:
    point = measure(format, rounds=1)
    assert point.written > format.count
    assert (point.nquads is not None) == (format.kind == ROWS)
    for timed in (point.ours, *point.parsing.values()):
        assert point.each(timed) > 0
        assert point.times(timed) > 0


def test_all_formats_are_measured() -> None:
    assert {format.converter for format in formats(Tiny(), 1)} == set(KINDS)


def test_a_seed_says_what_is_made() -> None:
    made = [[format.documents for format in formats(Tiny(), seed) if format.kind in (FEED, ROWS)] for seed in (1, 1, 2)]
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_an_item_has_about_a_kilobyte() -> None:
    stories = feeds.stories(100, Words(1))
    for write in feeds.WRITERS.values():
        documents = feeds.feeds(stories, write)
        assert len(documents) == 2
        assert 800 < sum(map(len, documents)) / 100 < 1_500


def test_missing_events_end_the_benchmark() -> None:
    format = Format("csv", ROWS, "csv", 3, [b"a\n1\n2\n"], {})
    with pytest.raises(RuntimeError, match="csv: 2 events of 3"):
        format.nquads()


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_large_file_streams_through_a_process(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"file.{format}"
    count = rows.large(path, format, 1_000_000, seed=1)
    assert path.stat().st_size > 1_000_000
    found = streamed(format, path, count)
    assert found.seconds > 0
    assert found.growth is None or 0 < found.growth < 500e6
    assert len(found.read) == len(found.held) > 0
    assert found.read[-1] == pytest.approx(path.stat().st_size / 1e6)
    with pytest.raises(RuntimeError, match="events of"):
        streamed(format, path, count + 1)


def test_the_rows_of_a_large_file_are_numbered_through(tmp_path: Path) -> None:
    count = rows.large(tmp_path / "file", "jsonl", 1_000_000, seed=1)
    lines = (tmp_path / "file").read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in lines] == list(range(count))


def timed(cpu: float) -> Timed:
    return Timed(cpu, cpu, cpu, cpu)


def point(kind: str, ours: float, parsing: float, nquads: float | None = None) -> Point:
    format = Format("one", kind, "one", 10, [b"abc"], {})
    return Point(format, timed(ours), {"library": timed(parsing)}, None if nquads is None else timed(nquads), 100)


def test_verdicts_on_formats() -> None:
    points = [
        point(FEED, 2.0, 1.0),
        point(FEED, 2.1, 1.0),
        point(ROWS, 2.0, 0.1, nquads=2.0),
        point(ROWS, 2.1, 0.1, nquads=2.0),
        point("tree", 100.0, 1.0),
    ]
    lines = list(_of_formats(points))
    assert [line.held for line in lines] == [True, False, True, False]
    assert [line.verdict(quick=False) for line in lines] == ["held", "missed"] * 2
    assert {line.verdict(quick=True) for line in lines} == {"not at full size"}
    assert lines[1].measured == "2.10 times"


def test_verdicts_on_files() -> None:
    small = Streamed(2.0, 2.0, 100_000_000, 550_000_000, (), ())
    huge = Streamed(4.0, 2.0, 100_000_000, 650_000_000, (), ())
    busy, idle, unseen = Spread(0.5, 1.0, 1.6), Spread(0.5, 1.0, 1.4), Spread(0.5, 1.0, None)
    files = [
        Large("csv", 1, 300, (small, small), (busy, busy)),
        Large("csv", 1, 300, (small, huge), (busy, idle)),
        Large("csv", 1, 300, (small,), (idle,)),
        Large("csv", 1, 300, (small,), (unseen,)),
    ]
    assert [line.held for line in _of_files(files)] == [True, True, False, True, True, False, True, None]
    assert files[0].embedded == 150
    assert files[0].spark == 200
