"""PDF to an event: its document information, its XMP packet, the number of its pages.

pypdf reads it, with bounds on what any stream may grow to. Of `How` it uses `base`, `classes` and `home`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
from pypdf import Configuration, PdfReader, apply_configuration
from pypdf.errors import PyPdfError

from tidings.errors import EventError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.documents.about import DCTERMS, Document, described, event, opened, said
from tidings.ingest.documents.xmp import triples as xmp_triples
from tidings.ingest.logs import quiet
from tidings.rdf.limits import MIB
from tidings.rdf.terms import XSD_DATETIME, XSD_INTEGER, Triple, iri, literal

T = TypeVar("T")
_PDF = "http://ns.adobe.com/pdf/1.3/"
_XMP = "http://ns.adobe.com/xap/1.0/"
_FACTS = {
    "/Title": f"{DCTERMS}title",
    "/Author": f"{DCTERMS}creator",
    "/Subject": f"{DCTERMS}description",
    "/Keywords": f"{_PDF}Keywords",
    "/Producer": f"{_PDF}Producer",
    "/Creator": f"{_XMP}CreatorTool",
}
_DATES = {"creation_date": f"{DCTERMS}created", "modification_date": f"{DCTERMS}modified"}
_PAGES = "http://schema.org/numberOfPages"
_STREAM = 16 * MIB
_BOUNDS = Configuration(
    array_based_stream_maximum_output_length=_STREAM,
    lzw_maximum_output_length=_STREAM,
    run_length_maximum_output_length=_STREAM,
    zlib_maximum_output_length=_STREAM,
    brotli_maximum_output_length=_STREAM,
    jbig2dec_binary=None,
)


def convert(input: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    try:
        with opened(input, how, how.limits.max_document) as document:
            with quiet("pypdf"), apply_configuration(_BOUNDS):
                triples = _triples(document, how, report)
            yield from event(document, triples, how)
    except EventError as error:
        report(error)


def _triples(document: Document, how: How, report: Report) -> list[Triple]:
    reader = _safely(lambda: PdfReader(document.file, strict=False), document, "is no PDF that can be read")
    triples = described(document, "application/pdf")
    parts = {"document information": _information, "XMP packet": _packet, "pages": _pages}
    for name, part in parts.items():
        try:
            triples += _safely(partial(part, reader, document, how), document, f"its {name} cannot be read")
        except EventError as error:
            report(error)
    return triples


def _safely(work: Callable[[], T], document: Document, what: str) -> T:
    """What pypdf makes of a file: on a broken or hostile one it may end in nearly any exception."""
    try:
        return work()
    except EventError:
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, PyPdfError) else f"{type(error).__name__}: {error}"
        raise EventError(f"{what}: {reason}", source=document.name) from error


def _information(reader: PdfReader, document: Document, how: How) -> list[Triple]:
    information = reader.metadata
    if information is None:
        return []
    triples: list[Triple] = []
    for name, property in _FACTS.items():
        triples += said(document.subject, property, information.get(name))
    for name, property in _DATES.items():
        date = _date(information, name)
        if date is not None:
            text = literal(date.isoformat().replace("+00:00", "Z"), XSD_DATETIME)
            triples.append((document.subject, iri(property), text))
    return triples


def _date(information: Any, name: str) -> datetime | None:
    try:
        found = getattr(information, name)
    except (ValueError, TypeError):
        return None
    return found if isinstance(found, datetime) else None


def _packet(reader: PdfReader, document: Document, how: How) -> list[Triple]:
    metadata = reader.root_object.get("/Metadata")
    if metadata is None:
        return []
    return xmp_triples(metadata.get_object().get_data(), document, how.limits)


def _pages(reader: PdfReader, document: Document, how: How) -> list[Triple]:
    return [(document.subject, iri(_PAGES), literal(str(reader.get_num_pages()), XSD_INTEGER))]
