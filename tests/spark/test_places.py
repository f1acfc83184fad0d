"""Folders, tables and topics: where a pipeline takes things from, and where it puts them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from tidings.errors import SubscriptionError, UsageError
from tidings.lang.watched import Standing
from tidings.match.fast import Fast
from tidings.ontology import Ontology
from tidings.spark.assembly import Places, assemble
from tidings.spark.kafka import topic_of, with_package
from tidings.spark.places import TableSource, read_stream_from, sink_at

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
ASK = "ASK { ?x a <http://e/A> }"


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[str]:
    spark.sql("CREATE DATABASE IF NOT EXISTS places")
    yield "places"
    spark.sql("DROP DATABASE places CASCADE")


def run(spark: SparkSession, places: Places, **options: Any) -> None:
    pipeline, read = assemble(spark, places, Ontology.empty(), {"format": "nq"}, **options)
    pipeline.start(read, {"availableNow": True})
    assert pipeline.wait(120)


def test_tables_all_the_way(spark: SparkSession, tables: str, tmp_path: Path) -> None:
    body = f"<http://e/x> <{TYPE}> <http://e/A> .\n"
    rows = [("http://e/1", body), ("http://e/2", body), (None, body)]
    spark.createDataFrame(rows, "event string, body string").write.saveAsTable(f"{tables}.events")
    spark.createDataFrame([("a", ASK)], "id string, query string").write.saveAsTable(f"{tables}.subscriptions")
    spark.sql(
        f"CREATE TABLE {tables}.told (notification STRING, subscription STRING, event STRING, published TIMESTAMP, "
        "matched TIMESTAMP, bindings STRING, batch INT) USING parquet PARTITIONED BY (batch)"
    )
    places = Places(f"{tables}.events", f"{tables}.subscriptions", f"{tables}.told", str(tmp_path / "checkpoint"))
    run(spark, places)
    spark.createDataFrame([("b", ASK)], "id string, query string").write.insertInto(f"{tables}.subscriptions")
    more = spark.createDataFrame([("http://e/3", body)], "event string, body string")
    more.write.mode("append").saveAsTable(f"{tables}.events")
    run(spark, places)
    told = spark.table(f"{tables}.told").collect()
    found = sorted((row.subscription, row.event[-1], row.batch) for row in told)
    assert found == [("a", "1", 0), ("a", "2", 0), ("a", "3", 1), ("b", "3", 1)]
    (reject,) = spark.read.parquet(str(tmp_path / "checkpoint" / "rejected")).collect()
    assert reject.reason == "the row has no event or no body"
    # The same batch again takes the place of what is there.
    callback = sink_at(spark, f"{tables}.told")
    assert callback is not None
    callback(spark.table(f"{tables}.told").where("batch = 1").drop("batch").localCheckpoint(), 1)
    assert spark.table(f"{tables}.told").count() == 4


def test_documents_in_a_table(spark: SparkSession, tables: str, tmp_path: Path) -> None:
    documents = [(f"<http://e/x> <{TYPE}> <http://e/A> <http://e/1> .\n",), ("nonsense\n",)]
    spark.createDataFrame(documents, "value string").write.saveAsTable(f"{tables}.documents")
    (tmp_path / "a.rq").write_text(ASK)
    run(spark, Places(f"{tables}.documents", str(tmp_path), str(tmp_path / "out"), str(tmp_path / "checkpoint")))
    (row,) = spark.read.parquet(str(tmp_path / "out")).collect()
    assert (row.subscription, row.event) == ("a", "http://e/1")


def test_a_table_of_subscriptions_says_what_stands(spark: SparkSession, tables: str) -> None:
    name = f"{tables}.subscriptions"
    spark.createDataFrame([("a", ASK), ("b", "ASK {")], "id string, query string").write.saveAsTable(name)
    source, standing = TableSource(spark, name), Standing()
    errors: list[SubscriptionError] = []

    def look() -> list[tuple[str, str]]:
        changes = list(source.changes(standing, errors.append))
        for change in changes:
            standing.note(change)
        return [(change.kind, change.id) for change in changes]

    assert look() == [("put", "a")]
    assert [(error.id, error.row) for error in errors] == [("b", 2)]
    assert look() == []
    spark.createDataFrame([("c", ASK)], "id string, query string").write.mode("overwrite").saveAsTable(name)
    assert look() == [("gone", "a"), ("put", "c")]


def test_compiled_subscriptions_do_not_change(spark: SparkSession, tmp_path: Path) -> None:
    engine = Fast(Ontology.empty())
    from tidings.lang import parse

    engine.add("a", parse(ASK, "sparql"))
    engine.save(tmp_path / "index")
    inbox = tmp_path / "in"
    inbox.mkdir()
    (inbox / "1.nq").write_text(f"<http://e/x> <{TYPE}> <http://e/A> <http://e/1> .\n")
    places = Places(str(inbox), str(tmp_path / "index"), str(tmp_path / "out"), str(tmp_path / "checkpoint"))
    run(spark, places, compiled=True)
    assert spark.read.parquet(str(tmp_path / "out")).count() == 1


def test_topics(spark: SparkSession) -> None:
    topic = topic_of("kafka://one:9092,two:9092/news")
    assert topic is not None
    assert (topic.servers, topic.name) == ("one:9092,two:9092", "news")
    assert topic_of("folder/news") is None
    with pytest.raises(UsageError, match="kafka://host:port/topic"):
        topic_of("kafka://one")


def test_what_kafka_needs_is_said(spark: SparkSession) -> None:
    def absent() -> DataFrame:
        raise AnalysisException("Failed to find data source: kafka. Please deploy the application as per the guide")

    with pytest.raises(UsageError, match=r"--packages org\.apache\.spark:spark-sql-kafka"):
        with_package(spark, absent)


def test_a_table_without_events_is_refused(spark: SparkSession, tables: str) -> None:
    spark.range(1).write.saveAsTable(f"{tables}.numbers")
    with pytest.raises(UsageError, match="it has id"):
        read_stream_from(spark, f"{tables}.numbers", None, format="nq")
    with pytest.raises(UsageError, match="columns 'id' and 'query'"):
        list(TableSource(spark, f"{tables}.numbers").changes(Standing(), lambda error: None))
