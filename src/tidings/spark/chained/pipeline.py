"""The pipeline for events that come in parts: notifications as soon as a subscription is satisfied, each once.

A batch is run by Spark as any other is, and may be run again. Its operator has then the state that the batch before it
left, the same quads, the same time, and, by the record that is written before, the same subscriptions: so it tells the
same. What it tells becomes notifications, and an archive of parts (`part`), late ones, and whole events (null).

An event that is in the archive as a whole is known, and does not fire again, though its mark in the state be gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.delivery.notification import notification_ids
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.spark.chained.choosing import Recorded
from tidings.spark.chained.figures import chained_figures, of_kind
from tidings.spark.chained.following import Following
from tidings.spark.chained.schema import CLOSED, FIRED, LATE, NAMES, PART, PROBLEM
from tidings.spark.chained.streams import follow
from tidings.spark.changing import Standings
from tidings.spark.figures import Figures
from tidings.spark.pipeline import Batch, Listener, Pipeline, Sinks
from tidings.spark.schema import NOTIFICATION_ROWS, REJECT_ROWS
from tidings.spark.sessions import ROCKS, STORE
from tidings.spark.standing import DIGEST, Sorted, sort_out
from tidings.spark.work import Reject, Task, failed, told_by_driver

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_ARCHIVED_KINDS = (PART, LATE, CLOSED)
_IDLE = "spark.sql.streaming.noDataMicroBatches.enabled"
_TRIGGER = {"processingTime": "1 second"}
"""Spark runs batches for the sake of time-outs though nothing comes: not more often than this."""


class ChainedPipeline(Pipeline):
    """A `Pipeline` whose events come in parts, and are closed by an end mark or `timeout` after the first of these."""

    def __init__(
        self,
        spark: SparkSession,
        subscriptions: Standings,
        sinks: Sinks,
        checkpoint: str,
        *,
        timeout: timedelta,
        bindings: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        compact_every: int | None = None,
        listener: Listener | None = None,
    ) -> None:
        super().__init__(
            spark, subscriptions, sinks, checkpoint, bindings=bindings, compact_every=compact_every, listener=listener
        )
        self._following = Following(timeout, bindings, limits)
        self._recorded = Recorded(f"{checkpoint}/tidings/batches")
        self._open: int | None = None

    def start(self, read: DataFrame, trigger: Mapping[str, Any] | None = None) -> StreamingQuery:
        """As of any pipeline. With `availableNow` it ends when all there is has been taken; open events stay open."""
        chosen = trigger or _TRIGGER
        # Else it would never end: there might always be a time-out next.
        with _set(self._spark, {STORE: ROCKS, _IDLE: str("availableNow" not in chosen).lower()}):
            return super().start(read, chosen)

    def _stream(self, read: DataFrame) -> DataFrame:
        return follow(read, self._recorded, self._following)

    def batch(self, read: DataFrame, number: int) -> None:
        """Do what is to be done for a batch. The state has to be brought to its end also where the rest was done."""
        if self._figures.has(number):
            read.select("kind").toArrow()
        super().batch(read, number)

    def _run(self, read: DataFrame, number: int) -> None:
        batch = self._begun(number)
        figures = self._worked_out(read, batch)
        if figures is not None:
            self._finish(figures)

    def _worked_out(self, read: DataFrame, batch: Batch) -> Figures | None:
        """The figures of a batch; None where nothing came and no time was over, and there is nothing to write."""
        kept = read.selectExpr("*", f"{DIGEST} AS digest").persist(StorageLevel.MEMORY_AND_DISK)
        try:
            with batch.stage("match"):
                told: pa.Table = kept.select(*(name for name in NAMES if name != "body"), "digest").toArrow()
            known = self._known(batch.before)
            record = batch.record
            if not (len(told) or record.problems or record.put or record.gone):
                return None
            fired = of_kind(told, FIRED)
            new = fired.filter(pa.array([event not in known for event in fired["event"].to_pylist()], pa.bool_()))
            found = sort_out(of_kind(told, CLOSED), known)
            with batch.stage("notify"):
                self._tables.notifications.write_here(batch.number, _notifications(new))
            # By this thread: Spark tells a task of another one nothing of the batch, if it has to work something out
            # again.
            with batch.stage("archive"):
                if pc.any(pc.is_in(told["kind"], pa.array(_ARCHIVED_KINDS))).as_py():
                    self._archive(kept, batch, found)
        finally:
            kept.unpersist()
        with batch.stage("deliver"):
            self._tell(batch.number)
        rejects = _rejects(told, Task(batch.number, batch.record, found, self._tables, self._bindings))
        with batch.stage("rejects"):
            if rejects:
                table = pa.Table.from_pylist([each._asdict() for each in rejects], REJECT_ROWS)
                self._tables.rejected.write_here(batch.number, table)
        return self._figured(told, len(new), len(rejects), batch)

    def _archive(self, kept: DataFrame, batch: Batch, found: Sorted) -> None:
        rows = kept.where(f.col("kind").isin(*_ARCHIVED_KINDS))
        again = [(event, CLOSED) for event, digest in found.chosen.items() if digest is None]
        if again:
            known = self._spark.createDataFrame(again, "event string, kind string")
            rows = rows.join(f.broadcast(known), ["event", "kind"], "left_anti")
        accepted = f.lit(batch.record.time).cast("timestamp")
        part = f.when(f.col("kind") != CLOSED, f.col("kind"))
        day = f.to_date(f.coalesce("published", accepted))
        self._tables.archive.write(
            batch.number,
            rows.select(
                "event",
                "published",
                accepted.alias("accepted"),
                "body",
                "source",
                "digest",
                part.alias("part"),
                day.alias("day"),
            ),
        )

    def _figured(self, told: pa.Table, matches: int, rejects: int, batch: Batch) -> Figures:
        if self._open is None:
            before = self._figures.last_before(batch.number)
            self._open = 0 if before is None or before.chained is None else before.chained["open"]
        more = chained_figures(told, self._open, None if self._query is None else self._query.lastProgress)
        self._open = more["open"]
        at_once = pc.and_kleene(pc.equal(told["kind"], CLOSED), pc.equal(told["opened"], 0))
        came = pc.or_kleene(at_once, pc.is_in(told["kind"], pa.array([PART, LATE])))
        batch.seconds["total"] = perf_counter() - batch.begin
        counts = {"candidates": more["fired"], "matches": matches}
        figures = Figures.of(batch.number, batch.record, told.filter(came), counts, rejects, batch.seconds)
        return replace(figures, chained=more)


@contextmanager
def _set(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Have these settings while a stream is started, which keeps them."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def _notifications(fired: pa.Table) -> pa.Table:
    ids = notification_ids(fired["subscription"].to_pylist(), fired["event"].to_pylist())
    columns = [pa.chunked_array([ids], pa.string()), *(fired[name] for name in NOTIFICATION_ROWS.names[1:])]
    return pa.table(
        [column.cast(field.type) for column, field in zip(columns, NOTIFICATION_ROWS, strict=True)], NOTIFICATION_ROWS
    )


def _rejects(told: pa.Table, task: Task) -> list[Reject]:
    rejects = told_by_driver(task)
    for row in of_kind(told, PROBLEM).to_pylist():
        if row["event"] is None:
            rejects.append(Reject("document", row["source"], row["line"], row["column"], None, None, row["reason"]))
        else:
            rejects.append(failed(row["event"], row["subscription"], row["reason"])._replace(source=row["source"]))
    return rejects
