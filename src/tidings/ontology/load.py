"""Reading the triples of ontology files.

Two habits of ontology files need help before the RDF reader sees them: Turtle under the name `.owl`, and DAML+OIL's
`parseType="daml:collection"`, which today's RDF/XML parsers take for a piece of XML where a list is meant.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from tidings.errors import EventError, OntologyError
from tidings.rdf.formats import COMPRESSED, Format
from tidings.rdf.limits import Limits
from tidings.rdf.read import read_triples
from tidings.rdf.sources import Document, documents
from tidings.rdf.terms import Term, Triple, is_blank

_MORE_RDF_XML = (".daml", ".rdfs")
_TURTLE = re.compile(rb"^\s*@?(prefix|base)\b", re.IGNORECASE | re.MULTILINE)
_XML = re.compile(rb"(\xef\xbb\xbf)?\s*<[?!]|.*\bxmlns\b", re.DOTALL)
_DAML_COLLECTION = re.compile(rb"""(parseType\s*=\s*["'])daml:collection(?=["'])""")
_HEAD = 4096

Contexts: TypeAlias = Mapping[str, Path | bytes]


class _Named(io.BytesIO):
    """Bytes that go by the name of the file they are from, less what says that it is compressed."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name.removesuffix(".gz").removesuffix(".zst")


def read(
    sources: tuple[str | Path | bytes, ...], format: str | None, limits: Limits, contexts: Contexts | None
) -> Iterator[Triple]:
    """The triples of all sources; blank nodes of different ones are different."""
    try:
        for number, document in enumerate(d for source in sources for d in _documents(source, format)):
            for s, p, o in _triples(document, limits, contexts):
                yield _apart(s, number), p, _apart(o, number)
    except EventError as error:
        raise OntologyError(f"cannot read the ontology: {error}") from error


def _documents(source: str | Path | bytes, format: str | None) -> Iterator[Document]:
    if format is None and not isinstance(source, bytes):
        suffixes = [s for s in Path(source).suffixes if s not in COMPRESSED]
        format = Format.RDF.value if suffixes[-1:] and suffixes[-1] in _MORE_RDF_XML else None
    found = list(documents(source, format=format))
    if not found:
        raise EventError("no RDF file is in this folder", source=str(source))
    for document in found:
        if isinstance(document, EventError):
            raise document
        yield document


def _triples(document: Document, limits: Limits, contexts: Contexts | None) -> Iterator[Triple]:
    with document.open() as stream:
        data = stream.read(limits.max_document + 1)
    format = document.format
    if format is Format.RDF:
        if _TURTLE.search(data[:_HEAD]) and not _XML.match(data[:_HEAD]):
            format = Format.TTL
        data = _DAML_COLLECTION.sub(rb"\1Collection", data)
    named = _Named(data, document.name)
    return read_triples(named, format=format, limits=limits, contexts=contexts, base=document.base)


def _apart(term: Term, number: int) -> Term:
    return Term(f"_:{number}.{term[2:]}") if is_blank(term) else term
