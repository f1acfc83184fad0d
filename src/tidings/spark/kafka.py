"""Topics of Kafka: events are read from them, notifications written to them. Spark's own package does both.

Which messages a batch has is in Spark's checkpoint. Notifications are written from the table of them, where each is
once: a batch that is run again writes the same messages again, under the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeVar, Unpack

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, DataFrameReader, DataFrameWriter, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.readwriter import DataStreamReader

from tidings.errors import UsageError
from tidings.spark.events import How
from tidings.spark.kafka_events import topic_stage
from tidings.spark.reading import Reading
from tidings.spark.schema import READ

_ADDRESS = re.compile(r"kafka://([^/]+)/([^/?#]+)")
_PACKAGE = "org.apache.spark:spark-sql-kafka-0-10_2.13"
_ABSENT = "Failed to find"
_OF_SPARK = frozenset({"failOnDataLoss", "groupIdPrefix", "minPartitions", "startingOffsets"})
"""Settings of Spark's source; all others are of Kafka's clients."""

_MOMENT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)
Options = TypeVar("Options", DataFrameReader, DataStreamReader, DataFrameWriter)


class Topic(NamedTuple):
    """`settings` are for Kafka's clients, about security for instance, and a few for Spark's source."""

    servers: str
    name: str
    settings: Mapping[str, str] = MappingProxyType({})

    @property
    def place(self) -> str:
        return f"kafka://{self.servers}/{self.name}"

    def for_clients(self) -> dict[str, str]:
        """The settings of Kafka's clients."""
        those = {key: value for key, value in self.settings.items() if key not in _OF_SPARK}
        return {**those, "bootstrap.servers": self.servers}

    def to_read(self, reader: Reader) -> Reader:
        """What a transaction took back was never said, unless one asks for it."""
        return _with(reader.format("kafka"), {"isolation.level": "read_committed", **self.for_clients()})

    def to_write(self, rows: DataFrame) -> DataFrameWriter:
        return _with(rows.write.format("kafka"), self.for_clients()).option("topic", self.name)

    def for_spark(self) -> dict[str, str]:
        """The settings of Spark's source."""
        chosen = {key: value for key, value in self.settings.items() if key in _OF_SPARK}
        return {"startingOffsets": "earliest", **chosen}


def _with(to: Options, settings: Mapping[str, str]) -> Options:
    for key, value in settings.items():
        to = to.option(f"kafka.{key}", value)
    return to


def topic_of(place: str, settings: Mapping[str, str] | None = None) -> Topic | None:
    """The topic that is meant, if it is one."""
    if not place.startswith("kafka://"):
        return None
    match = _ADDRESS.fullmatch(place)
    if match is None:
        raise UsageError(f"'{place}' should be kafka://host:port/topic")
    return Topic(match[1], match[2], settings or {})


def read_topic(spark: SparkSession, topic: Topic, most: int | None, **how: Unpack[How]) -> DataFrame:
    """The events of a topic, and a row for every problem, as messages come; a batch has at most so many of them."""
    reading = Reading(**how)
    reader = topic.to_read(spark.readStream).option("subscribe", topic.name).option("includeHeaders", True)
    for key, value in topic.for_spark().items():
        reader = reader.option(key, value)
    if most is not None:
        reader = reader.option("maxOffsetsPerTrigger", most)
    messages = with_package(spark, reader.load).select(
        "value",
        "headers",
        # A message may be without one.
        f.when(f.col("timestampType") >= 0, f.col("timestamp")).alias("published"),
        f.concat(f.lit(f"{topic.place}#"), f.col("partition"), f.lit("@"), f.col("offset")).alias("source"),
    )
    return messages.mapInArrow(topic_stage(reading), READ)


def write_notifications(rows: DataFrame, topic: Topic) -> None:
    """At least once: the key is the id of the notification, which tells what came before."""
    messages = rows.select(
        f.col("notification").alias("key"),
        f.to_json(f.struct("*"), {"timestampFormat": _MOMENT}).alias("value"),
        _headers().alias("headers"),
    )
    topic.to_write(messages).save()


def _headers() -> Column:
    """Those of a notification, as a CloudEvent in binary mode."""
    said = {
        "ce_specversion": f.lit("1.0"),
        "ce_id": f.col("notification"),
        # An encoded form has a plus for a space; an address has not.
        "ce_source": f.concat(
            f.lit("/subscriptions/"), f.replace(f.url_encode("subscription"), f.lit("+"), f.lit("%20"))
        ),
        "ce_type": f.lit("tidings.notification"),
        "ce_time": f.date_format("matched", _MOMENT),
        "ce_subject": f.col("event"),
        "content-type": f.lit("application/json"),
    }
    pairs = (f.struct(f.lit(key).alias("key"), value.cast("binary").alias("value")) for key, value in said.items())
    return f.array(*pairs)


def need_package(spark: SparkSession, topic: Topic) -> None:
    """Say what is missing where Spark does not know of Kafka; nothing is read."""
    with_package(spark, topic.to_read(spark.readStream).option("subscribe", topic.name).load)


def with_package(spark: SparkSession, load: Callable[[], DataFrame]) -> DataFrame:
    try:
        return load()
    except AnalysisException as error:
        if _ABSENT not in str(error):
            raise
        advice = f"start Spark with --packages {_PACKAGE}:{spark.version}, or with the newest below it"
        raise UsageError(f"Spark has no Kafka source here: {advice}") from error
