"""A batch is in its table once, however often it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidings.errors import UsageError
from tidings.spark.tables import BatchTable


def test_a_batch_is_there_once(spark: SparkSession, tmp_path: Path) -> None:
    table = BatchTable(tmp_path / "a table")
    assert table.write(0, spark.range(3))
    assert table.write(1, spark.range(3, 5))
    assert not table.write(1, spark.range(3, 5))
    rows = spark.read.parquet(table.folder).collect()
    assert sorted((row.id, row.batch) for row in rows) == [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)]


def test_a_batch_without_rows_is_there_too(spark: SparkSession, tmp_path: Path) -> None:
    table = BatchTable(tmp_path / "table")
    assert table.write(7, spark.range(0))
    assert table.has(7)
    assert spark.read.parquet(table.folder).count() == 0


def test_what_fails_leaves_nothing_that_is_read(spark: SparkSession, tmp_path: Path) -> None:
    table = BatchTable(tmp_path / "table")
    table.write(0, spark.range(3))
    with pytest.raises(PySparkException):
        table.write(1, spark.range(3).selectExpr("IF(id = 2, raise_error('no'), id) AS id"))
    assert not table.has(1)
    assert spark.read.parquet(table.folder).count() == 3
    assert table.write(1, spark.range(3, 6))
    assert spark.read.parquet(table.folder).count() == 6
    assert not (tmp_path / "table" / "_writing").exists()


def test_who_comes_second_leaves_what_is_there(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = BatchTable(tmp_path / "table"), BatchTable(tmp_path / "table")
    first.write(0, spark.range(3))
    looks = iter([False, True])
    monkeypatch.setattr(second, "has", lambda batch: next(looks))
    second.write(0, spark.range(10, 20))
    assert sorted(row.id for row in spark.read.parquet(first.folder).collect()) == [0, 1, 2]


def test_a_folder_has_a_name() -> None:
    with pytest.raises(UsageError, match="empty"):
        BatchTable("")
