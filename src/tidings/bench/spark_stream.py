"""A pipeline that runs: how long a document takes to become notifications, and what changes of subscriptions cost.

And a pipeline that starts: how long until the first notification is there.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tidings.bench.spark_world import Made, documents
from tidings.ontology import Ontology
from tidings.spark import session
from tidings.spark.assembly import Places, assemble
from tidings.spark.figures import Figures

_EVENTS_A_DOCUMENT = 20
_SECONDS_APART = 1.0
_PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from when a document is there to when its notifications are: the median, and the slowest of twenty.

    `changed` is the same for the document that came after so many changes, and `taken` what taking them needed of it.
    """

    documents: int
    median: float
    slow: float
    changes: int
    changed: float
    taken: float

    @property
    def delay(self) -> float:
        return self.changed - self.median


def latency(made: Made, root: Path, count: int, changes: int, tell: Callable[[str], None]) -> Latency:
    """Documents come a second apart, or when the one before is done, if that is later; the changes in the middle."""
    root.mkdir()
    (root / "in").mkdir()
    subscriptions = made.rows(root / "subscriptions.ndjson")
    other = made.rows(root / "changed.ndjson", changes)
    told: list[Figures] = []
    places = Places(str(root / "in"), str(subscriptions), str(root / "out"), str(root / "checkpoint"))
    pipeline, read = assemble(
        session("tidings bench", master="local[2]"), places, Ontology.empty(), {}, listener=told.append
    )
    tell("the pipeline: compiling, and its first batches")
    pipeline.start(read)
    feed = _Feed(made, root, told, count)
    for _ in range(feed.warm_up):
        feed.one()
    tell("the pipeline: in steady state")
    times = [feed.one() for _ in range(count)]
    other.rename(subscriptions)
    tell(f"the pipeline: {changes:,} changes")
    changed = feed.one()
    taken = told[-1].seconds["subscriptions"]
    if told[-1].put != changes:
        raise RuntimeError(f"{told[-1].put:,} of {changes:,} changes were taken")
    times += [feed.one() for _ in range(count)]
    pipeline.stop()
    return Latency(len(times), statistics.median(times), statistics.quantiles(times, n=20)[-1], changes, changed, taken)


class _Feed:
    warm_up = 8

    def __init__(self, made: Made, root: Path, told: list[Figures], count: int) -> None:
        self._root = root
        self._told = told
        events = made.events((2 * count + 1 + self.warm_up) * _EVENTS_A_DOCUMENT)
        self._documents: Iterator[bytes] = documents(events, _EVENTS_A_DOCUMENT)
        self._number = 0
        self._next = 0.0

    def one(self) -> float:
        """Seconds until the next document is done."""
        beside = self._root / "next"
        beside.write_bytes(next(self._documents))
        done = len(self._told)
        time.sleep(max(0.0, self._next - time.perf_counter()))
        begun = time.perf_counter()
        self._next = begun + _SECONDS_APART
        beside.rename(self._root / "in" / f"{self._number:06}.nq")
        self._number += 1
        while len(self._told) == done:
            if time.perf_counter() > begun + _PATIENCE:
                raise RuntimeError("the pipeline stands still")
            time.sleep(0.002)
        return time.perf_counter() - begun


def start_seconds(root: Path, rounds: int) -> list[float]:
    """From the start of `tidings pipeline --once` on the demo's world to its first notification, in new processes."""
    root.mkdir()
    tidings = [sys.executable, "-c", "from tidings.cli import main; main()"]
    subprocess.run([*tidings, "demo", "--write", str(root / "world")], check=True, stdout=subprocess.DEVNULL)
    ontologies = [
        word for path in sorted((root / "world" / "ontologies").iterdir()) for word in ("--ontology", str(path))
    ]
    seconds = []
    # The first one is cold: its kernels may have to be compiled.
    for number in range(rounds + 1):
        out = root / f"out-{number}"
        command = [
            *tidings,
            "pipeline",
            *("--events", str(root / "world" / "events")),
            *("--subscriptions", str(root / "world" / "subscriptions")),
            *ontologies,
            *("--notifications", str(out)),
            *("--checkpoint", str(root / f"checkpoint-{number}")),
            *("--master", "local[2]", "--once", "-q"),
        ]
        begun = time.perf_counter()
        with subprocess.Popen(command, env={**os.environ, "SPARK_MASTER": ""}) as running:
            while not list(out.glob("batch=*")):
                if running.poll() is not None:
                    raise RuntimeError(f"the pipeline ended with {running.returncode} and no notification")
                time.sleep(0.01)
            seconds.append(time.perf_counter() - begun)
            if running.wait() != 0:
                raise RuntimeError(f"the pipeline ended with {running.returncode}")
    return seconds[1:]
