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
from time import perf_counter

from tidings.bench.broker_load import Heard, by_the_clock, opened, sustained
from tidings.bench.broker_world import ASLEEP, AWAKE, Requests, Running, awake_options, fill, heard, serving
from tidings.bench.machine import times
from tidings.bench.report import Claim, Curve, Figure, Report, Row, Table
from tidings.bench.settings import Settings
from tidings.bench.spark_world import Made
from tidings.bench.workloads.rtf_paper import corpus
from tidings.broker.committer import PACE
from tidings.rdf.event import Event

_MATCHES = 10
_PUBLISHERS = 64
_RATE = 2_000
_SLOWEST = 0.050
_COST = 0.40
_GROWTH = 0.05
_DRAIN = 5.0
_KEEP = "5m"
_PATIENCE = 30.0
"""Seconds in which what was published has to be told."""

_DISTURBED = 0.05
_AFTER = 2
"""The share of a second that others may have without it being counted as disturbed; and how many seconds behind one
that was are counted so, too: what has had to wait is made up for in these."""


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
    """What was seen while streams were open: `rates` are those of rounds as fast as it goes, until all was told, `rate`
    is that of all the time behind them. Delays are in seconds, sorted; the same of each minute, and of the seconds in
    which the machine was its own. At each second the server's memory, and the share of the processors' time that
    somebody else had on the same hardware.
    """

    streams: int
    rates: list[float]
    rate: float
    published: int
    delays: list[float]
    by_minute: list[list[float]]
    undisturbed: list[float]
    missed: int
    seconds: list[float]
    memory: list[int]
    stolen: list[float]

    def delay(self, share: float) -> float:
        return _slowest(self.delays, share)

    @property
    def when_undisturbed(self) -> str:
        """What is to be added for the seconds in which nobody else had the machine."""
        if not self.undisturbed:
            return ""
        share, slow = len(self.undisturbed) / len(self.delays), _slowest(self.undisturbed, 0.99)
        return f"; where that was under {_DISTURBED:.0%} of a second ({share:.0%} of all) {slow * 1000:.1f} ms"

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
        "Every request publishes one event, and is answered when that is on the disk with what it matched. What is "
        "sustained with open streams is counted until the last notification has been read from them; delays are "
        "taken at half that rate, from when an event was due to be published to when the load had read it from a "
        "stream. The yardstick is the same server with matching outside, to which nobody is attached: it takes and "
        "syncs the events and no more; both have their rounds in turn, without streams. Groups of events begin "
        f"{PACE * 1000:g} ms apart at least, so {_PUBLISHERS} publishers who wait for their answers have at most "
        f"{_PUBLISHERS / PACE:,.0f} a second: a yardstick close to that is bound by it, and matching costs more than "
        "it seems. " + (AWAKE if awake_options() else ASLEEP)
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
        alone, yardstick = statistics.median(self.matching), statistics.median(self.storing)
        held, slow = self.held, self.held.delay(0.99)
        rate = statistics.median(held.rates)
        cost, growth = 1 - alone / yardstick, held.growth(sizes.warm * 60)

        def line(what: str, asked: str, measured: str, good: bool, more: str = "") -> Row:
            verdict = "not at full size" if quick else "held" if good else "missed"
            return {"what": what, "asked": asked, "measured": measured, "verdict": verdict, "more": more}

        yield line(
            f"events durable with {_PUBLISHERS} publishers, {sizes.subscriptions:,} subscriptions, and told to streams",
            f"at least {_RATE:,} a second",
            f"{rate:,.0f} a second",
            rate >= _RATE,
            f"{alone:,.0f} a second where there are no streams",
        )
        yield line(
            "what matching costs of it",
            f"at most {_COST:.0%} of the yardstick",
            f"{cost:.0%}",
            cost <= _COST,
            f"the yardstick takes {yardstick:,.0f} a second, the broker {alone:,.0f}, both without streams",
        )
        yield line(
            f"from publish to delivered, at {held.rate:,.0f} events a second",
            f"the slowest of a hundred under {_SLOWEST * 1000:.0f} ms",
            f"{slow * 1000:.1f} ms",
            slow < _SLOWEST,
            f"median {held.delay(0.5) * 1000:.1f} ms, of a thousand {held.delay(0.999) * 1000:.0f} ms, slowest "
            f"{held.delays[-1] * 1000:.0f} ms; {statistics.mean(held.stolen):.1%} of the machine's time went to others "
            f"on the same hardware{held.when_undisturbed}",
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
        for number, rates in enumerate(zip(self.held.rates, self.matching, self.storing, strict=True)):
            told, matching, storing = rates
            yield {"round": number + 1, "with streams": told, "without": matching, "yardstick": storing}

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
        stolen = Curve(
            "others", minutes, tuple(100 * max(held.stolen[n : n + every]) for n in range(0, len(held.stolen), every))
        )
        delays = Curve("delay", tuple(1 / (1 - s) for s in shares), tuple(held.delay(s) * 1000 for s in shares))
        return (
            Figure("broker-memory", "Memory of the server", "minutes", "MB", (memory,)),
            Figure("broker-delay", "From publish to delivered", "slowest of so many", "ms", (delays,), True, True),
            Figure("broker-minutes", "From publish to delivered, minute by minute", "minutes", "ms", over_time),
            Figure("broker-stolen", "What others had of the machine", "minutes", "% of the worst second", (stolen,)),
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
        with serving(self.root / "matching", "--keep", _KEEP, *awake_options()) as embedded:
            with serving(self.root / "storing", "--matching", "outside", *awake_options()) as outside:
                for number in range(-1, self.sizes.rounds):
                    for name, server, rates in (("with matching", embedded, matching), ("yardstick", outside, storing)):
                        self.tell(f"as fast as it goes, {name}: {self._named(number)}")
                        requests = Requests(self.events, f"r{number}")
                        rate = asyncio.run(sustained(server, requests, _PUBLISHERS, self.sizes.seconds))
                        if number >= 0:
                            rates.append(rate)
            held = asyncio.run(self._held(embedded))
        return Found(matching, storing, held)

    def _named(self, number: int) -> str:
        """A round; the one before the first is not counted."""
        return "warm-up" if number < 0 else f"round {number + 1} of {self.sizes.rounds}"

    async def _held(self, server: Running) -> Held:
        sizes, told = self.sizes, Heard()
        each = heard(self.made, self.events, sizes.streams)
        # The load's own pauses would be taken for the server's.
        gc.collect()
        gc.freeze()
        self.tell(f"opening {sizes.streams:,} streams")
        ids = [id for _, (id, _) in zip(range(sizes.streams), self.made.forms(), strict=False)]
        streams = await opened(server, told, ids)
        _, *rates = [await self._told(server, told, each, number) for number in range(-1, sizes.rounds)]
        earlier, rate = told.unknown, statistics.median(rates) / 2
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
        missed = abs(_expected(each, told.published) - len(told.delays) - told.unknown + earlier)
        minutes = pairwise([*told_by[:-1:60], len(told.delays)])
        stolen = [after.stolen_since(before) for before, after in pairwise(machine)]
        own = [each for n, each in enumerate(pairwise(told_by)) if max(stolen[max(0, n - _AFTER) : n + 1]) < _DISTURBED]
        return Held(
            told.opened,
            rates,
            rate,
            told.published,
            sorted(told.delays),
            [sorted(told.delays[begin:end]) for begin, end in minutes if end > begin],
            sorted(delay for begin, end in own for delay in told.delays[begin:end]),
            missed,
            seconds,
            memory,
            stolen,
        )

    async def _told(self, server: Running, told: Heard, each: list[int], number: int) -> float:
        """Events a second that are taken, and told."""
        self.tell(f"as fast as it goes, with streams: {self._named(number)}")
        requests = Requests(self.events, f"told{number}")
        begun, before = perf_counter(), told.unknown
        await sustained(server, requests, _PUBLISHERS, self.sizes.seconds)
        late = perf_counter() + _PATIENCE
        while told.unknown - before < _expected(each, requests.count):
            if perf_counter() > late:
                raise RuntimeError("notifications are missing")
            await asyncio.sleep(0.01)
        return requests.count / (perf_counter() - begun)


def _expected(each: list[int], published: int) -> int:
    """How many notifications there are of so many events, if each of them has so many, in turn."""
    wholes, rest = divmod(published, len(each))
    return wholes * sum(each) + sum(each[:rest])
