"""The RTF workload."""

from __future__ import annotations

import pytest
from tests.support import data_dir

from tidings.bench.workloads.rtf import CLASSES, PROPERTIES, WORDS, generated, real, subscriptions
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
