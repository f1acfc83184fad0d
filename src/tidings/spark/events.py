"""Events as tables: from files, and from the raw messages of any other table."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath

from pyspark.sql import DataFrame, SparkSession

from tidings.errors import EventError, UsageError
from tidings.rdf.read import EventsBy
from tidings.rdf.sources import documents
from tidings.spark.reading import Reading, read_stage
from tidings.spark.schema import READ

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


def read_events(
    spark: SparkSession, path: Paths, *, format: str | None = None, by: EventsBy = "graph", strict: bool = False
) -> DataFrame:
    """The events of files, folders and globs: event, published, body, source. What is rejected is left out; see
    `read_documents`.
    """
    return events_in(read_documents(spark, path, format=format, by=by, strict=strict))


def read_documents(
    spark: SparkSession, path: Paths, *, format: str | None = None, by: EventsBy = "graph", strict: bool = False
) -> DataFrame:
    """The same with a row for every problem, which has a reason and its place: see `events_in` and `problems_in`."""
    names = []
    for source in [path] if isinstance(path, str | PathLike) else path:
        for document in documents(fspath(source), format=format):
            if isinstance(document, EventError):
                raise UsageError(str(document))
            names.append((document.name,))
    paths = spark.createDataFrame(names, "path string").repartition(max(1, len(names)))
    return paths.mapInArrow(read_stage(Reading(format, by, strict)), READ)


def events_in(read: DataFrame) -> DataFrame:
    """The events among what was read."""
    return read.where("reason IS NULL").select("event", "published", "body", "source")


def problems_in(read: DataFrame) -> DataFrame:
    """The problems among what was read."""
    return read.where("reason IS NOT NULL").select("source", "line", "column", "reason")
