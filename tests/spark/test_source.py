"""`format("rdf")` gives what one process reads, in batches and in streams, and needs no registration."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import tidings
from tidings.errors import EventError

DEMO = Path(tidings.__file__).parent / "demo" / "events"


def quad(event: str) -> str:
    return f'<http://x/s> <http://x/p> "1" <http://x/{event}> .\n'


def refuse(problem: object) -> None:
    raise AssertionError(problem)


def table(spark: SparkSession, *paths: Path, **options: Any) -> list[tuple[Any, ...]]:
    names = [str(path) for path in paths]
    loaded = spark.read.format("rdf").options(**options).load(names if len(names) > 1 else names[0])
    return sorted(map(tuple, loaded.drop("published").collect()), key=str)


def run(spark: SparkSession, inbox: Path, to: Path, **options: Any) -> list[str]:
    """All there is now, into a folder with its checkpoint beside it; the events there, in all."""
    query = (
        spark.readStream.format("rdf")
        .options(settle=0.2, **options)
        .load(str(inbox))
        .writeStream.format("parquet")
        .option("checkpointLocation", str(to.with_name(f"{to.name}-checkpoint")))
        .trigger(availableNow=True)
        .start(str(to))
    )
    assert query.awaitTermination(120)
    return sorted(row.event.removeprefix("http://x/") for row in spark.read.parquet(str(to)).collect())


def rejected(folder: Path) -> list[tuple[str, int | None]]:
    lines = [line for file in folder.iterdir() for line in file.read_text().splitlines()]
    rows = [json.loads(line) for line in lines]
    assert all(row["reason"] for row in rows)
    return sorted((Path(row["source"]).name, row["line"]) for row in rows)


def test_a_folder_of_several_formats(spark: SparkSession, tmp_path: Path) -> None:
    inbox = tmp_path / "in"
    (inbox / "below").mkdir(parents=True)
    (inbox / "a.nq").write_text(quad("a"))
    (inbox / "b.nq.gz").write_bytes(gzip.compress(quad("b").encode()))
    (inbox / "c.trig").write_text('<http://x/c> { <http://x/s> <http://x/p> "1" }')
    (inbox / "below" / "d.ttl").write_text('<relative> <http://x/p> "1" , [] .')
    (inbox / "below" / "e.jsonld").write_text('{"@id": "http://x/s", "http://x/p": "in JSON"}')
    expected = {(e.id, e.body, e.source) for e in tidings.read_events([inbox, DEMO], report=refuse)}
    assert set(table(spark, inbox, DEMO)) == expected


def test_a_file_in_ranges(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "big.nq"
    outside = '<http://x/s> <http://x/p> "outside" .\n'
    file.write_text("".join(quad(str(n)) * 3 + outside * (n % 5) + "oops\n" * (n in (40, 80)) for n in range(100)))
    problems: list[EventError] = []
    events = [(e.id, e.body, e.source) for e in tidings.read_events(file, report=problems.append)]
    found = table(spark, file, splitBytes=3000, problems="true")
    assert [row[:3] for row in found if row[-1] is None] == sorted(events)
    assert [row[2:] for row in found if row[-1]] == sorted((str(file), p.line, p.column, p.reason) for p in problems)
    assert len(problems) == 2


def test_a_stream_takes_every_file_once(spark: SparkSession, tmp_path: Path) -> None:
    inbox, out = tmp_path / "in", tmp_path / "out"
    inbox.mkdir()
    for name in ("c", "a", "b"):
        (inbox / f"{name}.nq").write_text(quad(name))
    assert run(spark, inbox, out, maxFilesPerTrigger=1) == ["a", "b", "c"]
    assert len(list((tmp_path / "out-checkpoint" / "commits").glob("[0-9]*"))) == 3
    # From the checkpoint: nothing again, and what is new, although it has an old date.
    assert run(spark, inbox, out) == ["a", "b", "c"]
    (inbox / "0.nq").write_text(quad("late"))
    os.utime(inbox / "0.nq", (1_000_000_000, 1_000_000_000))
    assert run(spark, inbox, out) == ["a", "b", "c", "late"]


def test_what_is_rejected_is_kept_and_the_stream_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    inbox, out, rejects = tmp_path / "in", tmp_path / "out", tmp_path / "rejects"
    inbox.mkdir()
    (inbox / "bad.trig").write_text('<http://x/c> {\n <http://x/s> <http://x/p> "1')
    (inbox / "half.nq").write_text(quad("lost") + "oops\n" + quad("kept"))
    assert run(spark, inbox, out, rejected=rejects) == ["kept"]
    (inbox / "more.nq").write_text(quad("more"))
    (inbox / "worse.nq").write_text("oops\n")
    assert run(spark, inbox, out, rejected=rejects) == ["kept", "more"]
    assert rejected(rejects) == [("bad.trig", 2), ("half.nq", 2), ("worse.nq", 1)]


def test_a_wrong_option_says_what_is_right(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="by 'graf'\\? It is one of graph, document, subject, nanopub"):
        spark.read.format("rdf").option("BY", "graf").load(str(tmp_path))
