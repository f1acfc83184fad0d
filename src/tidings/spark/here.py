"""A small batch as the driver does it by itself: no job, and the same rows in the same tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.delivery.notification import notification_ids
from tidings.spark.schema import HIT_ROWS, NOTIFICATION_ROWS, REJECT_ROWS
from tidings.spark.stage import match_stage
from tidings.spark.work import Reject, Task, failed, told_by_driver

_MOMENT = HIT_ROWS.field("published").type


class Here:
    """`read` is what was read, with digests, as far as it is not too much."""

    def __init__(self, read: pa.Table, task: Task) -> None:
        self._task = task
        good = pc.is_null(read["reason"])
        self._problems = read.filter(pc.invert(good))
        events = read.filter(good)
        self._new = events.filter(_taken(events, task.found.chosen)) if task.found.chosen else events

    def archive(self) -> None:
        accepted = pa.repeat(pa.scalar(self._task.record.time, _MOMENT), len(self._new))
        columns = ("event", "published", "body", "source", "digest")
        rows = self._new.select(columns).add_column(2, "accepted", accepted)
        day = pc.coalesce(rows["published"], rows["accepted"]).cast(pa.date32())
        self._task.tables.archive.write_here(self._task.number, rows.append_column("day", day))

    def match(self) -> Mapping[str, int]:
        good = self._hits.filter(pc.and_(pc.is_valid(self._hits["subscription"]), pc.is_null(self._hits["reason"])))
        ids = notification_ids(good["subscription"].to_pylist(), good["event"].to_pylist())
        columns = [pa.chunked_array([ids], pa.string()), *(good[name] for name in NOTIFICATION_ROWS.names[1:])]
        self._task.tables.notifications.write_here(self._task.number, pa.table(columns, NOTIFICATION_ROWS))
        return {
            "candidates": pc.sum(self._hits["candidates"]).as_py() or 0,
            "failures": len(self._hits) - self._hits["reason"].null_count,
            "matches": len(good),
        }

    def reject(self) -> None:
        rows = told_by_driver(self._task)
        for source, line, column, reason in _rows(self._problems, "source", "line", "column", "reason"):
            rows.append(Reject("document", source, line, column, None, None, reason))
        wrong = self._hits.filter(pc.is_valid(self._hits["reason"]))
        rows += [failed(*each) for each in _rows(wrong, "event", "subscription", "reason")]
        table = pa.Table.from_pylist([row._asdict() for row in rows], REJECT_ROWS)
        self._task.tables.rejected.write_here(self._task.number, table)

    @cached_property
    def _hits(self) -> pa.Table:
        record = self._task.record
        stage = match_stage(record.version, bindings=self._task.bindings, accepted=record.time)
        events = self._new.select(["event", "published", "body"]).combine_chunks().to_batches()
        return pa.Table.from_batches(stage(iter(events)), HIT_ROWS)


def _rows(table: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in names), strict=True)


def _taken(events: pa.Table, chosen: Mapping[str, str | None]) -> pa.Array:
    """Which events are taken: see `standing.Sorted`."""
    left = dict(chosen)
    marks = []
    for event, digest in zip(events["event"].to_pylist(), events["digest"].to_pylist(), strict=True):
        take = event not in chosen or left[event] == digest
        if take and event in chosen:
            left[event] = None
        marks.append(take)
    return pa.array(marks, pa.bool_())
