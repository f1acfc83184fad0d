"""Many small files to few large ones, in which things are found: what Spark does for the archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.spark.archive.layout import COMPACTING, Archive, File, Piece
from tidings.spark.archive.quads import quads_stage

ARCHIVED = (
    "event string, published timestamp, accepted timestamp, body string, source string, digest string, part string"
)
QUADS_BY_DAY = "graph string, subject string, predicate string, object string, number double, day date"
_FILE = 128 << 20
_GROUP = 1 << 20
"""Bytes of a file and of a group of rows in it, about: groups are what is read or not."""

_ROWS = 1 << 16
"""A group has so many rows at most: what is much alike takes few bytes, but has to be looked through all the same."""

_WRITTEN = {
    "compression": "zstd",
    "parquet.block.size": str(_GROUP),
    "parquet.block.size.row.check.max": "1000",
    "parquet.block.row.count.limit": str(_ROWS),
    "parquet.page.size": str(_GROUP // 4),
}
_GROWTH = 4
"""A piece is compacted again when those after it are together no less than one in so many of its bytes."""


class Compacted(NamedTuple):
    pieces: int
    files: int
    bytes: int
    into: Piece


def compact(spark: SparkSession, archive: Archive) -> Compacted | None:
    """Make one piece of the newer ones; None where there is nothing to be done."""
    with archive.maintained():
        files = {piece: list(archive.events_of(piece)) for piece in archive.pieces()}
        chosen = _chosen({piece: sum(file.size for file in each) for piece, each in files.items()})
        if not chosen:
            return None
        these = [file for piece in chosen for file in files[piece]]
        into = Piece(chosen[0].first, chosen[-1].last, compacted=True)
        if these:
            _merge(spark, archive, these, into)
        else:
            archive.store.write(f"{into.name}/_SUCCESS", b"")
    return Compacted(len(chosen), len(these), sum(file.size for file in these), into)


def compact_if_due(spark: SparkSession, archive: Archive, batches: int) -> Compacted | None:
    """The same where so many batches have not been compacted yet."""
    waiting = sum(not piece.compacted for piece in archive.pieces())
    return compact(spark, archive) if waiting >= batches else None


def _merge(spark: SparkSession, archive: Archive, files: Sequence[File], into: Piece) -> None:
    store, size = archive.store, sum(file.size for file in files)
    events = _without_parts(read_files(spark, archive, files))
    _write(events, size, ["day", "event"], store.place(f"{COMPACTING}/events"))
    quads = events.where("part IS NULL OR part = 'late'").select("event", "body", "day")
    quads = quads.mapInArrow(quads_stage, QUADS_BY_DAY)
    _write(quads, size, ["day", "predicate", "number", "object"], store.place(f"{COMPACTING}/quads"))
    # Quads without a piece do not count, so they go first.
    store.move(f"{COMPACTING}/quads", into.quads)
    store.move(f"{COMPACTING}/events", into.name)


def _chosen(sizes: dict[Piece, int]) -> Sequence[Piece]:
    """The newest pieces, as far back as it pays: each byte is written again only a few times in its life."""
    chosen: list[Piece] = []
    bytes = 0
    for piece, size in reversed(sizes.items()):
        if piece.compacted and size > _GROWTH * bytes:
            break
        chosen.insert(0, piece)
        bytes += size
    return chosen if len(chosen) > 1 or (chosen and not chosen[0].compacted) else []


def _without_parts(events: DataFrame) -> DataFrame:
    """Less the parts of events that are there as a whole."""
    whole = events.where("part IS NULL").select("event")
    parts = events.where("part = 'part'")
    if parts.isEmpty():
        return events
    return events.where("part IS NULL OR part <> 'part'").unionByName(parts.join(whole, "event", "left_anti"))


def _write(rows: DataFrame, size: int, by: list[str], place: str) -> None:
    pieces = max(1, round(size / _FILE))
    spread = rows.repartitionByRange(pieces, *by) if pieces > 1 else rows.coalesce(1)
    spread.sortWithinPartitions(*by).write.options(**_WRITTEN).partitionBy("day").parquet(place)


def read_files(spark: SparkSession, archive: Archive, files: Sequence[File]) -> DataFrame:
    """The rows of these files, with their day."""
    places = [archive.store.place(file.name) for file in files]
    rows = spark.read.schema(ARCHIVED).parquet(*places)
    return rows.withColumn("day", f.to_date(f.coalesce("published", "accepted")))
