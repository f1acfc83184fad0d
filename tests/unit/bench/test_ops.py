"""The OPS benchmark: its workload has the paper's sizes and the rate asked for, its report every claim."""

from __future__ import annotations

import pytest
from tests.support import IN_SOAK

from tidings.bench.ops import Sizes, at_sizes
from tidings.bench.settings import Settings
from tidings.bench.workloads.ops import Workload, published_rate, workload
from tidings.lang import parse
from tidings.lang.pattern import core
from tidings.match.base import Engine, Failure, Solution
from tidings.match.registry import create
from tidings.rdf.terms import HOME, RDF_TYPE, Term

TINY = Sizes(
    many=(20, 40),
    classes=(2, 20),
    rates=(0.1, 0.3),
    subscriptions=40,
    few=(1, 2),
    sets=1,
    events=3,
    patience=5.0,
)
ENGINES: list[tuple[str, dict[str, bool]]] = [
    ("ops", {}),
    ("ops", {"declared_only": True}),
    ("decomposition", {}),
    ("decomposition", {"published": True}),
]


def filled(name: str, work: Workload, **options: bool) -> Engine:
    engine = create(name, work.ontology, **options)
    for id, text in work.subscriptions:
        engine.add(id, parse(text, "ops"))
    return engine


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


def answers(engine: Engine, work: Workload) -> list[list[tuple[str, tuple[Solution, ...]]]]:
    found = [engine.match(event, unexpected) for event in work.events]
    return [[(match.subscription, match.bindings) for match in matches] for matches in found]


# ------------------------------------------------------------------------------------------------------------ workload


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_the_sizes_of_the_paper(rate: float) -> None:
    work = workload(10, 60, rate, events=6, seed=1)
    assert len({id for id, _ in work.subscriptions}) == 60
    for _, text in work.subscriptions:
        block = core(parse(text, "ops"))
        assert block is not None
        assert len({node for triple in block.triples for node in (triple.s, triple.o)}) == 10
        assert len(set(block.triples)) == 11
        assert not block.filters
    for event in work.events:
        triples = event.triples()
        types = {s: o for s, p, o in triples if p == RDF_TYPE}
        arcs = [(s, p, o) for s, p, o in triples if p != RDF_TYPE]
        assert (len(types), len(arcs)) == (50, 55)
        assert {end for s, _, o in arcs for end in (s, o)} == types.keys()
        assert reached(arcs) == types.keys()
        assert all(work.ontology.extended(types[s], p, types[o]) for s, p, o in arcs)


def reached(arcs: list[tuple[Term, Term, Term]]) -> set[Term]:
    found = {HOME}
    todo = [HOME]
    while todo:
        subject = todo.pop()
        new = {o for s, _, o in arcs if s == subject} - found
        found |= new
        todo += new
    return found


def test_every_class_has_two_properties() -> None:
    declared = workload(20, 1, 0.1, events=1, seed=1).ontology.meta_statements
    classes = [statement.subject_class for statement in declared]
    assert len(set(classes)) == 20
    assert all(classes.count(cls) == 2 for cls in classes)
    assert len({statement.property for statement in declared}) <= 10


def test_the_same_seed_gives_the_same_workload() -> None:
    one, same, other, longer = (
        workload(10, count, 0.1, events=4, seed=seed) for count, seed in ((20, 1), (20, 1), (20, 2), (30, 1))
    )
    assert (one.subscriptions, one.events) == (same.subscriptions, same.events)
    assert one.subscriptions != other.subscriptions
    assert one.events != other.events
    assert longer.subscriptions[:20] == one.subscriptions


@pytest.mark.parametrize(("classes", "rate"), [(10, 0.0), (10, 0.03), (10, 0.25), (2, 0.238), (20, 0.013)])
def test_the_rate_asked_for(classes: int, rate: float) -> None:
    work = workload(classes, 400, rate, events=6, seed=1)
    engine = filled("ops", work)
    found = sum(len(engine.match(event, unexpected)) for event in work.events) / 6 / 400
    assert rate * 0.7 <= found <= rate * 1.3 + 0.002


def test_the_rates_of_the_paper() -> None:
    assert [round(published_rate(classes), 3) for classes in (2, 10, 20)] == [0.238, 0.031, 0.013]


@pytest.mark.parametrize("classes", [2, 10])
def test_all_matchers_agree(classes: int) -> None:
    work = workload(classes, 40 if classes == 10 else 12, 0.2, events=5, seed=3)
    expected = answers(filled("naive", work), work)
    assert sum(map(len, expected)) >= 5
    for name, options in ENGINES:
        if classes == 10 or "published" not in options:
            assert answers(filled(name, work, **options), work) == expected


# -------------------------------------------------------------------------------------------------------------- report


@IN_SOAK
def test_a_report_has_every_claim() -> None:
    told: list[str] = []
    report = at_sizes(TINY, Settings(tell=told.append))
    assert len(told) >= 10
    sources = [claim.source for claim in report.claims]
    for place in ("8(a)", "8(b)", "8(c)", "8(d)", "8(e)", "8(f)", "4.4", "5.5", "theorem 1"):
        assert any(place in source for source in sources), place
    assert all(claim.found for claim in report.claims)
    of_the_bound = next(claim for claim in report.claims if "1.2 s" in claim.text)
    assert of_the_bound.holds is None, "nothing was measured at 10,000 subscriptions"
    assert [len(table.rows) for table in report.tables] == [2, 2, 2, 2, 2]
    assert [figure.name[:5] for figure in report.figures] == [f"ops-{letter}" for letter in "abcdef"]
    assert all(row["matches"] == 0 for row in report.tables[3].rows)
