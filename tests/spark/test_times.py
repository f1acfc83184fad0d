"""When a subscription stands: created ≤ published < cancelled where both say so, and the order of arrival otherwise."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidings.spark import match, subscriptions
from tidings.spark.schema import EVENTS

BODY = '<http://x/s> <http://x/p> "1" .\n'
ASK = "ASK { ?s <http://x/p> ?o }"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def day(number: int) -> datetime:
    return datetime(2026, 5, number, tzinfo=UTC)


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps({"query": ASK, **row}) + "\n" for row in rows))
    return path


def told(spark: SparkSession, source: Any, published: datetime | None, *, bindings: bool = False) -> list[str]:
    events = spark.createDataFrame([("http://x/e", published, BODY, "here")], EVENTS)
    rows = match(events, source, bindings=bindings, accepted=NOON).collect()
    return sorted(row.subscription for row in rows)


@pytest.mark.parametrize("bindings", [False, True])
def test_moments_are_compared_where_both_say_so(spark: SparkSession, tmp_path: Path, bindings: bool) -> None:
    source = write(
        tmp_path / "s.ndjson",
        {"id": "always"},
        {"id": "created", "created": "2026-05-03T00:00:00Z"},
        {"id": "both", "created": "2026-05-03T00:00:00Z", "cancelled": "2026-05-05T00:00:00+00:00"},
        {"id": "over", "cancelled": "2026-05-01T11:00:00Z"},
        {"id": "soon over", "cancelled": "2026-05-01T13:00:00Z"},
    )
    standing = ["always", "soon over"]
    assert told(spark, source, day(2), bindings=bindings) == standing
    assert told(spark, source, day(3), bindings=bindings) == sorted([*standing, "created", "both"])
    assert told(spark, source, day(5), bindings=bindings) == sorted([*standing, "created"])
    # Nobody said when: what counts is that the subscription was there, and is not over at the time.
    assert told(spark, source, None, bindings=bindings) == sorted([*standing, "created", "both"])


def test_changes_have_their_moments(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    write(log / "1.ndjson", {"id": "old", "created": "2026-05-01"}, {"id": "plain"})
    those = subscriptions(log, folder=tmp_path / "kept")
    assert told(spark, those, day(2)) == ["old", "plain"]
    (log / "2.ndjson").write_text(json.dumps({"id": "old", "cancelled": "2026-05-04"}) + "\n")
    write(log / "3.ndjson", {"id": "new", "created": "2026-05-03"}, {"id": "plain", "created": "2026-05-04"})
    assert told(spark, those, day(2)) == ["old"]
    assert told(spark, those, day(3)) == ["new", "old"]
    assert told(spark, those, day(4)) == ["new", "plain"]
    # The same after all are compiled again, and in a new process.
    those._compile()
    assert told(spark, those, day(3)) == ["new", "old"]
    assert told(spark, subscriptions(log, folder=tmp_path / "kept"), day(4)) == ["new", "plain"]


def test_now_is_when_the_event_was_published(spark: SparkSession, tmp_path: Path) -> None:
    query = 'ASK { ?s ?p ?o FILTER(NOW() >= "2026-05-02T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>) }'
    source = write(tmp_path / "s.ndjson", {"id": "late", "query": query})
    assert told(spark, source, day(1)) == []
    assert told(spark, source, day(2)) == ["late"]
    assert told(spark, source, day(3), bindings=True) == ["late"]
    assert told(spark, source, None) == [], "it came at noon, the day before"
