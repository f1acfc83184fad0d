"""The same bytes give the same events in one process, over HTTP and on Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from starlette.testclient import TestClient

from tidings.broker.core import Core
from tidings.broker.http.app import application
from tidings.broker.retention import Retention
from tidings.errors import EventError, UsageError
from tidings.ingest.base import How
from tidings.ingest.read import read
from tidings.ingest.registry import KINDS
from tidings.spark.data import Share, read_shares, shares
from tidings.spark.events import events_from, problems_in, read_documents, read_event_stream, read_events

X = "http://data.example/"
ROWS = "id,name,price,seen\n" + "".join(
    f'{number},"a ""{number}""\nand more",{number}.50,2026-11-{number % 28 + 1:02}\n' for number in range(1, 41)
)
LINES = "".join(f'{{"id": {number}, "name": "n{number}", "tags": ["a", "b{number}"]}}\n' for number in range(1, 41))
FEED = """<rss version="2.0"><channel><title>News</title><link>http://news.example/</link>
<item><title>Games in Rio &lt;script&gt;</title><link>http://news.example/1</link></item>
<item><title>More</title><guid isPermaLink="false">two</guid></item></channel></rss>"""
PAGE = """<html><body><div itemscope itemtype="http://schema.org/Offer" itemid="http://shop.example/1">
<span itemprop="price">390</span></div></body></html>"""
TREE = '[{"id": 1, "parts": [{"size": 1e3}, null]}, {"id": 2, "parts": []}]'
DOCUMENTS = {
    "csv": (ROWS, How(base=X, key=("id",), classes=(f"{X}Offer",))),
    "jsonl": (LINES, How(base=X)),
    "feed": (FEED, How()),
    "html": (PAGE, How()),
    "json": (TREE, How(base=X, record="$[*]")),
}


def _refuse(error: EventError) -> None:
    raise error


def _embedded(format: str) -> set[tuple[str, str]]:
    text, how = DOCUMENTS[format]
    found = {(event.id, event.body) for event in read(text.encode(), how, format=format, report=_refuse)}
    assert found
    return found


@pytest.mark.parametrize("format", DOCUMENTS)
def test_files_and_messages_on_spark(spark: SparkSession, tmp_path: Path, format: str) -> None:
    text, how = DOCUMENTS[format]
    (tmp_path / "document").write_text(text, newline="")
    expected = _embedded(format)
    files = read_events(spark, tmp_path / "document", format=format, data=how).select("event", "body").collect()
    assert {tuple(row) for row in files} == expected
    assert len(files) == len(expected)
    messages = spark.createDataFrame([(text,)], "value string")
    rows = events_from(messages, format=format, data=how).select("event", "body").collect()
    assert {tuple(row) for row in rows} == expected


@pytest.mark.parametrize("format", DOCUMENTS)
def test_over_http(format: str) -> None:
    text, how = DOCUMENTS[format]
    core = Core(None, None, Retention())
    asked = {"as": format, "base": how.base, "key": ",".join(how.key), "class": ",".join(how.classes)}
    if how.record is not None:
        asked["record"] = how.record
    with TestClient(application(core, open=True)) as client:
        kind = next(iter(KINDS[format].media_types), "application/json")
        answer = client.post("/v1/events", params=asked, content=text.encode(), headers={"content-type": kind})
        assert answer.status_code == 202, answer.text
        found = {
            (each["id"], client.get(f"/v1/events/{each['id']}", headers={"accept": "application/n-triples"}).text)
            for each in answer.json()["events"]
        }
    core.close()
    assert found == _embedded(format)


@pytest.mark.parametrize("format", ["csv", "jsonl"])
@pytest.mark.parametrize("size", [1, 100, 700, 1 << 20])
def test_parts_are_the_whole(tmp_path: Path, format: str, size: int) -> None:
    text, how = DOCUMENTS[format]
    path = tmp_path / f"rows.{format}"
    path.write_text(text, newline="")
    those = shares([str(path)], None, how, size)
    numbers = pa.record_batch([pa.array(range(len(those)), pa.int32())], names=["share"])
    batches = list(read_shares(those, how)(iter([numbers])))
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert {(row["event"], row["body"]) for row in rows} == _embedded(format)
    assert len(rows) == 40


def test_a_stream_of_files_and_what_is_wrong_in_them(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("id,price\n1,390\n2,500\n")
    (tmp_path / "bad.csv").write_text("id,price\n3,100\n4\n5,200\n")
    (tmp_path / "other.txt").write_text("nothing of ours")
    how = How(base=X, key=("id",))
    stream = read_event_stream(spark, tmp_path, data=how)
    query = stream.writeStream.format("memory").queryName("data_stream").trigger(availableNow=True).start()
    query.awaitTermination()
    assert spark.table("data_stream").count() == 4
    [problem] = problems_in(read_documents(spark, tmp_path / "bad.csv", data=how)).collect()
    assert (problem["line"], problem["source"]) == (3, str(tmp_path / "bad.csv"))


def test_a_file_that_is_not_there_any_more_is_a_problem(tmp_path: Path) -> None:
    stage = read_shares([Share(str(tmp_path / "gone.csv"), "csv")], How())
    [batch] = stage(iter([pa.record_batch([pa.array([0], pa.int32())], names=["share"])]))
    assert batch.to_pylist()[0]["reason"]


def test_what_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="say what it is"):
        shares([str(tmp_path / "x.unknown")], None, How())
