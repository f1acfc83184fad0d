"""`chained` over streams: what happens to events as their quads come, and the notifications in it."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidings.spark.chained.choosing import Choose
from tidings.spark.chained.following import NOBODY, Follow, Following
from tidings.spark.chained.schema import FIRED, LATE, PROBLEM, TOLD_INSIDE

_PLACES = {"line": "int", "column": "int", "reason": "string"}


def follow(parts: DataFrame, choose: Choose, how: Following) -> DataFrame:
    """What is told of a stream of parts, which are events or what was read (`EVENTS` or `READ` of `spark.schema`).

    The rows are those of `schema.TOLD`.
    """
    told = keyed(parts).groupBy("key").transformWithState(Follow(choose, how), TOLD_INSIDE, "append", "ProcessingTime")
    moments = {name: f.timestamp_micros(name) for name in ("published", "matched")}
    return told.withColumns(moments)


def keyed(parts: DataFrame) -> DataFrame:
    """What the operator takes: the event as the key, moments as numbers, and problems of reading under no event."""
    there = set(parts.columns)
    others = {name: f.col(name) if name in there else f.lit(None).cast(kind) for name, kind in _PLACES.items()}
    return parts.select(
        f.coalesce("event", f.lit(NOBODY)).alias("key"),
        f.unix_micros("published").alias("published"),
        "body",
        "source",
        *(column.alias(name) for name, column in others.items()),
    )


def stream_hits(parts: DataFrame, choose: Choose, how: Following) -> DataFrame:
    """The matches, and a row with a reason for what failed or was late: see `HITS` of `spark.schema`."""
    told = follow(parts, choose, how).where(f.col("kind").isin(FIRED, LATE, PROBLEM))
    late = f.format_string("a part of the event came when it was closed (%s)", "reason")
    return told.select(
        "subscription",
        "event",
        "published",
        "matched",
        "bindings",
        f.when(f.col("kind") == LATE, late).otherwise(f.col("reason")).alias("reason"),
        f.lit(None).cast("long").alias("candidates"),
        "source",
    )
