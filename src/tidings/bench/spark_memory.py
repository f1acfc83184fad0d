"""What the workers of a machine hold of an index: its files are mapped, and should be in memory once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from tidings.spark import match, session
from tidings.spark.schema import EVENTS

_HELD = "worker long, held long, mapped long"
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)
_MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes: of the index's files, and what the workers hold of them together, each page divided among its holders."""

    size: int
    workers: int
    together: int

    @property
    def times(self) -> float:
        return self.together / self.size


def held(index: Path, rows: Path) -> Held | None:
    """Both workers match, and then say what they hold while the other holds it too; None where the system cannot."""
    if not Path("/proc/self/smaps").exists():
        return None
    running = session("tidings bench", master="local[2]")
    table = running.read.schema(EVENTS).parquet(str(rows)).repartition(2)
    match(table, index).write.format("noop").mode("overwrite").save()
    folder = str(index)

    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        yield _told(folder)

    asked = running.range(2).repartition(2).mapInArrow(tell, _HELD)
    workers = {row.worker: row.held for _ in range(5) for row in asked.collect() if row.mapped}
    size = sum(path.stat().st_size for path in index.glob("data-*.bin"))
    return Held(size, len(workers), sum(workers.values()))


def _told(folder: str) -> pa.RecordBatch:
    """What this process holds of the files in a folder."""
    text = Path("/proc/self/smaps").read_text()
    starts = [match.start() for match in _MAPPING.finditer(text)] + [len(text)]
    found = [text[a:b] for a, b in pairwise(starts) if f"{folder}/data-" in text[a:b]]
    pss = sum(int(match[1]) * 1024 for piece in found for match in _PSS.finditer(piece))
    columns = [pa.array([os.getpid()]), pa.array([pss]), pa.array([len(found)])]
    return pa.record_batch(columns, names=["worker", "held", "mapped"])
