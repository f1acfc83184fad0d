"""The benchmark of Spark measures what it says; here at a size at which nothing can be said."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support import IN_SOAK

from tidings.bench import ingest
from tidings.bench.plots import save
from tidings.bench.report import keep
from tidings.bench.settings import Settings
from tidings.bench.spark_memory import held
from tidings.bench.spark_rates import rates
from tidings.bench.spark_stream import latency
from tidings.bench.spark_world import Made, table
from tidings.bench.workloads.rtf_paper import corpus


@pytest.fixture(scope="module")
def made() -> Made:
    return Made.of(corpus(), 300, 3, 1)


@pytest.fixture(scope="module")
def index(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.compiled(tmp_path_factory.mktemp("bench") / "index")


def test_rates(spark: SparkSession, made: Made, index: Path, tmp_path: Path) -> None:
    found = rates(index, table(made.events(200), tmp_path / "rows"), 200, 1, lambda what: None)
    assert found.events == 200
    assert 200 < found.matches < 2_000
    assert min(found.embedded, found.spark, found.identity) > 0


@IN_SOAK
def test_latency(spark: SparkSession, made: Made, tmp_path: Path) -> None:
    found = latency(made, tmp_path / "stream", 2, 10, lambda what: None)
    assert (found.documents, found.changes) == (4, 10)
    assert 0 < found.median <= found.slow


def test_memory(spark: SparkSession, made: Made, index: Path, tmp_path: Path) -> None:
    found = held(index, table(made.events(200), tmp_path / "rows"))
    if found is None:
        pytest.skip("this system does not tell what a process holds of a file")
    assert found.size > 0
    assert 1 <= found.workers <= 2
    assert 0 < found.together < 2 * found.size


def test_what_is_no_rdf(spark: SparkSession, tmp_path: Path) -> None:
    """All of `tidings bench ingest --quick`."""
    report = ingest.run(Settings(quick=True))
    asked, by_format, by_file = report.tables
    assert {row["verdict"] for row in asked.rows} == {"not at full size"}
    assert len(asked.rows) == 13
    assert len(by_format.rows) == 14
    for row in by_file.rows:
        assert isinstance(row["its workers"], float)
        assert row["its workers"] > 0
    written = [*keep(report, tmp_path), *save(report.figures, tmp_path)]
    names = ["ingest.json", "ingest.md", "ingest-formats.svg", "ingest-memory.svg"]
    assert [path.name for path in written] == names
