"""Feeds as tables and streams of events."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from typing import TypedDict, TypeVar, Unpack

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader

from tidings.ingest.registry import converter
from tidings.spark.feeds.options import addresses
from tidings.spark.feeds.source import FORMAT

Feeds = str | PathLike[str] | Iterable[str | PathLike[str]]
Reader = TypeVar("Reader", DataFrameReader, DataStreamReader)


class Manner(TypedDict, total=False):
    """How feeds are asked for, and how they become events.

    `private`: they may be at private and loopback addresses. `every`: seconds, how often at most each is asked for.
    `classes`, `home`, `charset`: as for a feed of a broker. `problems`: a row for every problem, too.
    """

    private: bool
    every: float
    classes: Sequence[str]
    home: bool
    charset: str | None
    problems: bool


def read_feeds(spark: SparkSession, feeds: Feeds, **manner: Unpack[Manner]) -> DataFrame:
    """The items that feeds have now: event, published, body, source. `feeds` are addresses, or files that have one a
    line.
    """
    return _given(spark.read, feeds, manner).load()


def read_feed_stream(
    spark: SparkSession,
    feeds: Feeds,
    state: str | PathLike[str],
    *,
    max_documents: int | None = None,
    **manner: Unpack[Manner],
) -> DataFrame:
    """The items of feeds that are new, say something else, or are deleted, as they come.

    What was read is kept in the folder `state`, which is for this stream alone; a batch has what is new in at most
    `max_documents`.
    """
    place = fspath(state)
    reader = _given(spark.readStream, feeds, manner)
    reader = reader.option("state", place if "://" in place else os.path.abspath(place))
    if max_documents is not None:
        reader = reader.option("maxDocumentsPerTrigger", max_documents)
    return reader.load()


def _given(reader: Reader, feeds: Feeds, manner: Manner) -> Reader:
    converter("feed")
    named = [fspath(each) for each in ([feeds] if isinstance(feeds, str | PathLike) else feeds)]
    urls = addresses(tuple(named))
    options: dict[str, str | bool | float] = {
        "private": manner.get("private", False),
        "home": manner.get("home", False),
        "problems": manner.get("problems", False),
    }
    if "every" in manner:
        options["every"] = manner["every"]
    if classes := manner.get("classes"):
        options["classes"] = " ".join(classes)
    if charset := manner.get("charset"):
        options["charset"] = charset
    return reader.format(FORMAT).option("paths", json.dumps(urls)).options(**options)
