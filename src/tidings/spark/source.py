"""`format("rdf")`: files, folders and globs as tables of events, in batches and in streams.

A stream takes files in the order in which they came or changed, and its offset is the last one taken: that is all
there is to remember. A file is taken once it has been as it is for `settle` seconds; so whatever the clock of the
files cannot tell apart is all there, and none comes in later before one that was taken. A file that changes is read
again. A folder of older files that is moved in as a whole is not seen to come: its files have not changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from tidings.errors import EventError
from tidings.rdf.event import Event
from tidings.rdf.formats import COMPRESSED, Format
from tidings.rdf.limits import KIB, MIB
from tidings.rdf.read import Report, read_events
from tidings.rdf.sources import compression
from tidings.spark.listing import File, files, opened
from tidings.spark.options import Options
from tidings.spark.reading import Batches, Reading, Rows
from tidings.spark.rejects import Rejects
from tidings.spark.schema import EVENTS, READ
from tidings.spark.splits import events_in_range, events_outside, ranges

Offset: TypeAlias = dict[str, Any]
"""The last file that was taken: when it changed, its name, and how many it is with those before."""

_EVENT_COLUMNS = ["event", "published", "body", "source"]
_SECOND = 1_000_000_000
_LEAST_SHARE = 1 * MIB
_LEAST_FILE = 64 * KIB
"""What a small file counts for: opening it takes time, too."""
_SHARES = 200
"""Small files are put together only as far as there are still so many tasks."""


class RdfSource(DataSource):
    """RDF documents as events; the options are those of `Options`."""

    @classmethod
    def name(cls) -> str:
        return "rdf"

    def schema(self) -> str:
        return READ if Options.of(self.options).problems else EVENTS

    def reader(self, schema: StructType) -> DataSourceReader:
        return RdfReader(Options.of(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return RdfStreamReader(Options.of(self.options))


# ---------------------------------------------------------------------------------------------------------------- tasks


@dataclass(frozen=True, slots=True)
class Part:
    """A file, or what a range of it has, or what in it is outside any graph."""

    file: File
    what: Literal["whole", "range", "outside"] = "whole"
    start: int = 0
    stop: int = 0

    def events(self, reading: Reading, report: Report) -> Iterator[Event]:
        document = self.file.document(reading.format)
        if self.what == "range":
            size = self.file.size
            return events_in_range(document, self.start, self.stop, size, report=report, strict=reading.strict)
        if self.what == "outside":
            return events_outside(document, report=report, strict=reading.strict)
        return read_events(document, report=report, by=reading.by, strict=reading.strict)


class Share(InputPartition):
    """What one task reads, and what it has to tell besides."""

    def __init__(self, parts: Sequence[Part], problem: str | None = None) -> None:
        self.parts = tuple(parts)
        self.problem = problem

    def name(self, reading: Reading) -> str:
        """The same for the same parts of the same files, read in the same way."""
        return sha256(repr((self.parts, self.problem, reading)).encode(errors="backslashreplace")).hexdigest()[:32]


def shares(found: Iterable[File], reading: Reading, split_bytes: int) -> list[Share]:
    """The files as tasks: big ones in ranges, if they can be cut, and small ones together."""
    planned: list[Share] = []
    small: list[File] = []
    for file in found:
        if file.size > split_bytes and _can_be_cut(file, reading):
            # This one takes longest, so it is first.
            planned.append(Share([Part(file, "outside")]))
            planned += [Share([Part(file, "range", *each)]) for each in ranges(file.size, split_bytes)]
        else:
            small.append(file)
    most = min(split_bytes, max(_LEAST_SHARE, sum(map(_weight, small)) // _SHARES))
    together: list[Part] = []
    weight = 0
    for file in small:
        if together and weight + _weight(file) > most:
            planned.append(Share(together))
            together, weight = [], 0
        together.append(Part(file))
        weight += _weight(file)
    return [*planned, Share(together)] if together else planned


def _weight(file: File) -> int:
    return max(file.size, _LEAST_FILE)


def _can_be_cut(file: File, reading: Reading) -> bool:
    if reading.by != "graph" or file.format(reading.format) is not Format.NQ or file.name.endswith(COMPRESSED):
        return False
    try:
        with opened(file.name) as raw:
            return not compression(raw.read(4))
    except OSError:
        return False


def _read(share: InputPartition, options: Options) -> Batches:
    assert isinstance(share, Share)
    if options.rejected is None:
        yield from _rows(share, options, None)
        return
    with Rejects(options.rejected, share.name(options.reading)) as rejects:
        yield from _rows(share, options, rejects)


def _rows(share: Share, options: Options, rejects: Rejects | None) -> Batches:
    rows = Rows()

    def report(error: EventError) -> None:
        if rejects is not None:
            rejects.take(error)
        if options.problems:
            rows.problem(error)

    if share.problem is not None:
        report(EventError(share.problem, source=" ".join(options.paths)))
    for part in share.parts:
        for batch in rows.take(part.events(options.reading, report)):
            yield _shown(batch, options)
    for batch in rows.rest():
        yield _shown(batch, options)


def _shown(batch: pa.RecordBatch, options: Options) -> pa.RecordBatch:
    return batch if options.problems else batch.select(_EVENT_COLUMNS)


# -------------------------------------------------------------------------------------------------------------- readers


class RdfReader(DataSourceReader):
    """All files that there are when the table is read."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        options = self._options
        found = files(options.paths, options.reading.format, without=options.rejected)
        return shares(found, options.reading, options.split_bytes) or [Share([])]

    def read(self, partition: InputPartition) -> Batches:
        return _read(partition, self._options)


class RdfStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Files as they come."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._files: list[File] = []
        self._complete = False

    def initialOffset(self) -> Offset:
        return {"changed": 0, "name": "", "files": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        options = self._options
        if options.max_files is not None:
            return ReadMaxFiles(options.max_files)
        return ReadAllAvailable() if options.max_bytes is None else ReadMaxBytes(options.max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:
        """All that is there now; what comes in the same moment has come after `settle`."""
        now = time.time_ns()
        time.sleep(self._options.settle)
        self._files = self._unchanged_since(now)
        self._complete = True

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        if not self._complete:
            self._files = self._unchanged_since(time.time_ns() - int(self._options.settle * _SECOND))
        new = [file for file in self._files if file.turn > _turn(start)]
        taken = new if isinstance(limit, ReadAllAvailable) else list(self._within_limits(new))
        if not taken:
            return start
        return {"changed": taken[-1].changed, "name": taken[-1].name, "files": start["files"] + len(taken)}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        if not any(file.turn == _turn(end) for file in self._files):
            # A batch of an earlier run.
            self._files = self._unchanged_since(end["changed"])
        taken = [file for file in self._files if _turn(start) < file.turn <= _turn(end)]
        planned = shares(taken, self._options.reading, self._options.split_bytes)
        if missing := end["files"] - start["files"] - len(taken):
            reason = f"{missing} files that belong to a batch are gone, or were changed, before it was read"
            planned.append(Share([], f"{reason}: those up to '{end['name']}', changed at {end['changed']}"))
        return planned

    def read(self, partition: InputPartition) -> Batches:
        return _read(partition, self._options)

    def _unchanged_since(self, moment: int) -> list[File]:
        options = self._options
        found = files(options.paths, options.reading.format, waiting=True, without=options.rejected)
        return sorted((file for file in found if file.changed <= moment), key=lambda file: file.turn)

    def _within_limits(self, new: list[File]) -> Iterator[File]:
        """As many as there may be in a batch, but one in any case."""
        left_files, left_bytes = self._options.max_files, self._options.max_bytes
        for number, file in enumerate(new):
            if left_bytes is not None:
                left_bytes -= file.size
            if number and (number == left_files or (left_bytes is not None and left_bytes < 0)):
                return
            yield file


def _turn(offset: Offset) -> tuple[int, str]:
    return offset["changed"], offset["name"]
