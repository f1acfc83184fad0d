"""Streams give what a batch gives, whatever the batches, and go on where they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import tidings
from tidings.spark import (
    documents_from,
    events_from,
    match,
    problems_in,
    read_document_stream,
    read_event_stream,
)

QUERY = "SELECT ?s { ?s <http://x/p> ?o }"


def quad(event: str) -> str:
    return f'<http://x/s> <http://x/p> "1" <http://x/{event}> .\n'


def run(table: DataFrame, to: Path) -> None:
    """All there is now, into a folder; the checkpoint is beside it."""
    place = str(to.with_name(f"{to.name}-checkpoint"))
    query = (
        table.writeStream.format("parquet")
        .option("checkpointLocation", place)
        .trigger(availableNow=True)
        .start(str(to))
    )
    assert query.awaitTermination(120)


def ids(spark: SparkSession, folder: Path, column: str = "event") -> list[str]:
    return sorted(row[0] for row in spark.read.parquet(str(folder)).select(column).collect())


def test_files_are_read_as_they_come_and_once(spark: SparkSession, tmp_path: Path) -> None:
    inbox, out = tmp_path / "in", tmp_path / "out"
    inbox.mkdir()
    (inbox / "a b%20c.nq").write_text(quad("one"))
    (inbox / "two.trig").write_text('<http://x/two> { <http://x/s> <http://x/p> "1" }')
    (inbox / "notes.txt").write_text("not RDF")
    table = read_event_stream(spark, inbox, max_files=1)
    run(table, out)
    assert ids(spark, out) == ["http://x/one", "http://x/two"]
    # One that comes late, with an old date; and one below.
    (inbox / "late.nq").write_text(quad("late"))
    os.utime(inbox / "late.nq", (1_000_000_000, 1_000_000_000))
    (inbox / "below").mkdir()
    (inbox / "below" / "three.nq").write_text(quad("three"))
    run(table, out)
    assert ids(spark, out) == ["http://x/late", "http://x/one", "http://x/three", "http://x/two"]
    sources = {Path(name).name for name in ids(spark, out, "source")}
    assert sources == {"a b%20c.nq", "two.trig", "late.nq", "three.nq"}


def test_problems_come_with_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    inbox, out = tmp_path / "in", tmp_path / "out"
    inbox.mkdir()
    (inbox / "a.nq").write_text(quad("one") + "oops\n" + quad("two"))
    run(problems_in(read_document_stream(spark, inbox)), out)
    (row,) = spark.read.parquet(str(out)).collect()
    assert (Path(row.source).name, row.line) == ("a.nq", 2)


@pytest.mark.parametrize("max_files", [1, 100])
def test_matches_of_a_stream(spark: SparkSession, tmp_path: Path, max_files: int) -> None:
    inbox, out = tmp_path / "in", tmp_path / "out"
    inbox.mkdir()
    (tmp_path / "subscriptions").mkdir()
    (tmp_path / "subscriptions" / "p.rq").write_text(QUERY)
    for number in range(3):
        (inbox / f"{number}.nq").write_text("".join(quad(f"{number}-{n}") for n in range(20)))
    run(match(read_event_stream(spark, inbox, max_files=max_files), tmp_path / "subscriptions"), out)
    matcher = tidings.Matcher("fast")
    matcher.add("p", QUERY)
    expected = [each.event for number in range(3) for each in matcher.match(inbox / f"{number}.nq")]
    assert ids(spark, out) == sorted(expected)
    assert len(set(ids(spark, out, "notification"))) == 60


def test_messages_are_documents(spark: SparkSession) -> None:
    rows = [
        (bytearray(b'<http://x/one> { <http://x/s> <http://x/p> "1" }'), "t", 0, 1),
        (bytearray(b"nonsense"), "t", 0, 2),
        (None, "t", 0, 3),
    ]
    table = spark.createDataFrame(rows, "value binary, topic string, partition int, offset long")
    (event,) = events_from(table, format="trig").collect()
    assert (event.event, event.source) == ("http://x/one", "t/0/1")
    problems = problems_in(documents_from(table, "value", format="trig")).collect()
    assert sorted(row.source for row in problems) == ["t/0/2", "t/0/3"]
