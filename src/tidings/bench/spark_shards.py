"""Many subscriptions in shards on Spark: how long it takes, what a worker holds, and how many shards an event goes to.

    python -m tidings.bench.spark_shards --subscriptions 10000000 --shards 8 --events 10000

The subscriptions are sparse: each asks for one of many things, as who follows a gene, a person or a place does; a few
ask for a class that many events have.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from tidings.bench.spark_world import table
from tidings.match.fast.router import Router
from tidings.match.fast.routes import replication
from tidings.match.fast.sharded import ROUTER, open_sharded
from tidings.rdf.event import Event
from tidings.spark import session
from tidings.spark.compiled import Fixed
from tidings.spark.schema import EVENTS
from tidings.spark.shards_compile import compile_shards
from tidings.spark.tables import BatchTable
from tidings.spark.writing import write_matches

_PROPERTIES = 50
_CLASSES = 100
_HOT = 10_000
"""One in so many subscriptions asks for a class alone."""

_NAMES = "http://bench.example/"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_THINGS = 3
"""The things an event speaks of."""


@dataclass(frozen=True, slots=True)
class Sharding:
    """Seconds, bytes, and numbers of rows. `replication` is the mean number of shards that an event is sent to, `load`
    the candidates of each shard.
    """

    subscriptions: int
    shards: int
    events: int
    compile_seconds: float
    first_match_seconds: float
    match_seconds: float
    matches: int
    candidates: int
    replication: float
    load: list[int]
    index_bytes: int
    router_bytes: int
    peak_after_compiling: list[int]
    peak_after_matching: list[int]


def measure(subscriptions: int, shards: int, events: int, root: Path) -> Sharding:
    running = session("tidings bench", master="local[2]", options={"spark.driver.memory": "2g"})
    things = max(1, subscriptions // 2)
    asked = running.range(0, subscriptions, 1, 16).mapInArrow(_subscriptions(things), "id string, query string")
    # Spark would make them anew for every step.
    asked.write.parquet(str(root / "subscriptions"))
    made = _events(events, things)
    begun = time.perf_counter()
    sample = [event.body for event in _events(2_000, things, seed=2)]
    compile_shards(running, str(root / "subscriptions"), str(root / "index"), shards, bodies=sample)
    compiled = time.perf_counter() - begun
    peak = _peaks(running)
    version = Fixed(str(root / "index")).version
    rows = running.read.schema(EVENTS).parquet(str(table(made, root / "events")))
    seconds = []
    for number in range(2):
        begun = time.perf_counter()
        written = write_matches(rows, version, BatchTable(str(root / "out")), number)
        seconds.append(time.perf_counter() - begun)
    kept = open_sharded(root / "index")
    bodies = pa.array([event.body for event in made], pa.string())
    return Sharding(
        subscriptions=subscriptions,
        shards=shards,
        events=events,
        compile_seconds=round(compiled, 1),
        first_match_seconds=round(seconds[0], 2),
        match_seconds=round(seconds[1], 2),
        matches=written.matches,
        candidates=written.candidates,
        replication=round(replication(Router.open(kept.folder / ROUTER), shards, bodies), 3),
        load=list(written.load.values()),
        index_bytes=_size(kept.folder),
        router_bytes=_size(kept.folder / ROUTER),
        peak_after_compiling=peak,
        peak_after_matching=_peaks(running),
    )


def _subscriptions(things: int) -> Any:
    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = batch["id"].to_numpy()
            dice = np.random.default_rng(int(numbers[0]) if numbers.size else 0)
            drawn = zip(numbers.tolist(), dice.integers(0, things, numbers.size).tolist(), strict=True)
            pairs = [(f"s{number:08}", _query(number, thing)) for number, thing in drawn]
            yield pa.record_batch([[id for id, _ in pairs], [query for _, query in pairs]], names=["id", "query"])

    return stage


def _query(number: int, thing: int) -> str:
    if number % _HOT == 0:
        return f"SELECT ?x {{ ?x a <{_NAMES}C0> }}"
    return f"SELECT ?x {{ ?x <{_NAMES}p{thing % _PROPERTIES}> <{_NAMES}t{thing}> ; a <{_NAMES}C{number % 3}> }}"


def _events(count: int, things: int, seed: int = 1) -> list[Event]:
    dice = np.random.default_rng(seed)
    drawn = dice.integers(0, things, (count, _THINGS)).tolist()
    classes = (dice.integers(0, _CLASSES, count) % 3).tolist()
    return [
        _event(f"{_NAMES}e{seed}/{n}", those, cls) for n, (those, cls) in enumerate(zip(drawn, classes, strict=True))
    ]


def _event(id: str, things: list[int], cls: int) -> Event:
    lines = {f"<{id}/x> <{_NAMES}p{thing % _PROPERTIES}> <{_NAMES}t{thing}> .\n" for thing in things}
    lines |= {f'<{id}/x> <{_NAMES}label> "what {thing} is about" .\n' for thing in things}
    lines.add(f"<{id}/x> {_TYPE} <{_NAMES}C{cls}> .\n")
    return Event(id, "".join(sorted(lines)))


def _peaks(running: Any) -> list[int]:
    """The most memory that each worker has had."""
    rows = running.range(0, 8, 1, 8).mapInArrow(_peak, "worker long, bytes long").distinct().collect()
    return [max(row.bytes for row in rows if row.worker == worker) for worker in sorted({row.worker for row in rows})]


def _peak(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        # So that no worker gets them all.
        time.sleep(0.2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    yield pa.record_batch([pa.array([os.getpid()]), pa.array([peak])], names=["worker", "bytes"])


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    asking = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asking.add_argument("--subscriptions", type=int, default=200_000)
    asking.add_argument("--shards", type=int, default=8)
    asking.add_argument("--events", type=int, default=10_000)
    asking.add_argument("--folder", type=Path, help="Where all of it is written. [default: a temporary folder]")
    given = asking.parse_args()
    with TemporaryDirectory(prefix="tidings-shards-", dir=given.folder) as root:
        print(json.dumps(asdict(measure(given.subscriptions, given.shards, given.events, Path(root))), indent=1))


if __name__ == "__main__":
    main()
