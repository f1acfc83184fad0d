"""Events that come again, in one batch or after an earlier one."""

from __future__ import annotations

from pyspark.sql import SparkSession

from tidings.spark.standing import with_standing

COLUMNS = "event string, published timestamp, body string, source string"


def test_in_one_batch_the_first_counts(spark: SparkSession) -> None:
    rows = [("a", None, "1", "x"), ("a", None, "1", "y"), ("a", None, "2", "z"), ("b", None, "1", "x")]
    found = with_standing(spark.createDataFrame(rows, COLUMNS)).collect()
    standings = sorted((row.event, row.source, row.standing) for row in found)
    assert standings == [("a", "x", "new"), ("a", "y", "same"), ("a", "z", "conflict"), ("b", "x", "new")]


def test_what_is_known_counts_before_all(spark: SparkSession) -> None:
    known = with_standing(spark.createDataFrame([("a", None, "1", "x")], COLUMNS)).select("event", "digest")
    rows = [("a", None, "2", "a"), ("a", None, "1", "b"), ("b", None, "1", "a"), ("b", None, "2", "b")]
    found = with_standing(spark.createDataFrame(rows, COLUMNS), known).collect()
    standings = sorted((row.event, row.source, row.standing) for row in found)
    assert standings == [("a", "a", "conflict"), ("a", "b", "same"), ("b", "a", "new"), ("b", "b", "conflict")]
