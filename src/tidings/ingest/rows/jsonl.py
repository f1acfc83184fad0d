"""JSON lines become events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pyarrow as pa

from tidings.errors import UsageError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.rows.blocks import without_bom
from tidings.ingest.rows.direct_rows import DirectRows
from tidings.ingest.rows.evaluate import Evaluator
from tidings.ingest.rows.form import RowMap
from tidings.ingest.rows.json_lines import JsonReading
from tidings.ingest.rows.mapping import CSVW, finished, written_in
from tidings.ingest.rows.rml import Mapping
from tidings.ingest.rows.sources import Read, joins_itself, mapped_form, repeated

OPTIONS = frozenset({"types", "links", "source", "sources"})


@dataclass(frozen=True, slots=True)
class JsonPlan:
    """All that must be known to read any part of a file of JSON lines; `form` is that of a mapping."""

    how: How
    form: RowMap | None

    def batches(
        self, read: Read, source: str, report: Report, *, head: bytes = b"", line: int = 1, number: int = 1
    ) -> Iterator[pa.RecordBatch]:
        """The events of text that begins with a record: `number` is the number of that."""
        limits = self.how.limits
        if self.form is None:
            rows = DirectRows(self.how, source, report)
            reading, made = JsonReading(limits, source, report, rows.named), rows.batches
        else:
            reading = JsonReading(limits, source, report, frozenset(self.form.columns()), only=True)
            made = Evaluator(self.form, source, limits, report).batches
        for records in reading.records(read, head=head, line=line, number=number):
            yield from made(records)


def convert(document: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    """The events of a file with a JSON object on every line, one a line."""
    with ExitStack() as stack:
        read: Read = document.stream.read
        again: Callable[[], Read] | None = None
        if joins_itself(how, "jsonl"):
            again = stack.enter_context(repeated(document, how))
        plan = plan_of(how, report, again)
        if again is not None:
            read = again()
        head = without_bom(read(4096), document.name)
        yield from plan.batches(read, document.name, report, head=head)


def plan_of(how: How, report: Report, again: Callable[[], Read] | None = None) -> JsonPlan:
    unknown = set(how.options) - OPTIONS
    if unknown:
        raise UsageError(f"'{min(unknown)}' is no option of JSON lines; the options are {', '.join(sorted(OPTIONS))}")
    format = written_in(how)
    if format is None:
        return JsonPlan(how, None)
    if format == CSVW:
        raise UsageError("a CSVW description is of a CSV file; JSON lines are mapped by RML")
    mapping = Mapping.of(how, format)
    return JsonPlan(how, finished(mapped_form(mapping, mapping.document("jsonl")[0], how, report, again), how))
