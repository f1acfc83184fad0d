"""The EventCloud workload, and how its paper's claims are judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tidings.bench.eventcloud_claims import Found, Trend, claims
from tidings.bench.eventcloud_report import figures, tables
from tidings.bench.eventcloud_store import Stored
from tidings.bench.eventcloud_ways import CHAINED, ONE_STEP, SHARDED, WAYS, Point, Taken
from tidings.bench.eventcloud_world import World
from tidings.bench.measure import fill, refuse
from tidings.bench.workloads.eventcloud import Parameters, generate, quads_of
from tidings.match.registry import create
from tidings.ontology import Ontology
from tidings.rdf.event import to_nquads

# ------------------------------------------------------------------------------------------------------------- workload


@pytest.mark.parametrize("subscriptions", [1, 7, 60])
def test_each_event_matches_one_subscription_and_each_of_these_as_many(subscriptions: int) -> None:
    work = generate(Parameters(120, subscriptions), 1)
    naive = create("naive", Ontology.empty())
    fill(naive, work.forms())
    found = [[match.subscription for match in naive.match(event, refuse)] for event in work.events]
    assert all(len(matched) == 1 for matched in found)
    counts = Counter(matched[0] for matched in found)
    assert len(counts) == subscriptions
    assert max(counts.values()) - min(counts.values()) <= 1


def test_all_are_accepted_with_a_solution_for_every_quad() -> None:
    work = generate(Parameters(5, 0), 1)
    naive = create("naive", Ontology.empty())
    fill(naive, work.forms())
    for event in work.events:
        [match] = naive.match(event, refuse)
        assert len(match.bindings) == 5


def test_events_have_the_size_of_the_paper() -> None:
    for event in generate(Parameters(3_000, 60), 1).events:
        assert len(event.triples()) == 5
        assert 640 <= len(to_nquads(event)) <= 700
    assert len(generate(Parameters(1, quads=25), 1).events[0].triples()) == 25


def test_quad_by_quad_it_is_the_same() -> None:
    work = generate(Parameters(30, 3), 1)
    parts = quads_of(work.events, 1)
    assert len(parts) == 150
    assert all(part.body.count("\n") == 1 for part in parts)
    assert [part.id for part in parts] != sorted(part.id for part in parts)
    for event in work.events:
        assert "".join(sorted(part.body for part in parts if part.id == event.id)) == event.body


def test_the_same_seed_gives_the_same_workload() -> None:
    assert generate(Parameters(30, 3), 1) == generate(Parameters(30, 3), 1)
    assert generate(Parameters(30, 3), 1) != generate(Parameters(30, 3), 2)


def test_a_world_knows_what_is_to_be_found(tmp_path: Path) -> None:
    world = World.of(Parameters(12, 4), tmp_path, 1)
    assert len(world.pairs) == 12
    assert world.sharded(2) == world.sharded(2)


# --------------------------------------------------------------------------------------------------------------- claims


def taken(rate: float, *, told: int = 3_000, moved: int = 1_000, noise: float = 0.01, rounds: int = 3) -> Taken:
    seconds = told / rate
    spread = (seconds * (1 - noise), seconds, seconds * (1 + noise))
    return Taken(spread if rounds > 1 else (seconds,), 2, moved, told)


def point(one: float, sharded: float, chained: float, **more: int) -> Point:
    executors, events = more.get("executors", 4), more.get("events", 3_000)
    rates = {ONE_STEP: one, SHARDED: sharded, CHAINED: chained}
    ways = {way: taken(rates[way], told=events) for way in WAYS}
    return Point(executors, Parameters(events, more.get("subscriptions", 1)), ways, more.get("complete"))


def stored(whole: Taken, quads: Taken) -> Stored:
    return Stored(Parameters(3_000, quads=25), {ONE_STEP: whole, CHAINED: quads})


AS_IN_THE_PAPER = Found(
    cores=4,
    executors=(point(600, 543, 100, executors=1), point(900, 800, 140, executors=4)),
    events=(point(900, 800, 140), point(1_500, 1_200, 60, events=30_000)),
    subscriptions=(
        point(900, 800, 92),
        point(700, 600, 95, subscriptions=30),
        point(500, 400, 90, subscriptions=60),
    ),
    accept_all=(
        point(500, 500, 100, executors=1, subscriptions=0, complete=15_000),
        point(1_500, 900, 110, executors=4, subscriptions=0, complete=15_000),
    ),
    stored=(stored(taken(100, moved=9_000), taken(400, moved=2_000)),),
)


def told(found: Found) -> list[bool | None]:
    return [claim.holds for claim in claims(found)]


def test_what_the_paper_found_would_hold() -> None:
    assert told(AS_IN_THE_PAPER) == [True] * 9
    assert all("asked for" in claim.text or "counted" in claim.text for claim in claims(AS_IN_THE_PAPER))


def test_the_opposite_would_not() -> None:
    first, last = AS_IN_THE_PAPER.events
    found = Found(
        cores=4,
        executors=(point(600, 90, 100, executors=1), point(900, 800, 140, executors=4)),
        events=(replace(last, parameters=Parameters(3_000)), replace(first, parameters=Parameters(30_000))),
        subscriptions=(point(900, 800, 92), point(900, 810, 300, subscriptions=60)),
        accept_all=(
            point(500, 500, 100, executors=1, subscriptions=0),
            point(500, 900, 110, executors=4, subscriptions=0, complete=3_000),
        ),
        stored=(stored(taken(400, moved=2_000), taken(100, moved=9_000)),),
    )
    assert told(found) == [False] * 9


def test_what_is_within_the_noise_cannot_be_told() -> None:
    loud = {way: taken(rate, noise=0.5) for way, rate in ((ONE_STEP, 900.0), (SHARDED, 1_100.0), (CHAINED, 100.0))}
    found = replace(AS_IN_THE_PAPER, events=(AS_IN_THE_PAPER.events[0], Point(4, Parameters(30_000), loud)))
    assert told(found)[1:3] == [None, None]


def test_one_round_tells_no_trend() -> None:
    trend = Trend.of([Point(1, Parameters(1), {CHAINED: taken(rate, rounds=1)}) for rate in (100.0, 900.0)], CHAINED)
    assert (trend.grows, trend.falls, trend.flat) == (None, None, None)
    assert trend.factor == pytest.approx(9)


def test_executors_without_a_core_are_not_judged() -> None:
    alone = claims(replace(AS_IN_THE_PAPER, cores=1))[6]
    assert (alone.holds, alone.text) == (None, claims(AS_IN_THE_PAPER)[6].text)
    assert "this machine has 1 cores" in tables(replace(AS_IN_THE_PAPER, cores=1))[0].note
    assert "this machine has" not in tables(AS_IN_THE_PAPER)[0].note


def test_tables_and_figures() -> None:
    assert [len(table.rows) for table in tables(AS_IN_THE_PAPER)] == [6, 6, 9, 6, 2]
    drawn = figures(AS_IN_THE_PAPER)
    assert [figure.name for figure in drawn if not figure.name.endswith("moved")] == [
        f"eventcloud-2{letter}" for letter in "abcde"
    ]
    papers = [curve for figure in drawn for curve in figure.curves if curve.paper]
    assert papers[0].ys == pytest.approx((543, 760.2))
    assert set(papers[1].ys) == {92}
