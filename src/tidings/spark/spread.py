"""A batch as Spark does it, on all cores there are."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as f

from tidings.spark.matching import counted_hits, notifications_in
from tidings.spark.standing import only_new
from tidings.spark.work import REJECTS, Task, told_by_driver

_KIND = "IF(subscription IS NULL, 'event', 'evaluation') AS kind"


class Spread:
    """`read` is what was read, with digests."""

    def __init__(self, read: DataFrame, task: Task) -> None:
        self._read = read
        self._task = task
        self._new = only_new(read.sparkSession, read.where("reason IS NULL"), task.found.chosen)

    def archive(self) -> None:
        accepted = f.lit(self._task.record.time).cast("timestamp")
        rows = self._new.select("event", "published", accepted.alias("accepted"), "body", "source", "digest")
        by_day = rows.withColumn("day", f.to_date(f.coalesce("published", "accepted")))
        self._task.tables.archive.write(self._task.number, by_day)

    def match(self) -> Mapping[str, int]:
        observed, hits = Observation(), self._hits()
        rows = notifications_in(hits.observe(observed, *_counts()))
        if self._task.tables.notifications.write(self._task.number, rows):
            counts = observed.get
        else:
            counts = hits.agg(*_counts()).collect()[0].asDict()
        return {name: count or 0 for name, count in counts.items()}

    def reject(self, *, failures: bool) -> None:
        rows = self._read.sparkSession.createDataFrame(told_by_driver(self._task), REJECTS)
        problems = self._read.where("reason IS NOT NULL")
        problems = problems.select(f.lit("document").alias("kind"), "source", "line", "column", "reason")
        rows = rows.unionByName(problems, allowMissingColumns=True)
        if failures:
            failed = self._hits().where("reason IS NOT NULL").selectExpr(_KIND, "event", "subscription", "reason")
            rows = rows.unionByName(failed, allowMissingColumns=True)
        self._task.tables.rejected.write(self._task.number, rows.coalesce(1))

    def _hits(self) -> DataFrame:
        record = self._task.record
        return counted_hits(self._new, record.version, bindings=self._task.bindings, accepted=record.time)


def _counts() -> list[Column]:
    """What there is to count of hits."""
    return [
        f.sum("candidates").alias("candidates"),
        f.count("reason").alias("failures"),
        f.count_if(f.expr("subscription IS NOT NULL AND reason IS NULL")).alias("matches"),
    ]
