"""The records of a source that a mapping names: the document itself, or another one that is given with it."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tidings.errors import UsageError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.rows.blocks import encoding_is_utf8, transcoded, without_bom
from tidings.ingest.rows.csv import CsvPlan, Typed
from tidings.ingest.rows.csv_head import read_head
from tidings.ingest.rows.form import RowMap
from tidings.ingest.rows.json_lines import JsonReading
from tidings.ingest.rows.mapping import CSVW, written_in
from tidings.ingest.rows.parquet import spool
from tidings.ingest.rows.records import Records
from tidings.ingest.rows.rml import Mapping
from tidings.ingest.rows.rml_model import Source
from tidings.rdf.sources import Stream

Read = Callable[[int], bytes]
_MEMORY = 16 << 20


def reader_of(read: Read, how: How, source: str) -> Read:
    """The bytes of a document as UTF-8."""
    encoding = how.options.get("encoding", "utf-8")
    if not isinstance(encoding, str):
        raise UsageError("the option 'encoding' is the name of one")
    return read if encoding_is_utf8(encoding) else transcoded(read, encoding, source)


class Sources:
    """What records are looked up in while a document is mapped."""

    def __init__(self, how: How, report: Report, own: Source, again: Callable[[], Read] | None = None) -> None:
        self._how = how
        self._report = report
        self._own = own
        self._again = again
        given = how.options.get("sources", {})
        if not isinstance(given, dict) or not all(isinstance(each, bytes) for each in given.values()):
            raise UsageError("the option 'sources' has the bytes of other sources by their names")
        self._given: dict[str, bytes] = given

    def records(self, source: Source, needed: frozenset[str]) -> Iterator[Records]:
        if source.beside(self._own):
            if self._again is None:
                raise UsageError(f"'{source.name}' is joined with itself, and cannot be read twice here")
            yield from self.of(source, self._again(), needed)
        elif source.name in self._given:
            with Stream(source.name, io.BytesIO(self._given[source.name])) as stream:
                yield from self.of(source, stream.read, needed)
        else:
            raise UsageError(f"the mapping needs '{source.name}', too: give its bytes in the option 'sources'")

    def of(self, source: Source, read: Read, needed: frozenset[str]) -> Iterator[Records]:
        """The records of a source that is open."""
        if source.kind == "jsonl":
            head = without_bom(read(4096), source.name)
            reading = JsonReading(self._how.limits, source.name, self._report, needed, only=True)
            yield from reading.records(read, head=head)
        elif source.kind == "csv":
            read = reader_of(read, self._how, source.name)
            head_ = read_head(read, source.name, self._how.options if source == self._own else {})
            columns = (Typed(None),) * len(head_.names)
            plan = CsvPlan(head_.dialect, head_.names, columns, RowMap(()), self._how.limits, head_.start, head_.line)
            yield from plan.records(read, source.name, self._report, head=head_.data, line=plan.line)
        else:
            raise UsageError(f"'{source.name}' is in a database, and the document is not")


@contextmanager
def repeated(document: Input, how: How) -> Iterator[Callable[[], Read]]:
    """A document that can be read again and again: from memory, or from a file where it is large."""
    with tempfile.SpooledTemporaryFile(max_size=_MEMORY) as file:
        spool(document.stream, file, how.limits.max_document, document.name)

        def again() -> Read:
            file.seek(0)
            return file.read

        yield again


def mapped_form(
    mapping: Mapping, own: Source, how: How, report: Report, again: Callable[[], Read] | None = None
) -> RowMap:
    """What the mapping makes of the records of a document."""
    return mapping.form(own, Sources(how, report, own, again).records)


def joins_itself(how: How, kind: str) -> bool:
    """Whether the mapping looks up records of the document in itself."""
    format = written_in(how)
    if format is None or format == CSVW:
        return False
    mapping = Mapping.of(how, format)
    own = mapping.document(kind)[0]
    return own in mapping.joins_with(own)
