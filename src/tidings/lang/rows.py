"""Files of subscriptions to rows: a folder of query files, one query file, NDJSON, CSV or Parquet.

Whatever the file, a subscription starts as a `Row` of named fields; `files` makes a `Subscription` of it. What is no
row is reported, with its place, and costs no other one anything.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.errors import EventError, Span, SubscriptionError, UsageError
from tidings.lang.pattern import Dialect
from tidings.rdf.sources import Stream

Report: TypeAlias = Callable[[SubscriptionError], None]
Known: TypeAlias = Callable[[bytes], bool]

QUERY_SUFFIXES: Mapping[str, Dialect] = {".rq": "sparql", ".ops": "ops", ".gtopss": "gtopss"}
MAX_ROW = 16 << 20
"""The longest line of a file, and the longest query file, in bytes."""

FIELDS = ("id", "query", "dialect", "created", "cancelled", "subscriber", "options", "op")
_NEEDED = ("id", "query")
_COMPRESSED = (".gz", ".zst")
_CHUNK = 1 << 18


class Row(NamedTuple):
    """`number` is its line or its place in the table; `raw` is what it was made of: equal ones make equal rows."""

    source: str
    number: int | None
    fields: Mapping[str, object]
    raw: bytes


def read_rows(path: Path, report: Report, known: Known = lambda raw: False) -> Iterator[Row]:
    """The rows of a file or folder, in its order; a folder's in the order of the names.

    Those that are `known`, by what they are made of, are left out, and not looked into where that can be helped.
    """
    if path.is_dir():
        return _folder(path, report, known)
    if not path.exists():
        raise UsageError(f"no such file or folder of subscriptions: {path}")
    suffix = suffix_of(path)
    if suffix in QUERY_SUFFIXES:
        return _query_file(path, report, known)
    if suffix in TABLES:
        return TABLES[suffix](path, report, known)
    endings = ", ".join([*QUERY_SUFFIXES, *TABLES])
    raise UsageError(f"{path}: not a file of subscriptions; its name should end in one of {endings}, or it in a folder")


def read_table(path: Path, report: Report, needed: Sequence[str]) -> Iterator[Row]:
    """The rows of an NDJSON, CSV or Parquet file, with whatever columns it has, these among them."""
    suffix = suffix_of(path)
    if suffix not in TABLES:
        raise UsageError(f"{path}: its name should end in one of {', '.join(TABLES)}")
    if not path.exists():
        raise UsageError(f"no such file: {path}")
    if suffix == ".csv":
        return _csv(path, report, _none_known, needed)
    if suffix == ".parquet":
        return _parquet(path, report, _none_known, needed, None)
    return _ndjson(path, report, _none_known)


def _none_known(raw: bytes) -> bool:
    return False


def suffix_of(path: Path) -> str:
    """What says the format: the suffix, less that of a compression."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in _COMPRESSED else suffix


def kind_of(value: object) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case Mapping():
            return "an object"
        case bytes():
            return "binary"
    return f"of type {type(value).__name__}"


def _folder(folder: Path, report: Report, known: Known) -> Iterator[Row]:
    # Editors leave hidden files next to the ones they edit.
    files = sorted(p for p in folder.iterdir() if suffix_of(p) in QUERY_SUFFIXES and not p.name.startswith("."))
    if not files:
        raise UsageError(
            f"{folder}: the folder has no subscription files ({', '.join('*' + s for s in QUERY_SUFFIXES)})"
        )
    for file in files:
        yield from _query_file(file, report, known)


def _query_file(path: Path, report: Report, known: Known) -> Iterator[Row]:
    try:
        with _open(path) as stream:
            data = stream.read(MAX_ROW + 1)
        if len(data) > MAX_ROW:
            raise EventError(f"the file has more than {MAX_ROW:,} bytes")
        text = data.decode("utf-8-sig")
    except EventError as error:
        report(SubscriptionError(error.reason, source=str(path), hint=error.hint))
    except UnicodeDecodeError as error:
        span = Span(data.count(b"\n", 0, error.start) + 1)
        report(SubscriptionError(f"not UTF-8: byte 0x{data[error.start]:02X}", span=span, source=str(path)))
    else:
        id = path.stem if path.suffix.lower() in QUERY_SUFFIXES else Path(path.stem).stem
        raw = path.name.encode() + b"\n" + data
        if not known(raw):
            yield Row(str(path), None, {"id": id, "query": text, "dialect": QUERY_SUFFIXES[suffix_of(path)]}, raw)


def _open(path: Path) -> Stream:
    try:
        return Stream(str(path), path.open("rb"))
    except OSError as error:
        raise EventError(f"cannot be opened: {error.strerror or error}") from error


