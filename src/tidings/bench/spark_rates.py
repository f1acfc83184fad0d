"""How many events a second: embedded on one core, on Spark, and on Spark without doing anything.

All three take the same rows from the same files, and write the same kind of table.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.bench.fast_timing import one_core
from tidings.spark import session
from tidings.spark.schema import EVENTS
from tidings.spark.stage import match_stage
from tidings.spark.tables import BatchTable
from tidings.spark.versions import Version
from tidings.spark.writing import NotificationFile, write_matches

_ROWS = 10_000
"""In a batch, as Spark has by default."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Events a second, the medians of the rounds; and how many notifications there were."""

    embedded: float
    spark: float
    identity: float
    events: int
    matches: int

    @property
    def ratio(self) -> float:
        return self.spark / self.embedded

    @property
    def share(self) -> float:
        return self.spark / self.identity


def rates(index: Path, rows: Path, events: int, rounds: int, tell: Callable[[str], None]) -> Rates:
    """In turn, every other round backwards. An answer that differs ends the run."""
    out = rows.parent / "out"
    running = session("tidings bench", master="local[2]")
    version = Version(str(index), bare=True)
    table = running.read.schema(EVENTS).parquet(str(rows))
    ways: dict[str, Callable[[], object]] = {
        "embedded": lambda: _embedded(index, rows, out),
        "spark": lambda: write_matches(table, version, BatchTable(out), 0),
        "identity": lambda: table.mapInArrow(_identity, EVENTS).write.parquet(str(out)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, tuple[int, str]] = {}
    for number in range(rounds + 1):
        for name in list(ways)[:: -1 if number % 2 else 1]:
            tell(f"{name}, round {number} of {rounds}")
            shutil.rmtree(out, ignore_errors=True)
            out.parent.mkdir(exist_ok=True)
            begun = time.perf_counter()
            ways[name]()
            # The first round warms up: workers are started, kernels loaded, files read into memory.
            if number:
                seconds[name].append(time.perf_counter() - begun)
            if name != "identity":
                found[name] = _digest(out)
    if found["embedded"] != found["spark"]:
        raise RuntimeError(f"embedded and Spark differ: {found}")
    each = {name: events / statistics.median(times) for name, times in seconds.items()}
    return Rates(each["embedded"], each["spark"], each["identity"], events, found["spark"][0])


def _identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


def _embedded(index: Path, rows: Path, out: Path) -> None:
    """The stage in this process, on one core, and the file that a worker writes."""
    with one_core(), NotificationFile(str(out / "batch=0")) as file:
        for hits in match_stage(Version(str(index), bare=True), bindings=False)(_batches(rows)):
            file.take(hits)


def _batches(rows: Path) -> Iterator[pa.RecordBatch]:
    for path in sorted(rows.glob("*.parquet")):
        yield from pq.ParquetFile(path).iter_batches(_ROWS, columns=["event", "published", "body"], use_threads=False)


def _digest(out: Path) -> tuple[int, str]:
    """How many notifications there are, and something that differs where one of them does."""
    total, mixed = 0, 0
    for path in out.rglob("*.parquet"):
        ids = pq.read_table(path, columns=["notification"])["notification"].to_pylist()
        total += len(ids)
        for id in ids:
            mixed ^= int(id[:16], 16)
    return total, f"{mixed:016x}"
