"""From what the user names (files, folders, globs, `-`, bytes, streams) to events, by the converter of each format.

A document that cannot be opened or read, a record that is wrong: each is one report, and reading goes on.
"""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

import pyarrow as pa

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.registry import KINDS, converter, of_path
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.sources import STDIN, Stream, below

Source: TypeAlias = str | os.PathLike[str] | bytes | BinaryIO | Input


@dataclass(frozen=True, slots=True)
class Found:
    """One document, which is not opened yet, and the name of its format."""

    name: str
    format: str
    opener: Callable[[], Input]


def read_batches(
    sources: Iterable[Source] | Source, how: How, *, format: str | None = None, report: Report
) -> Iterator[pa.RecordBatch]:
    """The events of all sources, in order, as batches of `base.SCHEMA`. What is rejected goes to `report`.

    `format` is a name of `registry.KINDS`; without it, the name of a file tells. Bytes, `-` and an `Input` have none.
    A `UsageError` where a format is not known, or what its converter needs is not installed.
    """
    for found in documents(sources, format):
        if isinstance(found, EventError):
            report(found)
            continue
        convert = converter(found.format)
        try:
            opened = found.opener()
            with opened.stream:
                yield from convert(opened, how, report)
        except EventError as error:
            report(error)


def read(sources: Iterable[Source] | Source, how: How, *, format: str | None = None, report: Report) -> Iterator[Event]:
    """The same, one event at a time."""
    for batch in read_batches(sources, how, format=format, report=report):
        yield from events_of(batch)


def events_of(batch: pa.RecordBatch) -> Iterator[Event]:
    """The events of a batch of `base.SCHEMA`."""
    columns = (batch.column(name).to_pylist() for name in ("event", "body", "source"))
    for id, body, source in zip(*columns, strict=True):
        yield Event(id, body, source)


def documents(sources: Iterable[Source] | Source, format: str | None = None) -> Iterator[Found | EventError]:
    """The documents that `sources` stand for, in order; an error stands where there is none."""
    if format is not None and format not in KINDS:
        raise UsageError(f"'{format}' is no format that can be taken in; the formats are {', '.join(sorted(KINDS))}")
    for source in _several(sources):
        if isinstance(source, Input):
            yield _named(source.name, format, partial(_itself, source))
        elif isinstance(source, bytes):
            yield _named("bytes", format, partial(_in_memory, source))
        elif not isinstance(source, str | os.PathLike):
            yield _stream(source, format)
        elif not os.fspath(source):
            yield EventError("the name of a file or folder is empty")
        elif os.fspath(source) == STDIN:
            yield _named("stdin", format, lambda: Input("stdin", Stream("stdin", sys.stdin.buffer, owned=False)))
        else:
            yield from _files(Path(source), format)


def _several(sources: Iterable[Source] | Source) -> Iterable[Source]:
    if isinstance(sources, str | os.PathLike | bytes | Input):
        return [sources]
    return [cast(BinaryIO, sources)] if hasattr(sources, "read") else sources


def _named(name: str, format: str | None, opener: Callable[[], Input]) -> Found | EventError:
    if format is None:
        return EventError("the format must be given, for instance 'csv' (--as csv)", source=name)
    return Found(name, format, opener)


def _itself(given: Input) -> Input:
    return given


def _in_memory(data: bytes) -> Input:
    return Input("bytes", Stream("bytes", io.BytesIO(data)))


def _stream(stream: BinaryIO, format: str | None) -> Found | EventError:
    name = getattr(stream, "name", None)
    name = name if isinstance(name, str) else "stream"
    return _named(name, format or of_path(name), lambda: Input(name, Stream(name, stream, owned=False)))


def _files(path: Path, format: str | None) -> Iterator[Found | EventError]:
    try:
        if path.is_dir():
            yield from _folder(path, format)
        elif path.exists():
            yield _file(path, format)
        else:
            yield from _matching(str(path), format)
    except (OSError, ValueError) as error:
        yield EventError(f"cannot be opened: {error}", source=str(path))


def _folder(path: Path, format: str | None) -> Iterator[Found | EventError]:
    """The files below a folder whose names tell a format; what else lies there is left alone."""
    for file in below(path):
        if format or of_path(file):
            yield _file(file, format)


def _matching(pattern: str, format: str | None) -> Iterator[Found | EventError]:
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]
    if not found:
        what = "no file matches this pattern" if glob.has_magic(pattern) else "no such file or folder"
        yield EventError(what, source=pattern)
    for path in found:
        yield from _folder(path, format) if path.is_dir() else [_file(path, format)]


def _file(path: Path, format: str | None) -> Found | EventError:
    found = format or of_path(path)
    if found is not None:
        return Found(str(path), found, lambda: _opened(path))
    if Format.of_path(path) is not None:
        hint = "RDF needs no conversion; if it is none, say what it is: --as json or --as xml"
        return EventError("by its name this is RDF", source=str(path), hint=hint)
    hint = f"say what it is with --as: {', '.join(sorted(KINDS))}"
    return EventError("the name does not tell the format", source=str(path), hint=hint)


def _opened(path: Path) -> Input:
    name = str(path)
    try:
        raw = path.open("rb")
    except OSError as error:
        raise EventError(f"cannot be opened: {error.strerror or error}", source=name) from error
    return Input(name, Stream(name, raw))
