"""Subscriptions in shards on Spark: the same matches, each once, in batches and in streams while they change."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner, Result
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit
from tests.soak.composing import from_cases
from tests.soak.generated import drawn
from tests.spark.test_equal import TIMELESS, assert_same, world_of
from tests.spark.worlds import World, found_in

from tidings.bench.workloads.fast.base import data
from tidings.bench.workloads.fast.nanopubs import workload
from tidings.cli import app
from tidings.errors import SubscriptionError, UsageError
from tidings.match.fast.sharded import Sharded
from tidings.ontology import Ontology
from tidings.rdf.event import Event, to_nquads
from tidings.rdf.read import read_events
from tidings.spark import hits, match, read_document_stream, subscriptions
from tidings.spark.figures import FigureTable
from tidings.spark.pipeline import Pipeline, Sinks
from tidings.spark.schema import EVENTS
from tidings.spark.shards_compile import compile_shards

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def test_every_case(spark: SparkSession, tmp_path: Path) -> None:
    """Some of them in one job: all are tried without Spark."""
    tables = []
    chosen = TIMELESS[:: len(TIMELESS) // 3]
    for number, name in enumerate(chosen):
        world, source = world_of(name), tmp_path / f"{number}.ndjson"
        shards = (1, 4, 8)[number % 3]
        rows = match(world.table(spark, 1), world.rows(source), ontology=world.ontology, bindings=True, shards=shards)
        tables.append(rows.withColumn("case", lit(name)))
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in reduce(DataFrame.unionByName, tables).collect():
        found[row.case].append(row)
    for name in chosen:
        assert found_in(found[name]) == world_of(name).answers(), name


@pytest.mark.parametrize("shards", [4, 8])
def test_generated_worlds(spark: SparkSession, tmp_path: Path, shards: int) -> None:
    history = from_cases(drawn(shards, 4), random.Random(shards))
    world = World(Ontology.of(history.ontologies[0]), history.queries, history.events)
    rows = match(
        world.table(spark, 3), world.rows(tmp_path / "s.ndjson"), ontology=world.ontology, bindings=True, shards=shards
    )
    assert_same(world.answers(), found_in(rows.collect()))


def test_nanopublications(spark: SparkSession, tmp_path: Path) -> None:
    files = sorted((data() / "wikipathways-nanopubs").glob("*.trig.zst"))
    if not files:
        pytest.skip("the nanopublications are not there: set TIDINGS_DATA")
    events = list(read_events([files[0]], by="nanopub", report=_refuse))[:60]
    work = workload("nanopublications", events, "WikiPathways", 60, 3, len(events), seed=1)
    world = World(work.ontology, dict(work.forms()), events)
    index = tmp_path / "index"
    Sharded.of(4, world.queries.items(), world.ontology, [event.body for event in events[:50]]).save(index)
    assert found_in(match(world.table(spark, 2), index, bindings=True).collect()) == world.answers()


def _refuse(error: Exception) -> None:
    raise error


def test_what_is_no_event_is_told_once(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever it is, and however many shards it might concern."""
    always = {f"all{n}": "SELECT * { ?s ?p ?o }" for n in range(8)}
    source = tmp_path / "s.ndjson"
    source.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in always.items()))
    good = f"<http://e/x> <{TYPE}> <http://e/A> .\n"
    rows = [
        ("e:good", None, good, "here"),
        ("e:odd", None, good.replace(" ", "   "), "here"),
        ("e:bad", None, "nonsense", "here"),
        ("e:none", None, None, "here"),
        (None, None, good, "here"),
        ("e:empty", None, "", "here"),
    ]
    for bindings in (False, True):
        found = hits(spark.createDataFrame(rows, EVENTS), source, shards=4, bindings=bindings).collect()
        told = sorted((row.event or "", row.reason is not None) for row in found)
        matched = [("e:good", False)] * 8 + [("e:odd", False)] * 8
        assert told == sorted([("", True), ("e:bad", True), ("e:none", True), *matched])


