"""One engine on one workload: how long it takes, what it counts, how much it finds."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from tidings.lang.pattern import Query
from tidings.match.base import Engine, Failure, Report
from tidings.rdf.event import Event


@dataclass(frozen=True, slots=True)
class Measured:
    """`milliseconds` is the mean an event, of processor time (there is one thread, and what else the machine does is
    not counted); `counted` is how much each of `stats()` grew, an event; `held` is what
    `stats()` says at the end."""

    events: int
    milliseconds: float
    fastest: float
    slowest: float
    matches: float
    counted: Mapping[str, float]
    held: Mapping[str, float]


def fill(engine: Engine, subscriptions: Iterable[tuple[str, Query]]) -> float:
    """Add the subscriptions; the seconds of processor time that takes."""
    gc.collect()
    begun = time.process_time()
    for id, query in subscriptions:
        engine.add(id, query)
    return time.process_time() - begun


def refuse(failure: Failure) -> None:
    """End the benchmark."""
    raise RuntimeError(f"{failure.subscription} on {failure.event}: {failure.reason}")


def measure(
    engine: Engine, events: Sequence[Event], *, warm_up: int = 1, rounds: int = 1, report: Report = refuse
) -> Measured:
    """Match each event, after a few to warm up with. In several `rounds`, the time of an event is its fastest.

    `report` hears of subscriptions that fail.
    """
    for event in events[:warm_up]:
        engine.match(event, report)
    # What was made before must not be walked by the collector while the clock runs.
    gc.collect()
    gc.freeze()
    before = dict(engine.stats())
    times, found = [inf] * len(events), 0
    for _ in range(rounds):
        for number, event in enumerate(events):
            begun = time.process_time()
            matches = engine.match(event, report)
            times[number] = min(times[number], (time.process_time() - begun) * 1000)
            found += len(matches)
    gc.unfreeze()
    after = engine.stats()
    count = len(events) * rounds
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
