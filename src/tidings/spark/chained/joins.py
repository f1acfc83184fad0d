"""`chained` over tables: bindings are joined with the quads, pattern by pattern, those of all subscriptions at once.

The first step takes quads to the subscriptions whose first pattern they fit. Every further step looks up, for each row
of bindings, the quads of its event that the next pattern asks for: by the places that are known then, which is a key. A
subscription that has no further step is satisfied, and its rows, which hold nothing any more, are passed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidings.spark.chained.stages import (
    BOUND,
    MERGED,
    QUADS,
    Asked,
    condition_stage,
    merge_stage,
    quad_stage,
    telling_stage,
)
from tidings.spark.chained.steps import ARCS, STEPS, Chain, Frequencies, chain_of
from tidings.spark.chained.taking import conjunctions
from tidings.spark.schema import HITS
from tidings.spark.versions import Version

_SAMPLE = 2_000
_KEY = ["event", "mask", "ks", "kp", "ko"]


def table_hits(events: DataFrame, version: Version, *, bindings: bool, accepted: datetime | None) -> DataFrame:
    """The matches of these parts of events, and failures: see `schema.HITS`."""
    taken = conjunctions(version)
    ids = list(taken)
    kinds = frozenset(ARCS if each.block.injective else 0 for each in taken.values())
    merged = _merged(events)
    sound = merged.where("reason IS NULL")
    problems = merged.where("reason IS NOT NULL")
    if not taken:
        return _problems(problems)
    counted = _counted(_quads(_merged(events.limit(_SAMPLE)).where("reason IS NULL"), version, kinds))
    chains = [chain_of(number, each, counted) for number, each in enumerate(taken.values())]
    found = _Joining(chains, version, sound, _quads(sound, version, kinds)).satisfied()
    told = _by_event(found).join(sound, "event").select("event", "published", "body", "source", "rows")
    return told.mapInArrow(telling_stage(version, ids, bindings, accepted), HITS).unionByName(_problems(problems))


def _merged(events: DataFrame) -> DataFrame:
    """Every event as a whole."""
    parts = events.groupBy("event").agg(
        f.min("published").alias("published"),
        f.collect_list(f.struct("body")).alias("bodies"),
        f.min("source").alias("source"),
    )
    return parts.mapInArrow(merge_stage, MERGED)


def _problems(merged: DataFrame) -> DataFrame:
    nothing = {name: f.lit(None).cast(kind) for name, kind in (each.split() for each in HITS.split(", "))}
    told = {**nothing, "event": f.col("event"), "reason": f.col("reason"), "source": f.col("source")}
    return merged.select(*(column.alias(name) for name, column in told.items()))


def _quads(merged: DataFrame, version: Version, kinds: frozenset[int]) -> DataFrame:
    return merged.select("event", "body").mapInArrow(quad_stage(version, kinds), QUADS)


def _counted(quads: DataFrame) -> Frequencies:
    """How often properties occur in some of the quads."""
    counts = {row.p: row["count"] for row in quads.groupBy("p").count().collect()}
    return Frequencies(counts, sum(counts.values()))


def _by_event(rows: DataFrame) -> DataFrame:
    """What was decided, by event. One solution is enough, and outweighs a failure on the way to another."""
    each = rows.groupBy("event", "number").agg(
        f.when(f.count_if(f.col("reason").isNull()) == 0, f.min("reason")).alias("reason")
    )
    return each.groupBy("event").agg(f.collect_list(f.struct("number", "reason")).alias("rows"))


class _Joining:
    def __init__(self, chains: Sequence[Chain], version: Version, events: DataFrame, quads: DataFrame) -> None:
        self._chains = chains
        self._version = version
        self._events = events
        spark = quads.sparkSession
        steps = [step for chain in chains for step in chain.steps]
        self._steps = [
            f.broadcast(spark.createDataFrame([step for step in steps if step.step == number], STEPS))
            for number in range(max(step.step for step in steps) + 1)
        ]
        self._keyed = _keyed(quads, sorted({step.mask for step in steps}))

    def satisfied(self) -> DataFrame:
        """(event, number, row, reason): rows of subscriptions that have no further step."""
        rows = self._first()
        for number in range(len(self._steps)):
            if number:
                rows = self._next(rows, number)
            rows = self._checked(rows, number)
        return rows

    def _first(self) -> DataFrame:
        steps = self._steps[0]
        keys = (f.coalesce(_at("terms", place), f.lit("")).alias(key) for place, key in enumerate(_KEY[2:]))
        begun = steps.drop("step", "sources").select("*", *keys)
        nothing = f.array().cast("array<string>")
        found = self._keyed.join(begun, _KEY[1:]).withColumns({"row": nothing, "reason": f.lit(None).cast("string")})
        return _made(found)

    def _next(self, rows: DataFrame, number: int) -> DataFrame:
        steps = self._steps[number].drop("step").withColumnRenamed("number", "of")
        at = rows.join(steps, (f.col("number") == f.col("of")) & f.col("reason").isNull(), "left")
        keys = {
            key: f.when(f.col("mask").isNotNull(), f.coalesce(_at("terms", place), _bound(place), f.lit("")))
            for place, key in enumerate(_KEY[2:])
        }
        found = at.withColumns(keys).join(self._keyed, _KEY, "left")
        return _made(found.where(f.col("mask").isNull() | f.col("s").isNotNull()))

    def _checked(self, rows: DataFrame, number: int) -> DataFrame:
        """The rows that satisfy the conditions behind a step, with what is kept of them, each once."""
        conditions = {
            each.steps[0].number: each.conditions[number] for each in self._chains if number in each.conditions
        }
        if not conditions:
            kept = f.transform("kept", lambda place: f.get("row", place - 1))
            left = f.coalesce(kept, f.array().cast("array<string>")).alias("row")
            return rows.select("event", "number", left, "reason").distinct()
        places = {each.steps[0].number: each.steps[number].kept for each in self._chains if len(each.steps) > number}
        stage = condition_stage(self._version, Asked(conditions, places))
        grouped = rows.groupBy("event").agg(f.collect_set(f.struct("number", "row", "reason")).alias("rows"))
        return grouped.join(self._events, "event").select("event", "body", "rows").mapInArrow(stage, BOUND)


def _keyed(quads: DataFrame, masks: Sequence[int]) -> DataFrame:
    """The quads once for every combination of known places that is asked for."""
    keys = f.explode(
        f.filter(
            f.array(*(f.struct(f.lit(mask).alias("mask"), *(_known(mask, bit) for bit in range(3))) for mask in masks)),
            lambda key: key["mask"].bitwiseAND(ARCS) == f.col("arc"),
        )
    )
    return quads.select("event", "s", "p", "o", keys.alias("key")).select("event", "key.*", "s", "p", "o")


def _at(column: str, place: int) -> Column:
    return f.get(column, f.lit(place))


def _bound(place: int) -> Column:
    """The element of a row that is known of a place."""
    return f.get("row", _at("sources", place) - 1)


def _known(mask: int, bit: int) -> Column:
    name = "spo"[bit]
    return (f.col(name) if mask >> bit & 1 else f.lit("")).alias(f"k{name}")


def _made(found: DataFrame) -> DataFrame:
    """The rows that a step makes of rows and quads, where its places agree."""
    name = f.concat(f.lit("<"), "event", f.lit(">"))
    quad = f.array("s", "p", "o", name)

    def at(code: Column) -> Column:
        return f.get(quad, -code - 1)

    def value(code: Column) -> Column:
        return f.when(code > 0, f.get("row", code - 1)).otherwise(at(code))

    def alike(first: int) -> Column:
        return (f.size("same") <= first) | (at(_at("same", first)) == at(_at("same", first + 1)))

    agree = alike(0) & alike(2)
    named = f.forall("named", lambda code: at(code) == name) & f.forall("graphs", lambda graph: graph == name)
    row = f.transform("made", value)
    with_row = found.where(f.col("kept").isNull() | (agree & named)).withColumn("row", f.coalesce(row, f.col("row")))
    ends = f.concat(f.slice("row", 1, f.col("vertices")), "apart")
    apart = f.col("kept").isNull() | (f.col("vertices") == 0) | (f.size(f.array_distinct(ends)) == f.size(ends))
    return with_row.where(apart).select("event", "number", "row", "reason", "kept")
