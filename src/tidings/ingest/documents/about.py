"""A document that an event is about: its bytes, bounded; what it is called; what is said of every one; and the event.

Its subject is the address that it came from, where there is one. Else it is called by the SHA-256 of its bytes, below
the base where the user names one: so the same bytes are the same document, whatever the file is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from tempfile import SpooledTemporaryFile
from typing import IO

import pyarrow as pa

from tidings.errors import EventError
from tidings.ingest.base import DATA, Batches, How, Input
from tidings.ingest.trees.naming import Names, about, is_valid
from tidings.rdf.canonical import WorkLimit, canonical
from tidings.rdf.limits import MIB, human
from tidings.rdf.terms import HOME, RDF_TYPE, XSD_INTEGER, Term, Triple, iri, is_blank, is_iri, literal, parse_triple

DCTERMS = "http://purl.org/dc/terms/"
FOAF = "http://xmlns.com/foaf/0.1/"
_PREFIX = "urn:tidings:document:sha256:"
_STAND_IN = "http://document.invalid/"
_CHUNK = 1 * MIB
_IN_MEMORY = 8 * MIB
_SPACE = "\x00\t\n\r "


@dataclass(frozen=True, slots=True)
class Document:
    """`base` resolves its relative references: where it has no address, one that stands in for it."""

    name: str
    file: IO[bytes]
    size: int
    subject: Term
    base: str

    def own(self, term: Term) -> Term:
        """The term with what was resolved by the stand-in put below the document's own name."""
        if not is_iri(term) or not term.startswith(f"<{_STAND_IN}"):
            return term
        rest = term[1 + len(_STAND_IN) : -1]
        return iri(f"{self.subject[1:-1]}{'/' if rest and rest[0] != '#' else ''}{rest}")


@contextmanager
def opened(input: Input, how: How, limit: int) -> Iterator[Document]:
    """The document, in memory or in a temporary file; an `EventError` where it is larger than `limit`."""
    Names(how)
    digest = sha256()
    size = 0
    with SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="tidings-") as file:
        while chunk := input.stream.read(_CHUNK):
            size += len(chunk)
            if size > limit:
                raise EventError(f"a document of more than {human(limit)}", source=input.name)
            digest.update(chunk)
            file.write(chunk)
        file.seek(0)
        address = (input.address or "").partition("#")[0]
        if is_valid(address):
            yield Document(input.name, file, size, iri(address), address)
        else:
            prefix = _PREFIX if how.base == DATA else f"{how.base}sha256:"
            base = _STAND_IN if how.base == DATA else how.base
            yield Document(input.name, file, size, iri(prefix + digest.hexdigest()), base)


def described(document: Document, media_type: str, kind: str = "Document") -> list[Triple]:
    """What is said of every document: that it is one, its media type and its size in bytes."""
    subject = document.subject
    return [
        (subject, RDF_TYPE, iri(FOAF + kind)),
        (subject, iri(f"{DCTERMS}format"), literal(media_type)),
        (subject, iri(f"{DCTERMS}extent"), literal(str(document.size), XSD_INTEGER)),
    ]


def said(subject: Term, property: str, text: object) -> list[Triple]:
    """A fact in words, where there are any."""
    words = str(text).strip(_SPACE) if isinstance(text, str) else ""
    return [(subject, iri(property), literal(words))] if words else []


def apart(triples: Iterable[Triple], number: int) -> list[Triple]:
    """The triples with blank nodes that are no others', where several parts of a document have labels of their own."""

    def moved(term: Term) -> Term:
        return Term(f"_:d{number}x{term[2:]}") if is_blank(term) else term

    return [(moved(s), p, moved(o)) for s, p, o in triples]


def event(document: Document, triples: Iterable[Triple], how: How) -> Iterator[pa.RecordBatch]:
    """The one event about the document. Its blank nodes are called by their canonical order."""
    owned = ((document.own(s), document.own(p), document.own(o)) for s, p, o in triples)
    try:
        text = canonical(owned, how.limits.max_canonical_steps)
    except WorkLimit:
        reason = "the blank nodes of its metadata are too much alike to be told apart"
        raise EventError(reason, source=document.name) from None
    node = HOME if how.home else document.subject

    def put(term: Term) -> Term:
        return node if term == document.subject else term

    lines = (parse_triple(line) for line in text.split("\n") if line)
    batches = Batches(document.name)
    yield from batches.add([*about(document.subject, how), *((put(s), p, put(o)) for s, p, o in lines)], how.limits)
    yield from batches.rest()
