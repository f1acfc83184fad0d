"""CSV and TSV files become events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pyarrow as pa

from tidings.errors import UsageError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.rows.csv import CsvPlan, Typed
from tidings.ingest.rows.csv_head import OPTIONS, Head, read_head
from tidings.ingest.rows.csvw import described
from tidings.ingest.rows.direct import Direct, missing, types_option
from tidings.ingest.rows.evaluate import Evaluator
from tidings.ingest.rows.mapping import CSVW, finished, written_in
from tidings.ingest.rows.rml import Mapping, known
from tidings.ingest.rows.sources import Read, joins_itself, mapped_form, reader_of, repeated
from tidings.ingest.rows.types import named_type, type_of


def convert(document: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    """The events of a CSV file, one a record. The delimiter is looked for in the head if it is not told."""
    yield from converted(document, how, report, None)


def converted(document: Input, how: How, report: Report, delimiter: str | None) -> Iterator[pa.RecordBatch]:
    with ExitStack() as stack:
        raw: Read = document.stream.read
        again: Callable[[], Read] | None = None
        if joins_itself(how, "csv"):
            again = stack.enter_context(repeated(document, how))
            raw = again()
        read = reader_of(raw, how, document.name)
        plan, head = plan_of(read, how, document.name, report, delimiter, again)
        if again is not None:
            # The records to join with were read in between.
            read = reader_of(again(), how, document.name)
            read(plan.start + len(head.data))
        evaluator = Evaluator(plan.form, document.name, how.limits, report)
        for records in plan.records(read, document.name, report, head=head.data, line=plan.line):
            yield from evaluator.batches(records)


def plan_of(
    read: Read,
    how: How,
    source: str,
    report: Report,
    delimiter: str | None,
    again: Callable[[], Read] | None = None,
) -> tuple[CsvPlan, Head]:
    """How to read the file that goes on behind the head, and the head."""
    unknown = set(how.options) - OPTIONS
    if unknown:
        raise UsageError(f"'{min(unknown)}' is no option of CSV; the options are {', '.join(sorted(OPTIONS))}")
    format = written_in(how)
    if format == CSVW:
        return described(read, how, source, delimiter)
    head = read_head(read, source, how.options, delimiter=delimiter)
    if format is None:
        return _direct(head, how), head
    mapping = Mapping.of(how, format)
    form = finished(known(mapped_form(mapping, mapping.document("csv")[0], how, report, again), head.names), how)
    columns = (Typed(None),) * len(head.names)
    return CsvPlan(head.dialect, head.names, columns, form, how.limits, head.start, head.line), head


def _direct(head: Head, how: How) -> CsvPlan:
    direct = Direct.of(how)
    given = types_option(how.options)
    missing(given, head.names, "a type")
    missing(direct.key, head.names, "the key")
    missing(direct.links, head.names, "a link")
    values = list(zip(*head.sample(), strict=True)) or [()] * len(head.names)
    columns = tuple(
        Typed(named_type(given[name]) if name in given else type_of(value for value in column if value))
        for name, column in zip(head.names, values, strict=True)
    )
    return CsvPlan(head.dialect, head.names, columns, direct.form(head.names), how.limits, head.start, head.line)
