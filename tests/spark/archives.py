"""Archives for the tests here, made of events batch by batch, as the pipeline makes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tidings.rdf.event import Event
from tidings.spark.archive.layout import ARCHIVE_ROWS, Archive
from tidings.spark.tables import BatchTable

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def archive_of(folder: Path, *batches: Sequence[tuple[Event, datetime | None]], first: int = 0) -> Archive:
    """These events with the times at which they were published, all accepted at noon."""
    table = BatchTable(str(folder), by="day")
    for number, events in enumerate(batches, first):
        rows = [
            {"event": event.id, "published": when, "accepted": NOON, "body": event.body, "source": "s", "digest": ""}
            for event, when in events
        ]
        found = pa.Table.from_pylist(rows, ARCHIVE_ROWS).drop_columns(["part"])
        day = pc.coalesce(found["published"], found["accepted"]).cast(pa.date32())
        table.write_here(number, found.append_column("day", day))
    return Archive(str(folder))
