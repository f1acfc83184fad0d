"""What is in an archive, as its files tell without being read."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import Any

import pyarrow.parquet as pq

from tidings.spark.archive.layout import Archive, File


def summary(folder: str) -> dict[str, Any]:
    """Events, files and bytes in all, and by day. Parts of events count as rows of their own."""
    archive = Archive.at(folder)
    with archive.reading():
        return _summary(archive)


def _summary(archive: Archive) -> dict[str, Any]:
    pieces = archive.pieces()
    days: defaultdict[date, list[int]] = defaultdict(lambda: [0, 0, 0])
    for file in (file for piece in pieces for file in archive.events_of(piece)):
        counts = days[file.day]
        counts[0] += rows_in(archive, file)
        counts[1] += 1
        counts[2] += file.size
    quads = [file for piece in pieces if piece.compacted for file in archive.quad_files(piece)]
    return {
        "pieces": len(pieces),
        "compacted": sum(piece.compacted for piece in pieces),
        "events": sum(counts[0] for counts in days.values()),
        "files": sum(counts[1] for counts in days.values()),
        "bytes": sum(counts[2] for counts in days.values()),
        "quads": sum(rows_in(archive, file) for file in quads),
        "quad_bytes": sum(file.size for file in quads),
        "days": [
            {"day": day.isoformat(), "events": counts[0], "files": counts[1], "bytes": counts[2]}
            for day, counts in sorted(days.items())
        ],
    }


def rows_in(archive: Archive, file: File) -> int:
    place, files = archive.store.opened(file.name)
    return int(pq.read_metadata(place, filesystem=files).num_rows)
