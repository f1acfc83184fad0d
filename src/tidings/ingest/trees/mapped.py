"""Trees by a mapping in RML: its iterator says what a record is, and its references what the record has.

A mapping with several iterators over one document is one of several kinds of records: `How.record` says which of them
are events, and the others can be joined with.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, cast

import pyarrow as pa

from tidings.errors import UsageError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.rows.evaluate import Evaluator
from tidings.ingest.rows.mapping import CSVW, finished, written_in
from tidings.ingest.rows.records import Records
from tidings.ingest.rows.rml import Mapping
from tidings.ingest.rows.rml_model import Source
from tidings.ingest.rows.sources import Read, Sources, repeated
from tidings.ingest.trees.columns import check_reference, columns
from tidings.ingest.trees.paths import json_path, xml_path
from tidings.rdf.sources import Stream


def mapped(document: Input, how: How, report: Report, kind: str) -> Iterator[pa.RecordBatch]:
    """The events of a JSON or XML document, `kind`, by the mapping of `how`."""
    format = written_in(how)
    if format is None or format == CSVW:
        raise UsageError("a CSVW description is of a CSV file; trees are mapped by RML")
    if how.context is not None:
        raise UsageError("there is a mapping, and a JSON-LD context: leave one of them out")
    mapping = Mapping.of(how, format, trees=True)
    own = source_of(mapping, how, kind)
    with ExitStack() as stack:
        again = None
        if any(own.beside(each) for each in mapping.joins_with(own)):
            again = stack.enter_context(repeated(document, how))
        form = finished(mapping.form(own, _TreeSources(how, report, own, again).records), how)
        for each in form.columns():
            check_reference(each, kind)
        if again is not None:
            document = _input(document.name, again())
        made = Evaluator(form, document.name, how.limits, report)
        for records in columns(document, kind, own.iterator or how.record, form.columns(), how.limits, report):
            yield from made.batches(records)


def source_of(mapping: Mapping, how: How, kind: str) -> Source:
    """The source whose records are the events of a document."""
    sources = mapping.document(kind)
    iterators = ", ".join(f"'{each.iterator}'" for each in sources)
    for each in sources:
        check_iterator(each)
    if how.record is None:
        if len(sources) > 1:
            raise UsageError(f"the mapping iterates over {iterators}: say with --record which of them are the events")
        return sources[0]
    wanted = _path(how.record, kind)
    found = [each for each in sources if each.iterator is None or _path(each.iterator, kind) == wanted]
    if len(found) != 1:
        reason = f"the record '{how.record}' is not what the mapping iterates over, {iterators}"
        raise UsageError(f"{reason}: leave it out, or change one of them")
    return found[0]


def check_iterator(source: Source) -> None:
    """A `UsageError` where the path of a record is not understood."""
    _path(source.iterator, source.kind)


def _path(text: str | None, kind: str) -> tuple[Any, ...] | None:
    if text is None:
        return None
    return json_path(text) if kind == "json" else xml_path(text)


class _TreeSources(Sources):
    """Other documents may be trees, too; those that are JSON are no lines."""

    def of(self, source: Source, read: Read, needed: frozenset[str]) -> Iterator[Records]:
        if not source.is_tree:
            yield from super().of(source, read, needed)
            return
        report = _untold if source == self._own else self._report
        yield from columns(
            _input(source.name, read), source.kind, source.iterator, sorted(needed), self._how.limits, report
        )


def _untold(error: object) -> None:
    """Of records that are read once more, problems are told the other time."""


class _Readable:
    def __init__(self, read: Read) -> None:
        self.read = read


def _input(name: str, read: Read) -> Input:
    """A document that is unpacked already."""
    return Input(name, Stream("", cast(Any, _Readable(read)), owned=False))
