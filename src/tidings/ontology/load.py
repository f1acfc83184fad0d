"""Reading the triples of ontology files.

Two habits of ontology files need help before the RDF reader sees them: Turtle under the name `.owl`, and DAML+OIL's
`parseType="daml:collection"`, which today's RDF/XML parsers take for a piece of XML where a list is meant.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

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

Contexts = Mapping[str, Path | bytes]


class _Named(io.BytesIO):
    """Bytes that go by the name of the file they are from, less what says that it is compressed."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name.removesuffix(".gz").removesuffix(".zst")


def read(paths: tuple[str | Path, ...], limits: Limits, contexts: Contexts | None) -> Iterator[Triple]:
    """The triples of all files; blank nodes of different files are different."""
    try:
        for number, document in enumerate(d for path in paths for d in _documents(path)):
            for s, p, o in _triples(document, limits, contexts):
                yield _apart(s, number), p, _apart(o, number)
    except EventError as error:
        raise OntologyError(f"cannot read the ontology: {error}") from error


def _documents(path: str | Path) -> Iterator[Document]:
    suffixes = [s for s in Path(path).suffixes if s not in COMPRESSED]
    found = list(documents(path, format=Format.RDF if suffixes[-1:] and suffixes[-1] in _MORE_RDF_XML else None))
    if not found:
        raise EventError("no RDF file is in this folder", source=str(path))
    for document in found:
        if isinstance(document, EventError):
            raise document
        yield document


def _triples(document: Document, limits: Limits, contexts: Contexts | None) -> Iterator[Triple]:
    source: str | _Named = document.name
    format = document.format
    if format is Format.RDF:
        with document.open() as stream:
            data = stream.read(limits.max_document + 1)
        if _TURTLE.search(data[:_HEAD]) and not _XML.match(data[:_HEAD]):
            format = Format.TTL
        if _DAML_COLLECTION.search(data):
            source = _Named(_DAML_COLLECTION.sub(rb"\1Collection", data), document.name)
    return read_triples(source, format=format, limits=limits, contexts=contexts, base=document.base)


def _apart(term: Term, number: int) -> Term:
    return Term(f"_:{number}.{term[2:]}") if is_blank(term) else term
