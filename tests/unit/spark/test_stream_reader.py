"""The readers of `format("rdf")`, as Spark calls them, but without it."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable

from tidings.spark.listing import File, files
from tidings.spark.options import Options
from tidings.spark.reading import Reading
from tidings.spark.source import RdfReader, RdfStreamReader, Share, shares


def quad(event: str) -> str:
    return f'<http://x/s> <http://x/p> "1" <http://x/{event}> .\n'


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def put(inbox: Path, *names: str) -> None:
    for name in names:
        (inbox / f"{name}.nq").write_text(quad(name))
        # So that each has a time of its own.
        time.sleep(0.02)


def reader(inbox: Path, **options: str) -> RdfStreamReader:
    return RdfStreamReader(Options.of({"path": str(inbox), "settle": "0", **options}))


def rows(reader: RdfStreamReader | RdfReader, planned: Iterable[InputPartition]) -> list[dict[str, Any]]:
    return [row for share in planned for batch in reader.read(share) for row in batch.to_pylist()]


def batches(stream: RdfStreamReader, start: dict[str, Any] | None = None) -> tuple[list[list[str]], dict[str, Any]]:
    """The events of every batch there is now, and the offset behind them, which is kept as text."""
    start = start or stream.initialOffset()
    found: list[list[str]] = []
    while True:
        end = json.loads(json.dumps(stream.latestOffset(start, stream.getDefaultReadLimit())))
        if end == start:
            assert stream.partitions(start, end) == []
            return found, end
        found.append([row["event"].rpartition("/")[2] for row in rows(stream, stream.partitions(start, end))])
        start = end


def test_files_are_taken_once_in_the_order_they_came(inbox: Path) -> None:
    put(inbox, "c", "a", "b")
    found, end = batches(reader(inbox))
    assert found == [["c", "a", "b"]]
    put(inbox, "aa")
    os.utime(inbox / "aa.nq", (1_000_000_000, 1_000_000_000))
    assert batches(reader(inbox), end)[0] == [["aa"]]


def test_a_file_that_is_moved_in_late_is_taken(inbox: Path, tmp_path: Path) -> None:
    (tmp_path / "late.nq").write_text(quad("late"))
    put(inbox, "a")
    _, end = batches(reader(inbox))
    (tmp_path / "late.nq").rename(inbox / "late.nq")
    assert batches(reader(inbox), end)[0] == [["late"]]


def test_a_date_in_the_future_keeps_no_file_waiting(inbox: Path) -> None:
    put(inbox, "a")
    os.utime(inbox / "a.nq", (9_000_000_000, 9_000_000_000))
    found, end = batches(reader(inbox))
    put(inbox, "b")
    assert (found, batches(reader(inbox), end)[0]) == ([["a"]], [["b"]])


def test_batches_have_limits(inbox: Path) -> None:
    put(inbox, "a", "b", "c")
    size = len(quad("a"))
    assert batches(reader(inbox, maxFilesPerTrigger="2"))[0] == [["a", "b"], ["c"]]
    assert batches(reader(inbox, maxBytesPerTrigger=str(2 * size + 1)))[0] == [["a", "b"], ["c"]]
    assert batches(reader(inbox, maxBytesPerTrigger="1"))[0] == [["a"], ["b"], ["c"]]
    both = reader(inbox, maxBytesPerTrigger=str(2 * size), maxFilesPerTrigger="1")
    assert batches(both)[0] == [["a"], ["b"], ["c"]]
    end = both.latestOffset(both.initialOffset(), ReadAllAvailable())
    assert (Path(end["name"]).name, end["files"]) == ("c.nq", 3)


def test_what_has_just_changed_has_to_settle(inbox: Path) -> None:
    put(inbox, "a")
    stream = reader(inbox, settle="0.5")
    assert batches(stream)[0] == []
    time.sleep(0.5)
    assert batches(stream)[0] == [["a"]]


def test_available_now_is_what_is_there_at_the_start(inbox: Path) -> None:
    put(inbox, "a", "b")
    stream = reader(inbox, settle="0.3", maxFilesPerTrigger="1")
    stream.prepareForTriggerAvailableNow()
    put(inbox, "c")
    assert batches(stream)[0] == [["a"], ["b"]]


def test_a_file_that_goes_between_planning_and_reading_is_a_problem(inbox: Path) -> None:
    put(inbox, "a", "b")
    stream = reader(inbox, problems="true")
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadAllAvailable())
    (inbox / "a.nq").unlink()
    found = rows(stream, stream.partitions(start, end))
    assert [(row["event"], row["reason"]) for row in found] == [
        (None, "cannot be opened: No such file or directory"),
        ("http://x/b", None),
    ]


def test_a_file_that_is_gone_when_a_batch_is_read_again_is_told_of(inbox: Path) -> None:
    put(inbox, "a", "b")
    stream = reader(inbox)
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadAllAvailable())
    (inbox / "a.nq").unlink()
    again = reader(inbox, problems="true")
    reasons = [row["reason"] for row in rows(again, again.partitions(start, end))]
    assert reasons[0] is None
    assert reasons[1].startswith("1 files that belong to a batch are gone")


def test_big_files_are_read_in_ranges(inbox: Path) -> None:
    (inbox / "big.nq").write_text(quad("s").replace("<http://x/s> .", ".") + "".join(quad(str(n)) for n in range(100)))
    stream = reader(inbox, splitBytes="500")
    start = stream.initialOffset()
    planned = stream.partitions(start, stream.latestOffset(start, ReadAllAvailable()))
    assert len(planned) > 10
    found = [row["event"] for row in rows(stream, planned)]
    assert len(found) == len(set(found)) == 101


def test_what_is_compressed_or_not_by_graph_is_not_cut(inbox: Path) -> None:
    def tasks(path: Path, reading: Reading) -> int:
        return len(shares(files([str(path)], None), reading, 100))

    data = "".join(quad(str(number)) for number in range(10)).encode()
    for name, content in {"a.nq": data, "b.trig": data, "c.nq.gz": data, "d.nq": gzip.compress(data * 99)}.items():
        (inbox / name).write_bytes(content)
    assert tasks(inbox / "a.nq", Reading()) == 6
    assert tasks(inbox / "a.nq", Reading(by="subject")) == 1
    assert [tasks(inbox / name, Reading()) for name in ("b.trig", "c.nq.gz", "d.nq")] == [1, 1, 1]


def test_small_files_are_read_together_but_not_all() -> None:
    def parts(count: int, size: int) -> list[int]:
        found = [File(f"{number}.ttl", size, 0) for number in range(count)]
        return [len(each.parts) for each in shares(found, Reading(), 64 << 20)]

    assert parts(1000, 1000) == [16] * 62 + [8]
    assert parts(3, 5 << 20) == [1, 1, 1]
    assert parts(100_000, 1 << 20) == [64] * 1562 + [32]
    assert shares([], Reading(), 1) == []


def test_rejects_are_complete_or_absent_and_replace_themselves(inbox: Path, tmp_path: Path) -> None:
    (inbox / "a.nq").write_text(quad("a") + "oops\n" * 3 + quad("b") + "".join(quad(str(n)) for n in range(20_000)))
    put(inbox, "c")
    options = Options.of({"path": str(inbox), "rejected": str(inbox / "rejected"), "format": "nq"})
    batch = RdfReader(options)

    def rejected() -> list[str]:
        return sorted(path.name for path in (inbox / "rejected").iterdir())

    planned = batch.partitions()
    stopped = iter(batch.read(planned[0]))
    next(stopped)
    stopped.close()
    assert rejected() == []
    rows(batch, planned)
    (name,) = rejected()
    assert [json.loads(line) for line in (inbox / "rejected" / name).read_text().splitlines()] == [
        {
            "source": str(inbox / "a.nq"),
            "line": 2,
            "column": 1,
            "reason": "the subject of a triple must be an IRI or a blank node",
        }
    ]
    # What was rejected is not taken for something to read, and a second reading replaces the file.
    assert len(files(options.paths, "nq", without=options.rejected)) == 2
    rows(batch, batch.partitions())
    assert rejected() == [name]


def test_an_empty_folder_is_no_events(inbox: Path) -> None:
    batch = RdfReader(Options.of({"path": str(inbox)}))
    (share,) = batch.partitions()
    assert isinstance(share, Share)
    assert rows(batch, [share]) == []
