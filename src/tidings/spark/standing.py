"""Which events are new: the same one again is no event, and another one under the same id is refused."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

NEW, SAME, CONFLICT = "new", "same", "conflict"


def with_standing(events: DataFrame, known: DataFrame | None = None) -> DataFrame:
    """The events with a `digest` of their bodies and a `standing`: NEW, SAME or CONFLICT.

    `known` are the events before these: (event, digest). Of several under one id, the first by source and digest is
    the one that the others are compared with, unless the id is known.
    """
    these = events.withColumn("digest", f.sha2("body", 256))
    if known is None:
        these = these.withColumn("known", f.lit(None).cast("string"))
    else:
        older = known.select("event", f.col("digest").alias("known"))
        these = these.join(older, "event", "left")
    in_turn = Window.partitionBy("event").orderBy("source", "digest")
    standing = (
        f.when(f.col("known") == f.col("digest"), SAME)
        .when(f.col("known").isNotNull(), CONFLICT)
        .when(f.row_number().over(in_turn) == 1, NEW)
        .when(f.first("digest").over(in_turn) == f.col("digest"), SAME)
        .otherwise(CONFLICT)
    )
    return these.withColumn("standing", standing).drop("known")
