"""Events as tables: from files, from folders as they fill, and from the raw messages of any other table.

`read_…` gives events; `…documents` and `messages` give the same with a row for every problem among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from typing import TypedDict, Unpack

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How as DataHow
from tidings.ingest.read import documents as data_documents
from tidings.ontology import Ontology
from tidings.rdf.formats import COMPRESSED, EXTENSIONS
from tidings.rdf.jsonld import Contexts
from tidings.rdf.limits import Limits
from tidings.rdf.read import EventsBy
from tidings.rdf.sources import documents
from tidings.spark.data import read_shares, shares, suffixes
from tidings.spark.reading import Reading, message_stage, read_stage
from tidings.spark.schema import FILES, READ
from tidings.spark.standing import settled

_FOR_EVER = "36500d"
Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


class How(TypedDict, total=False):
    """How documents become events: see `reading.Reading`."""

    format: str | None
    by: EventsBy
    strict: bool
    group: bool
    limits: Limits
    contexts: Contexts | None
    data: DataHow | None
    validate: Ontology | None


def read_events(spark: SparkSession, path: Paths, **how: Unpack[How]) -> DataFrame:
    """The events of files, folders and globs: event, published, body, source. What is rejected is left out."""
    return events_in(read_documents(spark, path, **how))


def read_documents(spark: SparkSession, path: Paths, **how: Unpack[How]) -> DataFrame:
    """The same with a row for every problem, which has a reason and its place: see `events_in` and `problems_in`."""
    return settled(read_parts(spark, path, **how))


def read_parts(spark: SparkSession, path: Paths, **how: Unpack[How]) -> DataFrame:
    """The same with a row for every part of an event, where events have parts in several documents."""
    if how.get("data") is not None:
        return _read_data(spark, path, Reading(**how))
    names = []
    for source in [path] if isinstance(path, str | PathLike) else path:
        for document in documents(fspath(source), format=how.get("format")):
            if isinstance(document, EventError):
                raise UsageError(str(document))
            names.append(document.name)
    reading = Reading(**how)
    if names and reading == Reading(reading.format, reading.by, reading.strict):
        # This one also reads parts of large files.
        reader = spark.read.format("rdf").options(problems=True, by=reading.by, strict=reading.strict)
        read = (reader.option("format", reading.format) if reading.format else reader).load(names)
    else:
        paths = spark.createDataFrame([(name,) for name in names], "path string")
        read = paths.repartition(max(1, len(names))).mapInArrow(read_stage(reading), READ)
    return read


def _read_data(spark: SparkSession, path: Paths, reading: Reading) -> DataFrame:
    """Of documents that are no RDF; large tables in parts, for all workers."""
    assert reading.data is not None
    names = []
    for found in data_documents([path] if isinstance(path, str | PathLike) else path, reading.format):
        if isinstance(found, EventError):
            raise UsageError(str(found))
        names.append(found.name)
    if reading.validate is not None:
        paths = spark.createDataFrame([(name,) for name in names], "path string")
        return paths.repartition(max(1, len(names))).mapInArrow(read_stage(reading), READ)
    those = shares(names, reading.format, reading.data)
    numbers = spark.range(0, len(those), 1, max(1, len(those))).select(f.col("id").cast("int").alias("share"))
    return numbers.mapInArrow(read_shares(those, reading.data), READ)


def read_event_stream(
    spark: SparkSession,
    path: str | PathLike[str],
    *,
    max_files: int | None = None,
    once: bool = True,
    **how: Unpack[How],
) -> DataFrame:
    """The events of a folder, as files come into it. A batch has at most `max_files` of them.

    An event that comes again is left out, for which Spark keeps the ids of all; not so where `once` is False.
    """
    events = events_in(read_document_stream(spark, path, max_files=max_files, **how))
    return events.dropDuplicates(["event"]) if once else events


def read_document_stream(
    spark: SparkSession, path: str | PathLike[str], *, max_files: int | None = None, **how: Unpack[How]
) -> DataFrame:
    """The same with a row for every problem."""
    reader = spark.readStream.format("binaryFile").schema(FILES).option("recursiveFileLookup", "true")
    # Left alone, Spark forgets files that are a week older than the newest, and never takes such: one may come late.
    reader = reader.option("maxFileAge", _FOR_EVER)
    if how.get("format") is None:
        names = EXTENSIONS if how.get("data") is None else suffixes()
        reader = reader.option("pathGlobFilter", _known_names(names))
    if max_files is not None:
        reader = reader.option("maxFilesPerTrigger", max_files)
    # Spark reads no more of a file than is asked for: here, nothing.
    return reader.load(fspath(path)).select("path").mapInArrow(read_stage(Reading(**how)), READ)


def events_from(
    messages: DataFrame,
    value: str = "value",
    *,
    published: str | None = None,
    source: str | None = None,
    **how: Unpack[How],
) -> DataFrame:
    """The events of raw messages, each a document in the column `value`, as text or bytes; `format` says of which kind.

    `published` and `source` name the columns that say when and where from; what is rejected is left out.
    """
    return events_in(documents_from(messages, value, published=published, source=source, **how))


def documents_from(
    messages: DataFrame, value: str, *, published: str | None = None, source: str | None = None, **how: Unpack[How]
) -> DataFrame:
    """The same with a row for every problem."""
    if how.get("format") is None:
        raise UsageError("messages need format=, for instance format='trig'")
    chosen = messages.select(
        f.col(value).cast("binary").alias("value"),
        (f.col(published) if published else f.lit(None)).cast("timestamp").alias("published"),
        (f.col(source).cast("string") if source else _place(messages)).alias("source"),
    )
    return chosen.mapInArrow(message_stage(Reading(**how)), READ)


def _place(messages: DataFrame) -> Column:
    """Where a message is from, as far as it says so itself: those of Kafka have these columns."""
    if {"topic", "partition", "offset"} <= set(messages.columns):
        return f.concat_ws("/", "topic", "partition", "offset")
    return f.lit("message")


def _known_names(suffixes: Iterable[str]) -> str:
    """The files that end so, as a glob."""
    endings = [f"{kind}{packed}" for kind in suffixes for packed in ("", *COMPRESSED)]
    return f"*{{{','.join(endings)}}}"


def events_in(read: DataFrame) -> DataFrame:
    """The events among what was read."""
    return read.where("reason IS NULL").select("event", "published", "body", "source")


def problems_in(read: DataFrame) -> DataFrame:
    """The problems among what was read."""
    return read.where("reason IS NOT NULL").select("source", "line", "column", "reason")
