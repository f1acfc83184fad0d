"""Events that are to be forgotten: by their id, or all that are old.

A file is replaced by one without them, in one step, or removed. Quads go first: where it was stopped in between, the
event is still found, and deleting it again does the rest. Nobody reads the archive meanwhile, so that none sees a part
of an event without the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidings.spark.archive.layout import Archive, File, Piece
from tidings.spark.archive.summary import rows_in


class Removed(NamedTuple):
    """How many rows of events and of quads, from how many files; and which of the ids asked for were there, as whole
    events or in parts.
    """

    events: int
    quads: int
    files: int
    ids: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()


def delete(archive: Archive, ids: Iterable[str]) -> Removed:
    """Forget the events that have these ids, and all parts of them."""
    with archive.maintained(alone=True):
        pieces = archive.pieces()
        return _without(archive, pieces, [file for piece in pieces for file in archive.events_of(piece)], set(ids))


def retain(archive: Archive, since: date) -> Removed:
    """Forget all events of the days before this one, with what came of them later."""
    with archive.maintained(alone=True):
        pieces = archive.pieces()
        files = [file for piece in pieces for file in archive.events_of(piece)]
        old, others = ([file for file in files if (file.day < since) is early] for early in (True, False))
        in_parts = [file for file in others if _has_parts(archive, file)]
        whole: set[str] = set().union(*(_ids(archive, file)[1] for file in old)) if in_parts else set()
        later = _without(archive, pieces, in_parts, whole)
        compacted = [piece for piece in pieces if piece.compacted]
        old_quads = [file for piece in compacted for file in archive.quad_files(piece) if file.day < since]
        quads, events = (sum(rows_in(archive, file) for file in files) for files in (old_quads, old))
        for file in [*old_quads, *old]:
            _drop(archive, file)
    return Removed(events + later.events, quads + later.quads, len(old_quads) + len(old) + later.files)


def _without(archive: Archive, pieces: Iterable[Piece], files: Iterable[File], ids: set[str]) -> Removed:
    """Have these files of events without some of them; and the quads that are of them."""
    chosen = pa.array(sorted(ids), pa.string())
    quads = events = rewritten = 0
    there = {file: found for file in files if (found := _ids(archive, file, chosen))[0]}
    days = {(file.piece, file.day) for file in there}
    for file in (file for piece in pieces if piece.compacted for file in archive.quad_files(piece)):
        if (file.piece, file.day) in days and _is_among(archive, file, "graph", chosen):
            quads += _rewrite(archive, file, "graph", chosen)
            rewritten += 1
    for file in there:
        events += _rewrite(archive, file, "event", chosen)
        rewritten += 1
    every, whole = (frozenset(id for both in there.values() for id in both[n]) for n in (0, 1))
    return Removed(events, quads, rewritten, every, whole)


def _ids(archive: Archive, file: File, chosen: pa.Array | None = None) -> tuple[set[str], set[str]]:
    """The ids in a file of events, of these if they are named; and those of whole events among them."""
    place, files = archive.store.opened(file.name)
    with pq.ParquetFile(place, filesystem=files) as opened:
        parts = "part" in opened.schema_arrow.names
        rows = opened.read(columns=["event", "part"] if parts else ["event"])
    if chosen is not None:
        rows = rows.filter(pc.is_in(rows["event"], chosen))
    whole = rows.filter(pc.is_null(rows["part"])) if parts else rows
    return set(rows["event"].to_pylist()), set(whole["event"].to_pylist())


def _is_among(archive: Archive, file: File, column: str, chosen: pa.Array) -> bool:
    """Whether one of these is in a column."""
    place, files = archive.store.opened(file.name)
    names = pq.read_table(place, filesystem=files, columns=[column], partitioning=None)[column]
    return bool(pc.any(pc.is_in(names, chosen)).as_py())


def _has_parts(archive: Archive, file: File) -> bool:
    """Whether some of its rows are parts of events, as far as the file tells."""
    place, files = archive.store.opened(file.name)
    about = pq.read_metadata(place, filesystem=files)
    column = about.schema.to_arrow_schema().get_field_index("part")
    for group in range(about.num_row_groups) if column >= 0 else ():
        told = about.row_group(group).column(column)
        if told.statistics is None or not told.statistics.has_null_count:
            return True
        if told.statistics.null_count < told.num_values:
            return True
    return False


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
