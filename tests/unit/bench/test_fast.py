"""The workloads of `tidings bench fast`, and the benchmark itself on a small scale, with `naive` as the subject."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.support import data_dir

from tidings.bench import fast as bench
from tidings.bench.fast_filled import Filled, compare, fill
from tidings.bench.fast_live import live
from tidings.bench.fast_report import ASKS, exponent
from tidings.bench.fast_snapshot import snapshot
from tidings.bench.fast_timing import interleaved, one_core, parse, profile
from tidings.bench.report import Report
from tidings.bench.settings import Settings
from tidings.bench.workloads import rtf_paper
from tidings.bench.workloads.fast import joins, nanopubs, rtf, text
from tidings.bench.workloads.fast.base import Workload
from tidings.lang import parse as parse_text
from tidings.lang import to_text
from tidings.lang.pattern import Block, FtContains, Query, core, variables
from tidings.match.matcher import Matcher
from tidings.ontology import Ontology
from tidings.rdf.event import to_nquads
from tidings.rdf.terms import RDF_TYPE

CORPUS = rtf_paper.made_up()
FLAT = rtf.flat(CORPUS)
DEEP = rtf.under_a_tree(CORPUS)
PUBLICATIONS = rtf.publications(FLAT, 60, seed=1)


def matches(work: Workload) -> float:
    matcher = Matcher("naive", work.ontology)
    matcher.add_many(work.forms())
    return float(matcher.match_nquads(work.nquads()).num_rows / len(work.events))


# ------------------------------------------------------------------------------------------------------------ workloads


def test_a_publication_has_a_class_and_nine_texts() -> None:
    assert rtf.publications(FLAT, 60, seed=1) == PUBLICATIONS
    assert rtf.publications(FLAT, 60, seed=2) != PUBLICATIONS
    assert all(len(event.triples()) == 10 for event in PUBLICATIONS)
    assert sum(p == RDF_TYPE for _, p, _ in PUBLICATIONS[0].triples()) == 1
    size = sum(len(to_nquads(event)) for event in PUBLICATIONS) / len(PUBLICATIONS)
    assert 1_200 < size < 1_700


def test_half_of_the_subscriptions_have_texts() -> None:
    queries = list(rtf.subscriptions(FLAT, 600, 0.5, seed=1))
    assert queries == list(rtf.subscriptions(FLAT, 600, 0.5, seed=1))
    blocks = [core(query) for query in queries]
    assert all(block and 2 <= len(block.triples) <= 1 + rtf.MOST_ASKED for block in blocks)
    texts = [block for block in blocks if block and block.filters]
    assert len(texts) / len(blocks) == pytest.approx(rtf.TEXT, abs=0.06)
    assert all(len(block.filters) == len(block.triples) - 1 for block in texts)


@pytest.mark.parametrize("wanted", [3, 8])
def test_the_skew_gives_the_matches_that_are_wanted(wanted: int) -> None:
    assert matches(rtf.workload("", FLAT, 500, wanted, PUBLICATIONS, seed=1)) == pytest.approx(wanted, rel=0.4)


def test_more_subscriptions_for_the_same_matches_ask_for_rarer_names() -> None:
    skews = [rtf.solve(FLAT, 10 / count, PUBLICATIONS) for count in (1_000, 100_000, 1_000_000)]
    assert skews == sorted(skews, reverse=True)


def test_under_a_hierarchy_inner_names_are_asked_for_and_leaves_published() -> None:
    events = rtf.publications(DEEP, 60, seed=1)
    work = rtf.workload("", DEEP, 400, 6, events, seed=1)
    asked = {t.o for _, query in work.forms() for t in (core(query) or Block()).triples if t.p == RDF_TYPE}
    published = {o for event in events for _, p, o in event.triples() if p == RDF_TYPE}
    assert asked.isdisjoint(published)
    assert matches(work) == pytest.approx(6, rel=0.5)


def test_dbpedias_ontology_is_a_world() -> None:
    file = data_dir("dbpedia-ontology", "dbpedia-ontology-2015-04-10.core.nt.gz")
    world = rtf.under(Ontology.load(file), "DBpedia", CORPUS)
    assert len(world.classes) > 500
    assert len(world.properties) > 2_500
    assert len(world.asked_classes) > 200
    assert len(world.asked_first) > 50


def beyond_conjunctive(query: Query) -> bool:
    block = core(query)
    return block is None or any(not isinstance(each, FtContains) for each in block.filters)


def test_the_share_that_is_not_conjunctive() -> None:
    queries = list(rtf.subscriptions(FLAT, 1_000, 0.5, seed=1, evaluated=0.1))
    beyond = [query for query in queries if beyond_conjunctive(query)]
    assert len(beyond) / len(queries) == pytest.approx(0.1, abs=0.03)
    texts = "".join(map(to_text, beyond))
    assert all(word in texts for word in ("OPTIONAL", "NOT EXISTS", "REGEX"))


def test_forms_are_those_that_the_parser_gives() -> None:
    stream = nanopubs.made_up(200)
    made: list[Iterator[Query]] = [
        rtf.subscriptions(FLAT, 200, 0.5, seed=1, evaluated=0.5),
        text.subscriptions(["anna", "zürich"], 20, seed=1),
        joins.subscriptions(20),
        (query for _, query in nanopubs.workload("", stream, "made up", 50, 5, 10, seed=1).forms()),
    ]
    for query in (query for queries in made for query in queries):
        assert parse_text(to_text(query)) == query


def test_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDINGS_DATA", "/nowhere")
    work = text.workload("", CORPUS, 300, 10, seed=1)
    assert "made-up" in work.drawn
    assert len(work.events) == 10
    assert len(list(work.forms())) == 300
    assert matches(work) > 0


def test_patterns_with_joins_match_where_they_come_from() -> None:
    stream = nanopubs.made_up(300)
    work = nanopubs.workload("", stream, "made up", 200, 5, 40, seed=1)
    blocks = [block for _, query in work.forms() if (block := core(query))]
    assert len(blocks) == 200
    assert all(nanopubs.SIZES[0] <= len(block.triples) <= nanopubs.SIZES[1] for block in blocks)
    times = [[n for t in block.triples for n in (t.s, t.o)] for block in blocks]
    joined = [any(nodes.count(var) > 1 for var in variables(b)) for nodes, b in zip(times, blocks, strict=True)]
    assert sum(joined) / len(joined) > 0.9
    assert matches(Workload("", "", 200, tuple(stream), work.forms, work.ontology)) >= 200 / len(stream)


def test_the_real_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDINGS_DATA", str(data_dir("wikipathways-nanopubs").parent))
    stream, origin = nanopubs.stream(1)
    assert "made up" not in origin
    assert 0 < matches(nanopubs.workload("", stream, origin, 100, 10, 20, seed=1)) < 40


def test_in_the_worst_case_every_part_holds_and_no_whole() -> None:
    queries = list(joins.subscriptions(100))
    assert len(set(queries)) == 100
    work = joins.workload("", 100, 2)
    assert matches(work) == 0
    parts = [Block(block.triples[:-1]) for query in queries if (block := core(query))]
    parts += [Block(block.triples[-1:]) for query in queries if (block := core(query))]
    matcher = Matcher("naive")
    matcher.add_many((str(n), Query("sparql", "ASK", part)) for n, part in enumerate(parts))
    assert len(matcher.match(work.events[0])) == len(parts) == 200
    with pytest.raises(ValueError, match="100,000"):
        next(joins.subscriptions(joins.MOST + 1))


# ------------------------------------------------------------------------------------------------------------ measuring


def filled() -> Filled:
    work = rtf.workload("small", FLAT, 200, 3, PUBLICATIONS[:20], seed=1)
    return fill("naive", work, events=10, subscriptions=100)


def test_a_matcher_is_filled_and_compared() -> None:
    found = filled()
    assert len(found.matcher) == 200
    assert 0 < found.agreed < found.compared
    assert found.answers() > found.agreed
    assert found.held() is None
    assert found.counted("candidates", "asked") == {"candidates": 200, "asked": None}


def test_a_matcher_that_misses_a_match_ends_the_run() -> None:
    work = rtf.workload("", FLAT, 200, 3, PUBLICATIONS, seed=1)
    forms, matcher = dict(work.forms()), Matcher("naive")
    matcher.add_many(forms.items())
    found = [match for event in PUBLICATIONS for match in matcher.match(event)]
    some = [event for event in PUBLICATIONS if event.id == found[0].event]
    assert compare(matcher, forms, some, work.ontology) > 0
    matcher.remove(found[0].subscription)
    with pytest.raises(RuntimeError, match=f"only naive finds .*{found[0].subscription}"):
        compare(matcher, forms, some, work.ontology)


def test_changes_are_made_and_seen_while_events_flow() -> None:
    found = filled()
    new = rtf.workload("new", FLAT, 400, 3, PUBLICATIONS, seed=2)
    lived = live(found, new.forms(), 0.2)
    assert lived.changes > 0
    assert lived.matches > 0
    assert lived.probes > 0
    assert lived.pause >= lived.usual_match > 0
    assert len(found.matcher) in (200, 201)
    assert "s0000000" not in found.matcher


def test_a_change_that_is_not_seen_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    found = filled()
    for change in ("add", "remove"):
        monkeypatch.setattr(found.matcher, change, lambda *_: None)
    with pytest.raises(RuntimeError, match="a change was not seen"):
        live(found, found.work.forms(), 0.2)


def test_naive_has_no_snapshots() -> None:
    assert snapshot(filled(), 1) is None


def test_calls_are_timed_in_turn() -> None:
    called: list[str] = []

    def slow() -> None:
        called.append("slow")
        time.sleep(0.03)

    def other() -> None:
        called.append("other")
        time.sleep(0.03)

    with one_core():
        times = interleaved({"slow": slow, "other": other}, 3)
    # Twice each to warm up and to see how long it takes, then in turn, every other round backwards.
    assert called == ["slow", "slow", "other", "other", "slow", "other", "other", "slow", "slow", "other"]
    assert times["slow"].fastest <= times["slow"].wall <= times["slow"].slowest


def test_the_yardstick_reads_every_quad() -> None:
    parse(to_nquads(PUBLICATIONS[0]))
    with pytest.raises(SyntaxError):
        parse(to_nquads(PUBLICATIONS[0]) + b"broken")


def test_a_profile_says_where_the_time_goes() -> None:
    found = profile(lambda: sum(hash(str(n)) for n in range(1_000)))
    assert found
    assert sum(share for _, share in found) <= 1.000001


# -------------------------------------------------------------------------------------------------------- the benchmark

TINY = bench.Sizes(
    some=40,
    growth=(20, 40, 60),
    text=40,
    ops=20,
    gtopss=40,
    worst=(10, 20),
    matches=1,
    publications=5,
    events=5,
    few_events=3,
    months=1,
    compared_events=2,
    compared=20,
    rounds=1,
    seconds=0.05,
    full=False,
)


@pytest.fixture(scope="module")
def report() -> Report:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDINGS_DATA", "/nowhere")
        return bench.at_sizes(TINY, CORPUS, Settings(), engine="naive")


def test_every_line_that_was_asked_for_is_there(report: Report) -> None:
    rows = report.tables[0].rows
    assert [row["workload"] for row in rows] == [ask.workload for ask in ASKS.values()]
    for row in rows:
        assert all(row[column] != "" for column in ("measured", "verdict", "ontology", "how terms are drawn"))
    assert "made up" in str(rows[2]["ontology"])


def test_what_a_matcher_cannot_do_is_said(report: Report) -> None:
    verdicts = {row["workload"]: row["verdict"] for row in report.tables[0].rows}
    assert {verdicts[ASKS[key].workload] for key in ("memory", "shared", "open")} == {"not there yet"}
    assert {verdicts[ASKS[key].workload] for key in ("worst", "growth")} == {"reported"}
    assert {verdicts[ASKS[key].workload] for key in ("rtf", "ops", "gtopss", "live")} == {"not at full size"}


def test_nothing_is_claimed_of_a_small_run(report: Report) -> None:
    assert len(report.claims) == 5
    assert all(claim.holds is None and claim.found for claim in report.claims)


def test_the_plots(report: Report) -> None:
    assert [figure.name for figure in report.figures] == ["fast-growth", "fast-worst"]
    assert all(len(curve.xs) == len(curve.ys) > 1 for figure in report.figures for curve in figure.curves)


def test_at_full_size_a_line_is_held_or_missed_and_then_profiled() -> None:
    sizes = replace(TINY, full=True, growth=(40,))
    running = bench._Bench(sizes, CORPUS, Settings(), "naive")
    running._growth(FLAT, PUBLICATIONS[:5])
    line = running._found.lines["rtf"]
    assert (line.ask, line.held, line.verdict) == (ASKS["rtf"], False, "missed")
    assert [name for name, _ in running._found.profiles] == ["RTF, 40", "RTF, 40"]
    assert running._found.lines["compile"].held is True
    assert exponent(running._found.growth) == 0