def test_another_number_of_shards_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    world = world_of(TIMELESS[0])
    table = world.table(spark, 1)
    Sharded.of(2, world.queries.items(), world.ontology).save(tmp_path / "index")
    with pytest.raises(UsageError, match="compiled in 2 shards"):
        match(table, tmp_path / "index", shards=3)
    with pytest.raises(UsageError, match="from 1 to"):
        match(table, world.rows(tmp_path / "s.ndjson"), ontology=world.ontology, shards=0)


def test_compiled_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    """What is wrong is told, and costs no other one anything; the index is as any other."""
    classes = [f"C{n % 40}" for n in range(120)]
    rows = [(f"s{n}", f"SELECT ?x {{ ?x a <http://e/{cls}> }}", None) for n, cls in enumerate(classes)]
    bad = [("broken", "SELECT nonsense", None), ("s3", "ASK { ?s ?p ?o }", None), ("s4", rows[4][1], "klingon")]
    more = [("all", "SELECT * { ?s ?p ?o }", "sparql"), (None, "ASK {}", None), ("op", "ASK {}", "nonsense")]
    table = spark.createDataFrame([*rows, *bad, *more], "id string, query string, dialect string").repartition(3)
    told: list[SubscriptionError] = []
    kept = compile_shards(spark, table, str(tmp_path / "index"), 4, report=told.append)
    assert sorted(error.id or "" for error in told) == ["", "broken", "op", "s3", "s4"]
    events = [(f"e:{n}", None, f"<http://e/x> <{TYPE}> <http://e/C{n}> .\n", "here") for n in range(50)]
    found = match(spark.createDataFrame(events, EVENTS), tmp_path / "index").select("subscription", "event").collect()
    standing = {id: query for id, query, _ in rows if id != "s3"} | {"all": "?p", "s3": min(rows[3][1], bad[1][1])}
    assert (kept.subscriptions, kept.unindexed, len(standing)) == (121, 2, 121)
    expected = sorted(
        (id, event)
        for event, _, body, _ in events
        for id, query in standing.items()
        if "?p" in query or query.partition("<")[2].partition(">")[0] == body.split()[2][1:-1]
    )
    assert sorted(map(tuple, found)) == expected


# ------------------------------------------------------------------------------------------------------------- streams


