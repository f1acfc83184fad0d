"""`format("feeds")`: the items of feeds as events, as they are now, or as they come.

A stream asks for each feed when it is due (see `ingest.feeds.schedule`), and an item is in it when it is new, when it
says something else, and when it is deleted. Its offset is how many takes there are (see `takes`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tidings.spark.feeds.following import Following, ask
from tidings.spark.feeds.options import Options, addresses
from tidings.spark.feeds.takes import Kept, Takes
from tidings.spark.reading import Batches
from tidings.spark.schema import EVENTS, READ

Offset: TypeAlias = dict[str, Any]

FORMAT = "feeds"
_PATIENCE = 1.0
"""Seconds that a batch waits for feeds that are slow to answer; what comes later is in another one."""

_TOGETHER = 20
"""Takes that one task reads."""

_EVENT_COLUMNS = ["event", "published", "body", "source"]


class FeedSource(DataSource):
    """Feeds as events; the options are those of `Options`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return READ if Options.of(self.options).problems else EVENTS

    def reader(self, schema: StructType) -> DataSourceReader:
        return FeedReader(Options.of(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return FeedStreamReader(Options.of(self.options))


def _shown(batch: pa.RecordBatch, options: Options) -> pa.RecordBatch:
    return batch if options.problems else batch.filter(pc.is_null(batch["reason"])).select(_EVENT_COLUMNS)


# ---------------------------------------------------------------------------------------------------------- as they are


class OfHost(InputPartition):
    """The feeds of one host: whoever has them asks for one after the other."""

    def __init__(self, urls: Sequence[str]) -> None:
        self.urls = tuple(urls)


class FeedReader(DataSourceReader):
    """All items that there are when the table is read."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        hosts: dict[str, list[str]] = {}
        for url in addresses(self._options.places):
            hosts.setdefault(urlsplit(url).netloc.lower(), []).append(url)
        return [OfHost(urls) for urls in hosts.values()] or [OfHost([])]

    def read(self, partition: InputPartition) -> Batches:
        assert isinstance(partition, OfHost)
        options = self._options
        for url in partition.urls:
            feed = Kept(url=url, listed=url, options=options.feed)
            told = ask(feed, options.care, options.policy, time.time, random.random)
            for batch in told.rows(time.time()):
                yield _shown(batch, options)


# --------------------------------------------------------------------------------------------------------- as they come


class Stretch(InputPartition):
    def __init__(self, takes: Sequence[int]) -> None:
        self.takes = tuple(takes)


class FeedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: Options) -> None:
        self._options = options
        self._takes = Takes(options.folder)
        self._following: Following | None = None
        self._target: int | None = None

    def initialOffset(self) -> Offset:
        return {"take": self._takes.done()}

    def getDefaultReadLimit(self) -> ReadLimit:
        most = self._options.most
        return ReadAllAvailable() if most is None else ReadMaxFiles(most)

    def prepareForTriggerAvailableNow(self) -> None:
        """All that are due now, however slow they are."""
        following = self._begun()
        following.look()
        self._target = following.last

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        taken = int(start["take"])
        following = self._begun()
        if self._target is None:
            following.look(_PATIENCE)
        last = following.last if self._target is None else self._target
        if following.last < taken:
            raise ValueError(
                f"{taken} takes of feeds were read, and {self._options.folder} has only {following.last}: is it "
                "another folder? Begin with a new checkpoint"
            )
        if isinstance(limit, ReadMaxFiles):
            last = min(last, taken + limit.max_files)
        return {"take": max(last, taken)}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        wanted = range(int(start["take"]) + 1, int(end["take"]) + 1)
        missing = set(wanted) - set(self._takes.numbers())
        if missing:
            raise ValueError(f"{self._options.folder} has not what belongs to a batch: take {min(missing)} is gone")
        return [Stretch(wanted[at : at + _TOGETHER]) for at in range(0, len(wanted), _TOGETHER)]

    def read(self, partition: InputPartition) -> Batches:
        assert isinstance(partition, Stretch)
        for batch in self._takes.rows(partition.takes):
            yield _shown(batch, self._options)

    def commit(self, end: Offset) -> None:
        self._takes.forget(int(end["take"]))

    def stop(self) -> None:
        if self._following is not None:
            self._following.close()

    def _begun(self) -> Following:
        """When something is asked for, and not before: Spark makes readers that only plan."""
        if self._following is None:
            self._following = Following(self._options)
        return self._following
