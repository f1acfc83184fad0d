"""The pipeline of chained: parts in documents, over batches and restarts, and every notification once."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession
from tests.spark.chained_worlds import END, everything, pairs, split

from tidings.lang.watched import Watched
from tidings.ontology import Ontology
from tidings.rdf.event import Event, to_nquads
from tidings.spark import match, read_document_stream, read_event_stream
from tidings.spark.chained.pipeline import ChainedPipeline
from tidings.spark.chained.taking import ConjunctiveSource
from tidings.spark.changing import Subscriptions
from tidings.spark.figures import Figures
from tidings.spark.pipeline import Sinks

LONG, NO_TIME = timedelta(hours=1), timedelta(milliseconds=1)


class World:
    """A folder of documents, subscriptions, and a pipeline over them that can be begun again."""

    def __init__(self, spark: SparkSession, root: Path, ontology: Ontology | None = None) -> None:
        self.spark = spark
        self.root = root
        self.queries = root / "subscriptions"
        self.events = root / "in"
        self.events.mkdir()
        self.told: list[Figures] = []
        self.bindings = False
        self.timeout = LONG
        self.files = 1
        self._ontology = ontology
        self._moment = 1_790_000_000

    def subscribe(self, id: str, query: str) -> None:
        self.queries.mkdir(exist_ok=True)
        (self.queries / f"{id}.rq").write_text(query)

    def publish(self, *parts: tuple[str, str]) -> None:
        """A document with these parts."""
        self.put(b"".join(to_nquads(Event(event, body)) for event, body in parts))

    def put(self, document: bytes) -> None:
        self._moment += 1
        beside = self.root / f"{self._moment}.nq"
        beside.write_bytes(document)
        # Those of one moment come in any order.
        os.utime(beside, (self._moment, self._moment))
        beside.rename(self.events / beside.name)

    def run(self, spoil: Callable[[ChainedPipeline], None] = lambda pipeline: None) -> None:
        sinks = Sinks(*(str(self.root / name) for name in ("archive", "notifications", "rejected", "figures")))
        checkpoint = str(self.root / "checkpoint")
        source = ConjunctiveSource(Watched(self.queries))
        those = Subscriptions(source, f"{checkpoint}/tidings/subscriptions", self._ontology)
        pipeline = ChainedPipeline(
            self.spark,
            those,
            sinks,
            checkpoint,
            timeout=self.timeout,
            bindings=self.bindings,
            listener=self.told.append,
        )
        spoil(pipeline)
        read = read_document_stream(self.spark, self.events, max_files=self.files, group=True)
        pipeline.start(read, {"availableNow": True})
        assert pipeline.wait(300)

    def rows(self, table: str) -> list[Any]:
        folder = self.root / table
        read = ds.dataset(folder, format="parquet", partitioning="hive").to_table() if folder.exists() else None
        return [] if read is None else [SimpleNamespace(**row) for row in read.to_pylist()]

    def notified(self) -> list[tuple[str, str]]:
        return sorted((row.subscription, row.event) for row in self.rows("notifications"))

    def archived(self, part: str | None) -> list[tuple[str, str]]:
        return sorted((row.event, row.body) for row in self.rows("archive") if row.part == part)

    def reasons(self) -> list[str]:
        return sorted(row.reason.partition("\n")[0] for row in self.rows("rejected"))


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> World:
    made = World(spark, tmp_path)
    made.subscribe("both", "SELECT * { GRAPH ?g { ?a <http://e/p> ?x } GRAPH ?g { ?b <http://e/q> ?x } }")
    made.subscribe("p", "ASK { ?a <http://e/p> ?x }")
    return made


P, Q, R = (f"<http://e/{name}> <http://e/{name}> <http://e/x> .\n" for name in "pqr")
ONE, TWO = "http://e/1", "http://e/2"


def test_an_event_over_batches_and_a_restart(world: World) -> None:
    world.subscribe("none", "SELECT * { ?a <http://e/p> ?x OPTIONAL { ?b <http://e/q> ?x } }")
    world.publish((ONE, P), (TWO, P + Q + END.format(TWO)))
    world.run()
    assert world.notified() == [("both", TWO), ("p", ONE), ("p", TWO)]
    (world.queries / "none.rq").unlink()
    world.publish((ONE, Q), (ONE, END.format(ONE)))
    world.publish((ONE, R))
    world.run()
    assert world.notified() == [("both", ONE), ("both", TWO), ("p", ONE), ("p", TWO)]
    assert world.archived("part") == [(ONE, P), (ONE, Q)]
    assert world.archived("late") == [(ONE, R)]
    assert world.archived(None) == [(ONE, P + Q), (TWO, P + Q)]
    assert world.reasons() == ["subscription 'none': the strategy chained does not take OPTIONAL"]
    open_then = [each.chained["open"] for each in world.told if each.chained is not None]
    assert open_then == [1, 0, 0]
    assert [(each.matches, each.rejects) for each in world.told] == [(3, 1), (1, 0), (0, 0)]
    last = world.told[-1].chained
    assert last is not None
    assert (last["late_parts"], last["late_triples"]) == (1, 1)


@pytest.mark.parametrize("where", ["behind the notifications", "behind the figures"])
def test_a_batch_that_is_run_again_leaves_what_one_run_leaves(
    world: World, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once with half of its tables, and once with all of them, but Spark does not know."""
    world.publish((ONE, P))
    world.publish((ONE, Q), (TWO, P))

    def spoil(pipeline: ChainedPipeline) -> None:
        if where == "behind the figures":
            monkeypatch.setattr(pipeline, "_listener", lambda figures: go_dark(figures.batch))
        else:
            inner = pipeline._archive
            monkeypatch.setattr(
                pipeline, "_archive", lambda kept, batch, found: go_dark(batch.number) or inner(kept, batch, found)
            )

    def go_dark(batch: int) -> None:
        if batch == 1:
            raise RuntimeError("the lights went out")

    with pytest.raises(Exception, match="lights went out"):
        world.run(spoil)
    assert world.notified() == [("both", ONE), ("p", ONE), ("p", TWO)]
    world.subscribe("late", "ASK { ?a <http://e/p> ?x }")
    world.publish((ONE, END.format(ONE)), (TWO, END.format(TWO)))
    world.run()
    assert world.notified() == [("both", ONE), ("late", ONE), ("late", TWO), ("p", ONE), ("p", TWO)]
    told = [(row.batch, row.subscription) for row in world.rows("notifications") if row.subscription == "late"]
    assert told == [(2, "late"), (2, "late")], "the subscriptions of a batch are those of its first try"
    assert world.archived("part") == [(ONE, P), (ONE, Q), (TWO, P)]
    assert world.archived(None) == [(ONE, P + Q), (TWO, P)]


