"""Files of subscriptions: a folder of query files, one query file, NDJSON, CSV or Parquet, the last three also by rows.

Whatever the file, a subscription starts as a `_Row` of named fields and becomes a `Subscription` by one function. One
that cannot is reported, with its file and row, and costs no other one anything.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.errors import EventError, Span, SubscriptionError, UsageError
from tidings.lang import parse
from tidings.lang.pattern import Dialect, Query
from tidings.rdf.sources import Stream

Report: TypeAlias = Callable[[SubscriptionError], None]

QUERY_SUFFIXES: Mapping[str, Dialect] = {".rq": "sparql", ".ops": "ops", ".gtopss": "gtopss"}
MAX_ROW = 16 << 20
"""The longest line of a file, and the longest query file, in bytes."""

_FIELDS = ("id", "query", "dialect", "created", "cancelled", "subscriber", "options")
_DIALECTS: Mapping[str, Dialect] = {"sparql": "sparql", "ops": "ops", "gtopss": "gtopss"}
_COMPRESSED = (".gz", ".zst")
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription as it came: its form, and what its file said about it.

    `line` is its line in a file of lines, its row in a table, None where the file holds this one alone. `created` and
    `cancelled` are checked to be ISO 8601 moments and kept as written.
    """

    id: str
    query: Query
    text: str
    dialect: Dialect = "sparql"
    source: str | None = None
    line: int | None = None
    created: str | None = None
    cancelled: str | None = None
    subscriber: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


class _Row(NamedTuple):
    source: str
    number: int | None
    fields: Mapping[str, object]


def read_subscriptions(path: str | Path, *, report: Report) -> Iterator[Subscription]:
    """The subscriptions of a folder or file, in its order; a folder's in the order of the names.

    Each one that cannot be read, or whose id another one has already, goes to `report`.
    """
    if not str(path):
        raise UsageError("the name of the file or folder of subscriptions is empty")
    taken: dict[str, str] = {}
    for row in _rows(Path(path), report):
        try:
            subscription = _subscription(row)
            if (holder := taken.get(subscription.id)) is not None:
                raise SubscriptionError(f"the id '{subscription.id}' is taken already, by {holder}")
        except SubscriptionError as error:
            report(_placed(error, row))
            continue
        taken[subscription.id] = row.source if row.number is None else f"line {row.number}"
        yield subscription


def _rows(path: Path, report: Report) -> Iterator[_Row]:
    if path.is_dir():
        return _folder(path, report)
    if not path.exists():
        raise UsageError(f"no such file or folder of subscriptions: {path}")
    suffix = _suffix(path)
    if suffix in QUERY_SUFFIXES:
        return _query_file(path, report)
    if suffix in _TABLES:
        return _TABLES[suffix](path, report)
    known = ", ".join([*QUERY_SUFFIXES, *_TABLES])
    raise UsageError(f"{path}: not a file of subscriptions; its name should end in one of {known}, or it in a folder")


def _suffix(path: Path) -> str:
    """What says the format: the suffix, less that of a compression."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in _COMPRESSED else suffix


# --------------------------------------------------------------------------------------------------- row → subscription


def _subscription(row: _Row) -> Subscription:
    fields = row.fields
    id = _id(fields)
    query = _text(fields, "query")
    if query is None:
        raise _missing(fields, "query")
    dialect = _dialect(_text(fields, "dialect"))
    return Subscription(
        id=id,
        query=parse(query, dialect),
        text=query,
        dialect=dialect,
        source=row.source,
        line=row.number,
        created=_moment(fields, "created"),
        cancelled=_moment(fields, "cancelled"),
        subscriber=_text(fields, "subscriber"),
        options=_options(fields),
    )


def _placed(error: SubscriptionError, row: _Row) -> SubscriptionError:
    """The error of a row's content, with the place of the row."""
    id = row.fields.get("id")
    return SubscriptionError(
        error.reason,
        span=error.span,
        source=row.source,
        hint=error.hint,
        id=None if id is None else str(id),
        row=row.number,
    )


def _id(fields: Mapping[str, object]) -> str:
    if isinstance(fields.get("id"), int) and not isinstance(fields["id"], bool):
        return str(fields["id"])
    id = _text(fields, "id")
    if not id:
        raise _missing(fields, "id")
    return id


def _missing(fields: Mapping[str, object], name: str) -> SubscriptionError:
    if name in fields:
        return SubscriptionError(f"the field '{name}' is empty")
    present = ", ".join(f"'{name}'" for name in list(fields)[:20]) or "none"
    return SubscriptionError(f"there is no field '{name}'", hint=f"the fields are {present}")


