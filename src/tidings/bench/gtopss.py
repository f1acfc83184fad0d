"""The experiments of the G-ToPSS paper (section 5, table 1, figure 9), and what table 1 leaves open: the number of
stars and of labels. `workloads.gtopss` says how subscriptions and publications are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tidings.bench.gtopss_claims import Found, Point, Rival, claims
from tidings.bench.gtopss_report import figures, tables
from tidings.bench.measure import fill, measure, refuse
from tidings.bench.report import Report, Row
from tidings.bench.settings import Settings
from tidings.bench.workloads.gtopss import Parameters, Size, Workload, generate
from tidings.lang.pattern import Query
from tidings.match.base import Engine, Match
from tidings.match.base import Report as Failures
from tidings.match.registry import create
from tidings.ontology import Ontology
from tidings.rdf.event import Event


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is varied. `most` subscriptions where their number is not, `fewer` where that is enough to tell; `ops`,
    `nameless` and `apart` are the most that OPS gets, with names, without, and one at a time."""

    many: tuple[int, ...]
    most: int
    overlaps: tuple[float, ...]
    subscriptions: tuple[Size, ...]
    ratios: tuple[float, ...]
    fewer: int
    stars: tuple[int, ...]
    labels: tuple[int, ...]
    isa_ratio: float
    rivals: tuple[int, ...]
    ops: int
    nameless: int
    apart: int
    rounds: int


FULL = Sizes(
    many=(5_000, 10_000, 15_000, 20_000, 25_000, 30_000),
    most=30_000,
    overlaps=(0.0, 0.25, 0.5, 0.75, 1.0),
    subscriptions=((4, 4), (5, 8), (6, 8), (7, 8), (8, 8), (8, 12), (10, 16)),
    ratios=(0.001, 0.025, 0.05, 0.075, 0.1),
    fewer=10_000,
    stars=(0, 1, 2, 3, 4, 5),
    labels=(10, 100, 1_000, 10_000, 100_000),
    isa_ratio=0.02,
    rivals=(100, 300, 1_000, 3_000, 10_000, 30_000),
    ops=10_000,
    nameless=1_000,
    apart=1_000,
    rounds=5,
)
QUICK = Sizes(
    many=(1_000, 2_000, 3_000),
    most=2_000,
    overlaps=(0.0, 0.5, 1.0),
    subscriptions=((4, 4), (5, 8), (8, 8), (8, 12)),
    ratios=(0.001, 0.02, 0.05, 0.1),
    fewer=1_000,
    stars=(0, 2, 5),
    labels=(10, 100, 10_000),
    isa_ratio=0.02,
    rivals=(30, 100, 300, 1_000, 3_000),
    ops=1_000,
    nameless=100,
    apart=100,
    rounds=3,
)

_NO_ONTOLOGY = Ontology.of([])


def run(settings: Settings) -> Report:
    return at_sizes(QUICK if settings.quick else FULL, settings)


def at_sizes(sizes: Sizes, settings: Settings) -> Report:
    found = measured(sizes, settings)
    default = Parameters()
    described: Row = {
        "publication": f"{default.publication}",
        "subscription": f"{default.subscription}",
        "subscriptions": sizes.most,
        "matching": f"{default.ratio:.1%} a publication",
        "stars": f"{default.stars} in {default.starred:.0%}",
        "overlap": f"{default.overlap:.0%}",
        "labels": default.labels,
        "publications": default.publications,
        "seed": settings.seed,
    }
    question = "what do the time and the memory of G-ToPSS depend on, and how do OPS and naive compare?"
    return Report("gtopss", question, described, tables(found), figures(found), claims(found))


def measured(sizes: Sizes, settings: Settings) -> Found:
    default = Parameters(subscriptions=sizes.most)
    smaller = Parameters(subscriptions=sizes.fewer)
    bench = _Bench(sizes, settings)
    return Found(
        many=tuple(bench.both(replace(default, subscriptions=count)) for count in sizes.many),
        overlaps=tuple(bench.point(replace(default, overlap=overlap)) for overlap in sizes.overlaps),
        sizes=tuple(bench.point(replace(smaller, subscription=size)) for size in sizes.subscriptions),
        ratios=tuple(bench.both(replace(default, ratio=ratio)) for ratio in sizes.ratios),
        stars=tuple(bench.point(replace(smaller, stars=stars)) for stars in sizes.stars),
        labels=tuple(bench.both(replace(smaller, labels=labels)) for labels in sizes.labels),
        taxonomy=tuple(bench.taxonomy(replace(smaller, ratio=sizes.isa_ratio))),
        rivals=tuple(rival for count in sizes.rivals for rival in bench.rivals(replace(default, subscriptions=count))),
    )


