"""What Spark finds in a batch is what one process finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import tidings
from tidings.delivery.notification import notification_id
from tidings.errors import UsageError
from tidings.match.fast import Fast
from tidings.rdf.terms import to_json
from tidings.spark import events_from, events_in, hits, match, problems_in, read_documents, read_events

DEMO = Path(tidings.__file__).parent / "demo"
ONTOLOGY = DEMO / "ontologies"


def refuse(problem: object) -> None:
    raise AssertionError(problem)


@pytest.fixture(scope="module")
def ontology() -> tidings.Ontology:
    return tidings.Ontology.load(*sorted(ONTOLOGY.iterdir()))


@pytest.fixture(scope="module")
def index(ontology: tidings.Ontology, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("compiled") / "index"
    engine = Fast(ontology)
    for each in tidings.lang.files.read_subscriptions(DEMO / "subscriptions", report=refuse):
        engine.add(each.id, each.query)
    engine.save(folder)
    return str(folder)


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return read_events(spark, DEMO / "events")


def embedded(ontology: tidings.Ontology) -> dict[tuple[str, str], list[dict[str, Any]]]:
    engine = Fast(ontology)
    for each in tidings.lang.files.read_subscriptions(DEMO / "subscriptions", report=refuse):
        engine.add(each.id, each.query)
    found = {}
    for event in tidings.read_events(DEMO / "events", report=refuse):
        for each in engine.match(event, refuse):
            rows = [{name: to_json(term) for name, term in solution.items()} for solution in each.bindings]
            found[each.subscription, each.event] = rows
    return found


def test_events_are_those_of_one_process(events: DataFrame) -> None:
    expected = {(e.id, e.body, e.source) for e in tidings.read_events(DEMO / "events", report=refuse)}
    rows = events.collect()
    assert {(row.event, row.body, row.source) for row in rows} == expected
    assert len(rows) == len(expected)


@pytest.mark.parametrize("bindings", [False, True])
def test_matches_are_those_of_one_process(
    events: DataFrame, index: str, ontology: tidings.Ontology, bindings: bool
) -> None:
    rows = match(events, index, bindings=bindings).collect()
    expected = embedded(ontology)
    assert sorted((row.subscription, row.event) for row in rows) == sorted(expected)
    for row in rows:
        assert row.notification == notification_id(row.subscription, row.event)
        assert row.matched is not None
        if not bindings:
            assert row.bindings is None
        else:
            answer = json.loads(row.bindings)
            solutions = answer["bindings"] if isinstance(answer, dict) else answer
            assert solutions == expected[row.subscription, row.event]


def test_what_cannot_be_read_is_a_row_with_its_place(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text('<http://x/s> <http://x/p> "1" <http://x/one> .\noops\n')
    (tmp_path / "b.ttl").write_text("<http://x/s> <http://x/p> .\n")
    read = read_documents(spark, tmp_path)
    assert [row.event for row in events_in(read).collect()] == []
    problems = {(Path(row.source).name, row.line) for row in problems_in(read).collect()}
    assert problems == {("a.nq", 2), ("b.ttl", 1)}


@pytest.mark.parametrize("bindings", [False, True])
def test_rows_from_elsewhere_need_not_be_canonical(spark: SparkSession, tmp_path: Path, bindings: bool) -> None:
    (tmp_path / "p.rq").write_text("SELECT ?s { ?s <http://x/p> ?o }")
    bodies = ['<http://x/s>  <http://x/p> "1" .', "nonsense", '<http://x/s> <http://x/p> "\\u0031" .\n', None]
    rows = [(f"http://x/{n}", None, body, "here") for n, body in enumerate(bodies)]
    table = spark.createDataFrame(rows, "event string, published timestamp, body string, source string")
    found = hits(table, tmp_path, bindings=bindings).collect()
    assert sorted((row.event, row.subscription) for row in found if row.reason is None) == [
        ("http://x/0", "p"),
        ("http://x/2", "p"),
    ]
    assert sorted(row.event for row in found if row.reason is not None) == ["http://x/1", "http://x/3"]


def test_what_is_not_there_is_said(spark: SparkSession, events: DataFrame, index: str) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_events(spark, "/no/such/folder")
    with pytest.raises(UsageError, match="one of one-step"):
        match(events, index, strategy="guess")
    with pytest.raises(UsageError, match="messages need format"):
        events_from(events, "body")
    with pytest.raises(TypeError, match="binding"):
        match(events, index, binding=True)  # type: ignore[call-arg]