def _text(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise SubscriptionError(f"the field '{name}' is {_kind(value)}, it should be a string")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise SubscriptionError(f"the field '{name}' is not valid UTF-8") from error
    return value


def _kind(value: object) -> str:
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


def _dialect(name: str | None) -> Dialect:
    if not name:
        return "sparql"
    if name in _DIALECTS:
        return _DIALECTS[name]
    raise SubscriptionError(f"unknown dialect '{name}'; the dialects are {', '.join(_DIALECTS)}")


def _moment(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if isinstance(value, date):
        return value.isoformat()
    text = _text(fields, name)
    if not text:
        return None
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        example = "2024-05-01T12:00:00Z"
        raise SubscriptionError(f"the field '{name}' is not a date and time such as {example}: '{text}'") from error
    return text


def _options(fields: Mapping[str, object]) -> Mapping[str, Any]:
    value = fields.get("options")
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise SubscriptionError(f"the field 'options' is not valid JSON: {error}") from error
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise SubscriptionError(f"the field 'options' is {_kind(value)}, it should be a JSON object")
    return value


# ---------------------------------------------------------------------------------------------------------- file → rows


def _folder(folder: Path, report: Report) -> Iterator[_Row]:
    # Editors leave hidden files next to the ones they edit.
    files = sorted(p for p in folder.iterdir() if _suffix(p) in QUERY_SUFFIXES and not p.name.startswith("."))
    if not files:
        raise UsageError(
            f"{folder}: the folder has no subscription files ({', '.join('*' + s for s in QUERY_SUFFIXES)})"
        )
    for file in files:
        yield from _query_file(file, report)


def _query_file(path: Path, report: Report) -> Iterator[_Row]:
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
        yield _Row(str(path), None, {"id": id, "query": text, "dialect": QUERY_SUFFIXES[_suffix(path)]})


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

    def reject(self, reason: str, number: int, column: int | None = None, text: str | None = None) -> None:
        self._report(SubscriptionError(reason, span=Span(number, column, text), source=str(self._path)))


def _ndjson(path: Path, report: Report) -> Iterator[_Row]:
    lines = _Lines(path, report)
    for line in lines:
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode())
        except UnicodeDecodeError as error:
            lines.reject(f"not UTF-8: byte 0x{line[error.start]:02X}", lines.number)
        except json.JSONDecodeError as error:
            lines.reject(f"not JSON: {error.msg}", lines.number, error.colno, line.decode().rstrip("\r\n"))
        except (ValueError, RecursionError) as error:
            lines.reject(f"not JSON that can be read: {error}", lines.number)
        else:
            if isinstance(value, dict):
                yield _Row(str(path), lines.number, value)
            else:
                lines.reject(f"the line is {_kind(value)}, it should be one JSON object", lines.number)


def _csv(path: Path, report: Report) -> Iterator[_Row]:
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
            if not {"id", "query"} <= set(header):
                lines.reject("the first line should name the columns, 'id' and 'query' among them", number)
                return
        elif len(cells) != len(header):
            lines.reject(f"{len(cells)} fields where the first line names {len(header)} columns", number)
        else:
            yield _Row(str(path), number, {name: cell or None for name, cell in zip(header, cells, strict=True)})


def _parquet(path: Path, report: Report) -> Iterator[_Row]:
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if name in _FIELDS]
            if not {"id", "query"} <= set(names):
                report(SubscriptionError("the table should have the columns 'id' and 'query'", source=str(path)))
                return
            for batch in file.iter_batches(batch_size=4096, columns=names):
                columns = [_column(batch.column(name)) for name in names]
                for cells in zip(*columns, strict=True):
                    number += 1
                    yield _Row(str(path), number, dict(zip(names, cells, strict=True)))
    except (OSError, pa.ArrowException) as error:
        reason = f"the Parquet file cannot be read after row {number}: {error}"
        report(SubscriptionError(reason, source=str(path)))


def _column(column: Any) -> list[object]:
    if pa.types.is_timestamp(column.type):
        # Python's moments have microseconds; a column without a time zone is in UTC.
        column = column.cast(pa.timestamp("us", column.type.tz or "UTC"), safe=False)
    values: list[object] = column.to_pylist()
    return values


_TABLES: Mapping[str, Callable[[Path, Report], Iterator[_Row]]] = {
    ".ndjson": _ndjson,
    ".jsonl": _ndjson,
    ".json": _ndjson,
    ".csv": _csv,
    ".parquet": _parquet,
}
