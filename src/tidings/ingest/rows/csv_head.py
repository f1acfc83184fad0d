"""The head of a CSV file: what it is written in, what its columns are called, and what they hold.

The head is the first mebibyte. All that is decided here is decided by that and what the user says, so that any part of
the file can be read by itself afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tidings.errors import EventError, UsageError
from tidings.ingest.rows.blocks import line_count, without_bom
from tidings.ingest.rows.csv_text import Dialect
from tidings.ingest.rows.records import MAX_COLUMNS

HEAD = 1 << 20
SAMPLE = 1_000
_DELIMITERS = ",;\t|"
_SNIFFED = 50
OPTIONS = frozenset({"delimiter", "quote", "header", "encoding", "types", "links", "source", "sources"})


@dataclass(frozen=True, slots=True)
class Head:
    """`data` is the text from the first record on, as far as the head goes; `start` and `line` say where that is."""

    dialect: Dialect
    names: tuple[str, ...]
    data: bytes
    start: int
    line: int
    whole: bool

    def sample(self) -> Iterator[list[str]]:
        """The first records that have as many cells as the header and lie wholly in the head."""
        return islice(self._sound(), SAMPLE)

    def _sound(self) -> Iterator[list[str]]:
        for record in islice(_records(self.dialect, self.data, whole=self.whole), SAMPLE):
            try:
                cells = [cell.decode() for cell in self.dialect.cells(record)]
            except UnicodeDecodeError:
                continue
            if len(cells) == len(self.names):
                yield cells


def read_head(
    read: Callable[[int], bytes],
    source: str,
    options: Mapping[str, Any],
    *,
    delimiter: str | None = None,
    skip: int = 0,
) -> Head:
    """The head of a file; `delimiter` is what the format says, if it does. `skip` records come before the header."""
    raw = read(HEAD)
    whole = len(raw) < HEAD
    data = without_bom(raw, source)
    dialect = _dialect(options, delimiter, data, whole)
    header = options.get("header", True)
    place = 0
    for _ in range(skip):
        place = _behind_record(dialect, data, place, source)
    names: list[str]
    if header is True:
        names, place = _header(dialect, data, place, source, whole)
    elif header is False:
        first = next(_records(dialect, data[place:], whole=whole), b"")
        names = [""] * len(dialect.cells(first))
    elif isinstance(header, list | tuple) and all(isinstance(each, str) for each in header) and header:
        names = list(header)
    else:
        raise UsageError("the option 'header' is true, false, or a list of names")
    if len(names) > MAX_COLUMNS:
        raise EventError(f"has {len(names):,} columns, and may have {MAX_COLUMNS:,}", source=source)
    start = len(raw) - len(data) + place
    return Head(dialect, _different(names), data[place:], start, 1 + line_count(data, 0, place), whole)


def _dialect(options: Mapping[str, Any], delimiter: str | None, data: bytes, whole: bool) -> Dialect:
    quote = _character(options, "quote", '"', empty=True)
    if delimiter is None and "delimiter" not in options:
        return Dialect(_sniffed(data, quote, whole), quote)
    dialect = Dialect(_character(options, "delimiter", delimiter or ","), quote)
    if dialect.delimiter == dialect.quote:
        raise UsageError("the delimiter and the quote are the same character")
    return dialect


def _character(options: Mapping[str, Any], name: str, default: str, *, empty: bool = False) -> str:
    value = options.get(name, default)
    if value == "" and empty:
        return ""
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value in "\r\n\0":
        raise UsageError(f"the option '{name}' is one ASCII character and no line break")
    return value


def _sniffed(data: bytes, quote: str, whole: bool) -> str:
    """The delimiter that makes as many cells in every record as in the first, and the most; a comma where none does."""

    def worth(delimiter: str) -> tuple[bool, int]:
        dialect = Dialect(delimiter, quote)
        counts = [len(dialect.cells(each)) for each in islice(_records(dialect, data, whole=whole), _SNIFFED)]
        return (len(set(counts)) == 1 and counts[0] > 1, counts[0]) if counts else (False, 0)

    return max(_DELIMITERS, key=worth)


def _records(dialect: Dialect, data: bytes, *, whole: bool) -> Iterator[bytes]:
    """The records of the head, without blank ones, and without the last if it may go on."""
    for start, end, after in dialect.records(data):
        if end > start and (whole or 0 < after < len(data)):
            yield data[start:end]


def _header(dialect: Dialect, data: bytes, place: int, source: str, whole: bool) -> tuple[list[str], int]:
    for start, end, after in dialect.records(data[place:]):
        if end > start:
            if after < 0 and (not whole or dialect.is_open(data[place + start :])):
                reason = f"the header has no end in the first {HEAD:,} bytes" if not whole else "the header has no end"
                raise EventError(reason, source=source, hint="is a quote not closed?")
            try:
                names = [cell.decode() for cell in dialect.cells(data[place + start : place + end])]
            except UnicodeDecodeError as error:
                hint = "say what it is: the option 'encoding'"
                raise EventError("the header is not UTF-8", source=source, hint=hint) from error
            return [name.strip() for name in names], len(data) if after < 0 else place + after
    raise EventError("is empty: it has no header", source=source)


def _behind_record(dialect: Dialect, data: bytes, place: int, source: str) -> int:
    after = next((after for _, _, after in dialect.records(data[place:])), -1)
    if after < 0:
        raise EventError("ends before its header", source=source)
    return place + after


def _different(names: list[str]) -> tuple[str, ...]:
    """Names of columns, each once: one without a name is `_col.N`, the second `a` is `a_2`."""
    taken: dict[str, None] = {}
    given = set(names)
    for place, name in enumerate(names, 1):
        wanted = name or f"_col.{place}"
        number = 1
        chosen = wanted
        while chosen in taken or (number > 1 and chosen in given):
            number += 1
            chosen = f"{wanted}_{number}"
        taken[chosen] = None
    return tuple(taken)
