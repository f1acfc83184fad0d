"""Where events and subscriptions come from, and where notifications go, as one names it: a folder, a table of Spark's
catalogue, or `kafka://host:port/topic`. Events also come from feeds: `feeds:FILE`, with an address a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from os import path as os_path
from typing import NamedTuple, Unpack

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from tidings.errors import UsageError
from tidings.ingest.base import How as DataHow
from tidings.ingest.feeds.schedule import DEFAULT_POLICY
from tidings.lang.rows import FIELDS, Known, Report, Row, column_of
from tidings.lang.watched import Change, Source, Standing, Watched, changes_of_state
from tidings.spark.events import How, documents_from, read_document_stream
from tidings.spark.feeds.tables import read_feed_stream
from tidings.spark.kafka import need_package, read_topic, topic_of, write_notifications
from tidings.spark.kafka_changes import TopicSource
from tidings.spark.reading import Reading, valid_stage
from tidings.spark.schema import READ

_TABLE = re.compile(r"\w+(\.\w+){0,2}")
Callback = Callable[[DataFrame, int], None]
Settings = Mapping[str, str] | None
"""Those of Kafka: see `kafka.Topic`."""

FEEDS = "feeds:"


class Feeding(NamedTuple):
    """How feeds are asked for: see `feeds.tables.Manner`. What was read is kept in the folder `state`."""

    state: str
    private: bool = False
    every: float = DEFAULT_POLICY.minimum


def is_table(spark: SparkSession, place: str) -> bool:
    """Whether this is the name of a table, and not of something on the disk."""
    return bool(_TABLE.fullmatch(place)) and not os_path.exists(place) and spark.catalog.tableExists(place)


def read_stream_from(
    spark: SparkSession,
    place: str,
    max_files: int | None,
    kafka: Settings = None,
    feeding: Feeding | None = None,
    **how: Unpack[How],
) -> DataFrame:
    """What is read from a place, as it comes: see `schema.READ`."""
    if place.startswith(FEEDS):
        if feeding is None:
            raise UsageError(f"'{place}' needs a folder that keeps what was read")
        return _of_feeds(spark, place.removeprefix(FEEDS), max_files, feeding, Reading(**how))
    topic = topic_of(place, kafka)
    if topic is not None:
        return read_topic(spark, topic, max_files, **how)
    if is_table(spark, place):
        return _of_table(spark.readStream.table(place), place, **how)
    if "://" not in place and not os_path.isdir(place):
        raise UsageError(f"there is no folder or table '{place}' to take events from: make the folder, and start again")
    return read_document_stream(spark, place, max_files=max_files, **how)


def _of_feeds(spark: SparkSession, file: str, max_files: int | None, feeding: Feeding, reading: Reading) -> DataFrame:
    data = reading.data or DataHow()
    read = read_feed_stream(
        spark,
        file,
        feeding.state,
        max_documents=max_files,
        private=feeding.private,
        every=feeding.every,
        classes=data.classes,
        home=data.home,
        problems=True,
    )
    return read if reading.validate is None else read.mapInArrow(valid_stage(reading), READ)


def _of_table(table: DataFrame, name: str, **how: Unpack[How]) -> DataFrame:
    """A table of events, or of documents."""
    there = set(table.columns)
    if {"event", "body"} <= there:
        chosen = [
            f.col("event"),
            (f.col("published") if "published" in there else f.lit(None)).cast("timestamp").alias("published"),
            f.col("body"),
            (f.col("source") if "source" in there else f.lit(name)).alias("source"),
        ]
        rest = [f.lit(None).cast(kind).alias(column) for column, kind in (("line", "int"), ("column", "int"))]
        reason = f.when(f.col("event").isNull() | f.col("body").isNull(), "the row has no event or no body")
        return table.select(*chosen, *rest, reason.alias("reason")).to(_schema(table.sparkSession))
    if "value" in there:
        published, source = ("published" if "published" in there else None), ("source" if "source" in there else None)
        return documents_from(table, "value", published=published, source=source, **how)
    raise UsageError(
        f"the table {name} should have the columns event and body, or value; it has {', '.join(table.columns)}"
    )


def _schema(spark: SparkSession) -> StructType:
    return spark.createDataFrame([], READ).schema


class TableSource:
    """A table of subscriptions: what is in it stands."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark = spark
        self._name = name
        self._stamp: object = None

    def changes(self, standing: Standing, report: Report) -> Iterator[Change]:
        self._spark.catalog.refreshTable(self._name)
        table = self._spark.table(self._name)
        if not {"id", "query"} <= set(table.columns):
            raise UsageError(f"the table {self._name} should have the columns 'id' and 'query'")
        # A file of a table is never written twice.
        stamp = sorted(table.inputFiles())
        if stamp and stamp == self._stamp:
            return
        chosen = table.select(*(name for name in FIELDS if name in table.columns))
        yield from changes_of_state(lambda _, known: self._rows(chosen, known), standing, report)
        self._stamp = stamp

    def _rows(self, table: DataFrame, known: Known) -> Iterator[Row]:
        number = 0
        for batch in table.toArrow().to_batches():
            for cells in zip(*(column_of(column) for column in batch.columns), strict=True):
                number += 1
                raw = repr(cells).encode("utf-8", "surrogatepass")
                if not known(raw):
                    yield Row(self._name, number, dict(zip(table.columns, cells, strict=True)), raw)


def subscriptions_at(spark: SparkSession, place: str, kafka: Settings = None) -> Source:
    """The subscriptions of a file, a folder, a table or a topic."""
    topic = topic_of(place, kafka)
    if topic is not None:
        return TopicSource(spark, topic)
    return TableSource(spark, place) if is_table(spark, place) else Watched(place)


def sink_at(spark: SparkSession, place: str, kafka: Settings = None) -> Callback | None:
    """What writes a batch of notifications to a table or topic; None where the place is a folder."""
    topic = topic_of(place, kafka)
    if topic is not None:
        need_package(spark, topic)
        return lambda rows, batch: write_notifications(rows, topic)
    if not is_table(spark, place):
        return None
    if [each.name for each in spark.catalog.listColumns(place) if each.isPartition] != ["batch"]:
        raise UsageError(f"the table {place} should be partitioned by the column batch, and by no other")
    return lambda rows, batch: _to_table(rows, batch, place)


def _to_table(rows: DataFrame, batch: int, table: str) -> None:
    """Once: what is there of this batch is replaced, and nothing else."""
    columns = ", ".join(name for name in rows.sparkSession.table(table).columns if name != "batch")
    insert = f"INSERT OVERWRITE TABLE {table} PARTITION (batch = {batch}) SELECT {columns} FROM {{rows}}"
    rows.sparkSession.sql(insert, rows=rows)
