"""One engine on one workload: how long it takes, what it counts, how much it finds."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tidings.lang.pattern import Query
from tidings.match.base import Engine, Failure
from tidings.rdf.event import Event


@dataclass(frozen=True, slots=True)
class Measured:
    """`milliseconds` is the mean an event; `counted` is how much each of `stats()` grew, an event; `held` is what
    `stats()` says at the end."""

    events: int
    milliseconds: float
    fastest: float
    slowest: float
    matches: float
    counted: Mapping[str, float]
    held: Mapping[str, float]


def fill(engine: Engine, subscriptions: Iterable[tuple[str, Query]]) -> float:
    """Add the subscriptions; the seconds that takes."""
    gc.collect()
    begun = time.perf_counter()
    for id, query in subscriptions:
        engine.add(id, query)
    return time.perf_counter() - begun


def measure(engine: Engine, events: Sequence[Event], *, warm_up: int = 1) -> Measured:
    """Match each event once, after a few to warm up with. A subscription that fails ends the benchmark."""
    for event in events[:warm_up]:
        engine.match(event, _refuse)
    # What was made before must not be walked by the collector while the clock runs.
    gc.collect()
    gc.freeze()
    before = dict(engine.stats())
    times, found = [], 0
    for event in events:
        begun = time.perf_counter()
        matches = engine.match(event, _refuse)
        times.append((time.perf_counter() - begun) * 1000)
        found += len(matches)
    gc.unfreeze()
    after = engine.stats()
    count = len(events)
    return Measured(
        events=count,
        milliseconds=statistics.fmean(times),
        fastest=min(times),
        slowest=max(times),
        matches=found / count,
        counted={name: (value - before.get(name, 0)) / count for name, value in after.items()},
        held=dict(after),
    )


def straightness(xs: Sequence[float], ys: Sequence[float]) -> float:
    """R² of the least-squares line: 1 where y is linear in x."""
    return statistics.correlation(xs, ys) ** 2


def _refuse(failure: Failure) -> None:
    raise RuntimeError(f"{failure.subscription} on {failure.event}: {failure.reason}")
