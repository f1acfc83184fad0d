"""Subscriptions compiled in shards by Spark: for more of them than one process can take.

Every worker reads some of them and says where each lives; what lives in a shard is compiled by one task, which writes
its index, and what is filed under there. The driver makes the router of that, and gives all of it its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple, TypeAlias
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.errors import SubscriptionError, UsageError
from tidings.index.atoms import Atom, Kind
from tidings.index.placing import Placing, checked_shards
from tidings.lang import parse
from tidings.lang.files import Subscription, placed, subscription_of
from tidings.lang.rows import Report, Row
from tidings.match.fast import Fast
from tidings.match.fast.planning import SAMPLE, plan_shards
from tidings.match.fast.router import Filed
from tidings.match.fast.sharded import Placer, replacing, save_plan, shard_name
from tidings.ontology import Ontology
from tidings.ontology.serial import of_bytes, to_bytes

Batches: TypeAlias = Iterator[pa.RecordBatch]
_FIELDS = ("id", "query", "dialect")
_SUBSCRIPTIONS = "id string, query string, dialect string"
_PLACED = f"shard int, {_SUBSCRIPTIONS}, reason string"
_PLACED_ROWS = pa.schema(
    [("shard", pa.int32()), *((name, pa.string()) for name in _FIELDS), ("reason", pa.string())],
)
_TOLD = "shard int, made string, subscriptions long, unindexed long, id string, reason string"
_TOLD_ROWS = pa.schema(
    [
        ("shard", pa.int32()),
        ("made", pa.string()),
        ("subscriptions", pa.int64()),
        ("unindexed", pa.int64()),
        ("id", pa.string()),
        ("reason", pa.string()),
    ]
)
_ATOMS = pa.schema([("kind", pa.int32()), ("first", pa.string()), ("second", pa.string())])
_NO_MERGE = 1 << 62
_MOST_TWICE = 10_000
_AT_ONCE = 1 << 16


class Compiled(NamedTuple):
    """How many subscriptions there are, and how many of their rules have to be tried on every event."""

    subscriptions: int
    unindexed: int


def compile_shards(
    spark: SparkSession,
    subscriptions: str | DataFrame,
    folder: str,
    shards: int,
    *,
    ontology: Ontology | None = None,
    bodies: Sequence[str] = (),
    report: Report | None = None,
) -> Compiled:
    """Write a folder as `tidings compile --shards` does, where all workers can write.

    They are a table with `id`, `query` and maybe `dialect`, or a place of Parquet or NDJSON with such rows. `bodies`
    are of events like those to come. One that cannot be used is reported; without `report` it is an error.
    """
    known = ontology or Ontology.empty()
    source = subscriptions if isinstance(subscriptions, str) else "the table"
    table = _table(spark, subscriptions)
    tell = report or _raise
    table = _each_once(table, source, tell)
    placing = _plan(table, checked_shards(shards), known, bodies)
    with replacing(Path(folder), shards) as made:
        by_shard = table.mapInArrow(_place_stage(placing, known, source), _PLACED).repartitionById(shards, "shard")
        told = by_shard.mapInArrow(_compile_stage(placing, known, str(made)), _TOLD).collect()
        for row in told:
            if row.reason is not None:
                tell(SubscriptionError(row.reason, source=source, id=row.id))
        parts = {row.shard: _Part(made / row.made, row.unindexed > 0) for row in told if row.made is not None}
        for number in range(shards):
            if number in parts:
                (parts[number].made / "index").rename(made / shard_name(number))
            else:
                Fast(known).save(made / shard_name(number))
        save_plan(made, placing, known, (Filed(n, part.atoms(), part.always) for n, part in sorted(parts.items())))
        for left in made.glob("task-*"):
            rmtree(left)
    return Compiled(sum(row.subscriptions or 0 for row in told), sum(row.unindexed or 0 for row in told))


class _Part(NamedTuple):
    """What a task left: an index, and what is filed under in it."""

    made: Path
    always: bool

    def atoms(self) -> Iterator[Atom]:
        for batch in pq.ParquetFile(self.made / "atoms").iter_batches():
            for kind, first, second in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield Atom(Kind(kind), first, second)


def _raise(error: SubscriptionError) -> None:
    raise error


# ----------------------------------------------------------------------------------------------------------- the table


def _table(spark: SparkSession, given: str | DataFrame) -> DataFrame:
    if isinstance(given, DataFrame):
        table = given
    elif given.endswith((".ndjson", ".json", ".jsonl")):
        table = spark.read.schema(_SUBSCRIPTIONS).json(given)
    else:
        table = spark.read.parquet(given)
    if not {"id", "query"} <= set(table.columns):
        raise UsageError(f"subscriptions have the columns id and query; there are {', '.join(table.columns)}")
    dialect = f.col("dialect") if "dialect" in table.columns else f.lit(None)
    return table.select(
        f.col("id").cast("string"), f.col("query").cast("string"), dialect.cast("string").alias("dialect")
    )


def _each_once(table: DataFrame, source: str, tell: Report) -> DataFrame:
    """Of several rows with one id, one; always the same."""
    counted = table.groupBy("id").count().where("count > 1 AND id IS NOT NULL")
    twice = counted.limit(_MOST_TWICE + 1).collect()
    if len(twice) > _MOST_TWICE:
        raise UsageError(f"{source}: more than {_MOST_TWICE:,} ids are there more than once: have each id once")
    if not twice:
        return table
    for row in twice:
        reason = f"the id '{row.id}' is taken already, by another row ({row['count']} in all)"
        tell(SubscriptionError(reason, source=source, id=row.id))
    ids = f.broadcast(table.sparkSession.createDataFrame([(row.id,) for row in twice], "id string"))
    chosen = table.join(ids, "id").groupBy("id").agg(f.min(f.struct("query", "dialect")).alias("row"))
    return table.join(ids, "id", "left_anti").unionByName(chosen.select("id", "row.query", "row.dialect"))


def _plan(table: DataFrame, shards: int, ontology: Ontology, bodies: Sequence[str]) -> Placing:
    total = table.count()
    share = min(1.0, 1.1 * SAMPLE / max(1, total))
    sample = (table if share == 1.0 else table.sample(fraction=share, seed=1)).limit(SAMPLE).toArrow()
    forms = []
    for row in sample.to_pylist():
        try:
            forms.append(subscription_of(Row("", None, row, b"")).query)
        except SubscriptionError:
            # It is told where all are read.
            continue
    return plan_shards(shards, forms, ontology, bodies, total)


# ---------------------------------------------------------------------------------------------------------- the stages


def _place_stage(placing: Placing, ontology: Ontology, source: str) -> Callable[[Batches], Batches]:
    plan, axioms = placing.to_bytes(), to_bytes(ontology)

    def stage(batches: Batches) -> Batches:
        placer = Placer(Placing.of_bytes(plan), of_bytes(axioms))
        for batch in batches:
            rows: list[dict[str, object]] = []
            for fields in batch.to_pylist():
                row = Row(source, None, fields, b"")
                try:
                    read = subscription_of(row)
                except SubscriptionError as error:
                    rows.append({"shard": 0, "id": fields["id"], "reason": str(placed(error, row))})
                    continue
                shard, _ = placer.place(read.id, read.query)
                rows.append({"shard": shard, **_kept(read)})
            yield pa.RecordBatch.from_pylist(rows, _PLACED_ROWS)

    return stage


def _kept(read: Subscription) -> dict[str, object]:
    return {"id": read.id, "query": read.text, "dialect": read.dialect}


def _compile_stage(placing: Placing, ontology: Ontology, folder: str) -> Callable[[Batches], Batches]:
    plan, axioms = placing.to_bytes(), to_bytes(ontology)

    def stage(batches: Batches) -> Batches:
        engine = Fast(of_bytes(axioms), merge_at=_NO_MERGE, usage=Placing.of_bytes(plan).usage)
        shard = None
        for batch in batches:
            for number, id, query, dialect, reason in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                shard = number
                if reason is None:
                    engine.add(id, parse(query, dialect))
                else:
                    yield pa.RecordBatch.from_pylist([{"id": id, "reason": reason}], _TOLD_ROWS)
        if shard is not None:
            yield pa.RecordBatch.from_pylist([_made(engine, shard, folder)], _TOLD_ROWS)

    return stage


def _made(engine: Fast, shard: int, folder: str) -> dict[str, object]:
    """Write the index of a shard, in a folder that no other try has."""
    name = f"task-{uuid4().hex}"
    place = Path(folder) / name
    engine.save(place / "index")
    filed = Filed.of(shard, engine.merge())
    with pq.ParquetWriter(place / "atoms", _ATOMS) as file:
        for several in _chunks(filed.atoms):
            columns = zip(*((int(atom.kind), atom.first, atom.second) for atom in several), strict=True)
            file.write_table(pa.table([list(column) for column in columns], schema=_ATOMS))
    unindexed = int(engine.stats()["unindexed"])
    return {"shard": shard, "made": name, "subscriptions": len(engine), "unindexed": unindexed}


def _chunks(atoms: Iterable[Atom]) -> Iterator[list[Atom]]:
    each = iter(atoms)
    while several := list(islice(each, _AT_ONCE)):
        yield several
