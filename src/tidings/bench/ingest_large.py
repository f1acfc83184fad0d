"""A large file: streamed in a fresh process, whose memory is watched, and on Spark, whose workers' work is counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tidings.bench.workloads.ingest import rows
from tidings.ingest.base import How

_PROC = Path("/proc")
_DAEMON = "spark.daemon"
_WARM = 4_000_000


@dataclass(frozen=True, slots=True)
class Streamed:
    """In a process of its own: seconds by the clock and of the processor; bytes of memory before and at most, and the
    memory (`held`) when so many MB (`read`) had been read."""

    seconds: float
    cpu: float
    base: int
    peak: int
    read: tuple[float, ...]
    held: tuple[int, ...]

    @property
    def growth(self) -> int | None:
        """None where the system does not tell."""
        return self.peak - self.base if self.base else None


@dataclass(frozen=True, slots=True)
class Spread:
    """On Spark, seconds: to look where the file can be cut, and of the stage that reads it; in this, processor time of
    the Python workers, None where they are not to be seen from here."""

    planning: float
    stage: float
    workers: float | None

    @property
    def cores(self) -> float | None:
        return None if self.workers is None else self.workers / self.stage


@dataclass(frozen=True, slots=True)
class Large:
    """What is told of several rounds is their median, and of memory the largest."""

    format: str
    size: int
    rows: int
    streamed: tuple[Streamed, ...]
    spread: tuple[Spread, ...]

    @property
    def growth(self) -> int | None:
        known = [one.growth for one in self.streamed if one.growth is not None]
        return max(known) if known else None

    @property
    def cores(self) -> float | None:
        known = [one.cores for one in self.spread if one.cores is not None]
        return median(known) if known else None

    @property
    def embedded(self) -> float:
        """Rows a second."""
        return self.rows / median(one.seconds for one in self.streamed)

    @property
    def spark(self) -> float:
        """Rows a second, the planning included."""
        return self.rows / median(one.planning + one.stage for one in self.spread)


def large(format: str, size: int, seed: int, rounds: int, root: Path, tell: Callable[[str], None]) -> Large:
    path, small = root / f"large.{format}", root / f"small.{format}"
    tell(f"writing {size / 1e6:,.0f} MB of {format}")
    count = rows.large(path, format, size, seed)
    few = rows.large(small, format, min(size, _WARM), seed)
    spread(format, small, few)
    streams: list[Streamed] = []
    spreads: list[Spread] = []
    for number in range(rounds):
        tell(f"{size / 1e6:,.0f} MB of {format}: round {number + 1} of {rounds}")
        streams.append(streamed(format, path, count))
        spreads.append(spread(format, path, count))
    found = Large(format, path.stat().st_size, count, tuple(streams), tuple(spreads))
    path.unlink()
    small.unlink()
    return found


def streamed(format: str, path: Path, count: int) -> Streamed:
    command = [sys.executable, "-m", "tidings.bench.ingest_stream", format, str(path)]
    told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    _complete(told["events"], count, format)
    return Streamed(
        told["seconds"], told["cpu"], told["base"], told["peak"], tuple(told["read"]), tuple(told["memory"])
    )


def spread(format: str, path: Path, count: int) -> Spread:
    from tidings.spark import events_in, read_parts, session

    spark = session("tidings bench", master="local[2]")
    begun = time.perf_counter()
    parts = read_parts(spark, path, format=format, data=How())
    planned = time.perf_counter()
    before = workers_seconds()
    started = time.perf_counter()
    found = events_in(parts).count()
    stage, after = time.perf_counter() - started, workers_seconds()
    _complete(found, count, format)
    # One that was there before and has ended meanwhile was idle: Spark ends those after a minute, not those that work.
    worked = sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
    return Spread(planned - begun, stage, worked if after else None)


def _complete(found: int, count: int, format: str) -> None:
    if found != count:
        raise RuntimeError(f"{format}: {found:,} events of {count:,} rows")


def workers_seconds() -> dict[int, float]:
    """Processor time, so far, of each of Spark's Python workers below this process that is there. Of those that have
    ended nothing can be known: whoever starts them does not ask.
    """
    processes = dict(_processes())
    return {
        pid: process.seconds
        for pid, process in processes.items()
        if _DAEMON in _command(pid) and _below_this(pid, processes)
    }


class _Process(NamedTuple):
    """Its parent, and its seconds of the processor."""

    parent: int
    seconds: float


def _processes() -> Iterator[tuple[int, _Process]]:
    """None where the system does not tell."""
    for stat in _PROC.glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        user, system = (int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in fields[11:13])
        yield int(stat.parent.name), _Process(int(fields[1]), user + system)


def _command(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "cmdline").read_text()
    except OSError:
        return ""


def _below_this(pid: int, processes: Mapping[int, _Process]) -> bool:
    while pid in processes and pid != os.getpid():
        pid = processes[pid].parent
    return pid == os.getpid()
