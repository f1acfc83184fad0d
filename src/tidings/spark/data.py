"""Data that is no RDF, as rows of events: whole documents, and large tables in parts that several workers share.

A table in parts gives the events of the whole: where its records begin, and how they are numbered, is found out once,
before it is shared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How
from tidings.ingest.read import read_batches
from tidings.ingest.registry import KINDS, of_path
from tidings.ingest.rows.parts import PART, Part, Plan, convert_range, plan_file, splits
from tidings.rdf.sources import compression
from tidings.spark.schema import READ_ROWS

Batches = Iterator[pa.RecordBatch]
_IN_PARTS = ("csv", "tsv", "jsonl")


@dataclass(frozen=True, slots=True)
class Share:
    """What one task reads: a document, or, with a plan, a part of one."""

    path: str
    format: str
    plan: Plan | None = None
    part: Part | None = None


def suffixes() -> list[str]:
    """Of files that are such data by their names."""
    return [suffix for kind in KINDS.values() for suffix in kind.suffixes]


def shares(paths: Iterable[str], format: str | None, how: How, size: int = PART) -> list[Share]:
    """The documents as tasks; what is wrong with one is told by who reads it."""
    found: list[Share] = []
    for path in paths:
        kind = format or of_path(path)
        if kind is None or kind not in KINDS:
            raise UsageError(f"{path}: say what it is, with format=: {', '.join(sorted(KINDS))}")
        found += list(_parts(path, kind, how, size)) or [Share(path, kind)]
    return found


def _parts(path: str, format: str, how: How, size: int) -> Iterator[Share]:
    """Of a large file that can be read in parts; none where it is to be read as a whole."""
    if format not in _IN_PARTS or not os.path.isfile(path) or os.path.getsize(path) <= size:
        return
    with open(path, "rb") as file:
        if compression(file.read(4)):
            return
        file.seek(0)
        problems: list[EventError] = []
        try:
            plan = plan_file(format, file.read, how, path, problems.append)
        except (UsageError, EventError):
            return
        if problems:
            return
        file.seek(0)
        yield from (Share(path, format, plan, part) for part in splits(plan, file.read, size))


def read_shares(shares: Sequence[Share], how: How) -> Callable[[Batches], Batches]:
    """From the numbers of shares to their events, and to what is wrong."""

    def stage(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch["share"].to_pylist():
                yield from _told(partial(_read, shares[number], how), shares[number].path)

    return stage


def _read(share: Share, how: How, report: Callable[[EventError], None]) -> Batches:
    if share.plan is None or share.part is None:
        yield from read_batches(share.path, how, format=share.format, report=report)
        return
    try:
        with open(share.path, "rb") as file:
            file.seek(share.part.start)
            yield from convert_range(share.plan, share.part, file.read, share.path, report)
    except OSError as error:
        report(EventError(f"cannot be opened: {error.strerror or error}", source=share.path))
    except EventError as error:
        report(error)


def _told(read: Callable[[Callable[[EventError], None]], Batches], name: str) -> Batches:
    """Batches of events as rows of `READ_ROWS`, and problems among them as they come."""
    problems: list[EventError] = []
    for batch in read(problems.append):
        yield from _problems(problems, name)
        count = batch.num_rows
        given = {"event": batch["event"], "body": batch["body"], "source": pa.array([name] * count, pa.string())}
        columns = [given.get(field.name, pa.nulls(count, field.type)) for field in READ_ROWS]
        yield pa.RecordBatch.from_arrays(columns, schema=READ_ROWS)
    yield from _problems(problems, name)


def _problems(problems: list[EventError], name: str) -> Batches:
    if problems:
        rows = [{"source": name, "line": p.line, "column": p.column, "reason": p.reason} for p in problems]
        problems.clear()
        yield pa.RecordBatch.from_pylist(rows, schema=READ_ROWS)
