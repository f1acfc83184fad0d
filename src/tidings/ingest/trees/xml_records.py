"""The records of an XML document, one at a time: expat reads, and only what is in a record is kept.

Declared entities are refused, in whatever form: a record needs none, and they are how XML is made to explode or to
read files. No external declaration is ever read, and defaults that a document type declares for attributes are not
taken. A name is a namespace, `paths.SEPARATOR` and a local name, or a local name alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from tidings.errors import EventError, Span
from tidings.ingest.base import Input
from tidings.ingest.trees.json_records import record_limit
from tidings.ingest.trees.paths import SEPARATOR, XmlStep, selects
from tidings.rdf.guard_xml import utf8
from tidings.rdf.limits import KIB, Limits, human

_CHUNK = 64 * KIB
_BOM = b"\xef\xbb\xbf"
XML_LANG = f"http://www.w3.org/XML/1998/namespace{SEPARATOR}lang"
_ELEMENT_SIZE = 64
"""What an element counts besides its text: it is an object in memory."""


@dataclass(slots=True)
class Element:
    """An element, with its text in pieces between its child elements. `language` is what xml:lang above it says."""

    name: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A record: its number from 1, the line it begins on, and the element, or why it cannot be had."""

    number: int
    line: int
    value: Element | EventError


def found(input: Input, path: tuple[XmlStep, ...] | None, limits: Limits) -> Iterator[Found]:
    """The records of a document; without a path it is one as a whole.

    An `EventError` where it is not well-formed: what comes after that place cannot be read.
    """
    reader = _Reader(input.name, path, limits)
    for part in utf8(_parts(input), input.name):
        yield from reader.records(part)
    yield from reader.records(b"", last=True)


def _parts(input: Input) -> Iterator[bytes]:
    first = True
    while part := input.stream.read(_CHUNK):
        yield part.removeprefix(_BOM) if first else part
        first = False


class _Reader:
    def __init__(self, name: str, path: tuple[XmlStep, ...] | None, limits: Limits) -> None:
        self._name = name
        self._path = path
        self._limits = limits
        self._limit = record_limit(limits)
        self._above: list[str] = []
        self._languages: list[str | None] = [None]
        self._open: list[Element] = []
        self._text: list[str] = []
        self._size = 0
        self._inside = 0
        self._line = 0
        self._spoilt: str | None = None
        self._number = 0
        self._ready: list[Found] = []
        self._taken = 0
        self._parser = self._expat()

    def _expat(self) -> expat.XMLParserType:
        parser = expat.ParserCreate(namespace_separator=SEPARATOR)
        parser.buffer_text = True
        parser.specified_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._skipped
        return parser

    def records(self, part: bytes, *, last: bool = False) -> Iterator[Found]:
        """The records that end in this part of the document; those before a fault in it too."""
        error: EventError | None = None
        try:
            self._feed(part, last)
        except EventError as fault:
            error = fault
        found, self._ready = self._ready, []
        yield from found
        if error is not None:
            raise error

    def _feed(self, part: bytes, last: bool) -> None:
        self._taken += len(part)
        try:
            self._parser.Parse(part, last)
        except expat.ExpatError as error:
            reason = f"XML that is not well-formed: {expat.ErrorString(error.code)}"
            raise EventError(reason, span=Span(error.lineno, error.offset + 1), source=self._name) from None
        # Expat holds a tag or comment until it ends.
        if self._taken - self._parser.CurrentByteIndex > self._limits.max_term + 2 * _CHUNK:
            raise self._error(f"a tag or comment of more than {human(self._limits.max_term)}")

    # ------------------------------------------------------------------------------------------------ what expat finds

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._above) + self._inside >= self._limits.max_depth:
            raise self._error(f"elements nested more than {self._limits.max_depth} deep")
        if not self._inside:
            self._above.append(name)
            if self._path is not None and not selects(self._path, self._above):
                self._languages.append(attributes.get(XML_LANG, self._languages[-1]))
                return
            self._above.pop()
            self._line = self._parser.CurrentLineNumber
            self._size = 0
            self._spoilt = None
        self._inside += 1
        self._grow(_ELEMENT_SIZE + sum(map(len, attributes)) + sum(map(len, attributes.values())))
        if self._spoilt is None:
            self._flush()
            element = Element(name, attributes, language=None if self._open else self._languages[-1])
            if self._open:
                self._open[-1].children.append(element)
            self._open.append(element)

    def _end(self, name: str) -> None:
        if not self._inside:
            self._above.pop()
            self._languages.pop()
            return
        self._inside -= 1
        self._flush()
        last = self._open.pop() if self._open else None
        if self._inside == 0:
            self._number += 1
            value = last if last is not None and self._spoilt is None else self._reject()
            self._ready.append(Found(self._number, self._line, value))
            self._open = []

    def _reject(self) -> EventError:
        hint = "say with a path (--record) which elements are records, or raise the limit of an event"
        return EventError(self._spoilt or "", span=Span(self._line), source=self._name, hint=hint)

    def _characters(self, text: str) -> None:
        if self._inside:
            self._grow(len(text))
            if self._spoilt is None:
                self._text.append(text)

    def _flush(self) -> None:
        """The text since the last tag becomes a child, unless there is nothing to see in it."""
        if self._text:
            text = "".join(self._text)
            self._text = []
            if self._open and text.strip(" \t\r\n"):
                self._open[-1].children.append(text)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self._limit and self._spoilt is None:
            self._spoilt = f"a record of more than {human(self._limit)}"
            self._open = []
            self._text = []

    def _entity(self, name: str, *_: object) -> None:
        hint = "write its value into the document; entities are not read from data"
        raise self._error(f"the document declares the entity {name}", hint)

    def _skipped(self, name: str, *_: object) -> None:
        raise self._error(f"the entity &{name}; is not declared in the document", "write its value into the document")

    def _error(self, reason: str, hint: str | None = None) -> EventError:
        span = Span(self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)
        return EventError(reason, span=span, source=self._name, hint=hint)
