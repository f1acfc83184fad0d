"""Changes while events flow: how many a second, and how long a match ever takes meanwhile."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, cycle, islice

from tidings.bench.fast_filled import Filled
from tidings.bench.workloads.fast.base import Forms
from tidings.lang.pattern import Block, Query, TriplePattern, Var
from tidings.match.matcher import Matcher
from tidings.rdf.event import Event, to_nquads

_PACE = 2_200
_TICK = 0.01
_AT_ONCE = 4 * round(_PACE * _TICK)
_PROBED = 25


@dataclass(frozen=True, slots=True)
class Lived:
    """`rate` are the changes a second that were kept up between matches; the others are milliseconds of one call."""

    rate: float
    changes: int
    matches: int
    longest_match: float
    usual_match: float
    longest_change: float
    usual_change: float
    probes: int
    merges: int | float

    @property
    def pause(self) -> float:
        """A match that comes at a bad time waits for one change, and then for itself."""
        return max(self.longest_match, self.longest_change)


def live(filled: Filled, forms: Forms, seconds: float) -> Lived:
    """Take subscriptions from `forms` and forget the oldest, a little faster than asked; match events in between.

    Now and then a subscription that must match the next event is added, and must match; removed, and must not.
    """
    matcher = filled.matcher
    merges = matcher.stats().get("merges", 0)
    new = [(f"new{number:07}", query) for number, (_, query) in enumerate(islice(forms, int(_PACE * seconds)))]
    changes = _changes(matcher, new, (id for id, _ in filled.work.forms()))
    batches = cycle([(event, to_nquads(event)) for event in filled.work.events])
    changed: list[float] = []
    matched: list[float] = []
    ticks = probes = 0
    # What there is now is the bench's own, and of no concern to the collector while the clock runs.
    gc.collect()
    gc.freeze()
    begun = time.perf_counter()
    while (now := time.perf_counter() - begun) < seconds:
        # One that cannot keep up gets no more than a few ticks' changes at once: it is not to stop matching.
        changed += islice(changes, max(0, min(_AT_ONCE, int(now * _PACE) - len(changed))))
        if ticks % _PROBED == 0:
            _probe(matcher, *next(batches))
            probes += 1
        ticks += 1
        matched.append(_timed(matcher.match_nquads, next(batches)[1]))
        while time.perf_counter() - begun < ticks * _TICK:
            matched.append(_timed(matcher.match_nquads, next(batches)[1]))
    elapsed = time.perf_counter() - begun
    gc.unfreeze()
    return Lived(
        rate=len(changed) / elapsed,
        changes=len(changed),
        matches=len(matched),
        longest_match=max(matched) * 1000,
        usual_match=statistics.median(matched) * 1000,
        longest_change=max(changed, default=0.0) * 1000,
        usual_change=statistics.median(changed or [0.0]) * 1000,
        probes=probes,
        merges=matcher.stats().get("merges", 0) - merges,
    )


def _changes(matcher: Matcher, new: list[tuple[str, Query]], old: Iterator[str]) -> Iterator[float]:
    """In turn, one more and one less; the seconds that each takes."""
    oldest = chain(old, (id for id, _ in new))
    for id, query in new:
        yield _timed(matcher.add, id, query)
        yield _timed(matcher.remove, next(oldest))


def _probe(matcher: Matcher, event: Event, data: bytes) -> None:
    subject, property, _ = event.triples()[0]
    query = Query("sparql", "ASK", Block((TriplePattern(subject, property, Var("o")),)))
    matcher.add("probe", query)
    seen = matcher.match_nquads(data)["subscription"].to_pylist()
    matcher.remove("probe")
    still = matcher.match_nquads(data)["subscription"].to_pylist()
    if "probe" not in seen or "probe" in still:
        raise RuntimeError(f"{matcher.name}: a change was not seen by the next match of {event.id}")


def _timed(call: Callable[..., object], *arguments: object) -> float:
    begun = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - begun
