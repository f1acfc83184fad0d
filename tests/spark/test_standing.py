"""Events that come again, in one batch or after an earlier one."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession

from tidings.rdf.seen import SeenEvents
from tidings.spark.schema import READ
from tidings.spark.standing import DIGEST, only_new, settled, sort_out

ROWS = [
    ("a", None, "1", "x", None, None, None),
    ("a", None, "1", "y", None, None, None),
    ("a", None, "2", "z", None, None, None),
    ("b", None, "1", "x", None, None, None),
    (None, None, None, "x", 1, 2, "broken"),
    (None, None, None, "x", 1, 2, "broken"),
    ("urn:tidings:sha256:0", None, "_:a", "x", None, None, None),
    ("urn:tidings:sha256:0", None, "_:b", "y", None, None, None),
]


def test_of_what_was_read_the_first_counts(spark: SparkSession) -> None:
    found = settled(spark.createDataFrame(ROWS, READ)).collect()
    assert sorted((row.event, row.source) for row in found if row.reason is None) == [
        ("a", "x"),
        ("b", "x"),
        ("urn:tidings:sha256:0", "x"),
    ]
    assert sorted((row.source, row.line, row.reason) for row in found if row.reason == "broken") == [
        ("x", 1, "broken"),
        ("x", 1, "broken"),
    ]
    (refused,) = (row for row in found if row.reason not in (None, "broken"))
    assert (refused.source, refused.event, refused.body) == ("z", None, None)
    assert refused.reason == "the event a was read before, with other triples"


def test_the_driver_says_the_same(spark: SparkSession) -> None:
    seen = SeenEvents()
    events = spark.createDataFrame(ROWS, READ).where("reason IS NULL").selectExpr("*", f"{DIGEST} AS digest")
    table: pa.Table = events.select("event", "digest", "source").toArrow()
    found = sort_out(table, seen)
    assert found.conflicts == [("a", "z")]
    kept = only_new(spark, events, found.chosen).collect()
    assert sorted((row.event, row.body[:1]) for row in kept) == [("a", "1"), ("b", "1"), ("urn:tidings:sha256:0", "_")]
    again = sort_out(table, seen)
    assert again.conflicts == [("a", "z")]
    assert only_new(spark, events, again.chosen).count() == 0
    assert sort_out(table.slice(0, 0), seen).chosen == {}
