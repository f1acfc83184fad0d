"""A few events out of many: by their ids, or by what their quads say, without reading the others.

A Parquet file tells of each of its groups of rows the smallest and the largest value of every column. The files of a
compacted piece are sorted, so that a value is in few groups; only these are read, and of them at first the columns that
decide. Batches that were not compacted yet have no quads: their events are all looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidings.spark.archive.layout import ALWAYS, ARCHIVE_ROWS, Archive, Before, File, Piece, Span

_MOST = 100_000
"""Where quads lead to more events than this, it is as well to read them all."""

_DECIDING = ("predicate", "object", "number")
"""The columns of quads that are read to see which ones are wanted."""


class Range(NamedTuple):
    """Numbers from one to another, as near as a double gets."""

    low: float
    high: float


class Lookup(NamedTuple):
    """Quads with one of these predicates; and one of these objects, this subject, a number in this range, if named."""

    predicates: frozenset[str]
    objects: frozenset[str] | None = None
    subject: str | None = None
    numbers: Range | None = None


@dataclass
class Touched:
    """What a search has read, of what there was. Bytes are as they lie in the files."""

    files: int = 0
    files_read: int = 0
    groups: int = 0
    groups_read: int = 0
    bytes: int = 0
    bytes_read: int = 0


Wanted: TypeAlias = Sequence[Lookup]
"""An event has a quad of one of these."""


@dataclass
class Finder:
    """A search, over what is there when it begins. `touched` says what it cost so far."""

    archive: Archive
    span: Span = ALWAYS
    touched: Touched = field(default_factory=Touched)
    _files: dict[str, pq.ParquetFile] = field(default_factory=dict)
    _pieces: Sequence[Piece] = ()
    _held: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Finder:
        self._held.enter_context(self.archive.reading())
        # Once: a piece that is made meanwhile must not be searched for what was looked up without it.
        self._pieces = self.archive.pieces()
        for file in [*self._events(ALWAYS), *self._quads(ALWAYS)]:
            self.touched.files += 1
            self.touched.bytes += file.size
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._files.values():
            each.close(force=True)
        self._files.clear()
        self._held.close()

    # ---------------------------------------------------------------------------------------------------------- events

    def all_events(
        self, columns: Sequence[str] = ARCHIVE_ROWS.names, before: Before | None = None
    ) -> Iterator[pa.Table]:
        """The whole events of the time, a group of rows at a time; of batches before this one."""
        for file in self.files(before):
            yield from self.events_of(file, columns, before)

    def files(self, before: Before | None = None) -> Iterator[File]:
        """The files that may have events of the time; of batches before this one."""
        return (file for file in self._events(self.span) if before is None or file.piece.first < before.batch)

    def events(self, wanted: Wanted) -> Iterator[pa.Table]:
        """The whole events that have such quads, and others."""
        ids = sorted(self.ids(wanted))
        if len(ids) > _MOST:
            yield from self.all_events()
            return
        for file in self.files():
            yield from self._of(file, ids) if file.piece.compacted else self.events_of(file, ARCHIVE_ROWS.names)

    def by_id(self, ids: Iterable[str]) -> Iterator[pa.Table]:
        """The events that have these ids."""
        those = sorted(set(ids))
        for file in self.files():
            yield from self._of(file, those)

    def newest(self, file: File) -> datetime | None:
        """When the newest of its events was published, if the file tells without being read."""
        found = [self._bounds(file, group, "published") for group in range(self._open(file).metadata.num_row_groups)]
        latest = [bounds[1] for bounds in found if bounds is not None]
        return max(latest) if found and len(latest) == len(found) else None

    def events_of(self, file: File, columns: Sequence[str], before: Before | None = None) -> Iterator[pa.Table]:
        """The whole events of a file that are of the time, and came before this batch."""
        without = None if before is None or file.piece.last < before.batch else before.accepted
        timed = ("published", "accepted") if self.span != ALWAYS or without is not None else ()
        needed = list(dict.fromkeys([*columns, "part", *timed]))
        for group in range(self._open(file).metadata.num_row_groups):
            rows = self._of_time(_whole(self._read(file, group, needed)))
            if without is not None:
                rows = rows.filter(pc.not_equal(rows["accepted"], pa.scalar(without, rows["accepted"].type)))
            if len(rows):
                yield rows.select(columns)

    def _of(self, file: File, ids: Sequence[str]) -> Iterator[pa.Table]:
        chosen = pa.array(ids, pa.string())
        for group in range(self._open(file).metadata.num_row_groups):
            if not _some_between(ids, self._bounds(file, group, "event")):
                continue
            names = self._read(file, group, ["event"])
            if pc.any(pc.is_in(names["event"], chosen)).as_py():
                rows = self._read(file, group, [name for name in ARCHIVE_ROWS.names if name != "event"])
                rows = rows.add_column(0, "event", names["event"]).select(ARCHIVE_ROWS.names)
                rows = self._of_time(_whole(rows.filter(pc.is_in(rows["event"], chosen))))
                if len(rows):
                    yield rows

    def _of_time(self, rows: pa.Table) -> pa.Table:
        if self.span == ALWAYS:
            return rows
        when = pc.coalesce(rows["published"], rows["accepted"])
        mask = pc.is_valid(when)
        if self.span.since is not None:
            mask = pc.and_(mask, pc.greater_equal(when, pa.scalar(self.span.since, when.type)))
        if self.span.until is not None:
            mask = pc.and_(mask, pc.less(when, pa.scalar(self.span.until, when.type)))
        return rows.filter(mask)

    # ----------------------------------------------------------------------------------------------------------- quads

    def cost(self, wanted: Wanted) -> int:
        """The bytes to read to find the quads of compacted pieces that are like this."""
        return sum(
            self._bytes(file, group, _DECIDING)
            for file in self._quads(self.span)
            for group in range(self._open(file).metadata.num_row_groups)
            if any(self._may_have(file, group, lookup) for lookup in wanted)
        )

    def cost_of_all(self) -> int:
        """The bytes of all events of the time."""
        return sum(file.size for file in self.files())

    def ids(self, wanted: Wanted) -> set[str]:
        """The events of compacted pieces that have a quad like this."""
        found: set[str] = set()
        for file in self._quads(self.span):
            for group in range(self._open(file).metadata.num_row_groups):
                these = [lookup for lookup in wanted if self._may_have(file, group, lookup)]
                if these:
                    found |= self._ids(file, group, these)
        return found

    def _ids(self, file: File, group: int, these: Wanted) -> set[str]:
        subjects = ["subject"] if any(lookup.subject is not None for lookup in these) else []
        rows = self._read(file, group, [*_DECIDING, *subjects])
        masks = [_like(rows, lookup) for lookup in these]
        mask = masks[0]
        for other in masks[1:]:
            mask = pc.or_(mask, other)
        if not pc.any(mask).as_py():
            return set()
        return set(self._read(file, group, ["graph"])["graph"].filter(mask).to_pylist())

    def _may_have(self, file: File, group: int, lookup: Lookup) -> bool:
        if not _some_between(sorted(lookup.predicates), self._bounds(file, group, "predicate")):
            return False
        if lookup.objects is not None and not _some_between(
            sorted(lookup.objects), self._bounds(file, group, "object")
        ):
            return False
        if lookup.numbers is None:
            return True
        bounds = self._bounds(file, group, "number")
        return bounds is None or (bounds[0] <= lookup.numbers.high and lookup.numbers.low <= bounds[1])

    def _quads(self, span: Span) -> Iterator[File]:
        for piece in self._pieces:
            if piece.compacted:
                yield from self.archive.quad_files(piece, span)

    def _events(self, span: Span) -> Iterator[File]:
        for piece in self._pieces:
            yield from self.archive.events_of(piece, span)

    # ----------------------------------------------------------------------------------------------------------- files

    def _open(self, file: File) -> pq.ParquetFile:
        opened = self._files.get(file.name)
        if opened is None:
            place, files = self.archive.store.opened(file.name)
            opened = pq.ParquetFile(
                place, filesystem=files, coerce_int96_timestamp_unit="us", pre_buffer=False, memory_map=False
            )
            self._files[file.name] = opened
            self.touched.files_read += 1
            self.touched.groups += opened.metadata.num_row_groups
            self.touched.bytes_read += opened.metadata.serialized_size
        return opened

    def _bounds(self, file: File, group: int, column: str) -> tuple[Any, Any] | None:
        """The smallest and the largest value; None where the file does not tell."""
        opened = self._open(file)
        place = opened.schema_arrow.get_field_index(column)
        statistics = opened.metadata.row_group(group).column(place).statistics
        if statistics is None or not statistics.has_min_max:
            return None
        return statistics.min, statistics.max

    def _bytes(self, file: File, group: int, columns: Iterable[str]) -> int:
        opened = self._open(file)
        about = opened.metadata.row_group(group)
        return sum(about.column(opened.schema_arrow.get_field_index(name)).total_compressed_size for name in columns)

    def _read(self, file: File, group: int, columns: Sequence[str]) -> pa.Table:
        opened = self._open(file)
        there = [name for name in columns if name in opened.schema_arrow.names]
        self.touched.bytes_read += self._bytes(file, group, there)
        self.touched.groups_read += 1
        rows = opened.read_row_group(group, columns=there)
        for name in columns:
            if name not in there:
                rows = rows.append_column(name, pa.nulls(len(rows), pa.string()))
        for name in ("published", "accepted"):
            if name in columns:
                moments = rows[name].cast(ARCHIVE_ROWS.field(name).type)
                rows = rows.set_column(rows.schema.get_field_index(name), name, moments)
        return rows.select(columns)


def _whole(rows: pa.Table) -> pa.Table:
    return rows.filter(pc.is_null(rows["part"])) if rows["part"].null_count < len(rows) else rows


def _some_between(values: Sequence[str], bounds: tuple[Any, Any] | None) -> bool:
    """Whether one of these, in order, is within the bounds."""
    if bounds is None:
        return bool(values)
    place = bisect_left(values, bounds[0])
    return place < len(values) and values[place] <= bounds[1]


def _like(rows: pa.Table, lookup: Lookup) -> pa.ChunkedArray:
    mask = pc.is_in(rows["predicate"], pa.array(sorted(lookup.predicates), pa.string()))
    if lookup.objects is not None:
        mask = pc.and_(mask, pc.is_in(rows["object"], pa.array(sorted(lookup.objects), pa.string())))
    if lookup.subject is not None:
        mask = pc.and_(mask, pc.equal(rows["subject"], lookup.subject))
    if lookup.numbers is not None:
        within = pc.and_(
            pc.greater_equal(rows["number"], lookup.numbers.low), pc.less_equal(rows["number"], lookup.numbers.high)
        )
        mask = pc.and_(mask, pc.fill_null(within, False))
    return mask
