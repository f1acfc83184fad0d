"""The RTF workloads, and the benchmark of the paper's experiments on a small scale."""

from __future__ import annotations

import gc
from sys import getsizeof

import pytest
from tests.support import IN_SOAK, data_dir

from tidings.bench import rtf as bench
from tidings.bench.measure import refuse
from tidings.bench.rtf_claims import judged
from tidings.bench.settings import Settings
from tidings.bench.workloads import rtf_paper as paper
from tidings.bench.workloads.rtf import CLASSES, PROPERTIES, WORDS, generated, real, subscriptions
from tidings.lang import parse
from tidings.lang.fulltext import words
from tidings.lang.pattern import Block, FtAnd, FtContains, core
from tidings.match.ibroker import Ibroker
from tidings.match.registry import create
from tidings.match.rtf.matcher import Rtfm, Rtfs
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE, is_literal, parts

NAMES = generated()
MADE_UP = paper.made_up()


def test_a_generated_vocabulary_has_the_sizes_of_the_paper() -> None:
    assert (len(NAMES.classes), len(NAMES.properties), len(NAMES.words)) == (CLASSES, PROPERTIES, WORDS)
    assert generated() == NAMES


def test_the_real_vocabulary() -> None:
    names = real(
        data_dir("dbpedia-ontology", "dbpedia-ontology-2015-04-10.core.nt.gz"),
        data_dir("dbpedia-music", "music.ttl.gz"),
    )
    assert (len(names.classes), len(names.properties)) == (CLASSES, PROPERTIES)
    assert "band" in names.words[:200]
    assert all(map(parse, subscriptions(50, seed=3, ft=1.0, names=names)))


def test_the_same_seed_gives_the_same_subscriptions() -> None:
    texts = list(subscriptions(100, seed=5, names=NAMES))
    assert texts == list(subscriptions(100, seed=5, names=NAMES))
    assert texts != list(subscriptions(100, seed=6, names=NAMES))
    assert len(set(texts)) == 100


@pytest.mark.parametrize("ft", [0.0, 0.5, 1.0])
def test_subscriptions_are_conjunctive_with_as_much_text_as_asked_for(ft: float) -> None:
    blocks = [core(parse(text)) for text in subscriptions(300, seed=2, ft=ft, names=NAMES)]
    assert all(block is not None and 2 <= len(block.triples) <= 5 for block in blocks)
    texts = sum(len(block.filters) for block in blocks if block)
    patterns = sum(len(block.triples) - 1 for block in blocks if block)
    assert ft - 0.1 <= texts / patterns <= ft + 0.1


# ---------------------------------------------------------------------------------------------- the paper's experiments


def blocks(count: int, ft: float) -> list[Block]:
    found = [core(parse(text)) for text in paper.queries(count, seed=2, ft=ft, source=MADE_UP)]
    return [block for block in found if block is not None]


def properties(source: paper.Corpus) -> set[str]:
    return {name for choice in source.properties.values() for name in choice.items}


def test_a_made_up_corpus_has_the_sizes_of_the_paper() -> None:
    assert (len(MADE_UP.classes), len(properties(MADE_UP))) == (CLASSES, PROPERTIES)
    lengths = [len(text.split()) for text in MADE_UP.texts]
    assert sum(lengths) / len(lengths) == pytest.approx(paper.MEAN_WORDS, rel=0.1)
    assert paper.made_up() == MADE_UP


def test_the_real_corpus_is_the_papers_ontology() -> None:
    source = paper.real(
        data_dir("dbpedia-ontology", "dbpedia-ontology-2013-07-02.core.nt.gz"),
        data_dir("dbpedia-music", "music.ttl.gz"),
    )
    assert (len(source.classes), len(properties(source))) == (CLASSES, PROPERTIES)
    names = [cls.rpartition("/")[2] for cls in source.above["http://dbpedia.org/ontology/Band"]]
    assert names == ["Band", "Organisation", "Agent"]
    assert all(map(parse, paper.queries(50, seed=3, ft=1.0, source=source)))
    assert len(paper.publications(50, seed=3, source=source)) == 50


@pytest.mark.parametrize("ft", [0.0, 0.5, 1.0])
def test_the_papers_queries(ft: float) -> None:
    found = blocks(400, ft)
    assert len(found) == 400
    assert {len(block.triples) for block in found} == {2, 3, 4}
    with_text = [block for block in found if block.filters]
    assert len(with_text) / len(found) == pytest.approx(ft, abs=0.1)
    for block in with_text:
        assert len(block.filters) == len(block.triples) - 1
        for text in block.filters:
            assert isinstance(text, FtContains)
            assert len(text.text.items) <= paper.TERMS if isinstance(text.text, FtAnd) else True


def test_with_the_same_seed_text_is_all_that_differs() -> None:
    without, with_text = ([block.triples for block in blocks(100, ft)] for ft in (0.0, 1.0))
    assert without == with_text
    assert paper.publications(20, seed=1, source=MADE_UP) == paper.publications(20, seed=1, source=MADE_UP)


