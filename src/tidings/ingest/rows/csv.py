"""CSV and TSV: records as columns of text, by Arrow's parser, which reads cells by the same rule as `csv_text`.

A block that Arrow refuses as a whole, or that stops inside quotes, is read record by record: those with too few or too
many cells, or with bytes that are no UTF-8, are reported with their line, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from tidings.errors import EventError, Span
from tidings.ingest.base import Report
from tidings.ingest.rows.blocks import Block, blocks, line_count
from tidings.ingest.rows.csv_text import Dialect
from tidings.ingest.rows.form import RowMap
from tidings.ingest.rows.records import Cells, Records
from tidings.ingest.rows.text import Ints
from tidings.ingest.rows.types import typed
from tidings.rdf.limits import Limits, human

_OPEN = "a quote that opens and never closes takes all that follows into its cell"


@dataclass(frozen=True, slots=True)
class Typed:
    """A column of a type, by its look or as the user says; what does not fit is a string."""

    datatype: str | None

    def __call__(self, text: pa.Array) -> tuple[Cells, ...]:
        return typed(text, self.datatype)


ColumnReader = Callable[[pa.Array], tuple[Cells, ...]]


@dataclass(frozen=True, slots=True)
class CsvPlan:
    """All that must be known to read any part of a CSV file. The first record begins at byte `start`, on `line`."""

    dialect: Dialect
    names: tuple[str, ...]
    columns: tuple[ColumnReader, ...]
    form: RowMap
    limits: Limits
    start: int
    line: int

    def records(
        self,
        read: Callable[[int], bytes],
        source: str,
        report: Report,
        *,
        head: bytes = b"",
        line: int = 1,
        number: int = 1,
    ) -> Iterator[Records]:
        """The records of text that begins with a record: `number` is the number of that."""
        reading = _Reading(self, source, report)
        for block in blocks(read, self.dialect, self.limits.max_event, reading.refuse, head=head, line=line):
            number += block.before
            found, count = reading.records(block, number)
            number += count
            if found is not None and len(found):
                yield found

    def count(self, block: Block) -> int:
        """How many records there are in a block, and were left out before it."""
        starts, ends = _bounds(self.dialect, block)
        return block.before + int(np.count_nonzero(ends > starts))


def _bounds(dialect: Dialect, block: Block) -> tuple[Ints, Ints]:
    """Where the records of a block begin and end, blank ones too, without their line breaks."""
    after = dialect.ends(block.data)
    starts = np.concatenate([np.zeros(1, np.int64), after])
    view = np.frombuffer(block.data, np.uint8)
    ends = after - 1
    both = (ends > starts[:-1]) & (view[ends] == 10)
    both[both] = view[ends[both] - 1] == 13
    return starts, np.append(ends - both, len(block.data))


class _Reading:
    def __init__(self, plan: CsvPlan, source: str, report: Report) -> None:
        self._plan = plan
        self._source = source
        self._report = report
        self._names = [f"c{place}" for place in range(len(plan.names))]
        self._convert = pacsv.ConvertOptions(
            column_types=dict.fromkeys(self._names, pa.string()),
            check_utf8=False,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        )
        self._parse = pacsv.ParseOptions(
            delimiter=plan.dialect.delimiter,
            quote_char=plan.dialect.quote or False,
            double_quote=bool(plan.dialect.quote),
            newlines_in_values=True,
        )

    def refuse(self, line: int) -> None:
        reason = f"the record is larger than {human(self._plan.limits.max_event)}"
        self._report(EventError(reason, span=Span(line), source=self._source, hint=_OPEN))

    def records(self, block: Block, number: int) -> tuple[Records | None, int]:
        """The records of a block, and how many there are, with those that cannot be read."""
        table = self._parsed(block)
        if table is None:
            return self._one_by_one(block, number)
        texts = [_text(table.column(place)) for place in range(len(self._names))]

        def place(row: int) -> Span:
            starts, ends = _bounds(self._plan.dialect, block)
            start = int(starts[ends > starts][row])
            return Span(block.line + line_count(block.data, 0, start))

        return self._made(texts, number + np.arange(table.num_rows), place), table.num_rows

    def _parsed(self, block: Block) -> pa.Table | None:
        """The block by Arrow's parser; None where it is not to be used."""
        if not block.data or not block.closed or len(block.data) > self._plan.limits.max_event:
            return None
        if block.data.isspace():
            return None
        try:
            block.data.decode()
            read = pacsv.ReadOptions(use_threads=False, column_names=self._names, block_size=len(block.data) + 1)
            return pacsv.read_csv(pa.BufferReader(block.data), read, self._parse, self._convert)
        except (UnicodeDecodeError, pa.ArrowInvalid):
            return None

    def _one_by_one(self, block: Block, number: int) -> tuple[Records | None, int]:
        rows: list[list[str | None]] = []
        numbers: list[int] = []
        lines: list[int] = []
        count, line, seen = 0, block.line, 0
        for start, end, after in self._plan.dialect.records(block.data):
            if end > start:
                line += line_count(block.data, seen, start)
                seen = start
                row = self._row(block.data[start:end], line, is_open=after < 0)
                if row is not None:
                    rows.append(row)
                    numbers.append(number + count)
                    lines.append(line)
                count += 1
        if not rows:
            return None, count
        texts = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        return self._made(texts, np.array(numbers), lambda row: Span(lines[row])), count

    def _row(self, record: bytes, line: int, *, is_open: bool) -> list[str | None] | None:
        if len(record) > self._plan.limits.max_event:
            self.refuse(line)
            return None
        hint = None
        if is_open and self._plan.dialect.is_open(record):
            hint = "its last quote opens and does not close"
            reason = "the record ends inside quotes"
        else:
            cells = self._plan.dialect.cells(record)
            if len(cells) == len(self._plan.names):
                try:
                    return [cell.decode() or None for cell in cells]
                except UnicodeDecodeError:
                    reason, hint = "the record is not UTF-8", "say what it is: the option 'encoding'"
            else:
                reason = f"the record has {len(cells):,} cells, and the header {len(self._plan.names):,}"
        self._report(EventError(reason, span=Span(line), source=self._source, hint=hint))
        return None

    def _made(self, texts: Sequence[pa.Array], numbers: Ints, place: Callable[[int], Span]) -> Records:
        columns = {
            name: read(text) for name, read, text in zip(self._plan.names, self._plan.columns, texts, strict=True)
        }
        return Records(numbers, columns, place)


def _text(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
