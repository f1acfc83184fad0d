"""Events to the shards that they concern, and matched there.

    events ── route ──▶ (shard, event, published, body) ── by shard ──▶ match with the index of that shard

A subscription lives in one shard, and an event comes to a shard once: so there is one row for a match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidings.match.fast.router import Router
from tidings.match.fast.routes import REFUSING, route_bodies
from tidings.match.fast.times import Times
from tidings.spark.schema import HITS
from tidings.spark.stage import match_stage, matched
from tidings.spark.versions import Version
from tidings.spark.workers import opened, opened_router

Batches: TypeAlias = Iterator[pa.RecordBatch]
_SENT = "shard int, first boolean"
_SENT_ROWS = [pa.field("shard", pa.int32()), pa.field("first", pa.bool_())]


def sent(events: DataFrame, version: Version) -> DataFrame:
    """A row for every shard that an event is sent to, in the partitions of that shard: `shard`, and whether this is the
    `first` one that it is sent to, before the columns of the event.
    """
    columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in events.schema.fields)
    rows = events.mapInArrow(_route_stage(version), f"{_SENT}, {columns}")
    parts = max(1, int(_setting(events, "spark.sql.shuffle.partitions")) // version.shards)
    part = f.col("shard") if parts == 1 else f.col("shard") * parts + f.pmod(f.hash("event"), f.lit(parts))
    return rows.repartitionById(version.shards * parts, part)


def _setting(events: DataFrame, name: str) -> Any:
    return events.sparkSession.conf.get(name)


def _route_stage(version: Version) -> Callable[[Batches], Batches]:
    def stage(batches: Batches) -> Batches:
        router = opened_router(version)
        for batch in batches:
            yield from route(router, version.shards, batch)

    return stage


def route(router: Router, shards: int, batch: pa.RecordBatch) -> Batches:
    """The rows of a batch, for each shard those that it gets."""
    there = pc.and_(batch["event"].is_valid(), batch["body"].is_valid())
    # What has no id or no body is refused, once.
    yield from _rows(batch.filter(pc.invert(there)), REFUSING, True)
    batch = batch.filter(there)
    found = route_bodies(router, shards, batch["event"], batch["body"])
    if found.bodies:
        texts = [found.bodies.get(row, text) for row, text in enumerate(batch["body"].to_pylist())]
        place = batch.schema.get_field_index("body")
        batch = batch.set_column(place, batch.schema.field(place), pa.array(texts, batch["body"].type))
    first = np.ones(found.rows.size, bool)
    first[1:] = found.rows[1:] != found.rows[:-1]
    for shard in range(shards):
        chosen = found.shards == shard
        yield from _rows(batch.take(pa.array(found.rows[chosen])), shard, pa.array(first[chosen]))


def _rows(batch: pa.RecordBatch, shard: int, first: pa.Array | bool) -> Batches:
    if batch.num_rows:
        marks = pa.repeat(first, batch.num_rows) if isinstance(first, bool) else first
        columns = [pa.repeat(pa.scalar(shard, pa.int32()), batch.num_rows), marks, *batch.columns]
        yield pa.record_batch(columns, schema=pa.schema([*_SENT_ROWS, *batch.schema]))


def found_by(
    events: DataFrame, version: Version, *, bindings: bool, accepted: datetime | None = None, timed: bool = True
) -> DataFrame:
    """What becomes of events with the subscriptions of a version, in shards or not: see `schema.HITS`."""
    if version.shards:
        stage = shard_stage(version, bindings=bindings, accepted=accepted, timed=timed)
        return sent(events, version).mapInArrow(stage, HITS)
    return events.mapInArrow(match_stage(version, bindings=bindings, accepted=accepted, timed=timed), HITS)


def shard_stage(
    version: Version, *, bindings: bool, accepted: datetime | None = None, timed: bool = True
) -> Callable[[Batches], Batches]:
    """From what was sent to the matches: see `stage.match_stage`."""

    def stage(batches: Batches) -> Batches:
        for batch in batches:
            for shard in pc.unique(batch["shard"]).to_pylist():
                rows = batch.filter(pc.equal(batch["shard"], shard))
                those = opened(version, shard)
                those = those if timed else those._replace(times=Times())
                events = rows.drop_columns(["shard", "first"])
                for hits in matched(those, iter([events]), bindings=bindings, accepted=accepted):
                    yield _refused_once(hits, rows)

    return stage


def _refused_once(hits: pa.RecordBatch, rows: pa.RecordBatch) -> pa.RecordBatch:
    """An event that is refused is refused wherever it is sent: the first shard tells."""
    again = rows.filter(pc.invert(rows["first"]))["event"]
    refused = pc.and_(pc.is_valid(hits["reason"]), pc.is_null(hits["subscription"]))
    if not len(again) or not pc.any(refused).as_py():
        return hits
    told = pc.and_(refused, pc.is_in(hits["event"], value_set=again))
    return hits.filter(pc.invert(told))
