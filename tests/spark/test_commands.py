"""The commands that run on Spark. They use the session of the tests, as they do any that is there."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from tidings.cli import app

ASK = "SELECT ?x { ?x a <http://e/A> }"
EVENT = "<http://e/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/A> <http://e/{}> .\n"


@pytest.fixture(autouse=True)
def _session(spark: SparkSession) -> None:
    """Somebody's session is active."""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    for name in ("in", "subscriptions"):
        (tmp_path / name).mkdir()
    (tmp_path / "subscriptions" / "a.rq").write_text(ASK)
    (tmp_path / "in" / "1.nq").write_text(EVENT.format(1))
    return tmp_path


def tidings(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def pipeline(world: Path, *more: str) -> Result:
    places = {"events": "in", "subscriptions": "subscriptions", "notifications": "out", "checkpoint": "state"}
    return tidings("pipeline", *(word for name, at in places.items() for word in (f"--{name}", world / at)), *more)


def told(folder: Path) -> list[tuple[str, str]]:
    rows = ds.dataset(folder, format="parquet").to_table().to_pylist()
    return sorted((row["subscription"], row["event"]) for row in rows)


def test_once(world: Path) -> None:
    result = pipeline(world, "--once", "--stats", "--bindings")
    assert (result.exit_code, result.stderr) == (0, "")
    (figures,) = map(json.loads, result.stdout.splitlines())
    assert (figures["events"], figures["matches"], figures["rejects"]) == (1, 1, 0)
    assert told(world / "out") == [("a", "http://e/1")]
    assert sorted(path.name for path in (world / "state").iterdir() if path.name in ("archive", "metrics")) == [
        "archive",
        "metrics",
    ]
    (world / "in" / "2.nq").write_text(EVENT.format(2))
    assert pipeline(world, "--once", "--compact-every", "2").exit_code == 0
    assert told(world / "out") == [("a", "http://e/1"), ("a", "http://e/2")]
    assert [path.name for path in (world / "state" / "archive").glob("batch=*")] == ["batch=0000000000-0000000001"]
    (world / "in" / "3.nq").write_text(EVENT.format(2) + EVENT.format(3))
    assert pipeline(world, "--once", "--compact-every", "2").exit_code == 0
    assert told(world / "out") == [("a", f"http://e/{number}") for number in (1, 2, 3)]
    assert len(list((world / "state" / "archive").glob("batch=*"))) == 2


def test_rejects_are_told(world: Path) -> None:
    (world / "in" / "2.ttl").write_text("nonsense")
    (world / "subscriptions" / "b.rq").write_text("nonsense")
    result = pipeline(world, "--once", "-v")
    assert result.exit_code == 1
    assert "2 rejects; each is in the table of them" in result.stderr
    assert "1 events, 1 matches, 2 rejects" in result.stderr
    reasons = ds.dataset(world / "state" / "rejected", format="parquet").to_table().to_pylist()
    assert sorted(row["kind"] for row in reasons) == ["document", "subscription"]


def test_events_that_the_concept_model_rules_out(world: Path) -> None:
    (world / "o.ttl").write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix x: <http://e/> . "
        "x:price rdfs:domain x:A ; rdfs:range <http://www.w3.org/2001/XMLSchema#integer> ."
    )
    (world / "in" / "2.ttl").write_text('<http://e/y> a <http://e/A> ; <http://e/price> "cheap" .')
    result = pipeline(world, "--once", "--validate", "--ontology", str(world / "o.ttl"))
    assert result.exit_code == 1
    assert told(world / "out") == [("a", "http://e/1")]
    (row,) = ds.dataset(world / "state" / "rejected", format="parquet").to_table().to_pylist()
    assert "the concept model has no" in row["reason"]
    assert row["source"].endswith("2.ttl")


def test_it_ends_between_two_batches_when_it_is_asked_to(world: Path) -> None:
    def ask_when_the_first_is_done() -> None:
        end = time.monotonic() + 100
        while not list((world / "state").glob("metrics/*.json")) and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    asking = threading.Thread(target=ask_when_the_first_is_done)
    asking.start()
    result = pipeline(world, "--trigger", "100ms", "-v")
    asking.join()
    assert result.exit_code == 0
    assert "stopping after this batch" in result.stderr
    assert told(world / "out") == [("a", "http://e/1")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--trigger", "often"], "Write 500ms, 10s"),
        (["--strategy", "chained", "--validate"], "--validate needs whole events"),
        (["--timeout", "5m"], "--timeout is for --strategy chained"),
        (["--strategy", "chained", "--timeout", "soon"], "--timeout 'soon'? Write 500ms, 10s"),
        (["--validate"], "--validate needs an --ontology"),
    ],
)
def test_wrong_usage(world: Path, words: list[str], message: str) -> None:
    result = pipeline(world, "--once", *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_folder_that_is_not_there(world: Path) -> None:
    (world / "in" / "1.nq").unlink()
    (world / "in").rmdir()
    result = pipeline(world, "--once")
    assert result.exit_code == 2
    assert "there is no folder or table" in result.stderr


def test_what_cannot_go_on_says_why(world: Path) -> None:
    (world / "subscriptions" / "log.ndjson").write_text("{}")
    result = pipeline(world, "--once")
    assert result.exit_code == 2
    assert "use two folders" in result.stderr
    assert "goes on from the checkpoint" in result.stderr


# ------------------------------------------------------------------------------------------------------- match and demo


def matches(*words: str | Path) -> tuple[int, list[dict[str, Any]]]:
    result = tidings("match", *words)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    return result.exit_code, sorted(found, key=lambda each: (each["event"], each["subscription"]))


def test_match_gives_what_it_gives_without(tmp_path: Path) -> None:
    tidings("demo", "--write", tmp_path / "world")
    ontologies = [w for path in sorted((tmp_path / "world" / "ontologies").iterdir()) for w in ("--ontology", path)]
    (tmp_path / "world" / "events" / "broken.ttl").write_text("nonsense")
    words = [tmp_path / "world" / "subscriptions", tmp_path / "world" / "events", *ontologies, "--bindings"]
    code, expected = matches(*words)
    assert (code, len(expected)) == (1, 122)
    assert matches(*words, "--engine", "spark") == (code, expected)
    index = tmp_path / "index"
    assert tidings("compile", words[0], *ontologies, "-o", index).exit_code == 0
    assert matches(index, words[1], "--bindings", "--engine", "spark") == (code, expected)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--matcher", "naive"], "has one matcher, 'fast'"),
        (["--strategy", "chained", "--strict"], "--strict needs whole events"),
    ],
)
def test_match_refuses_what_spark_does_not_do(world: Path, words: list[str], message: str) -> None:
    result = tidings("match", world / "subscriptions", world / "in", "--engine", "spark", *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_demo_ends_by_itself_with_a_report(tmp_path: Path) -> None:
    result = tidings("demo", "--output", tmp_path / "demo", "-q")
    assert result.exit_code == 0, result.stderr
    assert "9 batches on Spark: 35 events, 120 matches, 1 rejected, 37 subscriptions" in " ".join(result.stdout.split())
    assert "Rejected: half-a-listing.ttl:2: the document ends too early" in result.stdout
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "class-hierarchy-notebook-is-a-computer on offer-01" in page
    assert len(told(tmp_path / "demo" / "notifications")) == 120
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    assert tidings("demo", "--output", tmp_path / "mine").exit_code == 2
