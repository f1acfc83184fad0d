"""Events that are to be forgotten: by their id, or all that are old.

A file is replaced by one without them, in one step, or removed. Quads go first: where it was stopped in between, the
event is still found, and deleting it again does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidings.spark.archive.layout import Archive, File
from tidings.spark.archive.summary import rows_in


class Removed(NamedTuple):
    """How many rows of events and of quads, from how many files; and which of the ids asked for were there."""

    events: int
    quads: int
    files: int
    ids: frozenset[str] = frozenset()


def delete(archive: Archive, ids: Iterable[str]) -> Removed:
    """Forget the events that have these ids, and all parts of them."""
    chosen = pa.array(sorted(set(ids)), pa.string())
    quads = events = files = 0
    found: set[str] = set()
    with archive.maintained():
        for piece in archive.pieces():
            there = {file: _among(archive, file, "event", chosen) for file in archive.events_of(piece)}
            days = {file.day for file, names in there.items() if names}
            for file in archive.quad_files(piece) if piece.compacted else ():
                if file.day in days and _among(archive, file, "graph", chosen):
                    quads += _rewrite(archive, file, "graph", chosen)
                    files += 1
            for file, names in there.items():
                if names:
                    events += _rewrite(archive, file, "event", chosen)
                    files += 1
                    found |= names
    return Removed(events, quads, files, frozenset(found))


def retain(archive: Archive, since: date) -> Removed:
    """Forget all events of the days before this one."""
    with archive.maintained():
        pieces = archive.pieces()
        compacted = [piece for piece in pieces if piece.compacted]
        old_quads = [file for piece in compacted for file in archive.quad_files(piece) if file.day < since]
        old = [file for piece in pieces for file in archive.events_of(piece) if file.day < since]
        quads, events = (sum(rows_in(archive, file) for file in files) for files in (old_quads, old))
        for file in [*old_quads, *old]:
            _drop(archive, file)
    return Removed(events, quads, len(old_quads) + len(old))


def _among(archive: Archive, file: File, column: str, chosen: pa.Array) -> set[str]:
    """Which of these are in a column."""
    place, files = archive.store.opened(file.name)
    names = pq.read_table(place, filesystem=files, columns=[column])[column]
    return set(names.filter(pc.is_in(names, chosen)).to_pylist())


def _rewrite(archive: Archive, file: File, column: str, chosen: pa.Array) -> int:
    """Have the file without these rows; how many that were."""
    place, files = archive.store.opened(file.name)
    gone = 0
    sink = pa.BufferOutputStream()
    with (
        pq.ParquetFile(place, filesystem=files, coerce_int96_timestamp_unit="us") as old,
        pq.ParquetWriter(sink, old.schema_arrow, compression="zstd") as new,
    ):
        for group in range(old.num_row_groups):
            rows = old.read_row_group(group)
            kept = rows.filter(pc.invert(pc.is_in(rows[column], chosen)))
            gone += len(rows) - len(kept)
            if len(kept):
                new.write_table(kept, row_group_size=len(kept))
    if gone == rows_in(archive, file):
        _drop(archive, file)
    else:
        _forget_checksum(archive, file)
        archive.store.write(file.name, sink.getvalue().to_pybytes())
    return gone


def _drop(archive: Archive, file: File) -> None:
    _forget_checksum(archive, file)
    archive.store.delete(file.name)


def _forget_checksum(archive: Archive, file: File) -> None:
    """Hadoop keeps one beside a file of a local disk, and refuses the file where it does not fit."""
    folder, _, name = file.name.rpartition("/")
    archive.store.delete(f"{folder}/.{name}.crc")
