"""A topic of changes of subscriptions, look by look."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.kafka.client import Client
from tests.kafka.test_pipeline import subscription

from tidings.errors import SubscriptionError, UsageError
from tidings.lang.watched import Change, Standing
from tidings.spark import kafka_changes
from tidings.spark.kafka import topic_of
from tidings.spark.kafka_changes import Part, TopicSource


class Looks:
    """Somebody who looks, and makes the changes his own."""

    def __init__(self, spark: SparkSession, place: str) -> None:
        topic = topic_of(place)
        assert topic is not None
        self.source = TopicSource(spark, topic)
        self.standing = Standing()
        self.errors: list[SubscriptionError] = []

    def look(self) -> list[tuple[str, str]]:
        """What is done to which subscription."""
        changes: list[Change] = []
        for change in self.source.changes(self.standing, self.errors.append):
            self.standing.note(change)
            changes.append(change)
        return [(change.kind, change.id) for change in changes if change.kind != "taken"]


def test_what_is_new_is_seen_once(spark: SparkSession, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_changes, "_MOST", 2)
    looks = Looks(spark, client.create("looks"))
    assert looks.look() == []
    for number in range(5):
        client.send("looks", subscription(str(number)))
    client.send("looks", subscription("0", op="cancel"))
    assert looks.look() == [*(("put", str(number)) for number in range(5)), ("gone", "0")]
    assert looks.look() == []
    assert looks.standing.taken == {"looks#0@6"}, "older looks are forgotten"
    client.send("looks", None, "1")
    client.send("looks", None)
    client.send("looks", "[]")
    client.send("looks", subscription("2", cancelled="2024-05-01T00:00:00Z").replace("ASK", "SELEC"))
    assert looks.look() == [("gone", "1")]
    places = [(error.source or "").rpartition("#")[2] for error in looks.errors]
    assert places == ["0@7", "0@8", "0@9"]
    assert "no key" in str(looks.errors[0])
    assert "a list" in str(looks.errors[1])
    assert looks.errors[2].id == "2"


def test_partitions_and_transactions(spark: SparkSession, client: Client) -> None:
    looks = Looks(spark, client.create("parts"))
    client.send_together("parts", [subscription("never")], commit=False)
    client.send_together("parts", [subscription("a"), subscription("b")], commit=True)
    assert looks.look() == [("put", "a"), ("put", "b")]
    client.grow("parts", 2)
    client.send("parts", subscription("d"), partition=1)
    client.send("parts", subscription("c"), partition=0)
    assert looks.look() == [("put", "c"), ("put", "d")]


def test_what_was_deleted_is_told(spark: SparkSession, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(spark, client.create("deleted"))
    client.send("deleted", subscription("a"))
    assert looks.look() == [("put", "a")]
    for id in "bcd":
        client.send("deleted", subscription(id))
    monkeypatch.setattr(looks.source._ends, "now", lambda: {0: Part(3, 4)})
    assert looks.look() == [("put", "d")]
    assert [error.reason for error in looks.errors] == [
        "the changes from offset 1 to 2 were deleted before they were taken"
    ]
    looks.standing.taken.add("deleted#0@9")
    with pytest.raises(UsageError, match="ends at offset 4, and 9 were taken"):
        looks.look()


def test_brokers_that_do_not_answer_are_no_answer(spark: SparkSession, client: Client) -> None:
    topic = topic_of("kafka://127.0.0.1:1/changes", {"default.api.timeout.ms": "500", "request.timeout.ms": "300"})
    assert topic is not None
    source = TopicSource(spark, topic)
    with pytest.raises(ConnectionError, match=r"kafka://127\.0\.0\.1:1/changes: .*Timeout"):
        list(source.changes(Standing(), lambda error: None))
