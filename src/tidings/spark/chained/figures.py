"""The figures of a batch of parts, beside those that every batch has."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.spark.chained.schema import CLOSED, ENDED, FIRED, LATE, PART, TIMED_OUT


def of_kind(told: pa.Table, kind: str) -> pa.Table:
    return told.filter(pc.equal(told["kind"], kind))


def chained_figures(told: pa.Table, open_before: int, progress: Any) -> dict[str, int]:
    """From what was told (`schema.TOLD`), and what Spark says of the state after the batch before.

    `open` are the events that are open now; `fired` counts all that was satisfied, also where it was not a new event.
    """
    closed, late = of_kind(told, CLOSED), of_kind(told, LATE)
    figures = {
        "open": open_before + _sum(told["opened"]),
        "parts": len(of_kind(told, PART)),
        "fired": len(of_kind(told, FIRED)),
        "ended": _count(closed["reason"], ENDED),
        "timed_out": _count(closed["reason"], TIMED_OUT),
        "late_parts": len(late),
        "late_triples": _sum(late["triples"]),
    }
    for each in progress.stateOperators if progress is not None else ():
        figures["state_rows"] = figures.get("state_rows", 0) + each.numRowsTotal
        figures["state_bytes"] = figures.get("state_bytes", 0) + each.memoryUsedBytes
    return figures


def _sum(column: pa.ChunkedArray) -> int:
    return int(pc.sum(column).as_py() or 0)


def _count(column: pa.ChunkedArray, value: str) -> int:
    return _sum(pc.equal(column, value))
