"""The archive on Spark: its events and quads as tables, and subscriptions run over what was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from os import PathLike
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.ontology import Ontology
from tidings.spark.archive.compact import QUADS_BY_DAY, read_files
from tidings.spark.archive.layout import Archive, Span
from tidings.spark.archive.quads import quads_stage
from tidings.spark.compiled import Fixed
from tidings.spark.matching import Given, notifications_in, version_of
from tidings.spark.sessions import session
from tidings.spark.shards import found_by
from tidings.spark.tables import BatchTable
from tidings.spark.writing import Written, write_matches

_WHOLE = "event string, published timestamp, accepted timestamp, body string, source string, day date"


class Replayed(NamedTuple):
    """A match; or a failure, where there is a reason."""

    event: str | None
    subscription: str | None
    bindings: str | None
    reason: str | None


def archived(
    spark: SparkSession, archive: str, *, since: datetime | None = None, until: datetime | None = None
) -> DataFrame:
    """The events of the archive, as `match` takes them; of a time, by `published` or else `accepted`."""
    these, span = Archive.at(archive), Span(since, until)
    with these.reading():
        files = list(these.files(span))
    if not files:
        return spark.createDataFrame([], _WHOLE)
    rows = read_files(spark, these, files).where("part IS NULL")
    return _within(rows, span).select("event", "published", "accepted", "body", "source", "day")


def _within(rows: DataFrame, span: Span) -> DataFrame:
    when = f.coalesce("published", "accepted")
    if span.since is not None:
        rows = rows.where(when >= f.lit(span.since))
    return rows if span.until is None else rows.where(when < f.lit(span.until))


def quads(spark: SparkSession, archive: str) -> DataFrame:
    """The archive as a table for SQL: graph, subject, predicate, object; and `number`, what the object is worth.

    The graph is the event's id; terms are written as in N-Triples. What was compacted is sorted by predicate, number
    and object, so that conditions on these skip most of it.
    """
    these = Archive.at(archive)
    with these.reading():
        pieces = these.pieces()
        kept = [these.store.place(f.name) for p in pieces if p.compacted for f in these.quad_files(p)]
        fresh = [file for piece in pieces if not piece.compacted for file in these.events_of(piece)]
    found = spark.createDataFrame([], QUADS_BY_DAY) if not kept else spark.read.schema(QUADS_BY_DAY).parquet(*kept)
    found = found.drop("day")
    if fresh:
        rows = read_files(spark, these, fresh).where("part IS NULL OR part = 'late'").select("event", "body", "day")
        found = found.unionByName(rows.mapInArrow(quads_stage, QUADS_BY_DAY).drop("day"))
    return found


def replay(
    events: DataFrame,
    subscriptions: Given,
    *,
    ontology: str | PathLike[str] | Ontology | None = None,
    bindings: bool = False,
) -> DataFrame:
    """The notifications that these subscriptions would have had of these events, whenever they were made."""
    return notifications_in(replayed(events, subscriptions, ontology=ontology, bindings=bindings))


def replayed(
    events: DataFrame,
    subscriptions: Given,
    *,
    ontology: str | PathLike[str] | Ontology | None = None,
    bindings: bool = False,
) -> DataFrame:
    """The matches, and a row with a reason for every subscription or event that failed."""
    chosen = events.select("event", "published", "accepted", "body")
    rows = found_by(chosen, version_of(subscriptions, ontology), bindings=bindings, timed=False)
    return rows.where("candidates IS NULL").drop("candidates", "source")


class Replay:
    """Compiled subscriptions, and the events of an archive that they are run over; what `tidings replay` runs.

    These events stay where they are until it is left.
    """

    def __init__(
        self,
        archive: str,
        index: str,
        *,
        master: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> None:
        spark = session("tidings replay", master=master)
        self._version = Fixed(index).version
        with ExitStack() as held:
            held.enter_context(Archive.at(archive).reading())
            self._events = archived(spark, archive, since=since, until=until)
            self._held = held.pop_all()

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def hits(self, *, bindings: bool) -> Iterator[Replayed]:
        """What was found, in no particular order."""
        rows = replayed(self._events, self._version, bindings=bindings).select(*Replayed._fields)
        return (Replayed(*row) for row in rows.toLocalIterator())

    def counts(self) -> list[tuple[str, int]]:
        """How many events each subscription has, by its id."""
        rows = replay(self._events, self._version).groupBy("subscription").count().orderBy("subscription")
        return [(row[0], row[1]) for row in rows.collect()]

    def write(self, folder: str, *, bindings: bool) -> Written:
        """Have the notifications in a folder of their own."""
        return write_matches(self._events, self._version, BatchTable(folder), 0, bindings=bindings, timed=False)
