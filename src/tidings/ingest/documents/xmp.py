"""XMP packets: RDF/XML inside an envelope (ISO 16684-1), read by the reader of `rdf/` with its guards.

What is said of `rdf:about=""`, and of the `uuid:` names that old writers made up, is said of the document.
"""

from __future__ import annotations

import codecs
import re
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from tidings.errors import EventError
from tidings.ingest.documents.about import Document
from tidings.rdf.limits import Limits
from tidings.rdf.read import read_triples
from tidings.rdf.terms import RDF, Term, Triple

_ROOT = f"{RDF} RDF"
_TAG = re.compile(rb"<[^\s/>]+")


def triples(packet: bytes, document: Document, limits: Limits) -> list[Triple]:
    """The triples of a packet; an `EventError` where it is no sound XMP."""
    element = _Envelope(document.name).rdf(_utf8(packet.strip(b"\x00 \t\r\n")))
    try:
        read = list(read_triples(element, format="rdf", limits=limits, base=document.subject[1:-1]))
    except EventError as error:
        raise EventError(f"the XMP packet: {error.reason}", source=document.name, hint=error.hint) from None
    return [(_put(s, document), p, _put(o, document)) for s, p, o in read]


def _put(term: Term, document: Document) -> Term:
    return document.subject if term.startswith("<uuid:") else term


def _utf8(packet: bytes) -> bytes:
    if packet.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return packet.decode("utf-16", "replace").encode()
    return packet.removeprefix(codecs.BOM_UTF8)


class _Envelope:
    """Finds the element rdf:RDF in the packet, and what is declared around it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._declared: dict[str | None, str | None] = {}
        self._outer: dict[str | None, str | None] = {}
        self._start: int | None = None
        self._end: int | None = None
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartNamespaceDeclHandler = self._namespace
        self._parser.StartElementHandler = self._element
        self._parser.EndElementHandler = self._ended
        self._parser.StartDoctypeDeclHandler = self._doctype

    def rdf(self, packet: bytes) -> bytes:
        try:
            self._parser.Parse(packet, True)
        except expat.ExpatError as error:
            raise EventError(
                f"XMP that is not well-formed: {expat.ErrorString(error.code)}", source=self._name
            ) from None
        if self._start is None or self._end is None:
            raise EventError("an XMP packet without rdf:RDF", source=self._name)
        element = packet[self._start : packet.index(b">", self._end) + 1]
        tag = _TAG.match(element)
        assert tag is not None
        return tag[0] + self._around().encode() + element[tag.end() :]

    def _around(self) -> str:
        """The declarations of the envelope, which are in force inside too; those of rdf:RDF itself stand there."""
        outer = self._outer.items()
        return "".join(f" xmlns{':' + prefix if prefix else ''}={quoteattr(uri or '')}" for prefix, uri in outer)

    def _namespace(self, prefix: str | None, uri: str | None) -> None:
        self._declared[prefix] = uri

    def _element(self, name: str, attributes: object) -> None:
        if self._start is None and name == _ROOT:
            self._start = self._parser.CurrentByteIndex
            self._outer = {prefix: uri for prefix, uri in self._outer.items() if prefix not in self._declared}
        elif self._start is None:
            self._outer |= self._declared
        self._declared = {}

    def _ended(self, name: str) -> None:
        if name == _ROOT and self._end is None:
            self._end = self._parser.CurrentByteIndex

    def _doctype(self, *_: object) -> None:
        raise EventError("an XMP packet has no document type", source=self._name)
