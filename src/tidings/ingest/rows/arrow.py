"""Arrow tables and batches, and what can be made one (a pandas frame), become events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How, Report
from tidings.ingest.rows.arrow_cells import columns_of, decoded_sizes
from tidings.ingest.rows.direct import missing
from tidings.ingest.rows.direct_rows import DirectRows
from tidings.ingest.rows.records import MAX_COLUMNS, Cells, Records, nowhere

Tables: TypeAlias = Any
"""A `pyarrow.Table`, `RecordBatch` or `RecordBatchReader`, batches, or anything with `__arrow_c_stream__`."""

_ROWS = 8_192
_SIZE = 16 << 20


def from_arrow(
    tables: Tables, how: How, *, report: Report | None = None, source: str = "arrow"
) -> Iterator[pa.RecordBatch]:
    """The events of a table, one a row. Without `report` the first problem is raised."""
    rows = DirectRows(how, source, report or raised)
    yield from events_of(batches_of(tables), rows, how, source)


def events_of(batches: Iterable[pa.RecordBatch], rows: DirectRows, how: How, source: str) -> Iterator[pa.RecordBatch]:
    number = 1
    for batch in batches:
        if number == 1:
            missing(how.key, batch.schema.names, "the key")
        for part in _parts(batch):
            try:
                records = records_of(part, number)
            except pa.ArrowException as error:
                raise EventError(f"record {number} and the next cannot be read: {error}", source=source) from error
            number += len(records)
            yield from rows.batches(records)


def records_of(batch: pa.RecordBatch, number: int) -> Records:
    """The rows of a batch, of which the first has this number."""
    if batch.num_columns > MAX_COLUMNS:
        raise UsageError(f"the table has {batch.num_columns:,} columns, and may have {MAX_COLUMNS:,}")
    columns: dict[str, tuple[Cells, ...]] = {}
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        for called, cells in columns_of(name, array):
            if called in columns:
                raise UsageError(f"the table has two columns called '{called}'")
            columns[called] = cells
    return Records(number + np.arange(batch.num_rows), columns, nowhere)


def batches_of(tables: Tables) -> Iterator[pa.RecordBatch]:
    """Anything that is a table, as batches."""
    if isinstance(tables, pa.RecordBatch):
        yield tables
    elif isinstance(tables, pa.Table):
        yield from tables.to_batches()
    elif isinstance(tables, pa.RecordBatchReader):
        yield from tables
    elif type(tables).__module__.partition(".")[0] == "pandas":
        yield from pa.Table.from_pandas(tables, preserve_index=False).to_batches()
    elif hasattr(tables, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(tables)
    elif isinstance(tables, Iterable):
        for each in tables:
            yield from batches_of(each)
    else:
        kind = type(tables).__name__
        raise UsageError(f"{kind} is no table: it is an Arrow table or batches of one, or a pandas frame")


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Rows of a batch, so few that what their dictionaries stand for is not too much."""
    for start in range(0, batch.num_rows, _ROWS):
        part = batch.slice(start, _ROWS)
        ends = np.cumsum(sum((decoded_sizes(column) for column in part.columns), np.zeros(part.num_rows, np.int64)))
        at, before = 0, 0
        while at < part.num_rows:
            stop = max(int(np.searchsorted(ends, before + _SIZE, side="right")), at + 1)
            yield part.slice(at, stop - at)
            at, before = stop, int(ends[stop - 1])


def raised(error: EventError) -> None:
    raise error
