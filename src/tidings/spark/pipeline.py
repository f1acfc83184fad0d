"""The pipeline: documents in, notifications out, each once, whatever happens in between.

Spark says which documents belong to which batch, and runs a batch again until it is done. What we write for a batch is
written under its number, as a whole or not at all (`tables`); and everything that could come out differently the second
time, the moment and the subscriptions, is written down before the first (`records`). So a batch may be run any number
of times, and what it leaves is what one run leaves.

A batch: take the subscriptions as they are now; read the documents; tell new events from known ones; keep the new ones
in the archive and, at the same time, match them and write the notifications; write what was rejected, and why; and at
last the figures, which say that the batch is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as f

from tidings.delivery.outlet import Outlet
from tidings.errors import TidingsError
from tidings.rdf.seen import SeenEvents
from tidings.spark.changing import Subscriptions, Taken
from tidings.spark.figures import Figures, FigureTable
from tidings.spark.matching import counted_hits, notifications_in
from tidings.spark.records import Record, Records, Tell
from tidings.spark.standing import AGAIN, Sorted, digest_column, only_new, sort_out
from tidings.spark.tables import BatchTable

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

REJECTS = "kind string, source string, line int, column int, event string, subscription string, reason string"
Listener: TypeAlias = Callable[[Figures], None]
_REJECTED = ("source", "line", "column", "reason")


@dataclass(frozen=True, slots=True)
class Sinks:
    """Where it all goes. The notifications may also go through an outlet, and to a callback as a table."""

    archive: str
    notifications: str
    rejected: str
    figures: str
    outlet: Outlet | None = None
    callback: Callable[[DataFrame, int], None] | None = None


@dataclass
class _Batch:
    """A batch under way."""

    number: int
    record: Record
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begin = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - begin


class Pipeline:
    """What happens to a batch of what was read (see `schema.READ`). `checkpoint` is Spark's; ours are in it too."""

    def __init__(
        self,
        spark: SparkSession,
        subscriptions: Subscriptions,
        sinks: Sinks,
        checkpoint: str,
        *,
        bindings: bool = False,
        listener: Listener | None = None,
    ) -> None:
        self._spark = spark
        self._subscriptions = subscriptions
        self._sinks = sinks
        self._checkpoint = checkpoint
        self._bindings = bindings
        self._listener = listener
        self._records = Records(f"{checkpoint}/tidings/batches")
        self._archive = BatchTable(sinks.archive, by="day")
        self._notifications = BatchTable(sinks.notifications)
        self._rejected = BatchTable(sinks.rejected)
        self._figures = FigureTable(sinks.figures)
        self._seen, self._seen_before = SeenEvents(), -1
        self._running = threading.Lock()

    def start(self, read: DataFrame, trigger: Mapping[str, Any] | None = None) -> StreamingQuery:
        """Begin, or go on where the checkpoint says. `trigger` is as for Spark's `trigger`."""
        for table in (self._archive, self._notifications, self._rejected):
            table.clean()
        counted = read.observe("tidings", f.count("event").alias("events"), f.count("reason").alias("problems"))
        writer = counted.writeStream.foreachBatch(self.batch).option("checkpointLocation", self._checkpoint)
        return writer.trigger(**(trigger or {"processingTime": "0 seconds"})).start()

    def stop(self, query: StreamingQuery) -> None:
        """End it between two batches."""
        with self._running:
            query.stop()

    def batch(self, read: DataFrame, number: int) -> None:
        """Do what is to be done for a batch; nothing, where it was done before."""
        with self._running:
            if self._figures.has(number):
                return
            begin = perf_counter()
            batch = _Batch(number, self._records.of(number, self._take))
            batch.seconds["subscriptions"] = perf_counter() - begin
            read = read.withColumn("digest", digest_column()).persist(StorageLevel.MEMORY_AND_DISK)
            try:
                figures = self._done(read, batch, begin)
            finally:
                read.unpersist()
            self._figures.write(figures)
            if self._listener is not None:
                self._listener(figures)

    def _take(self, report: Tell) -> Taken:
        """The subscriptions as they are now; as they were, where their source cannot be used."""
        try:
            return self._subscriptions.take(report)
        except TidingsError as error:
            if not self._subscriptions.ready:
                raise
            report(error)
            return Taken(self._subscriptions.version, 0, 0, len(self._subscriptions))

    def _done(self, read: DataFrame, batch: _Batch, begin: float) -> Figures:
        with batch.stage("read"):
            table = read.select("event", "digest", "source", "published", f.col("reason").isNotNull().alias("bad"))
            rows: pa.Table = table.toArrow()
            events = rows.filter(pc.invert(rows["bad"]))
            found = sort_out(events, self._known(batch.number))
        new = only_new(self._spark, read.where("reason IS NULL"), found.chosen)
        # Two jobs that have nothing to do with one another.
        with ThreadPoolExecutor(1) as beside:
            archived = beside.submit(self._archived, new, batch)
            counts = self._matched(new, batch)
            archived.result()
        problems = len(rows) - len(events)
        rejects = problems + len(found.conflicts) + counts["failures"] + len(batch.record.problems)
        with batch.stage("rejects"):
            if rejects:
                self._reject(read, new, found, batch, failures=counts["failures"] > 0)
        batch.seconds["total"] = perf_counter() - begin
        return Figures.of(batch.number, batch.record, events, counts, rejects, batch.seconds)

    def _known(self, number: int) -> SeenEvents:
        """The events of the batches before this one."""
        if self._seen_before != number - 1 or number == 0:
            self._seen = SeenEvents()
            if [each for each in self._archive.batches() if each < number]:
                self._remember(number)
        self._seen_before = number
        return self._seen

    def _remember(self, number: int) -> None:
        archive = ds.dataset(self._archive.folder, format="parquet", partitioning="hive")
        for rows in archive.to_batches(columns=["event", "digest"], filter=ds.field("batch") < number):
            for event, digest in zip(rows["event"].to_pylist(), rows["digest"].to_pylist(), strict=True):
                self._seen.add(event, bytes.fromhex(digest))

    def _archived(self, new: DataFrame, batch: _Batch) -> None:
        with batch.stage("archive"):
            accepted = f.lit(batch.record.time).cast("timestamp")
            rows = new.select("event", "published", accepted.alias("accepted"), "body", "source", "digest")
            self._archive.write(batch.number, rows.withColumn("day", f.to_date(f.coalesce("published", "accepted"))))

    def _matched(self, new: DataFrame, batch: _Batch) -> Mapping[str, int]:
        with batch.stage("match"):
            observed = Observation()
            hits = self._hits(new, batch)
            if self._notifications.write(batch.number, notifications_in(hits.observe(observed, *_counts()))):
                counts = observed.get
            else:
                counts = hits.agg(*_counts()).collect()[0].asDict()
        self._tell(batch)
        return {name: count or 0 for name, count in counts.items()}

    def _hits(self, new: DataFrame, batch: _Batch) -> DataFrame:
        return counted_hits(new, batch.record.version, bindings=self._bindings, accepted=batch.record.time)

    def _tell(self, batch: _Batch) -> None:
        """Whoever wants the notifications gets those that are in the table."""
        place = self._notifications.place(batch.number)
        with batch.stage("deliver"):
            if self._sinks.callback is not None:
                self._sinks.callback(self._spark.read.parquet(place), batch.number)
            if self._sinks.outlet is not None:
                self._sinks.outlet.deliver(batch.number, iter(ds.dataset(place, format="parquet").to_batches()))

    def _reject(self, read: DataFrame, new: DataFrame, found: Sorted, batch: _Batch, *, failures: bool) -> None:
        """Write what was rejected: documents, events that are there already, subscriptions, and matches that failed."""
        conflicts = (("event", source, None, None, id, None, AGAIN % id) for id, source in found.conflicts)
        told = (
            ("subscription", each.source, each.line, None, None, each.subscription, each.reason)
            for each in batch.record.problems
        )
        rows = self._spark.createDataFrame([*conflicts, *told], REJECTS)
        problems = read.where("reason IS NOT NULL")
        rows = rows.unionByName(problems.select(f.lit("document").alias("kind"), *_REJECTED), allowMissingColumns=True)
        if failures:
            kind = f.when(f.col("subscription").isNull(), "event").otherwise("evaluation").alias("kind")
            failed = self._hits(new, batch).where("reason IS NOT NULL").select(kind, "event", "subscription", "reason")
            rows = rows.unionByName(failed, allowMissingColumns=True)
        self._rejected.write(batch.number, rows.coalesce(1))


def _counts() -> list[Column]:
    """What there is to count of hits."""
    return [
        f.sum("candidates").alias("candidates"),
        f.count("reason").alias("failures"),
        f.count_if(f.expr("subscription IS NOT NULL AND reason IS NULL")).alias("matches"),
    ]
