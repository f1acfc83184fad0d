"""Records as columns of text: what readers of tables give, and a mapping is applied to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import Span
from tidings.ingest.rows.text import Ints

MAX_COLUMNS = 10_000
"""A table, or one record of JSON, has no more: each costs a pass of its own."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Values of one column and datatype, one a record, or, with `rows`, each of the record it says (ascending).

    A null is no value. `plain`: nothing in the text needs an escape. Without a datatype the values are strings.
    With `names` it is the values of many columns, with the column of each.
    """

    text: pa.Array
    datatype: str | None = None
    plain: bool = False
    rows: Ints | None = None
    names: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class Records:
    """Some records that follow each other; `numbers` counts them from 1 in their document.

    A column is in several `Cells` where its values have several datatypes; only `rows` gives a record several values.
    `place` tells where a record stands; it is asked when there is a problem. `rest` are further columns, where they are
    so many that each has few values.
    """

    numbers: Ints
    columns: Mapping[str, tuple[Cells, ...]]
    place: Callable[[int], Span | None]
    rest: tuple[Cells, ...] = ()

    def __len__(self) -> int:
        return len(self.numbers)


def nowhere(row: int) -> Span | None:
    return None


def merged(cells: tuple[Cells, ...], count: int) -> tuple[pa.Array, Ints]:
    """The one text of each record in a column, and the records that have several, for which it is null."""
    found = [each.text for each in cells if each.rows is None]
    text = pc.coalesce(*found) if len(found) > 1 else found[0] if found else pa.nulls(count, pa.string())
    lists = [each for each in cells if each.rows is not None]
    if not lists:
        return text, np.empty(0, np.int64)
    counts = np.asarray(text.is_valid()).astype(np.int64)
    for each in lists:
        assert each.rows is not None
        counts += np.bincount(each.rows[np.asarray(each.text.is_valid())], minlength=count)
    for each in lists:
        text = pc.coalesce(text, _spread(each, count))
    several = counts > 1
    return pc.if_else(pa.array(several), pa.scalar(None, pa.string()), text), np.flatnonzero(several)


def _spread(cells: Cells, count: int) -> pa.Array:
    """The last value of each record that has one in a list."""
    assert cells.rows is not None
    valid = np.flatnonzero(np.asarray(cells.text.is_valid()))
    places = np.full(count, -1, np.int64)
    places[cells.rows[valid]] = valid
    return cells.text.take(pa.array(places, mask=places < 0))
