"""RDF/XML before the parser sees it: UTF-8, of bounded depth and term size, with entities that cannot explode.

Expat reads every chunk first. It knows the place of an error, which the RDF parser does not, and it sees the entities.
Ordinary ones (`<!ENTITY owl "http://…">`) are kept: the document type declaration is written anew with them alone,
their values spelled out, so the parser behind needs to understand nothing else that such a declaration may hold.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from xml.parsers import expat

from tidings.errors import EventError, Span
from tidings.rdf.guard import GENERATED
from tidings.rdf.limits import KIB, MIB, Limits, human
from tidings.rdf.quads import too_large
from tidings.rdf.seen import Numbering
from tidings.rdf.sources import Document
from tidings.rdf.terms import RDF

_MAX_ENTITY = 4 * KIB
_MAX_PROLOG = 4 * MIB
_MAX_FACTOR = 32
_MAX_CHAIN = 20

_DECLARATION = re.compile(r"<\?xml[^>]*?\?>")
_ENCODING = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")
_ENCODINGS = re.compile(
    r"utf-?16(-?[bl]e)?|us-ascii|iso-?8859-?\d+|latin-?1|windows-125\d|cp125\d|koi8-[ru]"
    r"|shift_jis|iso-2022-jp|euc-(jp|kr)|gb(2312|k|18030)|big5"
)
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|([^;&<\s]+));")
_PREDEFINED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_GENERATED = re.compile(GENERATED)

_PARSE_TYPE = f"{RDF} parseType"
_NODE_ID = f"{RDF} nodeID"
_RDF_1_2 = {f"{RDF} annotation", f"{RDF} annotationNodeID"}
_EXPLODES = "the XML entities make the document too large"
_UNSUPPORTED = "RDF 1.2 is not supported, only RDF 1.1"


def xml(parts: Iterable[bytes], document: Document, limits: Limits, labels: Numbering) -> Iterator[bytes]:
    """RDF/XML, bounded, in UTF-8; labels that look like the parser's own are noted in `labels`."""
    scan = _XmlScan(document, limits, labels)
    for part in utf8(parts, document.name):
        yield scan.checked(part)
    yield scan.checked(b"", last=True)