class Stream:
    """A pipeline that is given documents and subscriptions, batch by batch, and started anew for each."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self._spark = spark
        self._root = root
        self.source = root / "s.ndjson"
        self.sinks = Sinks(*(str(root / name) for name in ("archive", "notifications", "rejected", "figures")))
        (root / "in").mkdir()

    def batch(self, queries: dict[str, str], events: list[Event], shards: int | None) -> None:
        lines = (json.dumps({"id": id, "query": query}) + "\n" for id, query in queries.items())
        self.source.write_text("".join(lines))
        number = len(list((self._root / "in").iterdir()))
        (self._root / "in" / f"{number}.nq").write_bytes(b"".join(map(to_nquads, events)))
        checkpoint = str(self._root / "checkpoint")
        those = subscriptions(self.source, folder=f"{checkpoint}/subscriptions", shards=shards)
        pipeline = Pipeline(self._spark, those, self.sinks, checkpoint)
        pipeline.start(read_document_stream(self._spark, self._root / "in"), {"availableNow": True})
        assert pipeline.wait(300)
        those.close()

    def told(self) -> list[tuple[str, str]]:
        rows = ds.dataset(self.sinks.notifications, format="parquet").to_table(columns=["subscription", "event"])
        return sorted((row["subscription"], row["event"]) for row in rows.to_pylist())


def test_subscriptions_that_change_and_move(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between batches some are put, others replaced, which moves them, and others go; then all are compiled again, and
    in another number of shards."""
    dice = random.Random(1)
    stream = Stream(spark, tmp_path)
    queries: dict[str, str] = {}
    expected: list[tuple[str, str]] = []
    for number, shards in enumerate([4, 4, None, 3]):
        if number == 2:
            monkeypatch.setattr("tidings.spark.changing._FEWEST", 1)
        for id in dice.sample(sorted(queries), len(queries) // 5):
            del queries[id]
        for each in range(30):
            cls = dice.randrange(12)
            queries[f"s{dice.randrange(60)}"] = (
                "SELECT * { ?s ?p ?o }" if each == 7 else f"SELECT ?x {{ ?x a <http://e/C{cls}> }}"
            )
        events = [
            Event(f"http://e/{number}/{cls}", f"<http://e/x> <{TYPE}> <http://e/C{cls}> .\n") for cls in range(12)
        ]
        stream.batch(queries, events, shards)
        for event in events:
            cls = event.id.rpartition("/")[2]
            expected += [(id, event.id) for id, query in queries.items() if f"/C{cls}>" in query or "?p" in query]
        assert stream.told() == sorted(expected)
    *_, last = FigureTable(stream.sinks.figures)
    assert last.replication is not None
    assert 1 <= last.replication <= 3
    assert set(last.load or ()) == {"shard-0", "shard-1", "shard-2"}
    assert sum((last.load or {}).values()) == last.candidates


# ------------------------------------------------------------------------------------------------------------ commands


def tidings(*words: str | Path | int) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_commands(spark: SparkSession, tmp_path: Path) -> None:
    world = world_of(TIMELESS[0])
    (tmp_path / "in").mkdir()
    source, events = world.rows(tmp_path / "s.ndjson"), tmp_path / "in" / "e.nq"
    events.write_bytes(b"".join(map(to_nquads, world.events)))
    queries = {id: f"SELECT ?x {{ ?x ?p <http://e/{id}> }}" for id in ("a", "b", "c")}
    source.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in queries.items()))
    events.write_text("".join(f"<http://e/x> <{TYPE}> <http://e/{id}> <http://g/{id}> .\n" for id in ("a", "c", "d")))
    expected = [("a", "http://g/a"), ("c", "http://g/c")]

    def found(result: Result) -> list[tuple[str, str]]:
        assert result.exit_code == 0, result.stderr
        return sorted((row["subscription"], row["event"]) for row in map(json.loads, result.stdout.splitlines()))

    assert found(tidings("match", source, events, "--engine", "spark", "--shards", 3)) == expected
    refused = tidings("match", source, events, "--shards", 3)
    assert (refused.exit_code, "--engine spark" in refused.stderr) == (2, True)
    index = tmp_path / "index"
    compiled = tidings("compile", source, "--shards", 2, "--sample", events, "-o", index)
    assert (compiled.exit_code, "3 subscriptions in" in compiled.stderr) == (0, True)
    assert found(tidings("match", index, events, "--engine", "spark")) == expected
    assert "compiled in shards" in tidings("match", index, events).stderr
    assert "compiled in 2 shards" in tidings("match", index, events, "--engine", "spark", "--shards", 5).stderr
    again = tidings("compile", source, "-o", index)
    assert (again.exit_code, found(tidings("match", index, events))) == (0, expected)
    by_spark = tidings("compile", source, "--shards", 2, "--engine", "spark", "-o", index)
    assert (by_spark.exit_code, found(tidings("match", index, events, "--engine", "spark"))) == (0, expected)
    for name, those, more in (("one", source, ("--shards", 2)), ("two", tmp_path / "index2", ())):
        if name == "two":
            assert tidings("compile", source, "--shards", 2, "-o", those).exit_code == 0
        places = {"events": tmp_path / "in", "subscriptions": those, "notifications": tmp_path / name / "out"}
        places["checkpoint"] = tmp_path / name / "state"
        words = [word for key, at in places.items() for word in (f"--{key}", at)]
        result = tidings("pipeline", *words, "--once", "--stats", *more)
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["replication"] is not None
        rows = ds.dataset(tmp_path / name / "out", format="parquet").to_table().to_pylist()
        assert sorted((row["subscription"], row["event"]) for row in rows) == expected
