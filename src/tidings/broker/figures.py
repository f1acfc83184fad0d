"""What a broker counts and times while it runs, as Prometheus reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from time import perf_counter

SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)


class Histogram:
    """How many values were up to each of these bounds."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        self._lock = Lock()

    def add(self, value: float, times: int = 1) -> None:
        with self._lock:
            self._counts[bisect_left(self._bounds, value)] += times
            self._sum += value * times

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        with self._lock:
            counts, total = list(self._counts), self._sum
        comma = "," if labels else ""
        below = 0
        for bound, count in zip((*map(str, self._bounds), "+Inf"), counts, strict=True):
            below += count
            yield f'{name}_bucket{{{labels}{comma}le="{bound}"}} {below}'
        braces = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{braces} {total:.6f}"
        yield f"{name}_count{braces} {below}"


class Figures:
    """`stages` are those of a publish: waiting for its turn, matching, writing."""

    def __init__(self) -> None:
        self.stages = {stage: Histogram(SECONDS) for stage in ("wait", "match", "write")}
        self.together = Histogram(SIZES)
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def count(self, name: str, more: int = 1) -> None:
        with self._lock:
            self._counts[name] += more

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        begun = perf_counter()
        try:
            yield
        finally:
            self.stages[stage].add(perf_counter() - begun)

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(self._counts)

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All of it; `gauges` are what there is just now, with what they mean."""
        return "\n".join([*self._lines(gauges), ""])

    def _lines(self, gauges: Mapping[str, tuple[str, float]]) -> Iterable[str]:
        for name, (help, value) in gauges.items():
            yield from _headed(f"tidings_{name}", "gauge", help)
            yield f"tidings_{name} {value:g}"
        counts = self.counts()
        for name, help in COUNTERS.items():
            yield from _headed(f"tidings_{name}_total", "counter", help)
            yield f"tidings_{name}_total {counts.get(name, 0)}"
        yield from _headed("tidings_publish_seconds", "histogram", "What a group of events took, by stage.")
        for stage, histogram in self.stages.items():
            yield from histogram.lines("tidings_publish_seconds", f'stage="{stage}"')
        yield from _headed("tidings_published_together", "histogram", "Events that shared a transaction.")
        yield from self.together.lines("tidings_published_together")


COUNTERS = {
    "events": "Events that were accepted.",
    "repeats": "Events that were there already.",
    "conflicts": "Events whose id another one had.",
    "matches": "Notifications that were made.",
    "failures": "Subscriptions that could not be evaluated on an event.",
    "told_pages": "Notifications that were fetched in pages.",
    "told_streams": "Notifications that were sent in streams.",
    "told_webhooks": "Notifications that webhooks took.",
    "webhook_failures": "Times that a webhook did not take one.",
    "dead_letters": "Notifications that were given up.",
}


def _headed(name: str, kind: str, help: str) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