def test_an_event_that_is_known_does_not_fire_again(world: World) -> None:
    """When the mark that it is closed is gone from the state, the archive still knows it."""
    world.timeout = NO_TIME
    world.publish((ONE, P + Q + END.format(ONE)))
    world.publish((TWO, R))
    world.publish((ONE, P + Q + END.format(ONE)))
    world.run()
    world.publish((TWO, R))
    world.publish((ONE, P), (ONE, END.format(ONE)))
    world.run()
    assert world.notified() == [("both", ONE), ("p", ONE)]
    assert [event for event, _ in world.archived(None)].count(ONE) == 1
    assert world.reasons() == [f"the event {ONE} was read before, with other triples"]


def test_who_comes_late_is_told_though_the_last_batch_left_nothing(world: World) -> None:
    """There are no figures of a batch in which nothing happened, and nothing comes that would be another one."""
    world.queries = world.root / "log"
    world.queries.mkdir()
    (world.queries / "1.ndjson").write_text(json.dumps({"id": "q", "query": "ASK { ?a <http://e/q> ?x }"}))
    for _ in range(2):
        world.put(P.encode())
    world.run()
    assert [each.batch for each in world.told] == [0], "the second one has the same event, which has no name, again"
    options = json.dumps({"retroactive": "2026-01-01T00:00:00Z"})
    late = {"id": "late", "query": "ASK { ?a <http://e/p> ?x }", "options": options}
    (world.queries / "2.ndjson").write_text(json.dumps(late))
    world.run()
    assert [subscription for subscription, _ in world.notified()] == ["late"]


def test_every_case_in_a_stream_of_parts(spark: SparkSession, tmp_path: Path) -> None:
    """In a few batches, with a restart, and solutions when they are closed."""
    whole, dice = everything(21), random.Random(3)
    world = World(spark, tmp_path, whole.ontology)
    world.queries = whole.rows(tmp_path / "subscriptions.ndjson")
    world.bindings = True
    named = [part for part in split(whole, dice) if not part[0].startswith("urn:tidings")]
    world.publish(*named[: len(named) // 2])
    world.run()
    world.publish(*named[len(named) // 2 :])
    world.publish(*((event, END.format(event)) for event in sorted({event for event, _ in named})))
    world.run()
    expected, _ = pairs(whole.answers())
    names = {event for event, _ in named}
    assert world.notified() == sorted(pair for pair in expected if pair[1] in names)
    assert len(world.notified()) > 1_000


def test_match_on_a_stream(spark: SparkSession, world: World) -> None:
    """Without a pipeline: the subscriptions as they are, and Spark's own sink."""
    world.publish((ONE, P), (TWO, Q))
    world.publish((ONE, Q), (TWO, Q))
    events = read_event_stream(spark, world.events, max_files=1, once=False)
    found = match(events, world.queries, strategy="chained", timeout=LONG)
    idle = "spark.sql.streaming.noDataMicroBatches.enabled"
    spark.conf.set(idle, "false")
    try:
        writer = found.writeStream.format("parquet").option("checkpointLocation", str(world.root / "state"))
        query = writer.trigger(availableNow=True).start(str(world.root / "out"))
        assert query.awaitTermination(300)
    finally:
        spark.conf.unset(idle)
    rows = spark.read.parquet(str(world.root / "out")).collect()
    assert sorted((row.subscription, row.event) for row in rows) == [("both", ONE), ("p", ONE)]
