"""Documents that stand or fall as a whole: Turtle, TriG, RDF/XML, JSON-LD.

No event of such a document is given out before all of it is known to be good. A small one is kept while it is checked;
a large one is read a second time, so that memory is needed for its largest event and not for all of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO, cast

import pyoxigraph as ox

from tidings.errors import EventError
from tidings.rdf.formats import Format
from tidings.rdf.guard import Reader, chunks, turtle
from tidings.rdf.guard_xml import xml
from tidings.rdf.jsonld import Contexts, prepared
from tidings.rdf.limits import MIB, Limits, human
from tidings.rdf.messages import document_error
from tidings.rdf.quads import DEFAULT, Broken, Item, Refused, Run, runs, triple_runs
from tidings.rdf.seen import Numbering
from tidings.rdf.sources import Document

_KEPT = 8 * MIB
_GROWTH = 16


@dataclass(frozen=True, slots=True)
class Whole:
    """A document that was found good. `given` are its blank node labels that look like the parser's own."""

    document: Document
    limits: Limits
    data: bytes | None
    given: Numbering
    kept: list[Run] | None
    apart: bool
    """A graph of it comes apart: it goes on after another one began."""

    def items(self) -> Iterator[Item]:
        if self.kept is not None:
            yield from self.kept
            return
        try:
            yield from _runs(self.document, self.limits, self.data, Numbering())
        except EventError as error:  # the file has changed since it was checked
            yield Broken(error, None, None, rest=True)


def checked(document: Document, limits: Limits, contexts: Contexts) -> Whole:
    """Read all of the document once; an `EventError` where anything is wrong with it."""
    given = Numbering()
    data = prepared(document, limits, contexts, given) if document.format is Format.JSONLD else None
    kept: list[Run] | None = []
    size = 0
    graphs = Numbering()
    last = DEFAULT
    apart = False
    for run in _runs(document, limits, data, given):
        size += run.size
        if size > _GROWTH * limits.max_document:
            reason = (
                f"the document grows to more than {human(_GROWTH * limits.max_document)} when its names are expanded"
            )
            raise EventError(reason, source=document.name)
        if size > _KEPT:
            kept = None
        if kept is not None:
            kept.append(run)
        if run.graph not in (last, DEFAULT):
            apart = not graphs.number(run.graph)[1] or apart
            last = run.graph
    return Whole(document, limits, data, given, kept, apart)


def _runs(document: Document, limits: Limits, data: bytes | None, labels: Numbering) -> Iterator[Run]:
    try:
        if data is not None:
            yield from runs(_quads(document, data), limits, drop_direction=True)
            return
        guard = xml if document.format is Format.RDF else turtle
        with document.open() as stream:
            parts = guard(chunks(stream, document, limits.max_document), document, limits, labels)
            quads = _quads(document, cast(IO[bytes], Reader(parts)))
            yield from triple_runs(quads, limits) if document.format is Format.RDF else runs(quads, limits)
    except SyntaxError as error:
        if error.lineno is None and document.format is Format.RDF:
            error.lineno = _line_of_error(document, limits)
        raise document_error(document, error) from error
    except Refused as error:
        raise EventError(str(error), source=document.name) from error


def _line_of_error(document: Document, limits: Limits) -> int | None:
    """The RDF/XML parser does not say where it stopped: see how many lines it takes before it does."""
    line = 1

    def lines() -> Iterator[bytes]:
        nonlocal line
        for part in xml(chunks(stream, document, limits.max_document), document, limits, Numbering()):
            for piece in part.splitlines(keepends=True):
                yield piece
                line += piece.endswith(b"\n")

    with document.open() as stream:
        try:
            deque(_quads(document, cast(IO[bytes], Reader(lines()))), maxlen=0)
        except SyntaxError:
            return line
    return None


def _quads(document: Document, data: bytes | IO[bytes]) -> Iterator[ox.Quad]:
    return ox.parse(data, document.format.oxigraph, base_iri=document.base)


@contextmanager
def repeatable(document: Document, limits: Limits) -> Iterator[Document]:
    """The document in a form that can be read twice: a stream is copied to a temporary file."""
    if not document.once:
        yield document
        return
    with SpooledTemporaryFile(max_size=_KEPT, prefix="tidings-") as file, document.open() as stream:
        for chunk in chunks(stream, document, limits.max_document):
            file.write(chunk)

        def rewound() -> BinaryIO:
            file.seek(0)
            return cast(BinaryIO, file)

        yield replace(document, opener=rewound, once=False, shared=True)
