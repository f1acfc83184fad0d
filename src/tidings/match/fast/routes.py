"""Events in a column, and the shards they are sent to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tidings.errors import EventError
from tidings.index.arrays import Ints
from tidings.index.scanner import padded
from tidings.match.fast.bodies import Column, read_body
from tidings.match.fast.router import Router

REFUSING = 0
"""The shard that what is no event is sent to: one has to say so."""


class Routes(NamedTuple):
    """The row of an event and a shard it is sent to, in the order of the rows; and bodies that are better sent instead
    of those of their rows, since these are not in canonical form.
    """

    rows: Ints
    shards: Ints
    bodies: Mapping[int, str]


def route_bodies(router: Router, shards: int, ids: pa.Array, bodies: pa.Array) -> Routes:
    """Where the events go that have these ids and bodies."""
    column = Column.of_table(ids, bodies)
    rows: list[Ints] = [np.zeros(0, np.int32)]
    chosen: list[Ints] = [np.zeros(0, np.int32)]
    mended: dict[int, str] = {}
    start = 0
    while start < column.size:
        stops = np.ascontiguousarray(column.starts[start + 1 :])
        found = router.run(column.data, stops, trusted=False, start=int(column.starts[start]))
        rows.append(found.rows + np.int32(start))
        chosen.append(found.shards)
        start += found.events
        if start < column.size:
            one = _one(router, shards, ids[start].as_py(), bodies[start].as_py())
            rows.append(np.full(one.shards.size, start, np.int32))
            chosen.append(one.shards)
            if one.body is not None:
                mended[start] = one.body
            start += 1
    return Routes(np.concatenate(rows), np.concatenate(chosen), mended)


class _One(NamedTuple):
    shards: Ints
    body: str | None = None


def _one(router: Router, shards: int, id: str, body: str) -> _One:
    """Of a text that is not canonical: as it is when it is."""
    try:
        text = read_body(id, body).body
    except EventError:
        return _One(np.array([REFUSING], np.int32))
    data = text.encode()
    found = router.run(padded(data), np.array([len(data)], np.int64), trusted=True)
    # What the kernels do not read at all may concern any shard.
    return _One(found.shards if found.events else np.arange(shards, dtype=np.int32), text)


def replication(router: Router, shards: int, bodies: pa.Array) -> float:
    """To how many shards an event is sent, on average."""
    found = route_bodies(router, shards, bodies, bodies)
    return found.rows.size / max(1, len(bodies))
