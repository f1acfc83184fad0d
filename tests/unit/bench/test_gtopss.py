"""The G-ToPSS workload, that all matchers agree on it, and the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import IN_SOAK

from tidings.bench import gtopss
from tidings.bench.gtopss_claims import Found, claims
from tidings.bench.measure import fill, refuse
from tidings.bench.report import keep
from tidings.bench.settings import Settings
from tidings.bench.workloads.gtopss import Parameters, Subscription, generate
from tidings.lang import Query, parse, to_text
from tidings.lang.pattern import Var
from tidings.match.base import Engine, Solution
from tidings.match.registry import create
from tidings.ontology import Ontology
from tidings.rdf.event import Event

SMALL = Parameters(subscriptions=400, ratio=0.05)
WORK = generate(SMALL, 3)
NOTHING = Ontology.of([])

TINY = replace(
    gtopss.QUICK,
    many=(1_000, 2_000),
    most=200,
    overlaps=(0.0, 1.0),
    subscriptions=((4, 4), (5, 8), (8, 8)),
    ratios=(0.01, 0.1),
    fewer=100,
    stars=(0, 3),
    labels=(10, 1_000),
    rivals=(20,),
    rounds=1,
)


def vertices(subscription: Subscription) -> set[object]:
    return {node for edge in subscription.edges for node in (edge.s, edge.o)}


def answers(
    engine: Engine, forms: list[tuple[str, Query]], events: list[Event]
) -> list[dict[str, tuple[Solution, ...]]]:
    fill(engine, forms)
    return [{match.subscription: match.bindings for match in engine.match(event, refuse)} for event in events]


# ------------------------------------------------------------------------------------------------------------- workload


def test_publications_have_the_size_of_table_1() -> None:
    assert len(WORK.publications) == SMALL.publications
    for triples in WORK.publications:
        assert len(set(triples)) == 90
        assert len({node for s, _, o in triples for node in (s, o)}) == 35
        assert all(s != o for s, _, o in triples)


@pytest.mark.parametrize("size", [(4, 4), (5, 8), (7, 8), (10, 16)])
def test_subscriptions_have_the_size_asked_for(size: tuple[int, int]) -> None:
    for subscription in generate(replace(SMALL, subscriptions=60, subscription=size), 5).subscriptions:
        assert len(set(subscription.edges)) == size[1]
        assert len(vertices(subscription)) == size[0]


def test_stars() -> None:
    counts = Counter(sum(isinstance(v, Var) for v in vertices(each)) for each in WORK.subscriptions)
    assert set(counts) == {0, 2}
    assert 0.85 < counts[2] / len(WORK.subscriptions) < 0.95


def test_as_many_are_taken_from_each_publication_as_asked_for() -> None:
    taken = Counter(each.matches for each in WORK.subscriptions)
    assert [taken[number] for number in range(SMALL.publications)] == [20, 20, 20]
    for each in WORK.subscriptions:
        if each.matches is not None:
            labels = {label for _, label, _ in WORK.publications[each.matches]}
            assert all(edge.p in labels for edge in each.edges)


def test_overlap_is_sharing_of_edges() -> None:
    edges = []
    for overlap in (0.0, 0.5, 1.0):
        engine = create("gtopss", NOTHING)
        fill(engine, generate(replace(SMALL, overlap=overlap), 3).forms())
        edges.append(engine.stats()["gm_edges"])
    assert edges[0] > 1.7 * edges[1] > 3 * edges[2]


def test_the_same_seed_gives_the_same_workload() -> None:
    assert generate(SMALL, 3) == WORK
    assert generate(SMALL, 4) != WORK


def test_the_forms_are_those_of_their_texts() -> None:
    for forms in (WORK.forms(), WORK.ops_forms(), WORK.ops_forms(names=False)):
        for _, form in forms[:40]:
            assert parse(to_text(form), form.dialect) == form


# ------------------------------------------------------------------------------------------------------------ agreement


@pytest.mark.parametrize("parameters", [SMALL, replace(SMALL, labels=5), replace(SMALL, stars=5, labels=20)])
def test_gtopss_and_ops_answer_as_naive_does(parameters: Parameters) -> None:
    work = generate(replace(parameters, subscriptions=200), 7)
    found = answers(create("gtopss", NOTHING), work.forms(), work.events())
    assert found == answers(create("naive", NOTHING), work.forms(), work.events())
    for number, matched in enumerate(found):
        assert {each.id for each in work.subscriptions if each.matches == number} <= set(matched)
    as_ops = answers(create("ops", NOTHING), work.ops_forms(), work.ops_events())
    assert as_ops == answers(create("naive", NOTHING), work.ops_forms(), work.ops_events())
    assert [set(matched) for matched in as_ops] == [set(matched) for matched in found]


def test_without_names_and_one_at_a_time() -> None:
    work = generate(replace(SMALL, subscriptions=40), 7)
    expected = [set(each) for each in answers(create("gtopss", NOTHING), work.forms(), work.events())]
    events, nameless = work.ops_events(), work.ops_forms(names=False)
    apart = gtopss.OneAtATime()
    assert [set(each) for each in answers(apart, work.ops_forms(), events)] == expected
    without = answers(create("ops", NOTHING), nameless, events)
    assert without == answers(create("naive", NOTHING), nameless, events)
    assert all(named <= set(each) for named, each in zip(expected, without, strict=True))
    assert len(apart) == 40
    apart.remove("s0")
    assert len(apart) == 39


def test_constraints_hold_where_a_subscription_is_to_match() -> None:
    work = generate(replace(SMALL, isa=True), 3)
    found = answers(create("gtopss", work.ontology), work.forms(), work.events())
    assert found == answers(create("naive", work.ontology), work.forms(), work.events())
    for number, matched in enumerate(found):
        assert {each.id for each in work.subscriptions if each.matches == number} <= set(matched)


# --------------------------------------------------------------------------------------------------------------- report


@pytest.fixture(scope="module")
def measured() -> Found:
    return gtopss.measured(TINY, Settings())


@IN_SOAK
def test_a_tiny_run_gives_everything(measured: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gtopss, "measured", lambda sizes, settings: measured)
    report = gtopss.at_sizes(TINY, Settings())
    assert len(report.figures) == 11
    assert all(curve.xs and len(curve.xs) == len(curve.ys) for figure in report.figures for curve in figure.curves)
    assert all(table.rows for table in report.tables)
    assert len(report.claims) == 12
    _, page = keep(report, tmp_path)
    assert "(5, 35)" in page.read_text(encoding="utf-8")


@IN_SOAK
def test_counters_decide_what_they_can(measured: Found) -> None:
    told = {claim.text: claim.holds for claim in claims(measured)}
    assert told["memory falls as subscriptions overlap more"]
    assert told["memory grows linearly with the number of subscriptions"]
    assert told[next(text for text in told if "square of the stars" in text)]


@IN_SOAK
def test_all_rivals_find_the_same(measured: Found) -> None:
    assert {rival.name for rival in measured.rivals} == {
        "gtopss",
        "naive",
        "ops",
        "naive, OPS form",
        "ops, no names",
        "naive, OPS form, no names",
        "ops, one at a time",
    }
    assert not any(rival.fewer for rival in measured.rivals)
    assert not any(rival.more for rival in measured.rivals if "no names" not in rival.name)
