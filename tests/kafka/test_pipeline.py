"""From topics to topics: every notification once in the table, and at least once in the topic, whatever happens."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.dataset as ds
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kafka.broker import Broker
from tests.kafka.client import Client
from tests.soak.composing import from_cases
from tests.soak.generated import drawn
from tests.spark.worlds import World, found_in

from tidings.delivery.notification import notification_id
from tidings.errors import EngineError
from tidings.lang import to_text
from tidings.ontology import Ontology
from tidings.rdf.cloudevents import STRUCTURED
from tidings.rdf.event import to_nquads
from tidings.spark import kafka, kafka_changes, places
from tidings.spark.assembly import Places, assemble

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
IMPATIENT = {"max.block.ms": "2000", "request.timeout.ms": "1000", "delivery.timeout.ms": "2000"}
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
MORNING = datetime(2024, 5, 1, 8, tzinfo=UTC)


def document(event: str, cls: str = "A") -> str:
    return f"<http://e/x> <{TYPE}> <http://e/{cls}> <http://e/{event}> .\n"


def subscription(id: str, cls: str = "A", **more: str) -> str:
    return json.dumps({"id": id, "query": f"ASK {{ ?x a <http://e/{cls}> }}", **more})


class Flow:
    """A pipeline that is begun again and again; its tables are below `root`."""

    def __init__(self, spark: SparkSession, root: Path, events: str, subscriptions: str) -> None:
        self._spark = spark
        self._root = root
        self.places = Places(events, subscriptions, str(root / "notifications"), str(root / "checkpoint"))
        self.how: Any = {"format": "nq"}
        self.options: dict[str, Any] = {}

    def run(self, ontology: Ontology | None = None) -> None:
        given = ontology or Ontology.empty()
        pipeline, read = assemble(self._spark, self.places, given, self.how, **self.options)
        pipeline.start(read, {"availableNow": True})
        assert pipeline.wait(120)

    def rows(self, table: str) -> list[Any]:
        folder = self._root / table
        if not folder.exists():
            folder = self._root / "checkpoint" / table
        rows = (
            ds.dataset(folder, format="parquet", partitioning="hive").to_table().to_pylist() if folder.exists() else []
        )
        return [SimpleNamespace(**row) for row in rows]

    def notified(self) -> list[tuple[str, str]]:
        return sorted((row.subscription, row.event.removeprefix("http://e/")) for row in self.rows("notifications"))


def test_a_broker_is_killed_in_the_middle(
    spark: SparkSession, broker: Broker, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "subscriptions").mkdir()
    (tmp_path / "subscriptions" / "a b.rq").write_text("ASK { ?x a <http://e/A> }")
    flow = Flow(spark, tmp_path, client.create("news", 2), str(tmp_path / "subscriptions"))
    flow.places = flow.places._replace(notifications=client.create("told", 2))
    flow.options = {"kafka": IMPATIENT}
    for number in range(8):
        client.send("news", document(str(number)), partition=number % 2)

    def killed(rows: DataFrame, topic: kafka.Topic) -> None:
        """Half of them come, and then nothing does."""
        kafka.write_notifications(rows.orderBy("event").limit(4), topic)
        broker.kill()
        kafka.write_notifications(rows, topic)

    with monkeypatch.context() as patched:
        patched.setattr(places, "write_notifications", killed)
        with pytest.raises(EngineError, match="cannot go on"):
            flow.run()
    broker.start()
    assert len(flow.notified()) == 8, "those of the batch are in the table before they are told"
    client.send("news", document("8"))
    flow.run()
    flow.run()
    expected = {notification_id("a b", f"http://e/{number}"): f"http://e/{number}" for number in range(9)}
    table = flow.rows("notifications")
    assert sorted(row.notification for row in table) == sorted(expected), "once in the table"
    told = client.received("told")
    assert Counter(message.key for message in told) == Counter([*expected, *list(expected)[:4]])
    for message in told:
        value = json.loads(message.value or "")
        (row,) = (row for row in table if row.notification == message.key)
        assert value["event"] == row.event == expected[row.notification]
        assert (value["notification"], value["subscription"]) == (row.notification, "a b")
        assert datetime.fromisoformat(value["published"]) == row.published
        assert datetime.fromisoformat(message.headers["ce_time"]) == row.matched
        assert message.headers == {
            "ce_specversion": "1.0",
            "ce_id": row.notification,
            "ce_source": "/subscriptions/a%20b",
            "ce_type": "tidings.notification",
            "ce_time": message.headers["ce_time"],
            "ce_subject": row.event,
            "content-type": "application/json",
        }


def test_messages_say_what_they_are(spark: SparkSession, client: Client, tmp_path: Path) -> None:
    place = client.create("mixed")
    (tmp_path / "a.rq").write_text("ASK { ?x a <http://e/A> }")
    flow = Flow(spark, tmp_path, place, str(tmp_path))
    flow.how = {}
    quads = {"content-type": "application/n-quads; charset=utf-8"}
    moment = int(MORNING.timestamp() * 1000)
    envelope = {"specversion": "1.0", "id": "7", "source": "/t", "type": "t", "time": "2024-05-01T12:00:00Z"}
    graph = {"@id": "http://e/json", "@graph": {"@id": "http://e/x", "@type": "http://e/A"}}
    client.send("mixed", document("plain"), "key", quads, moment=moment)
    client.send("mixed", document("timed"), None, {**quads, "ce_time": "2024-05-01T14:00:00+02:00", "ce_id": "7"})
    client.send("mixed", "<http://e/x> a <http://e/A> .", None, {"Content-Type": "text/turtle"}, moment=moment)
    client.send("mixed", json.dumps({**envelope, "data": graph}), None, {"content-type": STRUCTURED})
    text = {**envelope, "datacontenttype": "application/n-quads", "data": document("text") + document("more")}
    client.send("mixed", json.dumps(text), None, {"content-type": f"{STRUCTURED}; charset=UTF-8"})
    bad = [
        client.send("mixed", None, "key"),
        client.send("mixed", document("untold")),
        client.send("mixed", document("late"), None, {**quads, "ce_time": "noon"}),
        client.send("mixed", document("late"), None, {**quads, "ce_time": b"\xff"}),
        client.send("mixed", "{", None, {"content-type": STRUCTURED}),
        client.send("mixed", "<http://e/x> a", None, {"content-type": "text/turtle"}),
    ]
    client.send("mixed", document("last"), None, quads, moment=moment)
    flow.run()
    archived = {row.event.removeprefix("http://e/"): row for row in flow.rows("archive")}
    (unnamed,) = (id for id in archived if id.startswith("urn:tidings:sha256:"))
    times = {id: row.published for id, row in archived.items()}
    assert times == {
        "plain": MORNING, "timed": NOON, unnamed: MORNING, "json": NOON, "text": NOON, "more": NOON, "last": MORNING,
    }  # fmt: skip
    assert archived["plain"].source == f"{place}#0@0"
    assert archived["more"].source == f"{place}#0@4"
    assert {row.event for row in flow.rows("notifications")} == {row.event for row in archived.values()}
    rejected = sorted(flow.rows("rejected"), key=lambda row: int(row.source.rpartition("@")[2]))
    assert [(row.kind, row.source) for row in rejected] == [("document", f"{place}#0@{offset}") for offset in bad]
    for row, reason in zip(
        rejected, ["is null", "which RDF format", "'noon'", "not UTF-8", "not JSON", ""], strict=True
    ):
        assert reason in row.reason
    assert rejected[5].line == 1
    client.send("mixed", document("after"), None, quads)
    client.send("mixed", document("plain"), None, quads)
    client.send_together("mixed", [document("not")], commit=False)
    flow.run()
    flow.run()
    assert sorted(row.event for row in flow.rows("archive") if row.batch > 0) == ["http://e/after"]


def test_subscriptions_are_taken_from_a_topic_once(
    spark: SparkSession, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = Flow(spark, tmp_path, client.create("events"), client.create("changes"))
    client.send("changes", subscription("a"), "a")
    client.send("changes", f"{subscription('b', 'B')}\n{subscription('c')}\n")
    client.send("changes", None, "c")
    early = int(MORNING.timestamp() * 1000)
    client.send("events", document("1"), moment=early)
    flow.run()
    assert flow.notified() == [("a", "1")]
    client.send("changes", "nonsense", "x")
    client.send("changes", None, "a")
    client.send("changes", subscription("c", created="2024-05-01T09:00:00Z"), "c")
    client.send("events", document("2"))
    client.send("events", document("old"), moment=early)
    flow.run()
    assert flow.notified() == [("a", "1"), ("c", "2")]

    def silent(ends: kafka_changes.Ends) -> None:
        raise ConnectionError("nobody answers")

    with monkeypatch.context() as patched:
        patched.setattr(kafka_changes.Ends, "now", silent)
        flow.run()
        client.send("events", document("3", "B"))
        with pytest.raises(EngineError, match="cannot go on: nobody answers"):
            flow.run()
    assert flow.notified() == [("a", "1"), ("c", "2")], "no batch is done without them"
    flow.run()
    assert flow.notified() == [("a", "1"), ("b", "3"), ("c", "2")]
    (row,) = flow.rows("rejected")
    assert (row.kind, row.source, row.line) == ("subscription", f"{flow.places.subscriptions}#0@3", 1)
    assert "not JSON" in row.reason


@pytest.mark.parametrize("seed", [0])
def test_generated_worlds(spark: SparkSession, client: Client, tmp_path: Path, seed: int) -> None:
    history = from_cases(drawn(seed, 4), random.Random(seed))
    world = World(Ontology.of(history.ontologies[0]), history.queries, history.events)
    flow = Flow(spark, tmp_path, client.create(f"events-{seed}", 3), client.create(f"changes-{seed}", 2))
    flow.options = {"bindings": True, "max_files": 1 + len(world.events) // 2}
    for id, query in world.queries.items():
        row = {"id": id, "query": to_text(query), "dialect": query.dialect}
        client.send(f"changes-{seed}", json.dumps(row), id)
    for event in world.events:
        client.send(f"events-{seed}", to_nquads(event), event.id)
    flow.run(world.ontology)
    expected = world.answers()
    undecided = {pair for pair, answer in expected.items() if answer is None}
    found = found_in(flow.rows("notifications"))
    assert expected, "something matches"
    assert {pair: answer for pair, answer in found.items() if pair not in undecided} == {
        pair: answer for pair, answer in expected.items() if answer is not None
    }
