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

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark import StorageLevel
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.delivery.outlet import Outlet
from tidings.errors import EngineError, TidingsError
from tidings.rdf.seen import SeenEvents
from tidings.spark.archive.compact import compact_if_due
from tidings.spark.archive.find import Finder
from tidings.spark.archive.layout import Archive, Before
from tidings.spark.catchup import CatchUp
from tidings.spark.changing import Standings, Taken
from tidings.spark.figures import Figures, FigureTable
from tidings.spark.here import Here
from tidings.spark.meanwhile import Meanwhile
from tidings.spark.records import Record, Records, Tell
from tidings.spark.spread import Spread
from tidings.spark.standing import DIGEST, Sorted, sort_out
from tidings.spark.store import Store
from tidings.spark.tables import BatchTable
from tidings.spark.work import Tables, Task, Work

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

Listener: TypeAlias = Callable[[Figures], None]
SMALL = 2_000
"""Where no task reads more events than this, and none of these is large, the driver does the batch by itself."""

_log = logging.getLogger("tidings")
_BETWEEN_LOOKS = 5.0
_LARGE = 1 << 16
_ROW = (1 << 33) - 1


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
class Batch:
    """A batch under way."""

    number: int
    begin: float
    record: Record
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def before(self) -> Before:
        """What was there before it."""
        return Before(self.number, self.record.time)

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
        subscriptions: Standings,
        sinks: Sinks,
        checkpoint: str,
        *,
        bindings: bool = False,
        small: int = SMALL,
        compact_every: int | None = None,
        listener: Listener | None = None,
    ) -> None:
        self._spark = spark
        self._subscriptions = subscriptions
        self._sinks = sinks
        self._checkpoint = checkpoint
        self._bindings = bindings
        self._small = small
        self._compact_every = compact_every
        self._listener = listener
        self._records = Records(f"{checkpoint}/tidings/batches")
        self._tables = Tables(
            BatchTable(sinks.archive, by="day"), BatchTable(sinks.notifications), BatchTable(sinks.rejected)
        )
        self._figures = FigureTable(sinks.figures)
        self._seen, self._seen_before = SeenEvents(), -1
        self._was_small = small > 0
        self._running = threading.Lock()
        self._last, self._over = -1, True
        self._looked = perf_counter()
        self._meanwhile = Meanwhile()
        self._catch_up = CatchUp(subscriptions, self._tables, self._tell, bindings=bindings)
        self._query: StreamingQuery | None = None
        self._failure: Exception | None = None

    def start(self, read: DataFrame, trigger: Mapping[str, Any] | None = None) -> StreamingQuery:
        """Begin, or go on where the checkpoint says. `trigger` is as for Spark's `trigger`."""
        self.begin()
        writer = self._stream(read).writeStream.foreachBatch(self.batch).option("checkpointLocation", self._checkpoint)
        self._query = writer.trigger(**(trigger or {"processingTime": "0 seconds"})).start()
        return self._query

    def begin(self) -> None:
        """Have the tables for oneself, and see how far one was."""
        for table in (self._tables.archive, self._tables.notifications, self._tables.rejected):
            table.claim(self._records.owner())
            table.clean()
        self._figures.claim(self._records.owner())
        self._last = self._records.last()
        # A batch of which there is nothing to tell has no figures; Spark knows that it is done.
        done = Store(self._checkpoint).is_file(f"commits/{self._last}")
        self._over = self._last < 0 or self._figures.has(self._last) or done

    def _stream(self, read: DataFrame) -> DataFrame:
        """What the batches are made of."""
        return read.observe("tidings", f.count("event").alias("events"), f.count("reason").alias("problems"))

    def wait(self, seconds: float) -> bool:
        """Whether it is over, or will be before so many seconds; an `EngineError` where it cannot go on."""
        assert self._query is not None, "it was started"
        try:
            # It says int, and takes parts of a second all the same.
            over = bool(self._query.awaitTermination(cast(int, seconds)))
        except StreamingQueryException as error:
            raise EngineError(f"the stream cannot go on: {self._failure or error}") from error
        if over or perf_counter() - self._looked > _BETWEEN_LOOKS:
            self.look()
        return over

    def stop(self) -> None:
        """End it between two batches."""
        assert self._query is not None, "it was started"
        with self._running:
            self._query.stop()

    def batch(self, read: DataFrame, number: int) -> None:
        """Do what is to be done for a batch; nothing, where it was done before."""
        try:
            with self._running:
                if not self._figures.has(number):
                    self._run(read, number)
                self._over = True
                self._compact()
        except Exception as error:
            self._failure = error
            raise

    def _run(self, read: DataFrame, number: int) -> None:
        batch = self._begun(number)
        self._finish(self._done(read, batch))

    def _finish(self, figures: Figures) -> None:
        """The batch is done, and these are its figures."""
        told, self._meanwhile.late = self._meanwhile.late, 0
        whole = replace(figures, late=told)
        self._figures.write(whole)
        if self._listener is not None:
            self._listener(whole)

    def _compact(self) -> None:
        """Where that was asked for, and there is enough for it. Nothing depends on it, so nothing ends if it fails."""
        if self._compact_every is not None:
            try:
                compact_if_due(self._spark, Archive(self._tables.archive.folder), self._compact_every)
            except Exception:
                _log.exception("the archive could not be compacted; it is tried again after the next batch")

    def _begun(self, number: int) -> Batch:
        """A batch, with the subscriptions that count for it, when these know of all that was before."""
        batch = Batch(number, perf_counter(), self._records.of(number, self._taken))
        self._last, self._over = number, False
        self._meanwhile.late += self._catch_up(batch.record.late, batch.before)
        batch.seconds["subscriptions"] = perf_counter() - batch.begin
        return batch

    def _take(self, report: Tell) -> Taken:
        """The subscriptions as they are now; as they were, where their source cannot be used."""
        try:
            return self._subscriptions.take(report)
        except TidingsError as error:
            if not self._subscriptions.ready:
                raise
            report(error)
            return Taken(self._subscriptions.version, 0, 0, len(self._subscriptions))

    def _taken(self, report: Tell) -> Taken:
        """The same for a batch, with what came since the last one."""
        taken = self._meanwhile.added_to(self._take(report), report)
        self._meanwhile = Meanwhile(late=self._meanwhile.late)
        return taken

    def look(self) -> None:
        """Take the subscriptions that are new while there is no batch, so that they are told what was before them."""
        if not self._subscriptions.ready or not self._running.acquire(blocking=False):
            return
        try:
            # A batch that was begun, and will be run again, has its subscriptions: for these, it is among those before.
            if self._over:
                try:
                    taken = self._take(self._meanwhile.problems.append)
                except ConnectionError:
                    # Whoever has the subscriptions does not answer. No batch is done without them; this can wait.
                    return
                self._meanwhile.count(taken)
                self._meanwhile.late += self._catch_up(taken.late, Before(self._last + 1))
        finally:
            self._looked = perf_counter()
            self._running.release()

    def _done(self, read: DataFrame, batch: Batch) -> Figures:
        # A batch after a small one is taken for a small one. If it is not, its documents are read twice.
        # One process does not have all shards open.
        if self._was_small and not batch.record.version.shards:
            with batch.stage("read"):
                rows: pa.Table = _with_bodies(read, self._small).toArrow()
            self._was_small = not pc.any(rows["cut"]).as_py()
            if self._was_small:
                return self._worked(rows, lambda task: Here(rows, task), batch)
        kept = read.selectExpr("*", f"{DIGEST} AS digest").persist(StorageLevel.MEMORY_AND_DISK)
        try:
            with batch.stage("read"):
                rows = kept.select("event", "digest", "source", "published", "reason").toArrow()
            self._was_small = len(rows) <= self._small
            return self._worked(rows, lambda task: Spread(kept, task), batch)
        finally:
            kept.unpersist()

    def _worked(self, rows: pa.Table, work_on: Callable[[Task], Work], batch: Batch) -> Figures:
        """Do the batch of which these are the rows, one way or the other."""
        events = rows.filter(pc.is_null(rows["reason"]))
        found = self._sorted(events, batch)
        task = Task(batch.number, batch.record, found, self._tables, self._bindings)
        work = work_on(task)
        # The one has nothing to do with the other.
        with ThreadPoolExecutor(1) as beside:
            archived = beside.submit(self._archived, work, batch)
            with batch.stage("match"):
                counts = work.match()
            with batch.stage("deliver"):
                self._tell(batch.number)
            archived.result()
        rejects = len(rows) - len(events) + len(found.conflicts) + counts["failures"] + len(batch.record.problems)
        with batch.stage("rejects"):
            if rejects:
                work.reject()
        batch.seconds["total"] = perf_counter() - batch.begin
        return Figures.of(batch.number, batch.record, events, counts, rejects, batch.seconds)

    def _sorted(self, events: pa.Table, batch: Batch) -> Sorted:
        """What becomes of the events of a batch."""
        return sort_out(events, self._known(batch.before))

    def _archived(self, work: Work, batch: Batch) -> None:
        with batch.stage("archive"):
            work.archive()

    def _known(self, before: Before) -> SeenEvents:
        """The events of the batches before this one."""
        if self._seen_before != before.batch - 1 or before.batch == 0:
            self._seen = SeenEvents()
            self._remember(before)
        self._seen_before = before.batch
        return self._seen

    def _remember(self, before: Before) -> None:
        with Finder(Archive(self._tables.archive.folder)) as archive:
            for rows in archive.all_events(["event", "digest"], before):
                for event, digest in zip(rows["event"].to_pylist(), rows["digest"].to_pylist(), strict=True):
                    self._seen.add(event, bytes.fromhex(digest))

    def _tell(self, number: int) -> None:
        """Whoever wants the notifications gets those that are in the table."""
        place = self._tables.notifications.place(number)
        if self._sinks.callback is not None:
            self._sinks.callback(self._spark.read.parquet(place), number)
        if self._sinks.outlet is not None:
            self._sinks.outlet.deliver(number, iter(ds.dataset(place, format="parquet").to_batches()))


def _with_bodies(read: DataFrame, most: int) -> DataFrame:
    """What was read, with bodies where these are not too large and a task has not too many; `cut` where they are.

    It is said in one text: every word to Spark takes a while.
    """
    cut = f"coalesce((monotonically_increasing_id() & {_ROW}) >= {most} OR octet_length(body) > {_LARGE}, false)"
    others = (name for name in read.columns if name != "body")
    return read.selectExpr(*others, f"IF({cut}, NULL, body) AS body", f"{DIGEST} AS digest", f"{cut} AS cut")
