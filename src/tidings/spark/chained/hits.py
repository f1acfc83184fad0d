"""`chained` for `match`: over a table by joins, over a stream by what has come so far."""

from __future__ import annotations

from datetime import datetime, timedelta

from pyspark.sql import DataFrame

from tidings.errors import UsageError
from tidings.spark.chained.choosing import Always
from tidings.spark.chained.following import Following
from tidings.spark.chained.joins import table_hits
from tidings.spark.chained.streams import stream_hits
from tidings.spark.chained.taking import conjunctions
from tidings.spark.versions import Version

TIMEOUT = timedelta(minutes=10)
"""How long a stream waits for the parts of an event, where nobody says."""


def chained_hits(
    parts: DataFrame, version: Version, *, timeout: timedelta, bindings: bool, accepted: datetime | None
) -> DataFrame:
    """The matches of events that come in parts, and failures: see `schema.HITS`."""
    if version.shards:
        raise UsageError("the strategy chained takes subscriptions without shards: compile them without")
    if not parts.isStreaming:
        return table_hits(parts, version, bindings=bindings, accepted=accepted)
    # What is no conjunction is refused here, and not by every worker.
    conjunctions(version)
    return stream_hits(parts, Always(version), Following(timeout, bindings))
