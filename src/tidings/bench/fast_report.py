"""What was asked of `fast` and what was measured: the tables and figures of its report."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from tidings.bench.fast_timing import Timed
from tidings.bench.report import Curve, Figure, Row, Table

REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Ask:
    """A line of what was asked; where it is in T, at most so many."""

    workload: str
    asked: str
    most: float | None = None


ASKS = {
    "rtf": Ask("RTF, 100,000 subscriptions, FT 50 %, from bytes to matched ids", "at most 1.5 T", 1.5),
    "rtf large": Ask("the same, 1,000,000", "at most 3 T", 3),
    "ontology": Ask("RTF, 100,000, the ontology on, inner classes and properties asked for", "at most 2 T", 2),
    "matches": Ask("RTF, 100,000, with 300 matches an event", "at most 3 T", 3),
    "ops": Ask("OPS, 10,000 subscriptions, C=10 (about 3 % match)", "at least 200 times ops, under 5 ms an event"),
    "gtopss": Ask("G-ToPSS defaults, 30,000 subscriptions", "at least 50 times gtopss"),
    "text": Ask("text only, 1,000,000 subscriptions, events are music entities", "at most 5 T", 5),
    "nanopubs": Ask("nanopublications, 100,000 subscriptions from their own terms, with joins", "at most 5 T", 5),
    "verified": Ask("10 % of 100,000 need the verifier (OPTIONAL, NOT EXISTS, regex)", "at most 10 T", 10),
    "worst": Ask("worst case: 100,000 pass every filter but the join", "reported"),
    "memory": Ask("memory of the index, RTF, 1,000,000", "at most 250 bytes a subscription"),
    "shared": Ask("1,000,000 opened by two processes", "one copy is shared"),
    "compile": Ask("compile 1,000,000 subscriptions from forms", "under 120 s"),
    "live": Ask("live, at 1,000,000", "2,000 changes a second, no match waits more than 50 ms"),
    "open": Ask("open a snapshot of 1,000,000", "under 1 s"),
    "growth": Ask("growth, 1,000 to 1,000,000 at fixed matches an event", "a plot, and the exponent"),
}


@dataclass(frozen=True, slots=True)
class Point:
    """One workload, measured. Times are those of all its events; `peer` is another matcher's."""

    name: str
    subscriptions: int
    events: int
    triples: int
    size: int
    matches: int
    ours: Timed
    parsing: Timed
    making: float
    compiled: float
    compared: int
    agreed: int
    bytes_each: float | None
    counted: Mapping[str, float | None]
    peer: Timed | None = None

    @property
    def ratio(self) -> float:
        """In T, the time that parsing takes, by the clock."""
        return self.ours.wall / self.parsing.wall

    @property
    def cpu_ratio(self) -> float:
        return self.ours.cpu / self.parsing.cpu

    @property
    def microseconds(self) -> float:
        return self.ours.wall / self.events * 1e6

    @property
    def parsed(self) -> float:
        """Microseconds in which an event is parsed."""
        return self.parsing.wall / self.events * 1e6

    @property
    def each(self) -> float:
        """Matches an event."""
        return self.matches / self.events

    @property
    def faster(self) -> float:
        """Than the peer."""
        return self.peer.wall / self.ours.wall if self.peer else 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """What was found about an ask. `held` is None where that cannot be told, and `why` says why."""

    ask: Ask
    point: Point
    measured: str
    held: bool | None
    drawn: str
    hierarchy: str
    why: str = ""
    more: str = ""

    @property
    def verdict(self) -> str:
        return {True: "held", False: "missed", None: self.why}[self.held]


@dataclass(slots=True)
class Found:
    """All that a run finds; a line by the key of what was asked."""

    lines: dict[str, Line] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    growth: list[Point] = field(default_factory=list)
    worst: list[Point] = field(default_factory=list)
    profiles: list[tuple[str, list[tuple[str, float]]]] = field(default_factory=list)


# --------------------------------------------------------------------------------------------------------------- tables

_ASKED = """T is the time in which pyoxigraph parses the same N-Quads in bulk, every quad taken; ours is from these
bytes to the matched ids. One core, both in turn in one run, medians of {rounds} rounds by the clock, processor time
beside it."""

_DETAILS = """The number is that of the subscriptions; microseconds, matches, candidates and asked are those of one
event. Candidates are subscriptions that passed every look-up, asked those that the verifier had to decide. Before
anything was timed, the answers were compared with naive's on as many pairs of a subscription and an event as 'compared'
has, of which 'agreed' match: one difference would have ended the run."""

