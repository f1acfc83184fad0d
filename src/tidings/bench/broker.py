"""Is the broker as fast as it was asked to be? Its server in one process, the load in this one, on loopback."""

from __future__ import annotations

import asyncio
import gc
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from tidings.bench.broker_load import Heard, by_the_clock, opened, sustained
from tidings.bench.broker_world import Requests, Running, fill, heard, serving
from tidings.bench.machine import times
from tidings.bench.report import Claim, Curve, Figure, Report, Row, Table
from tidings.bench.settings import Settings
from tidings.bench.spark_world import Made
from tidings.bench.workloads.rtf_paper import corpus
from tidings.rdf.event import Event

_MATCHES = 10
_PUBLISHERS = 64
_RATE = 2_000
_SLOWEST = 0.050
_COST = 0.40
_GROWTH = 0.05
_DRAIN = 5.0
_KEEP = "5m"
_DISTURBED = 0.01
"""The share of a second that others may have without it being counted as disturbed."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """`warm` are the minutes after which memory should not grow any more, of `minutes` in all."""

    subscriptions: int
    drawn: int
    rounds: int
    seconds: float
    streams: int
    minutes: float
    warm: float


FULL = Sizes(100_000, 20_000, 3, 20.0, 5_000, 30.0, 10.0)
QUICK = Sizes(2_000, 500, 1, 2.0, 100, 0.2, 0.1)


@dataclass(frozen=True, slots=True)
class Held:
    """What was seen while streams were open: delays in seconds, sorted; the same of each minute, and of the seconds in
    which the machine was its own; at each second the server's memory; the share of the processors' time that somebody
    else had on the same hardware.
    """

    streams: int
    rate: float
    published: int
    delays: list[float]
    by_minute: list[list[float]]
    undisturbed: list[float]
    missed: int
    seconds: list[float]
    memory: list[int]
    stolen: float

    def delay(self, share: float) -> float:
        return _slowest(self.delays, share)

    @property
    def when_undisturbed(self) -> str:
        """What is to be added for the seconds in which nobody else had the machine."""
        if not self.undisturbed:
            return ""
        share, slow = len(self.undisturbed) / len(self.delays), _slowest(self.undisturbed, 0.99)
        return f"; in seconds in which that was under {_DISTURBED:.0%} ({share:.0%} of all) {slow * 1000:.1f} ms"

    def growth(self, warm: float) -> float:
        """From the half of the warm time to its other half: the medians, since memory goes up and down."""
        known = [bytes for second, bytes in zip(self.seconds, self.memory, strict=True) if second >= warm]
        half = len(known) // 2
        return statistics.median(known[half:]) / statistics.median(known[:half]) - 1


def _slowest(delays: list[float], share: float) -> float:
    """Of delays that are sorted, the one that this share of them does not exceed."""
    return delays[min(len(delays) - 1, int(share * len(delays)))]


def run(settings: Settings) -> Report:
    sizes = QUICK if settings.quick else FULL
    settings.tell(f"{sizes.subscriptions:,} subscriptions")
    made = Made.of(corpus(), sizes.subscriptions, _MATCHES, settings.seed)
    events = made.events(sizes.drawn)
    with TemporaryDirectory(prefix="tidings-bench-") as root:
        found = _Bench(made, events, Path(root), sizes, settings.tell).run()
    lines = list(found.lines(sizes, settings.quick))
    missed = [str(line["what"]) for line in lines if line["verdict"] == "missed"]
    claim = Claim(
        "asked",
        "every line of the table is held",
        None if settings.quick else not missed,
        f"{len(lines) - len(missed)} of {len(lines)} lines" + (f"; missed: {'; '.join(missed)}" if missed else ""),
    )
    described: Row = {
        "corpus": corpus().origin,
        "subscriptions": sizes.subscriptions,
        "matches an event": _MATCHES,
        "events": f"of 10 triples, {sizes.drawn:,} drawn, then again under other names",
        "publishers": _PUBLISHERS,
        "seed": settings.seed,
    }
    note = (
        "Every request publishes one event, and is answered when that is on the disk with what it matched. The "
        "yardstick is the same server with matching outside, to which nobody is attached: it takes and syncs the "
        "events and no more. Both run all the time, and have their rounds in turn. Delays are from when an event was "
        "due to be published to when the load had read it from a stream."
    )
    table = Table("What was asked, and what was measured", tuple(lines), note)
    rounds = Table("Rounds", tuple(found.rounds()), "Events a second.")
    question = "is the broker as fast as it was asked to be?"
    return Report("broker", question, described, (table, rounds), found.figures(), (claim,))


@dataclass(frozen=True, slots=True)
class Found:
    matching: list[float]
    storing: list[float]
    held: Held

    def lines(self, sizes: Sizes, quick: bool) -> Iterator[Row]:
        rate, yardstick = statistics.median(self.matching), statistics.median(self.storing)
        held, slow = self.held, self.held.delay(0.99)
        cost, growth = 1 - rate / yardstick, held.growth(sizes.warm * 60)

        def line(what: str, asked: str, measured: str, good: bool, more: str = "") -> Row:
            verdict = "not at full size" if quick else "held" if good else "missed"
            return {"what": what, "asked": asked, "measured": measured, "verdict": verdict, "more": more}

        yield line(
            f"events durable with {_PUBLISHERS} publishers, {sizes.subscriptions:,} subscriptions",
            f"at least {_RATE:,} a second",
            f"{rate:,.0f} a second",
            rate >= _RATE,
        )
        yield line(
            "what matching costs of it",
            f"at most {_COST:.0%} of the yardstick",
            f"{cost:.0%}",
            cost <= _COST,
            f"the yardstick takes {yardstick:,.0f} a second",
        )
        yield line(
            f"from publish to delivered, at {held.rate:,.0f} events a second",
            f"the slowest of a hundred under {_SLOWEST * 1000:.0f} ms",
            f"{slow * 1000:.1f} ms",
            slow < _SLOWEST,
            f"median {held.delay(0.5) * 1000:.1f} ms, of a thousand {held.delay(0.999) * 1000:.0f} ms, slowest "
            f"{held.delays[-1] * 1000:.0f} ms; {held.stolen:.1%} of the machine's time went to others on the same "
            f"hardware{held.when_undisturbed}",
        )
        yield line(
            "open streams",
            f"{sizes.streams:,} held, nothing missed",
            f"{held.streams:,}, {held.missed:,} missed",
            held.streams == sizes.streams and not held.missed,
            f"{len(held.delays):,} notifications of {held.published:,} events were told",
        )
        yield line(
            f"memory over {sizes.minutes:g} minutes",
            f"grows by less than {_GROWTH:.0%} when it is warm",
            f"{growth:+.1%}",
            growth < _GROWTH,
            f"{held.memory[-1] / 1e6:,.0f} MB at the end; warm after {sizes.warm:g} minutes, events kept for {_KEEP}",
        )

    def rounds(self) -> Iterator[Row]:
        for number, (matching, storing) in enumerate(zip(self.matching, self.storing, strict=True)):
            yield {"round": number + 1, "with matching": matching, "yardstick": storing}

    def figures(self) -> tuple[Figure, ...]:
        held = self.held
        every = max(1, len(held.seconds) // 300)
        minutes = tuple(second / 60 for second in held.seconds[::every])
        memory = Curve("server", minutes, tuple(bytes / 1e6 for bytes in held.memory[::every]))
        shares = [0.5, 0.9, 0.99, 0.999, 0.9999]
        times = tuple(minute + 0.5 for minute in range(len(held.by_minute)))
        over_time = tuple(
            Curve(label, times, tuple(_slowest(minute, share) * 1000 for minute in held.by_minute))
            for label, share in (("median", 0.5), ("slowest of ten", 0.9), ("slowest of a hundred", 0.99))
        )
        delays = Curve("delay", tuple(1 / (1 - s) for s in shares), tuple(held.delay(s) * 1000 for s in shares))
        return (
            Figure("broker-memory", "Memory of the server", "minutes", "MB", (memory,)),
            Figure("broker-delay", "From publish to delivered", "slowest of so many", "ms", (delays,), True, True),
            Figure("broker-minutes", "From publish to delivered, minute by minute", "minutes", "ms", over_time),
        )


@dataclass(frozen=True, slots=True)
class _Bench:
    made: Made
    events: list[Event]
    root: Path
    sizes: Sizes
    tell: Callable[[str], None]

    def run(self) -> Found:
        for name in ("matching", "storing"):
            fill(self.root / name, self.made)
        matching: list[float] = []
        storing: list[float] = []
        self.tell("starting the servers")
        with (
            serving(self.root / "matching", "--keep", _KEEP) as embedded,
            serving(self.root / "storing", "--matching", "outside") as outside,
        ):
            for number in range(-1, self.sizes.rounds):
                what = "warm-up" if number < 0 else f"round {number + 1} of {self.sizes.rounds}"
                for name, server, rates in (("with matching", embedded, matching), ("yardstick", outside, storing)):
                    self.tell(f"as fast as it goes, {name}: {what}")
                    rate = asyncio.run(
                        sustained(server, Requests(self.events, f"r{number}"), _PUBLISHERS, self.sizes.seconds)
                    )
                    if number >= 0:
                        rates.append(rate)
            held = asyncio.run(self._held(embedded, statistics.median(matching) / 2))
        return Found(matching, storing, held)

    async def _held(self, server: Running, rate: float) -> Held:
        sizes, told = self.sizes, Heard()
        each = heard(self.made, self.events, sizes.streams)
        # The load's own pauses would be taken for the server's.
        gc.collect()
        gc.freeze()
        self.tell(f"opening {sizes.streams:,} streams")
        ids = [id for _, (id, _) in zip(range(sizes.streams), self.made.forms(), strict=False)]
        streams = await opened(server, told, ids)
        seconds: list[float] = []
        memory: list[int] = []
        told_by = [0]
        machine = [times()]

        def look(second: float) -> None:
            seconds.append(second)
            memory.append(server.memory)
            told_by.append(len(told.delays))
            machine.append(times())
            if round(second) % 60 == 0:
                self.tell(f"{rate:,.0f} events a second, minute {second / 60:.0f} of {sizes.minutes:g}")

        requests = Requests(self.events, "held")
        await by_the_clock(
            server, requests, told, rate=rate, seconds=60 * sizes.minutes, publishers=_PUBLISHERS, look=look
        )
        await asyncio.sleep(_DRAIN)
        for stream in streams:
            stream.close()
        wholes, rest = divmod(told.published, len(each))
        expected = wholes * sum(each) + sum(each[:rest])
        missed = abs(expected - len(told.delays) - told.unknown)
        minutes = pairwise([*told_by[:-1:60], len(told.delays)])
        quiet = [after.stolen_since(before) < _DISTURBED for before, after in pairwise(machine)]
        # What was begun in a disturbed second may end in the next.
        own = [each for n, each in enumerate(pairwise(told_by)) if quiet[n] and quiet[max(0, n - 1)]]
        return Held(
            told.opened,
            rate,
            told.published,
            sorted(told.delays),
            [sorted(told.delays[begin:end]) for begin, end in minutes if end > begin],
            sorted(delay for begin, end in own for delay in told.delays[begin:end]),
            missed,
            seconds,
            memory,
            machine[-1].stolen_since(machine[0]),
        )
