"""How fast is `fast`, and how small? What was asked of it, line by line, and what is measured.

`workloads.fast` says how subscriptions and events are made; `fast_filled` how a matcher is filled, and compared with
`naive` before anything is timed; `fast_timing` how it is timed against the yardstick.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tidings.bench.fast_claims import claims
from tidings.bench.fast_filled import Filled, fill
from tidings.bench.fast_live import live
from tidings.bench.fast_report import ASKS, REPORTED, Found, Line, Point, exponent, figures, tables
from tidings.bench.fast_snapshot import Snapshot, snapshot
from tidings.bench.fast_timing import interleaved, one_core, parse, profile
from tidings.bench.measure import refuse
from tidings.bench.report import Report, Row
from tidings.bench.settings import Settings
from tidings.bench.workloads import gtopss, ops
from tidings.bench.workloads.fast import joins, nanopubs, rtf, text
from tidings.bench.workloads.fast.base import Workload
from tidings.bench.workloads.rtf_paper import Corpus, corpus
from tidings.lang import parse as parse_text
from tidings.match.base import Engine
from tidings.match.registry import create
from tidings.ontology import Ontology
from tidings.rdf.event import Event


@dataclass(frozen=True, slots=True)
class Sizes:
    """Subscriptions, unless it says something else. `growth` ends with the largest number, and has `some` in it."""

    some: int
    growth: tuple[int, ...]
    text: int
    ops: int
    gtopss: int
    worst: tuple[int, ...]
    matches: float
    publications: int
    events: int
    """Of the text and nanopublication workloads."""
    few_events: int
    """Of those that are compared with another paper's matcher, and of the worst case."""
    months: int | None
    """Of nanopublications; None is all."""
    compared_events: int
    compared: int
    rounds: int
    seconds: float
    """That changes and matches alternate."""
    full: bool
    """Whether the numbers are those that were asked for."""


FULL = Sizes(
    some=100_000,
    growth=(1_000, 3_200, 10_000, 32_000, 100_000, 320_000, 1_000_000),
    text=1_000_000,
    ops=10_000,
    gtopss=30_000,
    worst=(1_000, 3_200, 10_000, 32_000, 100_000),
    matches=300,
    publications=2_000,
    events=1_000,
    few_events=20,
    months=None,
    compared_events=20,
    compared=2_000,
    rounds=7,
    seconds=120,
    full=True,
)
QUICK = Sizes(
    some=1_000,
    growth=(1_000, 3_200, 10_000),
    text=10_000,
    ops=100,
    gtopss=300,
    worst=(10, 100, 1_000),
    matches=20,
    publications=100,
    events=50,
    few_events=10,
    months=2,
    compared_events=5,
    compared=200,
    rounds=5,
    seconds=1,
    full=False,
)

MATCHES = 10
_OPS_CLASSES = 10
_MILLISECONDS_AN_OPS_EVENT = 5
_TIMES_OPS = 200
_TIMES_GTOPSS = 50
_BYTES = 250
_COPIES = 1.5
"""What two processes hold together, in snapshots: each has a little of its own."""
_COMPILED = 120
_CHANGES = 2_000
_PAUSE = 50
_OPENED = 1

_SMALLER = "not at full size"
_NOT_THERE = "not there yet"


def run(settings: Settings) -> Report:
    return at_sizes(QUICK if settings.quick else FULL, corpus(), settings)


def at_sizes(sizes: Sizes, source: Corpus, settings: Settings, engine: str = "fast") -> Report:
    with one_core():
        found = _Bench(sizes, source, settings, engine).found()
    described: Row = {
        "corpus": source.origin,
        "matcher": engine,
        "publications": sizes.publications,
        "rounds": sizes.rounds,
        "seed": settings.seed,
    }
    return Report(
        "fast",
        "is fast as fast, and as small, as it was asked to be?",
        described,
        tuple(tables(found, sizes.rounds, full=sizes.full)),
        tuple(figures(found)),
        tuple(claims(found, full=sizes.full)),
    )


