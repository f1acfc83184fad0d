"""The experiments of the OPS paper (section 6, figure 8): how the time and the trees grow with subscriptions, classes
and the matching rate, and how decomposition compares. `workloads.ops` says how subscriptions and events are made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tidings.bench.measure import Measured, fill, measure
from tidings.bench.ops_claims import BOUND, Comparison, Found, Point, claims
from tidings.bench.report import Curve, Figure, Report, Row, Table
from tidings.bench.settings import Settings
from tidings.bench.workloads.ops import PROPERTIES, Workload, published_rate, workload
from tidings.lang import Query, parse
from tidings.match.base import Failure
from tidings.match.registry import create

CLASSES = 10
"""Where it is not varied."""
NAIVE_EVENTS = 3
ROUNDS = 3
DECOMPOSITION_BUDGET = 1_000_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """`many`, `classes` and `rates` are varied, the latter two at `subscriptions`. Decomposition gets `few`, of several
    `sets`, until it has taken `patience` seconds."""

    many: tuple[int, ...]
    classes: tuple[int, ...]
    rates: tuple[float, ...]
    subscriptions: int
    few: tuple[int, ...]
    sets: int
    events: int
    patience: float


FULL = Sizes(
    many=(500, *range(1_000, 10_001, 1_000)),
    classes=(2, 3, *range(4, 21, 2)),
    rates=(0.013, 0.03, 0.06, 0.12, 0.18, 0.238),
    subscriptions=1_000,
    few=(1, 5, 10, 15, 20),
    sets=5,
    events=20,
    patience=60.0,
)
QUICK = Sizes(
    many=(500, 1_000, 2_000),
    classes=(2, 4, 10, 20),
    rates=(0.013, 0.06, 0.238),
    subscriptions=500,
    few=(1, 10, 20),
    sets=5,
    events=8,
    patience=6.0,
)

Queries: TypeAlias = list[tuple[str, Query]]


def run(settings: Settings) -> Report:
    return at_sizes(QUICK if settings.quick else FULL, settings)


def at_sizes(sizes: Sizes, settings: Settings) -> Report:
    found = Found(
        tuple(_by_subscriptions(sizes, settings)),
        tuple(_alone(classes, published_rate(classes), sizes, settings) for classes in sizes.classes),
        tuple(_alone(CLASSES, rate, sizes, settings) for rate in sizes.rates),
        tuple(_few(sizes, settings)),
    )
    independent = tuple(_alone(classes, 0.0, sizes, settings) for classes in _spread(sizes.classes))
    described: Row = {
        "properties": PROPERTIES,
        "subscription": "10 vertices, 11 arcs",
        "event": "50 vertices, 55 arcs",
        "events": sizes.events,
        "seed": settings.seed,
    }
    question = "how do the time and the matching trees of OPS grow, and how does decomposition compare?"
    return Report("ops", question, described, _tables(found, independent), tuple(_figures(found)), claims(found))


# ----------------------------------------------------------------------------------------------------------- measuring


def _by_subscriptions(sizes: Sizes, settings: Settings) -> Iterator[Point]:
    work = _made(CLASSES, sizes.many[-1], published_rate(CLASSES), sizes, settings)
    queries = _parsed(work)
    engines = [
        create("ops", work.ontology),
        create("ops", work.ontology, published=True),
        create("naive", work.ontology),
    ]
    filled = 0
    for size in sizes.many:
        settings.tell(f"C={CLASSES}, {size:,} subscriptions: ops, as it is and as published, and naive")
        for engine in engines:
            fill(engine, queries[filled:size])
        filled = size
        ops, published = (measure(engine, work.events, rounds=ROUNDS) for engine in engines[:2])
        naive = measure(engines[2], work.events[:NAIVE_EVENTS], rounds=ROUNDS)
        yield Point(CLASSES, size, published_rate(CLASSES), ops, published, naive)


def _alone(classes: int, rate: float, sizes: Sizes, settings: Settings) -> Point:
    """One workload by itself."""
    size = sizes.subscriptions
    work = _made(classes, size, rate, sizes, settings)
    queries = _parsed(work)
    settings.tell(f"C={classes}, {size:,} subscriptions, matching rate {rate:.1%}")
    results = []
    for published in (False, True):
        engine = create("ops", work.ontology, published=published)
        fill(engine, queries)
        results.append(measure(engine, work.events, rounds=ROUNDS))
    return Point(classes, size, rate, *results)


def _few(sizes: Sizes, settings: Settings) -> Iterator[Comparison]:
    """A few subscriptions, as the mean of several sets of them."""
    most = sizes.few[-1]
    work = _made(CLASSES, most * sizes.sets, published_rate(CLASSES), sizes, settings)
    queries = _parsed(work)
    begun = time.perf_counter()
    for size in sizes.few:
        settings.tell(f"C={CLASSES}, {size} subscriptions, {sizes.sets} times: ops and decomposition")
        sets = [queries[start : start + size] for start in range(0, len(queries), most)]
        yield Comparison(
            size,
            _mean([_one(work, some, "ops") for some in sets]),
            _mean([_one(work, some, "decomposition") for some in sets]),
            _mean([_one(work, some, "decomposition", published=True, budget=DECOMPOSITION_BUDGET) for some in sets]),
        )
        if time.perf_counter() - begun > sizes.patience:
            return


def _one(work: Workload, queries: Queries, name: str, **options: bool | int) -> Measured:
    engine = create(name, work.ontology, **options)
    fill(engine, queries)
    return measure(engine, work.events, rounds=ROUNDS, report=_ignore)


def _ignore(failure: Failure) -> None:
    """What exceeds the budget is counted."""


def _mean(results: Sequence[Measured]) -> Measured:
    count = len(results)
    return Measured(
        events=sum(result.events for result in results),
        milliseconds=sum(result.milliseconds for result in results) / count,
        fastest=min(result.fastest for result in results),
        slowest=max(result.slowest for result in results),
        matches=sum(result.matches for result in results) / count,
        counted={name: sum(result.counted[name] for result in results) / count for name in results[0].counted},
        held={name: sum(result.held[name] for result in results) / count for name in results[0].held},
    )


def _made(classes: int, subscriptions: int, rate: float, sizes: Sizes, settings: Settings) -> Workload:
    settings.tell(f"making {subscriptions:,} subscriptions, C={classes}")
    return workload(classes, subscriptions, rate, events=sizes.events, seed=settings.seed)


def _parsed(work: Workload) -> Queries:
    return [(id, parse(text, "ops")) for id, text in work.subscriptions]


def _spread(values: Sequence[int]) -> tuple[int, ...]:
    """The first, a middle and the last."""
    return tuple(dict.fromkeys((values[0], values[len(values) // 2], values[-1])))


# -------------------------------------------------------------------------------------------------------------- tables


def _tables(found: Found, independent: Sequence[Point]) -> tuple[Table, ...]:
    at = f"{found.by_classes[0].subscriptions:,} subscriptions"
    return (
        Table(
            f"Subscriptions varied, C={CLASSES}",
            tuple({"subscriptions": point.subscriptions, **_row(point)} for point in found.by_subscriptions),
            f"matches, ms (the fastest of {ROUNDS} rounds), work and cost are those of an event. nodes: of a matching "
            "tree, on average over all subscriptions. work: comparisons, matches told, patterns derived. cost: "
            "TS × D × W × SP. published: the paper's own traversal, the part of the matches that it misses, its nodes. "
            f"naive: on {NAIVE_EVENTS} events. The paper: 1,200 ms at 10,000, about 5 nodes, a rate of about 3 %.",
        ),
        Table(
            f"Classes varied, and the matching rate with them, {at}",
            tuple({"classes": point.classes, **_row(point)} for point in found.by_classes),
            "The rate asked for is a power law through the paper's 23.8 % at 2 classes and 1.3 % at 20; it is brought "
            "about by subscriptions that are parts of events. The paper: 2,500 ms at 2, about 50 ms at 20.",
        ),
        Table(
            f"The matching rate alone varied, C={CLASSES}, {at}",
            tuple({"asked for": f"{point.asked:.1%}", **_row(point)} for point in found.by_rate),
        ),
        Table(
            f"Everything drawn independently, {at}",
            tuple({"classes": point.classes, **_row(point)} for point in independent),
            "Why the rate has to be brought about: drawn without regard to events, such subscriptions match none.",
        ),
        Table(
            f"A few subscriptions, and decomposition, C={CLASSES}",
            tuple(map(_comparison, found.few)),
            "decomposition: every part is connected, and instances are joined along an arc. published: what a known "
            "part leaves of a pattern stays one part, and every pair of instances is tried; given up: subscriptions "
            f"that take more than {DECOMPOSITION_BUDGET:,} steps. How slow that is depends on where patterns are cut, "
            "which the paper does not say: here at random; with connected halves, several times faster. The paper: "
            "500 ms, and 1 ms with OPS, at 20.",
        ),
    )


def _row(point: Point) -> Row:
    row: Row = {
        "matches": point.ops.matches,
        "rate": f"{point.rate:.2%}",
        "ops ms": point.ops.milliseconds,
        "slowest": point.ops.slowest,
        "nodes": point.nodes,
        "work": point.work,
        "cost": point.cost,
        "kB held": point.ops.held["bytes_held"] / 1000,
        "published ms": point.published.milliseconds,
        "misses": f"{point.missed:.1%}",
        "its nodes": point.published_nodes,
    }
    if point.naive:
        row["naive ms"] = point.naive.milliseconds
    return row


def _comparison(point: Comparison) -> Row:
    return {
        "subscriptions": point.subscriptions,
        "matches": point.ops.matches,
        "ops ms": point.ops.milliseconds,
        "decomposition ms": point.decomposition.milliseconds,
        "pairs": point.decomposition.counted["pairs"],
        "published ms": point.published.milliseconds,
        "slowest": point.published.slowest,
        "its pairs": point.published.counted["pairs"],
        "its instances": point.published.counted["instances"],
        "given up": point.published.counted["failures"],
    }


# ------------------------------------------------------------------------------------------------------------- figures


def _figures(found: Found) -> Iterator[Figure]:
    many, classes, rates, few = found.by_subscriptions, found.by_classes, found.by_rate, found.few
    yield Figure(
        "ops-a-subscriptions",
        f"Matching time and subscriptions (C={CLASSES}, figure 8a)",
        "subscriptions",
        "ms an event",
        (
            _curve("ops", many, _size, _ms),
            _curve("ops, as published", many, _size, lambda point: point.published.milliseconds),
            _curve("naive", many, _size, lambda point: point.naive.milliseconds if point.naive else 0.0),
            Curve("ops, Java on a Pentium IV", (BOUND[0],), (BOUND[1],), paper=True),
        ),
    )
    yield Figure(
        "ops-b-decomposition",
        f"OPS and decomposition (C={CLASSES}, figure 8b)",
        "subscriptions",
        "ms an event",
        (
            Curve("decomposition, as published", *_both(few, lambda point: point.published.milliseconds)),
            Curve("decomposition, connected parts", *_both(few, lambda point: point.decomposition.milliseconds)),
            Curve("ops", *_both(few, lambda point: point.ops.milliseconds)),
            Curve("decomposition, 500 ms", (20,), (500,), paper=True),
            Curve("ops, 1 ms", (20,), (1,), paper=True),
        ),
        log_y=True,
    )
    at = f"S={classes[0].subscriptions:,}"
    yield Figure(
        "ops-c-classes",
        f"Matching time and classes ({at}, figure 8c)",
        "classes",
        "ms an event",
        (
            _curve("ops", classes, lambda point: point.classes, _ms),
            Curve("ops, its two ends", (2, 20), (2500, 50), paper=True),
        ),
        log_y=True,
    )
    yield Figure(
        "ops-d-rate",
        f"Matching time and matching rate ({at}, figure 8d)",
        "matching rate, %",
        "ms an event",
        (
            _curve("ops, by the number of classes", classes, _percent, _ms),
            _curve(f"ops, C={CLASSES}", rates, _percent, _ms),
        ),
    )
    yield Figure(
        "ops-e-nodes",
        f"Nodes a matching tree and subscriptions (C={CLASSES}, figure 8e)",
        "subscriptions",
        "nodes a tree",
        (
            _curve("ops", many, _size, lambda point: point.nodes),
            Curve("ops, around 5", (500, 10_000), (5, 5), paper=True),
        ),
    )
    yield Figure(
        "ops-f-nodes-rate",
        f"Nodes a matching tree and matching rate ({at}, figure 8f)",
        "matching rate, %",
        "nodes a tree",
        (
            _curve("ops, by the number of classes", classes, _percent, lambda point: point.nodes),
            _curve(f"ops, C={CLASSES}", rates, _percent, lambda point: point.nodes),
        ),
    )


def _curve(label: str, points: Sequence[Point], x: Callable[[Point], float], y: Callable[[Point], float]) -> Curve:
    return Curve(label, tuple(map(x, points)), tuple(map(y, points)))


def _both(few: Sequence[Comparison], y: Callable[[Comparison], float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(point.subscriptions for point in few), tuple(map(y, few))


def _size(point: Point) -> float:
    return point.subscriptions


def _ms(point: Point) -> float:
    return point.ops.milliseconds


def _percent(point: Point) -> float:
    return point.rate * 100