def utf8(parts: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The same text in UTF-8, from the encoding that the document declares."""
    decoder: codecs.IncrementalDecoder | None = None
    for number, part in enumerate(parts):
        if number == 0:
            encoding = _encoding(part, name)
            if encoding:
                decoder = codecs.getincrementaldecoder(encoding)()
        if decoder is None:
            yield part
            continue
        try:
            text = decoder.decode(part)
        except UnicodeDecodeError as error:
            reason = f"the text is not {error.encoding}, as it declares"
            raise EventError(reason, source=name) from error
        yield (_DECLARATION.sub("", text, count=1) if number == 0 else text).encode()


def _encoding(head: bytes, name: str) -> str | None:
    """The declared encoding where it is not UTF-8."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    declared = _ENCODING.match(head[:1000])
    encoding = declared[1].decode().lower() if declared else "utf-8"
    if encoding in ("utf-8", "utf8"):
        return None
    if not _ENCODINGS.fullmatch(encoding):
        raise EventError(f"the encoding {encoding} is not known", source=name, hint="convert the file to UTF-8")
    return encoding


class _XmlScan:
    def __init__(self, document: Document, limits: Limits, labels: Numbering) -> None:
        self._document = document
        self._limits = limits
        self._labels = labels
        self._depth = 0
        self._text = 0
        self._taken = 0
        self._given = 0
        self._room = 0
        self._entities: dict[str, str] = {}
        self._prolog: bytes | None = b""
        self._doctype: tuple[int, int] | None = None
        self._parser = self._expat()

    def _expat(self) -> expat.XMLParserType:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.StartDoctypeDeclHandler = self._start_doctype
        parser.EndDoctypeDeclHandler = self._end_doctype
        return parser

    def checked(self, part: bytes, *, last: bool = False) -> bytes:
        """What of the text so far may be read: nothing before the root element has begun, then all of it."""
        self._taken += len(part)
        self._room = _MAX_FACTOR * self._taken + self._limits.max_entities
        if self._prolog is not None:
            self._prolog += part
        try:
            self._parser.Parse(part, last)
        except expat.ExpatError as error:
            raise self._not_well_formed(error, part) from error
        if self._prolog is None:
            return part
        if self._depth == 0 and not last:
            if len(self._prolog) > _MAX_PROLOG:
                raise self._error(f"more than {human(_MAX_PROLOG)} before the first element")
            return b""
        prolog, self._prolog = self._prolog, None
        return self._rewritten(prolog)

    def _rewritten(self, prolog: bytes) -> bytes:
        if self._doctype is None:
            return prolog
        start, end = self._doctype
        names = [name for name in self._entities if name not in _PREDEFINED]
        entities = "".join(f'<!ENTITY {name} "{_escaped(self._value(name, ()))}">' for name in names)
        newlines = b"\n" * prolog.count(b"\n", start, end)
        return prolog[:start] + f"<!DOCTYPE rdf:RDF [{entities}".encode() + newlines + b"]>" + prolog[end:]

    # ------------------------------------------------------------------------------------------------ what expat finds

    def _start_doctype(self, name: str, system: str | None, public: str | None, subset: bool) -> None:
        # Expat tells of it at its bracket, or its end.
        before = (self._prolog or b"")[: self._parser.CurrentByteIndex]
        self._doctype = (before.rindex(b"<!DOCTYPE"), len(before))

    def _end_doctype(self) -> None:
        if self._doctype and self._prolog is not None:
            end = self._prolog.index(b">", self._parser.CurrentByteIndex) + 1
            self._doctype = (self._doctype[0], end)
        for name in self._entities:
            self._value(name, ())

    def _entity(
        self,
        name: str,
        parameter: bool,
        value: str | None,
        base: str | None,
        system: str | None,
        public: str | None,
        notation: str | None,
    ) -> None:
        if parameter:
            raise self._error(f"the parameter entity %{name}; is not supported")
        if value is None:
            raise self._error(f"the external entity &{name}; is not read", "write its value into the document")
        self._entities.setdefault(name, value)

    def _value(self, name: str, within: tuple[str, ...]) -> str:
        """The value of an entity with all references in it spelled out."""
        if name in _PREDEFINED:
            return _PREDEFINED[name]
        if name in within or len(within) > _MAX_CHAIN:
            raise self._error(f"the entity &{name}; refers to itself, or through too many others")
        if name not in self._entities:
            raise self._error(f"the entity &{name}; is not declared")
        value = self._entities[name]
        if "<" in value:
            raise self._error(f"the entity &{name}; holds markup, which is not supported")
        if len(value) > _MAX_ENTITY:
            raise self._error(f"the entity &{name}; is larger than {human(_MAX_ENTITY)}")
        pieces: list[str] = []
        size = at = 0
        for found in _REFERENCE.finditer(value):
            if found[3]:
                piece = self._value(found[3], (*within, name))
            else:
                piece = chr(int(found[1], 16) if found[1] else int(found[2]))
            pieces += (value[at : found.start()], piece)
            at = found.end()
            size += len(piece)
            if size > _MAX_ENTITY:
                raise self._error(f"the entity &{name}; grows to more than {human(_MAX_ENTITY)} when it is expanded")
        # The next reference to it finds it ready, so that entities built on one another are not expanded again.
        self._entities[name] = _referenced("".join([*pieces, value[at:]]))
        return "".join([*pieces, value[at:]])

    def _start(self, name: str, attributes: list[str]) -> None:
        self._depth += 1
        self._text = 0
        if self._depth > self._limits.max_depth:
            raise self._error(f"elements nested more than {self._limits.max_depth} deep")
        for at in range(0, len(attributes), 2):
            key, value = attributes[at], attributes[at + 1]
            self._given += len(value)
            if self._given > self._room:
                raise self._error(_EXPLODES)
            if len(value) > self._limits.max_term:
                raise self._error(too_large(self._limits))
            if key == _NODE_ID and _GENERATED.fullmatch(value):
                self._labels.number(value)
            elif key in _RDF_1_2 or (key == _PARSE_TYPE and value == "Triple"):
                raise self._error(f"a triple term or annotation: {_UNSUPPORTED}")

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._text = 0

    def _characters(self, text: str) -> None:
        size = len(text)
        self._given += size
        self._text += size
        if self._given > self._room:
            raise self._error(_EXPLODES)
        if self._text > self._limits.max_term:
            raise self._error(too_large(self._limits))

    # ---------------------------------------------------------------------------------------------------------- errors

    def _error(self, reason: str, hint: str | None = None) -> EventError:
        span = Span(self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)
        return EventError(reason, span=span, source=self._document.name, hint=hint)

    def _not_well_formed(self, error: expat.ExpatError, part: bytes) -> EventError:
        reason = f"XML that is not well-formed: {expat.ErrorString(error.code)}"
        hint = None
        if "amplification" in reason:  # expat has a bound of its own
            reason = _EXPLODES
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]:
            at = self._parser.ErrorByteIndex - (self._taken - len(part))
            if 0 <= at < len(part) and part[at] >= 0x80:
                reason = "the text is not UTF-8"
                hint = "declare its encoding in the first line, or convert the file to UTF-8"
        return EventError(reason, span=Span(error.lineno, error.offset + 1), source=self._document.name, hint=hint)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _referenced(text: str) -> str:
    """Text as the replacement of an entity: the characters that would be markup are references."""
    return text.replace("&", "&#38;").replace("<", "&#60;")
