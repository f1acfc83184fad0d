"""XML to events, a record each: by a mapping (see `mapped`), or by the direct mapping of `facade`.

Of `How` it uses `base`, `key` (references: `@id`, `title`, `author/name`; a bare name is an attribute where there is
one), `classes`, `home`, `mapping` and `record` (see `paths`; without it the document is one record).
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from tidings.errors import EventError, Span
from tidings.ingest.base import Batches, How, Input, Report
from tidings.ingest.trees.facade import xml_triples
from tidings.ingest.trees.mapped import mapped
from tidings.ingest.trees.naming import Names, about, key_values, subject
from tidings.ingest.trees.paths import xml_path
from tidings.ingest.trees.records import XmlRecord
from tidings.ingest.trees.xml_records import Element, found
from tidings.rdf.terms import HOME, Triple


def convert(input: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    if how.mapping is not None:
        yield from mapped(input, how, report, "xml")
        return
    names = Names(how)
    path = None if how.record is None else xml_path(how.record)
    batches = Batches(input.name)
    try:
        for record in found(input, path, how.limits):
            if isinstance(record.value, EventError):
                report(record.value)
                continue
            try:
                yield from batches.add(_triples(record.number, record.value, names, how), how.limits)
            except EventError as error:
                report(EventError(error.reason, span=Span(record.line), source=input.name, hint=error.hint))
    except EventError as error:
        report(error)
    yield from batches.rest()


def _triples(number: int, element: Element, names: Names, how: How) -> list[Triple]:
    record = XmlRecord(element)

    def look_up(name: str) -> list[str]:
        return [value.strip() for value in record.all(f"@{name}") or record.all(name)]

    own = subject(how, number, key_values(how, look_up))
    return about(own, how) + xml_triples(HOME if how.home else own, element, names, how)
