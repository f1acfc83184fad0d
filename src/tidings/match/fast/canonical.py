"""Bodies in canonical form: most are, and the kernels tell which are not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

from tidings.errors import EventError
from tidings.match.fast.bodies import Column, read_body
from tidings.match.fast.engine import Fast
from tidings.ontology import Ontology


@cache
def _reader() -> Fast:
    """A matcher that only reads."""
    return Fast(Ontology.empty())


def canonical_bodies(ids: pa.Array, bodies: pa.Array) -> pa.Array:
    """These bodies, sorted and escaped as they should be; null where one is no event at all."""
    column = Column.of_table(ids, bodies)
    mended: dict[int, str | None] = {}
    start = 0
    with _reader().reading() as view:
        while start < column.size:
            stops = np.ascontiguousarray(column.starts[start + 1 :])
            found = view.run(column.data, stops, trusted=False, quads=False, start=int(column.starts[start]))
            start += found.begins.size
            if start < column.size:
                mended[start] = _mended(ids[start].as_py(), bodies[start].as_py())
                start += 1
    if not mended:
        return bodies
    texts = bodies.to_pylist()
    for row, text in mended.items():
        texts[row] = text
    return pa.array(texts, pa.string())


def _mended(id: str, body: str) -> str | None:
    try:
        return read_body(id, body).body
    except EventError:
        return None
