"""Chained from the command line: parts of events in several documents, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.test_commands import pipeline, tidings, told

QUADS = [f"<http://e/s> <http://e/{p}> <http://e/o> <http://e/{event}> .\n" for p in "pq" for event in (1, 2)]
END = '<http://e/1> <urn:tidings:end> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> <http://e/1> .\n'
BOTH = "SELECT * { ?s <http://e/p> ?o . ?s <http://e/q> ?o }"


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> Path:
    for name in ("in", "subscriptions"):
        (tmp_path / name).mkdir()
    (tmp_path / "subscriptions" / "both.rq").write_text(BOTH)
    (tmp_path / "subscriptions" / "other.rq").write_text("SELECT * { ?s <http://e/p> ?o MINUS { ?s <http://e/q> ?o } }")
    # The quads of an event are apart, in one document and in two.
    (tmp_path / "in" / "1.nq").write_text("".join(QUADS[:3]))
    (tmp_path / "in" / "2.nq").write_text(QUADS[3] + END)
    return tmp_path


@pytest.mark.parametrize("compiled", [False, True])
def test_match(world: Path, compiled: bool) -> None:
    source = world / "subscriptions"
    if compiled:
        assert tidings("compile", source, "-o", world / "index").exit_code == 0
        source = world / "index"
    result = tidings("match", source, world / "in", "--engine", "spark", "--strategy", "chained", "--bindings")
    assert result.exit_code == 1
    assert "subscription 'other': the strategy chained does not take MINUS" in result.stderr
    found = sorted((row["event"], row["subscription"]) for row in map(json.loads, result.stdout.splitlines()))
    assert found == [("http://e/1", "both"), ("http://e/2", "both")]


def test_nothing_that_it_takes(world: Path) -> None:
    (world / "subscriptions" / "both.rq").unlink()
    result = tidings("match", world / "subscriptions", world / "in", "--engine", "spark", "--strategy", "chained")
    assert result.exit_code == 2
    assert "there is no subscription that the strategy chained takes" in result.stderr


def test_pipeline(world: Path) -> None:
    result = pipeline(world, "--once", "--strategy", "chained", "--timeout", "1h", "--stats")
    assert result.exit_code == 1
    assert told(world / "out") == [("both", "http://e/1"), ("both", "http://e/2")]
    (figures,) = map(json.loads, result.stdout.splitlines())
    assert (figures["matches"], figures["rejects"]) == (2, 1)
    assert (figures["chained"]["ended"], figures["chained"]["open"]) == (1, 1)