class _Bench:
    """Workloads, one after the other; none is kept."""

    def __init__(self, sizes: Sizes, settings: Settings) -> None:
        self._sizes = sizes
        self._settings = settings

    def point(self, parameters: Parameters) -> Point:
        return self._point(parameters, published=False)

    def both(self, parameters: Parameters) -> Point:
        """As it is, and as published."""
        return self._point(parameters, published=True)

    def _point(self, parameters: Parameters, *, published: bool) -> Point:
        work = self._generate(parameters)
        forms, events = work.forms(), work.events()
        engine = create("gtopss", _NO_ONTOLOGY)
        added = fill(engine, forms)
        ours = measure(engine, events, rounds=self._sizes.rounds)
        del engine
        if not published:
            return Point(parameters, added, ours)
        engine = create("gtopss", _NO_ONTOLOGY, published=True)
        fill(engine, forms)
        return Point(parameters, added, ours, measure(engine, events, rounds=self._sizes.rounds))

    def taxonomy(self, parameters: Parameters) -> Iterator[tuple[str, Point]]:
        """Without constraints; with a taxonomy, which only adds types to the events; with constraints on all stars."""
        plain, constrained = self._generate(parameters), self._generate(replace(parameters, isa=True))
        for label, work, ontology in (
            ("no taxonomy", plain, _NO_ONTOLOGY),
            ("taxonomy, no constraints", plain, constrained.ontology),
            ("taxonomy, each star constrained", constrained, constrained.ontology),
        ):
            engine = create("gtopss", ontology)
            added = fill(engine, work.forms())
            yield label, Point(parameters, added, measure(engine, work.events(), rounds=self._sizes.rounds))

    def rivals(self, parameters: Parameters) -> Iterator[Rival]:
        """All matchers on one workload, and whether they find what gtopss finds."""
        sizes, count = self._sizes, parameters.subscriptions
        work = self._generate(parameters)
        plain, events = work.forms(), work.events()
        gtopss = self._filled("gtopss", plain)
        expected = _matched(gtopss, events)
        yield self._rival("gtopss", count, gtopss, events, expected, sizes.rounds)
        yield self._rival("naive", count, self._filled("naive", plain), events, expected)
        homes = work.ops_events()
        if count <= sizes.ops:
            named = work.ops_forms()
            yield self._rival("ops", count, self._filled("ops", named), homes, expected)
            yield self._rival("naive, OPS form", count, self._filled("naive", named), homes, expected)
        if count <= sizes.nameless:
            nameless = work.ops_forms(names=False)
            yield self._rival("ops, no names", count, self._filled("ops", nameless), homes, expected)
            yield self._rival("naive, OPS form, no names", count, self._filled("naive", nameless), homes, expected)
        if count <= sizes.apart:
            yield self._rival("ops, one at a time", count, _filled(OneAtATime(), work.ops_forms()), homes, expected)

    def _rival(
        self,
        name: str,
        count: int,
        engine: Engine,
        events: Sequence[Event],
        expected: Mapping[str, set[str]],
        rounds: int = 1,
    ) -> Rival:
        self._settings.tell(f"{name}: {count:,} subscriptions")
        matched = _matched(engine, events)
        found = measure(engine, events, warm_up=0, rounds=rounds)
        more = sum(len(ids - expected[event]) for event, ids in matched.items())
        fewer = sum(len(expected[event] - ids) for event, ids in matched.items())
        return Rival(name, count, found, more, fewer)

    def _filled(self, name: str, forms: Sequence[tuple[str, Query]]) -> Engine:
        return _filled(create(name, _NO_ONTOLOGY), forms)

    def _generate(self, p: Parameters) -> Workload:
        self._settings.tell(
            f"{p.subscriptions:,} subscriptions of {p.subscription}, {p.ratio:.1%} matching, "
            f"{p.overlap:.0%} overlap, {p.stars} stars, {p.labels:,} labels"
        )
        return generate(p, self._settings.seed)


def _filled(engine: Engine, forms: Sequence[tuple[str, Query]]) -> Engine:
    fill(engine, forms)
    return engine


def _matched(engine: Engine, events: Sequence[Event]) -> dict[str, set[str]]:
    return {event.id: {match.subscription for match in engine.match(event, refuse)} for event in events}


class OneAtATime:
    """OPS without what subscriptions share: a matcher for each. What a naive matcher with its algorithm would do."""

    name = "ops, one at a time"

    def __init__(self) -> None:
        self._engines: dict[str, Engine] = {}

    def __len__(self) -> int:
        return len(self._engines)

    def __contains__(self, id: object) -> bool:
        return id in self._engines

    def add(self, id: str, query: Query) -> None:
        self._engines[id] = create("ops", _NO_ONTOLOGY)
        self._engines[id].add(id, query)

    def remove(self, id: str) -> None:
        del self._engines[id]

    def match(self, event: Event, report: Failures) -> list[Match]:
        return [match for id in sorted(self._engines) for match in self._engines[id].match(event, report)]

    def stats(self) -> Mapping[str, int | float]:
        counts: dict[str, int | float] = {}
        for engine in self._engines.values():
            for name, value in engine.stats().items():
                counts[name] = counts.get(name, 0) + value
        return counts
