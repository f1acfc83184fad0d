"""Matches straight from the workers into a table of notifications.

A worker writes the notifications of its task into a file of its own, and gives back a row that names it: they take no
way through Spark, which is longer than finding them. The driver puts the files that it was told of into their place:
what a task left that was run again, or was lost, is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import NamedTuple, TypeAlias
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Row

from tidings.delivery.notification import notification_ids
from tidings.spark.schema import NOTIFICATION_ROWS
from tidings.spark.shards import sent, shard_stage
from tidings.spark.stage import match_stage
from tidings.spark.store import Store
from tidings.spark.tables import BatchTable
from tidings.spark.versions import Version

Batches: TypeAlias = Iterator[pa.RecordBatch]
Failure: TypeAlias = tuple[str | None, str | None, str]
"""Of a match: its event, its subscription, and the reason."""

_ROWS = 1 << 16
_NAMED = ["subscription", "event"]
_TOLD = (
    "file string, matches long, candidates long, shard int, sent long, event string, subscription string, reason string"
)
_COUNTS = 5
"""How many of these are counts of a task, and what they are of."""

_TOLD_ROWS = pa.schema(
    [
        ("file", pa.string()),
        ("matches", pa.int64()),
        ("candidates", pa.int64()),
        ("shard", pa.int32()),
        ("sent", pa.int64()),
        ("event", pa.string()),
        ("subscription", pa.string()),
        ("reason", pa.string()),
    ]
)


class Written(NamedTuple):
    """`sent` is how many events came to the shards, and `load` the candidates of each, where there are shards."""

    matches: int
    candidates: int
    failures: Sequence[Failure]
    sent: int = 0
    load: Mapping[int, int] = {}


def write_matches(
    events: DataFrame,
    version: Version,
    table: BatchTable,
    batch: int,
    *,
    bindings: bool = False,
    accepted: datetime | None = None,
    timed: bool = True,
) -> Written:
    """Have the notifications of these events as a batch of a table, if they are not there yet."""
    columns = [name for name in ("event", "published", "accepted", "body") if name in events.columns]

    def put(place: str) -> None:
        how = partial(shard_stage if version.shards else match_stage, bindings=bindings, accepted=accepted, timed=timed)
        chosen = events.select(*columns)
        rows = (sent(chosen, version) if version.shards else chosen).mapInArrow(_stage(how(version), place), _TOLD)
        told.extend(rows.collect())
        _keep(Store(place), {row.file for row in told if row.file is not None})

    told: list[Row] = []
    if not table.once(batch, put):
        # It was done before, and what it told is forgotten.
        with table.aside() as place:
            put(place)
    return Written(
        sum(row.matches or 0 for row in told),
        sum(row.candidates or 0 for row in told),
        [(row.event, row.subscription, row.reason) for row in told if row.reason is not None],
        sum(row.sent or 0 for row in told if row.shard is not None),
        _load(told, version),
    )


def _load(told: Sequence[Row], version: Version) -> Mapping[int, int]:
    load = dict.fromkeys(range(version.shards), 0)
    for row in told:
        if row.shard is not None:
            load[row.shard] += row.candidates
    return load


def _keep(folder: Store, files: set[str]) -> None:
    """Remove what nobody told of. A table without rows has its columns all the same."""
    for name in folder.names():
        if name not in files:
            folder.delete(name)
    if not files:
        place, store = folder.opened("part-0.parquet")
        pq.write_table(NOTIFICATION_ROWS.empty_table(), place, filesystem=store)


def _stage(inner: Callable[[Batches], Batches], place: str) -> Callable[[Batches], Batches]:
    def stage(batches: Batches) -> Batches:
        candidates = 0
        came = _Came()
        with NotificationFile(place) as file:
            for hits in inner(came.through(batches)):
                file.take(hits)
                candidates += pc.sum(hits["candidates"]).as_py() or 0
                failed = hits.filter(pc.is_valid(hits["reason"]))
                if failed.num_rows:
                    yield _told(failed)
        counts = {"file": file.name, "matches": file.size, "candidates": candidates}
        counts |= {"shard": came.shard, "sent": came.rows}
        yield pa.RecordBatch.from_pylist([counts], _TOLD_ROWS)

    return stage


class _Came:
    """How many rows came to a task, and of which shard it is, if of any."""

    def __init__(self) -> None:
        self.rows = 0
        self.shard: int | None = None

    def through(self, batches: Batches) -> Batches:
        for batch in batches:
            self.rows += batch.num_rows
            if batch.num_rows and "shard" in batch.schema.names:
                self.shard = batch["shard"][0].as_py()
            yield batch


def _told(failed: pa.RecordBatch) -> pa.RecordBatch:
    nothing = [pa.nulls(failed.num_rows, field.type) for field in list(_TOLD_ROWS)[:_COUNTS]]
    return pa.record_batch([*nothing, *(failed[name] for name in _TOLD_ROWS.names[_COUNTS:])], schema=_TOLD_ROWS)


class NotificationFile:
    """A file of notifications; there is none, and no name, where there are no rows."""

    def __init__(self, folder: str) -> None:
        self._store = Store(folder)
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self.name: str | None = None
        self.size = 0

    def __enter__(self) -> NotificationFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def take(self, hits: pa.RecordBatch) -> None:
        """Write the matches among these."""
        good = hits.filter(pc.and_(pc.is_valid(hits["subscription"]), pc.is_null(hits["reason"])))
        if not good.num_rows:
            return
        ids = notification_ids(good["subscription"].to_pylist(), good["event"].to_pylist())
        columns = [pa.array(ids, pa.string()), *(good[name] for name in NOTIFICATION_ROWS.names[1:])]
        self._waiting.append(pa.record_batch(columns, schema=NOTIFICATION_ROWS))
        self._rows += good.num_rows
        if self._rows >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self._writer is None:
            self.name = f"part-{uuid4().hex}.parquet"
            place, files = self._store.opened(self.name)
            self._writer = pq.ParquetWriter(place, NOTIFICATION_ROWS, filesystem=files, use_dictionary=_NAMED)
        self._writer.write_table(pa.Table.from_batches(self._waiting, NOTIFICATION_ROWS))
        self.size += self._rows
        self._waiting, self._rows = [], 0
