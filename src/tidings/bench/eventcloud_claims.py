"""What the EventCloud paper claims (section 5), against what was measured. OSMA is one-step, CSMA is chained.

Its peers are executors here, and its network what Spark moves between tasks. On the paper's terms a subscription lives
on some peers only: that is one-step with as many shards as executors, by which a claim is judged unless it says
otherwise.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidings.bench.eventcloud_store import Stored
from tidings.bench.eventcloud_ways import CHAINED, ONE_STEP, SHARDED, Point, Taken
from tidings.bench.measure import straightness
from tidings.bench.report import Claim

FACTOR = 5.43
"""By which OSMA is ahead, at the median of the paper's figure 2(a)."""

RATE = 92.0
"""Compound events a second of CSMA, in the paper's figure 2(c)."""

_MUCH = 1.25
_STRAIGHT = 0.9
_RULE = f"{_MUCH:g} times, and no round of the one as fast as one of the other"


@dataclass(frozen=True, slots=True)
class Found:
    """The points of figures 2(a) to 2(e), each in order, on a machine with so many cores."""

    cores: int
    executors: tuple[Point, ...]
    events: tuple[Point, ...]
    subscriptions: tuple[Point, ...]
    accept_all: tuple[Point, ...]
    stored: tuple[Stored, ...]


class Trend(NamedTuple):
    """From one measurement to another: by which factor, and whether their rounds lie apart; None with one round."""

    factor: float
    apart: bool | None

    @staticmethod
    def of(points: Sequence[Point], way: str) -> Trend:
        first, last = points[0].taken[way], points[-1].taken[way]
        return Trend(last.rate / first.rate, _apart(first, last))

    @property
    def grows(self) -> bool | None:
        return self._is(self.factor >= _MUCH)

    @property
    def falls(self) -> bool | None:
        return self._is(self.factor <= 1 / _MUCH)

    @property
    def flat(self) -> bool | None:
        differs = self._is(not 1 / _MUCH < self.factor < _MUCH)
        return None if differs is None else not differs

    def _is(self, differs: bool) -> bool | None:
        if self.apart is None:
            return None
        return (True if self.apart else None) if differs else False


def _apart(one: Taken, other: Taken) -> bool | None:
    if min(len(one.seconds), len(other.seconds)) < 2:
        return None
    (slow, fast), (other_slow, other_fast) = one.rates, other.rates
    return fast < other_slow or other_fast < slow


def claims(found: Found) -> tuple[Claim, ...]:
    return (
        _ahead(found.executors),
        *_by_events(found.events),
        *_by_subscriptions(found.subscriptions),
        _duplicates(found.accept_all),
        _scales(found),
        *_storing(found),
    )


def _ahead(points: Sequence[Point]) -> Claim:
    factors = [point.factor for point in points]
    alone = [point.taken[ONE_STEP].rate / point.taken[CHAINED].rate for point in points]
    least = FACTOR / 2
    stages = points[-1].taken
    return Claim(
        "EventCloud 2013, figure 2(a)",
        f"one-step is ahead of chained, by a factor of {FACTOR} at the median (asked for: ahead with every number of "
        f"executors, and half that factor at the median, {least:.2f})",
        all(factor > 1 for factor in factors) and statistics.median(factors) >= least,
        f"{statistics.median(factors):.2f} times at the median of {points[0].executors} to {points[-1].executors} "
        f"executors ({min(factors):.2f} to {max(factors):.2f}); without shards {statistics.median(alone):.2f} times. "
        f"Chained takes {stages[CHAINED].stages} of Spark's stages, one-step {stages[SHARDED].stages}, without shards "
        f"{stages[ONE_STEP].stages}",
    )


def _by_events(points: Sequence[Point]) -> Iterator[Claim]:
    source = "EventCloud 2013, figure 2(b)"
    span = f"from {points[0].parameters.events:,} to {points[-1].parameters.events:,} events"
    sharded, alone, chained = (Trend.of(points, way) for way in (SHARDED, ONE_STEP, CHAINED))
    yield Claim(
        source,
        f"the throughput of one-step grows with the number of events (asked for: {_RULE})",
        sharded.grows,
        f"{sharded.factor:.2f} times {span}, without shards {alone.factor:.2f} times; {_rates(points, SHARDED)}",
    )
    yield Claim(
        source,
        f"the throughput of chained falls quickly with the number of events (asked for: {_RULE})",
        chained.falls,
        f"{chained.factor:.2f} times {span}; {_rates(points, CHAINED)}. Events are put together by a join of all of "
        "them, not by a question to the network for each",
    )