def test_a_publication_is_one_thing_with_an_abstract_in_pieces() -> None:
    for event in paper.publications(30, seed=4, source=MADE_UP):
        triples = event.triples()
        assert len({s for s, _, _ in triples}) == 1
        texts = [o for _, p, o in triples if p != RDF_TYPE]
        assert 4 <= len(texts) <= 10
        assert all(map(is_literal, texts))
        spoken = sorted(word for text in texts for word in words(parts(text).lexical))
        assert spoken in [sorted(text.split()) for text in MADE_UP.texts]
        assert len(triples) > len(texts)


def test_some_match_and_all_matchers_agree() -> None:
    """Also as published: where all triples have one subject, and every property one value, no join can fail."""
    events = paper.publications(20, seed=1, source=MADE_UP)
    for ft in (0.0, 1.0):
        forms = [(f"q{n}", parse(text)) for n, text in enumerate(paper.queries(400, seed=1, ft=ft, source=MADE_UP))]
        answers = {}
        for name in ("naive", *bench.ALL):
            for published in (False, True) if name != "naive" else (False,):
                engine = create(name, Ontology.empty())
                if isinstance(engine, Rtfm | Ibroker):
                    engine.published = published
                for id, query in forms:
                    engine.add(id, query)
                answers[name, published] = [
                    (match.event, match.subscription, match.bindings)
                    for event in events
                    for match in engine.match(event, refuse)
                ]
        assert all(answer == answers["naive", False] for answer in answers.values())
        assert answers["naive", False] if ft == 0.0 else True


@pytest.mark.parametrize("engine", [Rtfm(Ontology.empty()), Rtfs(Ontology.empty()), Ibroker(Ontology.empty())])
def test_bytes_held_are_those_of_all_objects(engine: Rtfm | Ibroker) -> None:
    texts = [*paper.queries(300, seed=1, ft=0.5, source=MADE_UP), *subscriptions(100, seed=1, names=NAMES)]
    for number, text in enumerate(texts):
        engine.add(f"q{number}", parse(text))
    roots = [engine._buckets] if isinstance(engine, Ibroker) else [engine._table, *engine._forests()]
    seen, held, todo = set(), 0, [engine._stored, *roots]
    while todo:
        thing = todo.pop()
        if id(thing) not in seen and not isinstance(thing, type):
            seen.add(id(thing))
            held += getsizeof(thing)
            todo += gc.get_referents(thing)
    assert engine.stats()["bytes_held"] == pytest.approx(held, rel=0.01)


def test_what_is_kept_is_counted_as_in_the_paper() -> None:
    """Figure 1's query: six words and eight other nodes, three tuples, one row of QT; or three entries."""
    query = parse("""PREFIX : <http://e.x/> SELECT ?p { ?p a :article . ?p :title ?t . ?p :body ?b
      FILTER ftcontains(?t, "olympic" ftAND "games") FILTER ftcontains(?b, "olympic" ftAND "games" ftAND "rio") }""")
    kept = {}
    for engine in (Rtfm(Ontology.empty()), Rtfs(Ontology.empty()), Ibroker(Ontology.empty())):
        engine.add("q", query)
        kept[engine.name] = engine.stats()["references_held"]
    structure, row = 1 + 3 + 3, 1 + 3
    assert kept["rtfm"] == 2 * (1 + structure + 5) + 3 + row
    assert kept["rtfs"] == 2 * (2 + structure + 2 + 3) + 3 + 2 + row
    # For each entry the list, the query and NextToMatch; one value, five words, five variables; three attributes.
    assert kept["ibroker"] == 3 * 3 + 1 + 5 + 5 + 3 * 2


@IN_SOAK
def test_a_small_run_answers_every_claim() -> None:
    told: list[str] = []
    report = bench.at_sizes(bench.Sizes((40, 80), publications=3, more=10), MADE_UP, Settings(tell=told.append))
    assert len(report.tables[0].rows) == len(report.tables[1].rows) == 2 * (3 + 2 + 2)
    assert {row["matcher"] for row in report.tables[2].rows} == set(bench.ALL)
    assert "found the same" in report.tables[0].note
    assert len(report.claims) == 18
    assert all(claim.found and claim.text and claim.source.startswith("RTF 2016") for claim in report.claims)
    verdicts = {claim.text: claim.holds for claim in report.claims}
    assert [holds for text, holds in verdicts.items() if text.startswith("36 ms")] == [None]
    assert [holds for text, holds in verdicts.items() if text.startswith("without text the two are the same")] == [True]
    assert len({figure.name for figure in report.figures}) == 8
    assert all(len(curve.xs) == len(curve.ys) > 0 for figure in report.figures for curve in figure.curves)
    assert any("iBroker" not in text and "ibroker" in text for text in told)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [([1.3], True), ([1.1], None), ([0.95], None), ([0.7], False), ([1.3, 1.1], None), ([1.3, 0.7], False)],
)
def test_a_difference_below_the_noise_is_none(ratios: list[float], verdict: bool | None) -> None:
    assert judged(ratios, 0.2) is verdict
