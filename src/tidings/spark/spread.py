"""A batch as Spark does it, on all cores there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidings.match.fast.sharded import shard_name
from tidings.spark.standing import only_new
from tidings.spark.work import REJECTS, Task, failed, told_by_driver
from tidings.spark.writing import Failure, write_matches


class Spread:
    """`read` is what was read, with digests."""

    def __init__(self, read: DataFrame, task: Task) -> None:
        self._read = read
        self._task = task
        self._failures: Sequence[Failure] = ()
        self._new = only_new(read.sparkSession, read.where("reason IS NULL"), task.found.chosen)

    def archive(self) -> None:
        accepted = f.lit(self._task.record.time).cast("timestamp")
        rows = self._new.select("event", "published", accepted.alias("accepted"), "body", "source", "digest")
        by_day = rows.withColumn("day", f.to_date(f.coalesce("published", "accepted")))
        self._task.tables.archive.write(self._task.number, by_day)

    def match(self) -> Mapping[str, int]:
        task = self._task
        written = write_matches(
            self._new,
            task.record.version,
            task.tables.notifications,
            task.number,
            bindings=task.bindings,
            accepted=task.record.time,
        )
        self._failures = written.failures
        counts = {"candidates": written.candidates, "matches": written.matches, "failures": len(written.failures)}
        if task.record.version.shards:
            counts |= {"sent": written.sent, **{shard_name(shard): load for shard, load in written.load.items()}}
        return counts

    def reject(self) -> None:
        told = [*told_by_driver(self._task), *(failed(*each) for each in self._failures)]
        rows = self._read.sparkSession.createDataFrame(told, REJECTS)
        problems = self._read.where("reason IS NOT NULL")
        problems = problems.select(f.lit("document").alias("kind"), "source", "line", "column", "reason")
        self._task.tables.rejected.write(
            self._task.number, rows.unionByName(problems, allowMissingColumns=True).coalesce(1)
        )
