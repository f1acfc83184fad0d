"""Is the pipeline on Spark as fast as it was asked to be? Everything in one run, on local[2]."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tidings.bench.report import Claim, Report, Row, Table
from tidings.bench.settings import Settings
from tidings.bench.spark_memory import held
from tidings.bench.spark_rates import rates
from tidings.bench.spark_stream import latency, start_seconds
from tidings.bench.spark_world import Made, table
from tidings.bench.workloads.rtf_paper import corpus

MATCHES = 10
_RATIO = 1.4
_START = 20.0
_LATENCY = 0.5
_TIMES = 1.3
_DELAY = 1.0


@dataclass(frozen=True, slots=True)
class Sizes:
    subscriptions: int
    events: int
    many: int
    """Subscriptions of the index whose memory is measured."""
    few_events: int
    documents: int
    changes: int
    rounds: int


FULL = Sizes(100_000, 300_000, 1_000_000, 20_000, 40, 1_000, 3)
QUICK = Sizes(2_000, 4_000, 5_000, 1_000, 6, 50, 1)


@dataclass(frozen=True, slots=True)
class Line:
    what: str
    asked: str
    measured: str
    held: bool | None
    more: str = ""


def run(settings: Settings) -> Report:
    sizes = QUICK if settings.quick else FULL
    with TemporaryDirectory(prefix="tidings-bench-") as root:
        lines = list(_lines(sizes, Path(root), settings))
    rows: tuple[Row, ...] = tuple(
        {
            "what": line.what,
            "asked": line.asked,
            "measured": line.measured,
            "verdict": "not at full size" if settings.quick else _verdict(line),
            "more": line.more,
        }
        for line in lines
    )
    missed = [line.what for line in lines if line.held is False]
    told = all(line.held is not None for line in lines)
    claim = Claim(
        "asked",
        "every line of the table is held",
        None if settings.quick or not told else not missed,
        f"{len(lines) - len(missed)} of {len(lines)} lines" + (f"; missed: {'; '.join(missed)}" if missed else ""),
    )
    described: Row = {
        "corpus": corpus().origin,
        "subscriptions": sizes.subscriptions,
        "events": sizes.events,
        "rounds": sizes.rounds,
        "seed": settings.seed,
    }
    note = (
        "E is events a second of the embedded matcher on one core, from the same rows to the same table of "
        "notifications; I is the same rows through Spark and its Python workers, which do nothing with them, to the "
        "same sink. Medians of the rounds, in turn, in one run."
    )
    question = "is the pipeline on Spark as fast as it was asked to be?"
    asked = Table("What was asked, and what was measured", rows, note)
    return Report("spark", question, described, (asked,), claims=(claim,))


def _verdict(line: Line) -> str:
    return {True: "held", False: "missed", None: "cannot be told"}[line.held]


def _lines(sizes: Sizes, root: Path, settings: Settings) -> Iterator[Line]:
    source, seed, tell = corpus(), settings.seed, settings.tell
    tell(f"{sizes.subscriptions:,} subscriptions, {sizes.events:,} events")
    made = Made.of(source, sizes.subscriptions, MATCHES, seed)
    index = made.compiled(root / "index")
    rows = table(made.events(sizes.events), root / "rows")
    found = rates(index, rows, sizes.events, sizes.rounds, tell)
    yield Line(
        f"{sizes.subscriptions:,} RTF subscriptions, {found.events:,} events, "
        f"{found.matches / found.events:.1f} matches an event",
        f"at least {_RATIO} E",
        f"{found.ratio:.2f} E, {found.share:.2f} I",
        found.ratio >= _RATIO,
        f"E {found.embedded:,.0f}, Spark {found.spark:,.0f}, I {found.identity:,.0f} events a second",
    )
    yield from _streams(made, sizes, root, settings)
    tell(f"{sizes.many:,} subscriptions")
    large = Made.of(source, sizes.many, MATCHES, seed)
    several = table(large.events(sizes.few_events), root / "few rows")
    share = held(large.compiled(root / "large index"), several)
    yield Line(
        f"{sizes.many:,} subscriptions: what both workers hold of the index's files, proportionally",
        f"under {_TIMES} times one index",
        "the system does not tell" if share is None else f"{share.times:.2f} times",
        None if share is None or share.workers < 2 else share.times < _TIMES,
        ""
        if share is None
        else f"{share.together / 1e6:,.0f} MB in {share.workers} workers, {share.size / 1e6:,.0f} MB on disk",
    )


def _streams(made: Made, sizes: Sizes, root: Path, settings: Settings) -> Iterator[Line]:
    seen = latency(made, root / "stream", sizes.documents, sizes.changes, settings.tell)
    yield Line(
        f"a micro-batch of 20 events a second, {sizes.subscriptions:,} subscriptions: from the document to its "
        "notifications",
        f"under {_LATENCY} s, median",
        f"{seen.median:.2f} s",
        seen.median < _LATENCY,
        f"{seen.documents} documents, the slowest of twenty {seen.slow:.2f} s",
    )
    yield Line(
        f"{seen.changes:,} subscription changes into a running stream at {sizes.subscriptions:,}",
        f"delay the next batch by less than {_DELAY:.0f} s",
        f"{seen.delay:.2f} s",
        seen.delay < _DELAY,
        f"{seen.taken:.2f} s of it to see what has changed",
    )
    settings.tell("starting pipelines")
    starts = start_seconds(root / "starts", sizes.rounds)
    yield Line(
        "start of a warm tidings pipeline --once on the demo to the first notification",
        f"under {_START:.0f} s",
        f"{statistics.median(starts):.1f} s",
        statistics.median(starts) < _START,
        f"{len(starts)} starts, the slowest {max(starts):.1f} s",
    )
