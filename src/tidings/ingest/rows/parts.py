"""A large CSV or JSON-lines file in parts, each converted by itself, with the same events as the whole.

    plan = plan_file("csv", stream, how)            # reads the head: names, types, the mapping; can be pickled
    for part in splits(plan, stream): …             # one pass over the file: where records begin, and their numbers
    convert_range(plan, part, stream_at(part.start), …)

The file is not compressed, and is UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How, Report
from tidings.ingest.rows.blocks import BOM, LineCutter, blocks, encoding_is_utf8
from tidings.ingest.rows.csv import CsvPlan
from tidings.ingest.rows.csv_files import plan_of as plan_csv
from tidings.ingest.rows.evaluate import Evaluator
from tidings.ingest.rows.json_lines import count_records
from tidings.ingest.rows.jsonl import JsonPlan
from tidings.ingest.rows.jsonl import plan_of as plan_json
from tidings.ingest.rows.sources import Read

Plan: TypeAlias = CsvPlan | JsonPlan
PART = 64 << 20
_DELIMITERS = {"csv": None, "tsv": "\t"}


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file that are whole records; the number and line of the first of them."""

    start: int
    stop: int
    record: int
    line: int


def plan_file(format: str, read: Read, how: How, source: str, report: Report) -> Plan:
    """How to convert any part of a file, from its beginning, as `read` gives it."""
    if format == "jsonl":
        return plan_json(how, report)
    if format not in _DELIMITERS:
        raise UsageError(f"a file of '{format}' is not read in parts; csv, tsv and jsonl are")
    if not encoding_is_utf8(str(how.options.get("encoding", "utf-8"))):
        raise UsageError("a file that is not UTF-8 is not read in parts")
    return plan_csv(read, how, source, report, _DELIMITERS[format])[0]


def splits(plan: Plan, read: Read, size: int = PART) -> Iterator[Part]:
    """The parts of a file, each of about `size` bytes; `read` gives it from its beginning."""
    first, line, head = _beginning(plan, read)
    cutter, limits = (plan.dialect, plan.limits) if isinstance(plan, CsvPlan) else (LineCutter(), plan.how.limits)
    number, record, at, at_line, end = 1, 1, first, line, first
    for block in blocks(read, cutter, limits.max_event, lambda _: None, line=line, head=head):
        begin = first + block.offset
        if begin - at >= size:
            yield Part(at, begin, record, at_line)
            at, at_line, record = begin, block.line, number + block.before
        number += plan.count(block) if isinstance(plan, CsvPlan) else count_records(block)
        end = begin + len(block.data)
    if end > at:
        yield Part(at, end, record, at_line)


def convert_range(plan: Plan, part: Part, read: Read, source: str, report: Report) -> Iterator[pa.RecordBatch]:
    """The events of a part; `read` gives the file from `part.start` on."""
    left = part.stop - part.start

    def bounded(size: int) -> bytes:
        nonlocal left
        data = read(min(size, left)) if left else b""
        left -= len(data)
        if left and not data:
            raise EventError(f"ends {left:,} bytes before it should: has it changed?", source=source)
        return data

    if isinstance(plan, JsonPlan):
        yield from plan.batches(bounded, source, report, line=part.line, number=part.record)
        return
    evaluator = Evaluator(plan.form, source, plan.limits, report)
    for records in plan.records(bounded, source, report, line=part.line, number=part.record):
        yield from evaluator.batches(records)


def _beginning(plan: Plan, read: Read) -> tuple[int, int, bytes]:
    """Where the first record begins, in bytes and lines, and what had to be read of it to know that."""
    if isinstance(plan, JsonPlan):
        head = read(len(BOM))
        return (len(BOM), 1, b"") if head == BOM else (0, 1, head)
    passed = 0
    while passed < plan.start and (data := read(plan.start - passed)):
        passed += len(data)
    return plan.start, plan.line, b""
