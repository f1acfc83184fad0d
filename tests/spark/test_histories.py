"""Whatever comes when, and whatever happens in between: nobody is missed, and nobody told twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.histories import Run, drawn

KEPT = (8, 11, 16)
"""Seeds that once failed."""

SEEDS = range(int(os.environ.get("TIDINGS_HISTORIES", "1")))


@pytest.mark.parametrize("seed", sorted({*KEPT, *SEEDS}))
def test_none_is_lost_and_none_is_doubled(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    history = drawn(seed)
    found = Run(spark, tmp_path, history).found()
    print(f"seed {seed}: {history}")
    assert max(found.values(), default=1) == 1, [pair for pair, count in found.items() if count > 1]
    assert history.must() - found.keys() == set(), "lost"
    assert found.keys() - history.must() - history.may() == set(), "false"