_PROFILES = "Each share is of the time within that function, and not in those it calls. A profiled run is slower."


def tables(found: Found, rounds: int, *, full: bool) -> Iterator[Table]:
    note = " ".join(_ASKED.format(rounds=rounds).split())
    if not full:
        note += " Everything at a hundredth: nothing here is a figure to quote, and no verdict is given."
    yield Table("What was asked, and what was measured", tuple(_asked(found.lines[key]) for key in ASKS), note)
    yield Table("The workloads, measured", tuple(map(_detail, found.points)), " ".join(_DETAILS.split()))
    yield Table(
        "Growth, at a fixed number of matches an event",
        tuple(map(_growing, found.growth)),
        f"Time grows with the number of subscriptions to the power {exponent(found.growth):.2f} "
        f"(least squares, both logarithmic). The events are the same.",
    )
    yield Table(
        "The worst case: only the join says no",
        tuple(map(_growing, found.worst)),
        f"Here to the power {exponent(found.worst):.2f}.",
    )
    more: tuple[Row, ...] = tuple(
        {"line": line.ask.workload, "seen": line.more} for line in found.lines.values() if line.more
    )
    if more:
        yield Table("What else was seen", more)
    if found.profiles:
        rows: tuple[Row, ...] = tuple(
            {"workload": name, "function": function, "share": f"{share:.0%}"}
            for name, profile in found.profiles
            for function, share in profile
        )
        yield Table("Where the time goes, where a line was missed", rows, _PROFILES)


def _asked(line: Line) -> Row:
    return {
        "workload": line.ask.workload,
        "asked": line.ask.asked,
        "measured": line.measured,
        "verdict": line.verdict,
        "subscriptions": line.point.subscriptions,
        "matches an event": line.point.each,
        "ontology": line.hierarchy,
        "how terms are drawn": line.drawn,
    }


def _detail(point: Point) -> Row:
    return {
        "workload": point.name,
        "number": point.subscriptions,
        "µs": point.microseconds,
        "T µs": point.parsed,
        "in T": point.ratio,
        "CPU": point.cpu_ratio,
        "kB": point.size / point.events / 1000,
        "matches": point.each,
        "candidates": point.counted.get("candidates"),
        "asked": point.counted.get("asked"),
        "filled s": point.compiled,
        "compared": point.compared,
        "agreed": point.agreed,
    }


def _growing(point: Point) -> Row:
    return {
        "subscriptions": point.subscriptions,
        "matches": point.each,
        "µs an event": point.microseconds,
        "in T": point.ratio,
        "candidates": point.counted.get("candidates"),
        "bytes each": point.bytes_each,
        "compiled s": point.compiled,
    }


def exponent(points: Sequence[Point]) -> float:
    """Of the power law through the points."""
    if len(points) < 2:
        return 0.0
    xs, ys = [log(point.subscriptions) for point in points], [log(point.microseconds) for point in points]
    return statistics.linear_regression(xs, ys).slope


# -------------------------------------------------------------------------------------------------------------- figures


def figures(found: Found) -> Iterator[Figure]:
    growth, worst = found.growth, found.worst
    yield Figure(
        "fast-growth",
        f"Time an event and subscriptions, {growth[-1].each:.0f} matches an event",
        "subscriptions",
        "µs an event",
        (
            Curve(f"fast: grows to the power {exponent(growth):.2f}", *_both(growth, [p.microseconds for p in growth])),
            Curve("pyoxigraph parses it", *_both(growth, [p.parsed for p in growth])),
        ),
        log_x=True,
        log_y=True,
    )
    yield Figure(
        "fast-worst",
        "The worst case: every part holds, the join never does",
        "subscriptions",
        "µs an event",
        (
            Curve(f"fast: grows to the power {exponent(worst):.2f}", *_both(worst, [p.microseconds for p in worst])),
            Curve("pyoxigraph parses it", *_both(worst, [p.parsed for p in worst])),
        ),
        log_x=True,
        log_y=True,
    )
    held = [(point, point.bytes_each) for point in growth if point.bytes_each is not None]
    if held:
        yield Figure(
            "fast-memory",
            "Memory of the index",
            "subscriptions",
            "bytes a subscription",
            (Curve("fast", *_both([point for point, _ in held], [each for _, each in held])),),
            log_x=True,
        )


def _both(points: Sequence[Point], ys: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(float(point.subscriptions) for point in points), tuple(ys)
