"""Lines of JSON as records: numbers keep the text they were written with."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from tidings.errors import EventError, Span
from tidings.ingest.base import Report
from tidings.ingest.rows.blocks import Block, LineCutter, blocks
from tidings.ingest.rows.json_columns import ALL, Melted, Number, Sparse, Table, Wanted, Whole
from tidings.ingest.rows.records import Cells, Records
from tidings.rdf.limits import Limits, human

_TREES = "trees are read by another format: --as json"


def _no_constant(text: str) -> NoReturn:
    raise json.JSONDecodeError(f"{text} is no JSON", text, 0)


_DECODER = json.JSONDecoder(parse_float=Number, parse_constant=_no_constant)
_LONG_DECODER = json.JSONDecoder(parse_float=Number, parse_int=Whole, parse_constant=_no_constant)


@dataclass(frozen=True, slots=True)
class JsonReading:
    """Reads JSON lines from any record on."""

    limits: Limits
    source: str
    report: Report
    columns: frozenset[str] = frozenset()
    only: bool = False
    """With `only`, there is nothing but these; without, they are columns always, and the rest where that pays."""

    def records(
        self, read: Callable[[int], bytes], *, head: bytes = b"", line: int = 1, number: int = 1
    ) -> Iterator[Records]:
        for block in blocks(read, LineCutter(), self.limits.max_event, self._refuse, head=head, line=line):
            number += block.before
            with _uncollected():
                rows, numbers, lines, count = self._parsed(block, number)
            number += count
            yield from self._columns(rows, numbers, lines)

    def _refuse(self, line: int) -> None:
        self._tell(f"the record is larger than {human(self.limits.max_event)}", line)

    def _tell(self, reason: str, line: int, column: int | None = None, hint: str | None = None) -> None:
        self.report(EventError(reason, span=Span(line, column), source=self.source, hint=hint))

    def _parsed(self, block: Block, number: int) -> tuple[list[dict[str, Any]], list[int], list[int], int]:
        """The objects, their numbers and lines, and how many records there are."""
        rows: list[dict[str, Any]] = []
        numbers: list[int] = []
        lines: list[int] = []
        count = 0
        scan: Callable[[Any, int], tuple[Any, int]] = _DECODER.scan_once  # type: ignore[attr-defined]
        for place, text in enumerate(_lines(block.data), block.line):
            try:
                row, end = scan(text, 0)
                good = end == len(text) and type(row) is dict
            except (StopIteration, ValueError, RecursionError, TypeError):
                good = False
            if not good or len(text) > self.limits.max_event:
                if not text.strip():
                    continue
                row = self._carefully(text, place)
            if row is not None:
                rows.append(row)
                numbers.append(number + count)
                lines.append(place)
            count += 1
        return rows, numbers, lines, count

    def _carefully(self, text: str | bytes, line: int) -> dict[str, Any] | None:
        """The record of a line that is not plainly one, or None, told why."""
        column, hint = None, None
        if len(text) > self.limits.max_event:
            self._refuse(line)
            return None
        try:
            row = self._decoded(text.decode() if isinstance(text, bytes) else text)
            if isinstance(row, dict):
                return row
            column, reason, hint = 1, "the line is no JSON object", 'each line is one object: {"name": value, …}'
        except UnicodeDecodeError:
            reason = "the line is not UTF-8"
        except json.JSONDecodeError as error:
            column, reason = error.colno, f"is no JSON: {error.msg}"
        except RecursionError:
            reason = "the record is nested too deeply"
        self._tell(reason, line, column, hint)
        return None

    @staticmethod
    def _decoded(text: str) -> Any:
        try:
            return _DECODER.decode(text)
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of too many digits
            return _LONG_DECODER.decode(text)

    def _columns(self, rows: list[dict[str, Any]], numbers: list[int], lines: list[int]) -> Iterator[Records]:
        """The records, without those that cannot be columns."""
        if not rows:
            return
        try:
            columns, rest, wrong = self._as_columns(rows)
        except UnicodeEncodeError:
            if len(rows) > 1:
                for place in range(len(rows)):
                    yield from self._columns(rows[place:][:1], numbers[place:][:1], lines[place:][:1])
            else:
                self._tell("a text has half of a surrogate pair, which is no character", lines[0])
            return
        if wrong:
            for place, reason in sorted(wrong.items()):
                self._tell(reason, lines[place], hint=_TREES)
            sound = [place for place in range(len(rows)) if place not in wrong]
            chosen = [rows[place] for place in sound]
            yield from self._columns(chosen, [numbers[place] for place in sound], [lines[place] for place in sound])
            return
        yield Records(np.array(numbers), columns, lambda row: Span(lines[row]), rest)

    def _as_columns(
        self, rows: list[dict[str, Any]]
    ) -> tuple[dict[str, tuple[Cells, ...]], tuple[Cells, ...], dict[int, str]]:
        """The columns, what is not in columns, and which of the objects are wrong."""
        rest: tuple[Cells, ...] = ()
        wrong: dict[int, str] = {}
        depth = self.limits.max_depth
        try:
            table = Table(rows, depth, Wanted(self.columns) if self.only else ALL)
        except Sparse:
            table = Table(rows, depth, Wanted(self.columns))
            melted = Melted(rows, depth, Wanted(None, self.columns))
            rest, wrong = tuple(melted.cells()), melted.wrong
        return {name: tuple(cells) for name, cells in table.columns.items()}, rest, wrong | table.wrong


@contextmanager
def _uncollected() -> Iterator[None]:
    """While a block is parsed there is no garbage to look for, and looking costs as much as parsing."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _lines(data: bytes) -> Sequence[str | bytes]:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    try:
        return data.decode().split("\n")
    except UnicodeDecodeError:
        return data.split(b"\n")


def count_records(block: Block) -> int:
    """How many records there are in a block, and were left out before it."""
    return block.before + sum(1 for line in block.data.split(b"\n") if line.strip())