class _Bench:
    """Workloads, one after the other; no matcher outlives its measurement."""

    def __init__(self, sizes: Sizes, source: Corpus, settings: Settings, engine: str) -> None:
        self._sizes = sizes
        self._source = source
        self._settings = settings
        self._engine = engine
        self._found = Found()

    def found(self) -> Found:
        flat = rtf.flat(self._source)
        events = rtf.publications(flat, self._sizes.publications, seed=self._settings.seed)
        self._growth(flat, events)
        self._more_rtf(flat, events)
        self._ops()
        self._gtopss()
        self._text()
        self._nanopubs()
        self._worst()
        return self._found

    # --------------------------------------------------------------------------------------------------- RTF's workload

    def _growth(self, world: rtf.World, events: Sequence[Event]) -> None:
        """Two of the points are lines of the table; on the largest, all that is asked of an index."""
        sizes, seed = self._sizes, self._settings.seed
        for count in sizes.growth:
            work = rtf.workload(f"RTF, {count:,}", world, count, MATCHES, events, seed=seed)
            filled = self._fill(work)
            point = self._point(filled)
            self._found.growth.append(point)
            if count == sizes.some:
                self._in_parsings("rtf", filled, point)
            if count == sizes.growth[-1]:
                self._in_parsings("rtf large", filled, point)
                self._index(filled, point, rtf.workload("new", world, count, MATCHES, events, seed=seed + 1))
        power = f"to the power {exponent(self._found.growth):.2f}"
        drawn = "as RTF, to a power that gives the same matches at every size"
        self._line("growth", work, point, power, None, why=REPORTED, drawn=drawn)

    def _more_rtf(self, flat: rtf.World, events: Sequence[Event]) -> None:
        sizes, seed = self._sizes, self._settings.seed
        deep = rtf.deep(self._source)
        leaves = rtf.publications(deep, sizes.publications, seed=seed)
        self._measure("ontology", rtf.workload("RTF, ontology", deep, sizes.some, MATCHES, leaves, seed=seed))
        self._measure("matches", rtf.workload("RTF, many", flat, sizes.some, sizes.matches, events, seed=seed))
        self._measure(
            "verified", rtf.workload("RTF, verified", flat, sizes.some, MATCHES, events, seed=seed, evaluated=0.1)
        )

    def _index(self, filled: Filled, point: Point, new: Workload) -> None:
        """Memory, compiling, snapshots, and at last the changes, after which it is not the same any more."""
        work, each = filled.work, point.bytes_each
        drawn = f"as {work.name}"
        if each is None:
            self._line("memory", work, point, _NOT_THERE, None, why=_NOT_THERE, drawn=drawn)
        else:
            self._line("memory", work, point, f"{each:,.0f} bytes", each <= _BYTES, drawn=drawn)
        compiled = f"{point.compiled:,.1f} s, {point.compiled / work.count * 1e6:,.0f} µs each"
        self._line("compile", work, point, compiled, point.compiled < _COMPILED, drawn=drawn)
        self._settings.tell(f"{work.name}: snapshots")
        kept = snapshot(filled, self._sizes.rounds)
        if kept is None:
            for key in ("open", "shared"):
                self._line(key, work, point, _NOT_THERE, None, why=_NOT_THERE, drawn=drawn)
        else:
            more = f"{kept.size / 1e6:,.1f} MB, written in {kept.saving:.1f} s; first answers {kept.first_answer:.2f} s"
            self._line("open", work, point, f"{kept.opening:.3f} s", kept.opening < _OPENED, drawn=drawn, more=more)
            self._shared(kept, work, point, drawn)
        self._settings.tell(f"{work.name}: changes")
        lived = live(filled, new.forms(), self._sizes.seconds)
        self._line(
            "live",
            work,
            point,
            f"{lived.rate:,.0f} changes a second, longest wait {lived.pause:.1f} ms",
            lived.rate >= _CHANGES and lived.pause <= _PAUSE,
            drawn=drawn,
            more=f"{lived.changes:,} changes, usually {lived.usual_change:.3f} ms, longest {lived.longest_change:.1f}; "
            f"{lived.matches:,} matches of one event, usually {lived.usual_match:.3f} ms, longest "
            f"{lived.longest_match:.1f}; {lived.merges} merges in the background; "
            f"{lived.probes} changes looked for in the next match, and seen",
        )

    def _shared(self, kept: Snapshot, work: Workload, point: Point, drawn: str) -> None:
        if kept.together is None:
            self._line("shared", work, point, "not told by this system", None, why="cannot be told", drawn=drawn)
            return
        copies = kept.together / kept.size
        self._line(
            "shared",
            work,
            point,
            f"{copies:.2f} copies",
            copies <= _COPIES,
            drawn=drawn,
            more=f"{kept.together / 1e6:,.1f} MB in both, {kept.size / 1e6:,.1f} MB the snapshot",
        )

    # -------------------------------------------------------------------------------------------------- other workloads

    def _ops(self) -> None:
        sizes = self._sizes
        rate = ops.published_rate(_OPS_CLASSES)
        made = ops.workload(_OPS_CLASSES, sizes.ops, rate, events=sizes.few_events, seed=self._settings.seed)
        queries = [(id, parse_text(text, "ops")) for id, text in made.subscriptions]
        drawn = f"classes and properties uniformly; {rate:.1%} are parts of what events of a kind have in common"
        filled = self._fill(
            Workload("OPS", drawn, sizes.ops, made.events, lambda: iter(queries), made.ontology, "no hierarchies")
        )
        point = self._point(filled, peer="ops")
        each = point.microseconds / 1000
        held = point.faster >= _TIMES_OPS and each < _MILLISECONDS_AN_OPS_EVENT
        self._line("ops", filled.work, point, f"{point.faster:,.0f} times, {each:.3f} ms an event", held)
        self._profile("ops", filled)

    def _gtopss(self) -> None:
        sizes = self._sizes
        parameters = gtopss.Parameters(subscriptions=sizes.gtopss, publications=sizes.few_events)
        made = gtopss.generate(parameters, self._settings.seed)
        forms = made.forms()
        drawn = (
            f"graphs of {parameters.subscription} with {parameters.labels} labels, drawn uniformly; "
            f"for each publication {parameters.ratio:.1%} are parts of it"
        )
        filled = self._fill(
            Workload("G-ToPSS", drawn, sizes.gtopss, tuple(made.events()), lambda: iter(forms), Ontology.empty())
        )
        point = self._point(filled, peer="gtopss")
        self._line("gtopss", filled.work, point, f"{point.faster:,.0f} times", point.faster >= _TIMES_GTOPSS)
        self._profile("gtopss", filled)

    def _text(self) -> None:
        sizes = self._sizes
        self._measure("text", text.workload("text", self._source, sizes.text, sizes.events, seed=self._settings.seed))

    def _nanopubs(self) -> None:
        sizes = self._sizes
        self._settings.tell("reading nanopublications")
        stream, origin = nanopubs.stream(sizes.months)
        self._measure(
            "nanopubs",
            nanopubs.workload(
                "nanopublications", stream, origin, sizes.some, MATCHES, sizes.events, seed=self._settings.seed
            ),
        )

    def _worst(self) -> None:
        for count in self._sizes.worst:
            filled = self._fill(joins.workload(f"joins, {count:,}", count, self._sizes.few_events))
            point = self._point(filled)
            self._found.worst.append(point)
        each = point.microseconds
        measured = f"{each / 1000:.2f} ms an event, {each / count * 1000:,.0f} ns a subscription, {point.ratio:,.0f} T"
        self._line("worst", filled.work, point, measured, None, why=REPORTED)

    # ------------------------------------------------------------------------------------------------------- measuring

    def _measure(self, key: str, work: Workload) -> None:
        filled = self._fill(work)
        self._in_parsings(key, filled, self._point(filled))

    def _fill(self, work: Workload) -> Filled:
        self._settings.tell(f"{work.name}: filling, and comparing with naive")
        return fill(self._engine, work, events=self._sizes.compared_events, subscriptions=self._sizes.compared)

    def _point(self, filled: Filled, peer: str | None = None) -> Point:
        work = filled.work
        self._settings.tell(f"{work.name}: matching {len(work.events):,} events, {work.count:,} subscriptions")
        calls: dict[str, Callable[[], object]] = {"ours": filled.answers, "parsing": partial(parse, filled.data)}
        if peer is not None:
            calls["peer"] = partial(_match_all, _peer(peer, work), work.events)
        times = interleaved(calls, self._sizes.rounds)
        point = Point(
            name=work.name,
            subscriptions=work.count,
            events=len(work.events),
            triples=filled.data.count(b"\n"),
            size=len(filled.data),
            matches=filled.answers(),
            ours=times["ours"],
            parsing=times["parsing"],
            making=filled.making,
            compiled=filled.compiled,
            compared=filled.compared,
            agreed=filled.agreed,
            bytes_each=filled.held(),
            counted=filled.counted("candidates", "asked"),
            peer=times.get("peer"),
        )
        self._found.points.append(point)
        return point

    def _in_parsings(self, key: str, filled: Filled, point: Point) -> None:
        most = ASKS[key].most
        assert most is not None
        measured = f"{point.ratio:.2f} T ({point.cpu_ratio:.2f} of processor time)"
        self._line(key, filled.work, point, measured, point.ratio <= most)
        self._profile(key, filled)

    def _line(
        self,
        key: str,
        work: Workload,
        point: Point,
        measured: str,
        held: bool | None,
        *,
        why: str = "",
        drawn: str = "",
        more: str = "",
    ) -> None:
        if held is not None and not self._sizes.full:
            held, why = None, _SMALLER
        self._found.lines[key] = Line(
            ask=ASKS[key],
            point=point,
            measured=measured,
            held=held,
            drawn=drawn or work.drawn,
            hierarchy=work.hierarchy,
            why=why,
            more=more,
        )

    def _profile(self, key: str, filled: Filled) -> None:
        """Where a line is missed, it is to be seen why."""
        if self._found.lines[key].held is False:
            self._found.profiles.append((filled.work.name, profile(filled.answers)))


def _peer(name: str, work: Workload) -> Engine:
    engine = create(name, work.ontology)
    for id, query in work.forms():
        engine.add(id, query)
    return engine


def _match_all(engine: Engine, events: Sequence[Event]) -> int:
    return sum(len(engine.match(event, refuse)) for event in events)
