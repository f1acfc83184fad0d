"""The pipeline: what comes out of it, batch by batch, is what one process finds."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyspark.sql import DataFrame, SparkSession

from tidings.errors import UsageError
from tidings.spark import read_document_stream, subscriptions
from tidings.spark.figures import Figures
from tidings.spark.here import Here
from tidings.spark.pipeline import SMALL, Pipeline, Sinks
from tidings.spark.spread import Spread

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


class World:
    """A folder of documents, a folder of subscriptions, and a pipeline over them that can be begun again."""

    def __init__(self, spark: SparkSession, root: Path, small: int) -> None:
        self.spark = spark
        self.small = small
        self.root = root
        self.events = root / "in"
        self.events.mkdir()
        self.queries = root / "subscriptions"
        self.queries.mkdir()
        self.told: list[Figures] = []
        self.extra: dict[str, Any] = {}
        self.bindings = False
        self._moment = 1_790_000_000

    def subscribe(self, id: str, cls: str) -> None:
        (self.queries / f"{id}.rq").write_text(f"SELECT ?x {{ ?x a <http://e/{cls}> }}")

    def publish(self, name: str, *events: tuple[str, str]) -> None:
        lines = (f"<http://e/x> <{TYPE}> <http://e/{cls}> <http://e/{id}> .\n" for id, cls in events)
        beside = self.root / name
        beside.write_text("".join(lines))
        # Those of one moment come in any order.
        self._moment += 1
        os.utime(beside, (self._moment, self._moment))
        beside.rename(self.events / name)

    def run(self, spoil: Callable[[Pipeline], None] = lambda pipeline: None) -> None:
        sinks = Sinks(
            archive=str(self.root / "archive"),
            notifications=str(self.root / "notifications"),
            rejected=str(self.root / "rejected"),
            figures=str(self.root / "figures"),
            **self.extra,
        )
        checkpoint = str(self.root / "checkpoint")
        those = subscriptions(self.queries, folder=f"{checkpoint}/tidings/subscriptions")
        pipeline = Pipeline(
            self.spark,
            those,
            sinks,
            checkpoint,
            bindings=self.bindings,
            small=self.small,
            listener=self.told.append,
        )
        spoil(pipeline)
        read = read_document_stream(self.spark, self.events, max_files=1)
        pipeline.start(read, {"availableNow": True})
        while not pipeline.wait(60):
            pass

    def rows(self, table: str, *columns: str) -> list[Any]:
        folder = self.root / table
        if not folder.exists():
            return []
        read = ds.dataset(folder, format="parquet").to_table(columns=list(columns) or None)
        return [SimpleNamespace(**row) for row in read.to_pylist()]

    def notified(self) -> list[tuple[str, str]]:
        return sorted((row.subscription, row.event.removeprefix("http://e/")) for row in self.rows("notifications"))

    def archived(self) -> list[str]:
        return sorted(row.event.removeprefix("http://e/") for row in self.rows("archive", "event"))

    def reasons(self) -> list[tuple[str, str]]:
        return sorted((row.kind, row.reason.partition("\n")[0]) for row in self.rows("rejected"))


@pytest.fixture(params=[SMALL, 0], ids=["here", "spread"])
def world(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> World:
    """By the driver itself, and by jobs."""
    return World(spark, tmp_path, request.param)


def test_events_are_matched_and_archived(world: World) -> None:
    world.subscribe("a", "A")
    world.subscribe("b", "B")
    world.publish("1.nq", ("1", "A"), ("2", "B"))
    world.publish("2.nq", ("3", "A"))
    world.run()
    assert world.notified() == [("a", "1"), ("a", "3"), ("b", "2")]
    assert world.archived() == ["1", "2", "3"]
    assert [(each.batch, each.events, each.matches, each.rejects) for each in world.told] == [
        (0, 2, 2, 0),
        (1, 1, 1, 0),
    ]
    assert all(each.candidates >= each.matches and each.lag is not None for each in world.told)
    world.run()
    assert len(world.told) == 2, "nothing is new"


def test_subscriptions_come_and_go_between_batches(world: World) -> None:
    world.subscribe("a", "A")
    world.publish("1.nq", ("1", "A"))
    world.run()
    world.subscribe("late", "A")
    world.publish("2.nq", ("2", "A"))
    world.run()
    (world.queries / "a.rq").unlink()
    world.publish("3.nq", ("3", "A"))
    world.run()
    assert world.notified() == [("a", "1"), ("a", "2"), ("late", "2"), ("late", "3")]
    assert [(each.put, each.cancelled, each.subscriptions) for each in world.told] == [(1, 0, 1), (1, 0, 2), (0, 1, 1)]


def test_an_event_that_comes_again_is_no_event(world: World) -> None:
    world.subscribe("a", "A")
    world.publish("1.nq", ("1", "A"), ("2", "A"))
    world.publish("2.nq", ("1", "A"), ("3", "A"))
    world.publish("3.nq", ("2", "B"), ("4", "A"))
    world.run()
    assert world.notified() == [("a", "1"), ("a", "2"), ("a", "3"), ("a", "4")]
    assert world.archived() == ["1", "2", "3", "4"]
    assert world.reasons() == [("event", "the event http://e/2 was read before, with other triples")]


def test_what_is_wrong_is_rejected_and_the_rest_goes_on(world: World) -> None:
    world.subscribe("a", "A")
    (world.queries / "bad.rq").write_text("SELECT ?x { ")
    (world.events / "1.ttl").write_text("<http://e/x> a <http://e/A> .\n nonsense")
    world.publish("2.nq", ("1", "A"))
    world.run()
    assert world.notified() == [("a", "1")]
    kinds = [kind for kind, _ in world.reasons()]
    assert kinds == ["document", "subscription"]
    rows = {row.kind: row for row in world.rows("rejected")}
    assert rows["document"].source.endswith("1.ttl")
    assert rows["document"].line == 2
    assert rows["subscription"].source.endswith("bad.rq")


@pytest.mark.parametrize("stage", ["archive", "match", "reject", "figures"])
def test_a_batch_that_fails_is_run_again_and_leaves_what_one_run_leaves(
    world: World, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.subscribe("a", "A")
    world.publish("1.nq", ("1", "A"), ("2", "A"), ("1", "B"))

    def fail_after(pipeline: Pipeline) -> None:
        if stage == "figures":
            monkeypatch.setattr(pipeline._figures, "write", lambda figures: go_dark())
            return
        inner = getattr(way, stage)
        monkeypatch.setattr(way, stage, lambda work, **named: (inner(work, **named), go_dark()))

    def go_dark() -> None:
        raise RuntimeError("the lights went out")

    way = Here if world.small else Spread
    with pytest.raises(Exception, match="lights went out"):
        world.run(fail_after)
    monkeypatch.undo()
    world.subscribe("late", "A")
    world.run()
    assert world.notified() == [("a", "1"), ("a", "2")], "the subscriptions are those of the first try"
    assert world.archived() == ["1", "2"]
    assert len(world.rows("rejected")) == 1
    assert [each.matches for each in world.told] == [2]


def test_notifications_are_told(world: World) -> None:
    tables: list[list[str]] = []
    delivered: list[tuple[int, list[str]]] = []

    class Postman:
        def deliver(self, batch: int, rows: Iterator[pa.RecordBatch]) -> None:
            delivered.append((batch, [id for each in rows for id in each["notification"].to_pylist()]))

    def callback(rows: DataFrame, batch: int) -> None:
        tables.append([row.notification for row in rows.collect()])

    world.extra = {"outlet": Postman(), "callback": callback}
    world.bindings = True
    world.subscribe("a", "A")
    world.publish("1.nq", ("1", "A"))
    world.run()
    (row,) = world.rows("notifications")
    assert tables == [[row.notification]]
    assert delivered == [(0, [row.notification])]
    assert json.loads(row.bindings) == [{"x": {"type": "uri", "value": "http://e/x"}}]


def test_small_batches_and_large_ones_in_turn(spark: SparkSession, tmp_path: Path) -> None:
    world = World(spark, tmp_path, 5)
    world.subscribe("a", "A")
    for batch, size in enumerate([1, 20, 20, 2, 1]):
        world.publish(f"{batch}.nq", *((f"{batch}-{n}", "A") for n in range(size)), (f"{batch - 1}-0", "A"))
    world.run()
    expected = sorted([f"{batch}-{n}" for batch, size in enumerate([1, 20, 20, 2, 1]) for n in range(size)] + ["-1-0"])
    assert [event for _, event in world.notified()] == expected
    assert world.archived() == expected


def test_a_table_belongs_to_one_checkpoint(world: World) -> None:
    world.subscribe("a", "A")
    world.publish("1.nq", ("1", "A"))
    world.run()
    shutil.rmtree(world.root / "checkpoint")
    with pytest.raises(UsageError, match="another checkpoint"):
        world.run()
    assert world.notified() == [("a", "1")]


def test_a_batch_without_events_leaves_tables_that_can_be_read(world: World) -> None:
    world.subscribe("a", "A")
    world.publish("1.nq", ("1", "A"))
    (world.events / "2.nq").write_text("nonsense\n")
    world.publish("3.nq", ("1", "A"))
    world.run()
    assert world.archived() == ["1"]
    assert world.notified() == [("a", "1")]
    assert len(world.told) == 3


def test_the_archive_may_be_moved_away(world: World) -> None:
    world.subscribe("a", "A")
    world.publish("1.nq", ("1", "A"))
    world.run()
    shutil.rmtree(world.root / "archive")
    world.publish("2.nq", ("1", "A"))
    world.run()
    assert world.notified() == [("a", "1"), ("a", "1")], "nobody knows any more that it was there"
