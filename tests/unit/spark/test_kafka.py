"""Topics by name, and what a worker makes of messages. What brokers are needed for is in `tests/kafka`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

pytest.importorskip("pyspark")

from tidings.cli.pipeline import command
from tidings.errors import UsageError
from tidings.spark.kafka import Topic, topic_of
from tidings.spark.kafka_events import topic_stage
from tidings.spark.reading import Reading

QUAD = b"<http://e/s> <http://e/p> <http://e/o> <http://e/g> .\n"
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
MESSAGES = pa.schema(
    [
        ("value", pa.binary()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("published", pa.timestamp("us", "UTC")),
        ("source", pa.string()),
    ]
)


def read(value: bytes | None, headers: dict[str, bytes | None] | None, format: str | None = None) -> list[Any]:
    said = None if headers is None else [{"key": key, "value": value} for key, value in headers.items()]
    message = {"value": value, "headers": said, "published": NOON, "source": "kafka://h:1/t#0@7"}
    batches = topic_stage(Reading(format))(iter([pa.RecordBatch.from_pylist([message], MESSAGES)]))
    return pa.Table.from_batches(batches).to_pylist()


def test_a_message_is_a_document() -> None:
    (row,) = read(QUAD, None, "nq")
    assert (row["event"], row["published"], row["source"]) == ("http://e/g", NOON, "kafka://h:1/t#0@7")
    (row,) = read(QUAD, {"content-type": b"text/turtle"}, "nq")
    assert row["event"] == "http://e/g", "the format that is given counts"
    (row,) = read(QUAD, {"content-type": b"application/n-quads", "ce_time": b"2024-05-01T11:00:00Z", "other": None})
    assert row["published"] == NOON.replace(hour=11)
    (row,) = read(QUAD, {"content-type": b"text/html", "Content-Type": b"application/n-quads"})
    assert row["event"] == "http://e/g", "the last of several"


@pytest.mark.parametrize(
    ("value", "headers", "reason"),
    [
        (None, None, "the message is null"),
        (QUAD, None, "nothing says of which RDF format the message is"),
        (QUAD, {"content-type": None}, "nothing says of which RDF format the message is"),
        (QUAD, {"content-type": b"\xff"}, "the header 'content-type' is not UTF-8: byte 0xFF"),
        (QUAD, {"content-type": b"text/html"}, "the content type 'text/html' is of no RDF format"),
    ],
)
def test_what_is_no_document_is_a_problem(value: bytes | None, headers: Any, reason: str) -> None:
    (row,) = read(value, headers)
    assert (row["event"], row["reason"], row["source"]) == (None, reason, "kafka://h:1/t#0@7")


def test_settings_are_for_the_clients_or_for_spark() -> None:
    topic = topic_of(
        "kafka://h:1/t", {"security.protocol": "SSL", "startingOffsets": "latest", "bootstrap.servers": "x"}
    )
    assert topic is not None
    assert topic.for_clients() == {"security.protocol": "SSL", "bootstrap.servers": "h:1"}
    assert topic.for_spark() == {"startingOffsets": "latest"}
    assert Topic("h:1", "t").for_spark() == {"startingOffsets": "earliest"}


@pytest.mark.parametrize("place", ["kafka://", "kafka://h:1", "kafka://h:1/", "kafka://h:1/a/b", "kafka://h:1/t?x=1"])
def test_what_is_no_topic_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="should be kafka://host:port/topic"):
        topic_of(place)


@pytest.mark.parametrize("option", ["nothing", "=value", ""])
def test_an_option_is_a_key_and_a_value(option: str) -> None:
    ran = CliRunner().invoke(command, ["--kafka-option", option])
    assert ran.exit_code == 2
    assert "should be KEY=VALUE" in ran.output
