"""Tab-separated files become events: as CSV, with a tab."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from tidings.ingest.base import How, Input, Report
from tidings.ingest.rows.csv_files import converted


def convert(document: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    """The events of a file of tab-separated values, one a record."""
    yield from converted(document, how, report, "\t")
