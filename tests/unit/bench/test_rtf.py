"""The RTF workload, and the runner of benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import parsing, report
from bench.workloads.rtf import CLASSES, PROPERTIES, WORDS, generated, real, subscriptions
from tests.support import data_dir

from tidings.lang import parse
from tidings.lang.pattern import core

NAMES = generated()


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


def test_a_benchmark_gives_a_table_and_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(parsing.rtf, "vocabulary", lambda: NAMES)
    found = parsing.run(0.0005)
    report.show(found)
    assert "cpu µs each" in capsys.readouterr().out
    kept = json.loads(report.keep(found).read_text(encoding="utf-8"))
    assert kept["benchmark"] == "parsing"
    assert kept["machine"]["cores"] > 0
    assert [row["count"] for row in kept["rows"][:2]] == [50, 10]
