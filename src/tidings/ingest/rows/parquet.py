"""Parquet files become events."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.rows.arrow import events_of
from tidings.ingest.rows.direct_rows import DirectRows
from tidings.rdf.limits import human
from tidings.rdf.sources import Stream

OPTIONS = frozenset({"types", "links"})
_ROWS = 8_192
_MEMORY = 16 << 20
_CHUNK = 1 << 20
_CELLS = 10_000_000
_CELLS_A_BYTE = 1_000
"""A file of few bytes may say that it has any number of cells; so many are believed."""


def convert(document: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    """The events of a Parquet file, one a row. It is read from its end, so a stream is kept in a file meanwhile."""
    unknown = set(how.options) - OPTIONS
    if unknown:
        raise UsageError(f"'{min(unknown)}' is no option of Parquet; the options are {', '.join(sorted(OPTIONS))}")
    rows = DirectRows(how, document.name, report)
    with tempfile.SpooledTemporaryFile(max_size=_MEMORY) as file:
        size = spool(document.stream, file, how.limits.max_document, document.name)
        yield from events_of(_batches(file, size, document.name), rows, how, document.name)


def _batches(file: Any, size: int, source: str) -> Iterator[pa.RecordBatch]:
    try:
        schema = pq.ParquetFile(file).schema
        # Text that repeats stays a dictionary until it is known how much it is.
        texts = [schema.column(place).path for place in range(len(schema)) if _is_text(schema.column(place))]
        opened = pq.ParquetFile(file, read_dictionary=texts)
        if opened.metadata.num_rows * opened.metadata.num_columns > _CELLS + _CELLS_A_BYTE * size:
            raise EventError(f"has {opened.metadata.num_rows:,} records in {human(size)}, too many", source=source)
        yield from opened.iter_batches(batch_size=_ROWS, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise EventError(f"is no Parquet file that can be read: {error}", source=source) from error


def _is_text(column: Any) -> bool:
    return column.physical_type == "BYTE_ARRAY" and column.logical_type.type in ("STRING", "NONE", "JSON", "ENUM")


def spool(stream: Stream, file: Any, largest: int, source: str) -> int:
    """Copy a stream that is not too large, and tell its size."""
    size = 0
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if size > largest:
            raise EventError(f"is larger than {human(largest)}", source=source)
        file.write(chunk)
    file.seek(0)
    return size
