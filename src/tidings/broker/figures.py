"""What a broker counts and times while it runs, as Prometheus reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import nlargest
from operator import itemgetter
from threading import Lock
from time import perf_counter

SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
COUNTS = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
HOURS = (1, 10, 60, 300, 900, 1_800, 3_600, 14_400, 86_400, 604_800)
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


class Verifying:
    """The seconds that the verifier took for each subscription, of those for which it took most: what is cheap is
    forgotten when there are too many.
    """

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._seconds: dict[str, float] = {}
        self._lock = Lock()

    def add(self, id: str, seconds: float) -> None:
        with self._lock:
            self._seconds[id] = self._seconds.get(id, 0.0) + seconds
            if len(self._seconds) > self._most:
                self._seconds = dict(self._largest(self._most // 2))

    def slowest(self, count: int) -> list[tuple[str, float]]:
        with self._lock:
            return self._largest(count)

    def _largest(self, count: int) -> list[tuple[str, float]]:
        return nlargest(count, self._seconds.items(), key=itemgetter(1))


class Timed:
    """How long it lasts goes to that subscription; a class of its own, since it is entered for every candidate."""

    __slots__ = ("_begun", "_id", "_to")

    def __init__(self, to: Verifying, id: str) -> None:
        self._to = to
        self._id = id

    def __enter__(self) -> None:
        self._begun = perf_counter()

    def __exit__(self, *_: object) -> None:
        self._to.add(self._id, perf_counter() - self._begun)


class Figures:
    """`stages` are those of a publish: waiting for its turn, matching, writing. `delivery` is from when an event was
    accepted until a notification of it was handed over, to who was waiting for it.
    """

    def __init__(self) -> None:
        self.stages = {stage: Histogram(SECONDS) for stage in ("wait", "match", "write")}
        self.delivery = {way: Histogram(SECONDS) for way in ("stream", "webhook")}
        self.feed_delay = Histogram(HOURS)
        self.together = Histogram(SIZES)
        self.candidates = Histogram(COUNTS)
        self.verified = Verifying()
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

    def verifying(self, id: str) -> Timed:
        """Enter it while the verifier looks at the subscription of this number."""
        return Timed(self.verified, id)

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
        yield from _headed("tidings_feed_polls_total", "counter", "Documents of feeds, by what became of them.")
        for outcome in POLLS:
            yield f"tidings_feed_polls_total{{{labelled(outcome=outcome)}}} {counts.get(f'feed_polls:{outcome}', 0)}"
        yield from _headed("tidings_feed_delay_seconds", "histogram", "From the date of an item to its event.")
        yield from self.feed_delay.lines("tidings_feed_delay_seconds")
        yield from _headed("tidings_publish_seconds", "histogram", "What a group of events took, by stage.")
        for stage, histogram in self.stages.items():
            yield from histogram.lines("tidings_publish_seconds", f'stage="{stage}"')
        yield from _headed("tidings_delivery_seconds", "histogram", "From accepted to told, of what was waited for.")
        for way, histogram in self.delivery.items():
            yield from histogram.lines("tidings_delivery_seconds", f'by="{way}"')
        help = "Subscriptions that were looked at for an event, as the mean of those matched together."
        yield from _headed("tidings_candidates_per_event", "histogram", help)
        yield from self.candidates.lines("tidings_candidates_per_event")
        yield from _headed("tidings_published_together", "histogram", "Events that shared a transaction.")
        yield from self.together.lines("tidings_published_together")


COUNTERS = {
    "events": "Events that were accepted.",
    "repeats": "Events that were there already.",
    "conflicts": "Events whose id another one had.",
    "matches": "Notifications that were made.",
    "failures": "Subscriptions that could not be evaluated on an event.",
    "dropped": "Notifications that went because too many waited.",
    "limited": "Requests that came too fast.",
    "refused": "Requests without a token that is good for them.",
    "told_pages": "Notifications that were fetched in pages.",
    "told_feeds": "Notifications that were read as entries of feeds.",
    "told_streams": "Notifications that were sent in streams.",
    "told_webhooks": "Notifications that webhooks took.",
    "webhook_failures": "Times that a webhook did not take one.",
    "dead_letters": "Notifications that were given up.",
    "feed_items_new": "Items of feeds that had not been.",
    "feed_items_updated": "Items of feeds that said something else than before.",
    "feed_items_repeated": "Items of feeds that said what they had said.",
    "websub_unsigned": "What came as if from a hub, and was not signed by it.",
    "hub_told": "Pages of feeds that were sent to who had asked this server as a hub.",
    "hub_failures": "Times that one of them did not take it.",
}

POLLS = ("changed", "same", "not modified", "pushed", "ill-formed", "refused", "unreachable", "gone")
"""What can become of the document of a feed."""


def labelled(**labels: str) -> str:
    """Labels as Prometheus reads them.

    >>> labelled(id='a "b"')
    'id="a \\\\"b\\\\""'
    """
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items())


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def _headed(name: str, kind: str, help: str) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