class _Lines:
    """The lines of a file, one at a time, none longer than `MAX_ROW`; `number` is that of the last one given."""

    def __init__(self, path: Path, report: Report) -> None:
        self.number = 0
        self._path = path
        self._report = report

    def __iter__(self) -> Iterator[bytes]:
        try:
            with _open(self._path) as stream:
                for line in self._cut(stream):
                    self.number += 1
                    if line is None:
                        self.reject(f"the line has more than {MAX_ROW:,} bytes", self.number)
                    else:
                        yield line.removeprefix(b"\xef\xbb\xbf") if self.number == 1 else line
        except EventError as error:
            self._report(SubscriptionError(error.reason, source=str(self._path), hint=error.hint))

    def _cut(self, stream: Stream) -> Iterator[bytes | None]:
        """Lines with their newlines; None is one that is too long."""
        parts: list[bytes] = []
        size = 0
        while chunk := stream.some(_CHUNK):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                yield None if size + len(line) >= MAX_ROW else b"".join([*parts, line, b"\n"])
                parts, size = [], 0
            size += len(rest)
            parts = [*parts, rest] if size < MAX_ROW else []
        if size:
            yield None if size >= MAX_ROW else b"".join(parts)

    def reject(self, reason: str, number: int) -> None:
        self._report(SubscriptionError(reason, span=Span(number), source=str(self._path)))


def _ndjson(path: Path, report: Report, known: Known) -> Iterator[Row]:
    lines = _Lines(path, report)
    for line in lines:
        if not line.strip() or known(line):
            continue
        try:
            yield row_of_json(line, str(path), lines.number)
        except SubscriptionError as error:
            report(error)


def row_of_json(line: bytes, source: str, number: int) -> Row:
    """A line that is one JSON object."""
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise SubscriptionError(
            f"not UTF-8: byte 0x{line[error.start]:02X}", span=Span(number), source=source
        ) from error
    except json.JSONDecodeError as error:
        span = Span(number, error.colno, line.decode().rstrip("\r\n"))
        raise SubscriptionError(f"not JSON: {error.msg}", span=span, source=source) from error
    except (ValueError, RecursionError) as error:
        reason = f"not JSON that can be read: {error}"
        raise SubscriptionError(reason, span=Span(number), source=source) from error
    if not isinstance(value, dict):
        reason = f"the line is {kind_of(value)}, it should be one JSON object"
        raise SubscriptionError(reason, span=Span(number), source=source)
    return Row(source, number, value, line)


def _csv(path: Path, report: Report, known: Known, needed: Sequence[str] = _NEEDED) -> Iterator[Row]:
    lines = _Lines(path, report)
    # Bytes that are not UTF-8 stay recognisable until the field they are in is looked at.
    reader = csv.reader((line.decode("utf-8", "surrogateescape") for line in lines), strict=True)
    header: list[str] | None = None
    while True:
        number = lines.number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            lines.reject(f"not CSV: {error}", number)
            continue
        if cells is None:
            return
        if not cells:
            continue
        if header is None:
            header = [cell.strip() for cell in cells]
            if not set(needed) <= set(header):
                lines.reject(f"the first line should name the columns, {_listed(needed)} among them", number)
                return
        elif len(cells) != len(header):
            lines.reject(f"{len(cells)} fields where the first line names {len(header)} columns", number)
        else:
            raw = repr(cells).encode("utf-8", "surrogateescape")
            if not known(raw):
                fields = {name: cell or None for name, cell in zip(header, cells, strict=True)}
                yield Row(str(path), number, fields, raw)


def _parquet(
    path: Path,
    report: Report,
    known: Known,
    needed: Sequence[str] = _NEEDED,
    wanted: Collection[str] | None = FIELDS,
) -> Iterator[Row]:
    """`wanted` are the columns that are read; None for all of them."""
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if wanted is None or name in wanted]
            if not set(needed) <= set(names):
                report(SubscriptionError(f"the table should have the columns {_listed(needed)}", source=str(path)))
                return
            for batch in file.iter_batches(batch_size=4096, columns=names):
                columns = [column_of(batch.column(name)) for name in names]
                for cells in zip(*columns, strict=True):
                    number += 1
                    raw = repr(cells).encode("utf-8", "surrogatepass")
                    if not known(raw):
                        yield Row(str(path), number, dict(zip(names, cells, strict=True)), raw)
    except (OSError, pa.ArrowException) as error:
        reason = f"the Parquet file cannot be read after row {number}: {error}"
        report(SubscriptionError(reason, source=str(path)))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def column_of(column: Any) -> list[object]:
    if pa.types.is_timestamp(column.type):
        # Python's moments have microseconds; a column without a time zone is in UTC.
        column = column.cast(pa.timestamp("us", column.type.tz or "UTC"), safe=False)
    values: list[object] = column.to_pylist()
    return values


TABLES: Mapping[str, Callable[[Path, Report, Known], Iterator[Row]]] = {
    ".ndjson": _ndjson,
    ".jsonl": _ndjson,
    ".json": _ndjson,
    ".csv": _csv,
    ".parquet": _parquet,
}
