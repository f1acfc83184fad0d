"""A batch as Spark does it, on all cores there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, Observation, Row
from pyspark.sql import functions as f

from tidings.spark.matching import counted_hits, notifications_in
from tidings.spark.standing import only_new
from tidings.spark.work import REJECTS, Task, failed, told_by_driver


class Spread:
    """`read` is what was read, with digests."""

    def __init__(self, read: DataFrame, task: Task) -> None:
        self._read = read
        self._task = task
        self._failed: Sequence[Row] = ()
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
        self._failed = counts["failed"] or []
        named = {name: counts[name] or 0 for name in ("candidates", "matches")}
        return {**named, "failures": len(self._failed)}

    def reject(self) -> None:
        told = [*told_by_driver(self._task), *(failed(*each) for each in self._failed)]
        rows = self._read.sparkSession.createDataFrame(told, REJECTS)
        problems = self._read.where("reason IS NOT NULL")
        problems = problems.select(f.lit("document").alias("kind"), "source", "line", "column", "reason")
        self._task.tables.rejected.write(
            self._task.number, rows.unionByName(problems, allowMissingColumns=True).coalesce(1)
        )

    def _hits(self) -> DataFrame:
        record = self._task.record
        return counted_hits(self._new, record.version, bindings=self._task.bindings, accepted=record.time)


def _counts() -> list[Column]:
    """What there is to count of hits; and those that failed, since finding them again may take as long as it did."""
    failed = f.when(f.col("reason").isNotNull(), f.struct("event", "subscription", "reason"))
    return [
        f.sum("candidates").alias("candidates"),
        f.count_if(f.expr("subscription IS NOT NULL AND reason IS NULL")).alias("matches"),
        f.collect_list(failed).alias("failed"),
    ]