def _by_subscriptions(points: Sequence[Point]) -> Iterator[Claim]:
    source = "EventCloud 2013, figure 2(c)"
    counts = [point.parameters.subscriptions for point in points]
    span = f"from {counts[0]} to {counts[-1]} subscriptions"
    sharded, alone, chained = (Trend.of(points, way) for way in (SHARDED, ONE_STEP, CHAINED))
    straight = straightness(counts, [point.taken[SHARDED].rate for point in points])
    falls = sharded.falls
    yield Claim(
        source,
        f"the throughput of one-step falls about linearly with the number of subscriptions (asked for: {_RULE}; R² "
        f"{_STRAIGHT})",
        falls and straight >= _STRAIGHT,
        f"{sharded.factor:.2f} times {span} (R² {straight:.2f}), without shards {alone.factor:.2f} times; "
        f"{_rates(points, SHARDED)}. The index goes from an event to the subscriptions that it concerns, and does not "
        "try one after the other",
    )
    yield Claim(
        source,
        f"the throughput of chained stays the same with more subscriptions, about {RATE:.0f} a second in the paper "
        f"(asked for: within {_MUCH:g} times)",
        chained.flat,
        f"{chained.factor:.2f} times {span}; {_rates(points, CHAINED)}. All subscriptions share the join of a step",
    )


def _duplicates(points: Sequence[Point]) -> Claim:
    last = points[-1]
    events, complete = last.parameters.events, last.complete or 0
    told = {way: taken.told for way, taken in last.taken.items()}
    return Claim(
        "EventCloud 2013, section 4.1 and figure 2(d)",
        "with the subscription that accepts all, chained makes duplicates, which have to be removed, and one-step none "
        "(counted)",
        complete > events and told[SHARDED] == told[ONE_STEP] == events,
        f"chained has {complete:,} complete bindings for {events:,} events, {complete / events:.2f} each, and tells "
        f"{told[CHAINED]:,} after removing what is there twice; one-step removes nothing, and tells "
        f"{told[ONE_STEP]:,}, with shards {told[SHARDED]:,}",
    )


def _scales(found: Found) -> Claim:
    most = [point for point in found.accept_all if point.executors <= found.cores]
    sharded, alone, chained = (Trend.of(most, way) for way in (SHARDED, ONE_STEP, CHAINED))
    return Claim(
        "EventCloud 2013, figure 2(d)",
        "with the subscription that accepts all, the throughput of one-step grows with the executors (asked for, "
        f"without shards, since all peers have this subscription, and up to the cores of the machine: {_RULE})",
        alone.grows if len(most) > 1 else None,
        f"{alone.factor:.2f} times from {most[0].executors} to {most[-1].executors} executors on {found.cores} cores; "
        f"with shards, of which one has the subscription, {sharded.factor:.2f} times, chained {chained.factor:.2f} "
        f"times. Of all executors: {_rates(found.accept_all, ONE_STEP)}",
    )


def _storing(found: Found) -> Iterator[Claim]:
    source = "EventCloud 2013, figure 2(e)"
    pairs = [(each.taken[ONE_STEP], each.taken[CHAINED]) for each in found.stored]
    last = found.stored[-1]
    matching = found.executors[-1].taken
    yield Claim(
        source,
        "chained moves fewer bytes than one-step when events are stored (asked for: with every number of events)",
        all(chained.moved < whole.moved for whole, chained in pairs),
        f"one-step moves {_kb(last.taken[ONE_STEP])} and chained {_kb(last.taken[CHAINED])} for "
        f"{last.parameters.events:,} events of {last.parameters.quads} quads: a whole event is stored by the task that "
        f"reads it, quads are brought together by event. When {found.executors[-1].parameters.events:,} events are "
        f"matched, one-step moves {_kb(matching[ONE_STEP])}, with shards {_kb(matching[SHARDED])}, chained "
        f"{_kb(matching[CHAINED])}",
    )
    yield Claim(
        source,
        f"chained stores events in less time than one-step (asked for: {_MUCH:g} times, with every number of events)",
        all(whole.median >= _MUCH * chained.median for whole, chained in pairs),
        "one-step takes "
        + ", ".join(
            f"{each.taken[ONE_STEP].median:.1f} s and chained {each.taken[CHAINED].median:.1f} s for "
            f"{each.parameters.events:,} events"
            for each in found.stored
        ),
    )


def _rates(points: Sequence[Point], way: str) -> str:
    return ", ".join(f"{point.taken[way].rate:,.0f}" for point in points) + " a second"


def _kb(taken: Taken) -> str:
    return f"{taken.moved / 1e3:,.0f} kB"
