"""Which events are new: the same one again is no event, and another one under the same id is refused.

An event is told from another by the digest of its body. One that is named by its content is known by its name alone:
its blank nodes may have other labels each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from tidings.rdf.identity import PREFIX
from tidings.rdf.seen import SeenEvents

AGAIN = "the event %s was read before, with other triples"


DIGEST = f"IF(startswith(event, '{PREFIX}'), '', sha2(body, 256))"
"""What tells the body of an event from others, as Spark works it out; empty where the id of the event does."""


def settled(read: DataFrame) -> DataFrame:
    """What was read, with every event in it once: those that come again are left out, or are problems.

    Of several under one id, the first by source counts.
    """
    these = read.withColumn("digest", f.expr(DIGEST))
    # A problem has no id, and nothing to do with any other.
    in_turn = Window.partitionBy(f.coalesce("event", "source"), "reason").orderBy("source", "digest")
    again = (f.row_number().over(in_turn) > 1) & f.col("reason").isNull()
    other = again & (f.first("digest").over(in_turn) != f.col("digest"))
    marked = these.withColumn("again", again).withColumn("other", other).where("NOT again OR other")
    reason = f.when(f.col("other"), f.format_string(AGAIN, "event")).otherwise(f.col("reason"))
    own = {name: f.when(~f.col("other"), f.col(name)) for name in ("event", "published", "body")}
    return marked.withColumns({**own, "reason": reason}).select(*read.columns)


class Sorted(NamedTuple):
    """What becomes of the events of a batch. `chosen` are ids that come more than once: of each, the digest of the one
    that is taken; None where none is. `conflicts` are (event, source).
    """

    chosen: dict[str, str | None]
    conflicts: list[tuple[str, str]]


def sort_out(batch: pa.Table, seen: SeenEvents) -> Sorted:
    """Tell which of (event, digest, source) are new to `seen`, which takes these."""
    ids = batch["event"]
    counts = pc.count_distinct(ids).as_py() if len(batch) else 0
    if counts < len(batch):
        # Which of them is the first must not depend on how they were spread.
        batch = batch.sort_by([("event", "ascending"), ("source", "ascending"), ("digest", "ascending")])
    chosen: dict[str, str | None] = {}
    conflicts: list[tuple[str, str]] = []
    columns = (batch[name].to_pylist() for name in ("event", "digest", "source"))
    repeated = _repeated(ids.to_pylist()) if counts < len(batch) else set()
    for event, digest, source in zip(*columns, strict=True):
        verdict = seen.add(event, bytes.fromhex(digest))[0]
        if verdict == "new":
            if event in repeated:
                chosen[event] = digest
            continue
        chosen.setdefault(event, None)
        if verdict == "other":
            conflicts.append((event, source))
    return Sorted(chosen, conflicts)


def _repeated(ids: Iterable[str]) -> set[str]:
    return {id for id, count in Counter(ids).items() if count > 1}


def only_new(spark: SparkSession, events: DataFrame, chosen: dict[str, str | None]) -> DataFrame:
    """The events, with their `digest`, less those that are not taken."""
    if not chosen:
        return events
    table = spark.createDataFrame(list(chosen.items()), "event string, chosen string").withColumn("known", f.lit(True))
    marked = events.join(f.broadcast(table), "event", "left")
    return marked.where("known IS NULL OR digest = chosen").drop("known", "chosen").dropDuplicates(["event"])
