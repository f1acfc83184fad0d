"""Whatever comes when, and whatever happens in between: nobody is missed, and nobody told twice."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark import chained_histories
from tests.spark.histories import History, Run, drawn

KEPT = (8, 10, 11, 16)
"""Seeds that once failed."""

MANY = int(os.environ.get("TIDINGS_HISTORIES", "0"))
SHARDS = (3, None, 2, None, 4)
SHORT_IN_SHARDS, SHORT_IN_PARTS = [(265, 3)], [(331, 3)]
"""Seeds, and a few steps, with all kinds of delay in them: late and retroactive subscriptions, ends, a crash."""

HALF_AS_MANY = [(seed, None) for seed in range(MANY // 2)]


@pytest.mark.parametrize("seed", sorted({*KEPT, *range(MANY)}))
def test_none_is_lost_and_none_is_doubled(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    history = drawn(seed)
    print(f"seed {seed}: {history}")
    check(history, Run(spark, tmp_path, history).found())


@pytest.mark.parametrize(("seed", "steps"), SHORT_IN_SHARDS + HALF_AS_MANY)
def test_in_shards(spark: SparkSession, tmp_path: Path, seed: int, steps: int | None) -> None:
    """With as many as before after each start, or with others."""
    history = drawn(seed, steps or 7)
    print(f"seed {seed}: {history}")
    check(history, Run(spark, tmp_path, history, shards=SHARDS).found())


@pytest.mark.parametrize(("seed", "steps"), SHORT_IN_PARTS + HALF_AS_MANY)
def test_quad_by_quad(spark: SparkSession, tmp_path: Path, seed: int, steps: int | None) -> None:
    history = chained_histories.drawn(seed, steps or 5)
    print(f"seed {seed}: {history}")
    check(history, chained_histories.PartedRun(spark, tmp_path, history).found())


def check(history: History | chained_histories.PartedHistory, found: Counter[tuple[str, str]]) -> None:
    assert max(found.values(), default=1) == 1, [pair for pair, count in found.items() if count > 1]
    assert history.must() - found.keys() == set(), "lost"
    assert found.keys() - history.must() - history.may() == set(), "false"
