"""Several ways to do a thing, timed in turn: what slows the machine down for a while slows all of them down."""

from __future__ import annotations

import cProfile
import gc
import os
import pstats
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import pyoxigraph as ox

_SHORTEST = 0.02
_LONG = 1.0
_MOST_REPEATS = 200


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds for one call: the medians of the rounds, by the clock and of processor time."""

    wall: float
    cpu: float
    fastest: float
    slowest: float


def parse(data: bytes) -> None:
    """The yardstick: pyoxigraph reads the same N-Quads in bulk, and every quad is taken."""
    deque(ox.parse(data, ox.RdfFormat.N_QUADS), maxlen=0)


def interleaved(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Timed]:
    """All calls once to warm up, then in each round one after the other, every other round backwards.

    A short call is repeated within a round until it is long enough for the clock.
    """
    names = list(calls)
    repeats = {name: _repeats(call) for name, call in calls.items()}
    walls: dict[str, list[float]] = {name: [] for name in calls}
    cpus: dict[str, list[float]] = {name: [] for name in calls}
    # What was made before must not be walked by the collector while the clock runs.
    gc.collect()
    gc.freeze()
    for number in range(rounds):
        for name in names[::-1] if number % 2 else names:
            call, times = calls[name], repeats[name]
            cpu, wall = time.process_time(), time.perf_counter()
            for _ in range(times):
                call()
            walls[name].append((time.perf_counter() - wall) / times)
            cpus[name].append((time.process_time() - cpu) / times)
    gc.unfreeze()
    return {
        name: Timed(statistics.median(walls[name]), statistics.median(cpus[name]), min(walls[name]), max(walls[name]))
        for name in calls
    }


def _repeats(call: Callable[[], object]) -> int:
    """How often, and warmed up: the first call is slower where it is short, and long enough where it is not."""
    seconds = 0.0
    for _ in range(2):
        begun = time.perf_counter()
        call()
        seconds = time.perf_counter() - begun
        if seconds > _LONG:
            break
    return min(_MOST_REPEATS, ceil(_SHORTEST / max(seconds, 1e-9)))


@contextmanager
def one_core() -> Iterator[None]:
    """Threads that a matcher may have in the background share a core with it, where the system lets us say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def profile(call: Callable[[], object], most: int = 6) -> list[tuple[str, float]]:
    """The functions in which the time goes, and the share of each."""
    profiler = cProfile.Profile()
    profiler.runcall(call)
    stats: dict[tuple[str, int, str], tuple[int, int, float, float, object]] = vars(pstats.Stats(profiler))["stats"]
    spent = {_place(place): own for place, (_, _, own, _, _) in stats.items()}
    whole = sum(spent.values()) or 1.0
    return [(name, own / whole) for name, own in sorted(spent.items(), key=lambda item: -item[1])[:most]]


def _place(place: tuple[str, int, str]) -> str:
    file, line, name = place
    return name if file == "~" else f"{Path(file).parent.name}/{Path(file).name}:{line} {name}"
