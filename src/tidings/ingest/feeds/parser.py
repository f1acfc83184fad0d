"""The feed parser, feedparser's, with bounds: XML of any make becomes channel, items and hints.

Its two parsers are driven here and not by `feedparser.parse`, which would fetch what looks like an address, guess
encodings by what happens to be installed, and hold all items at once. A strict one reads what is well-formed, a loose
one the rest, as feed readers do. Neither cleans HTML, for it stays data here and who shows it has to; neither "repairs"
text.

What would take them more than linear time is bounded or done otherwise: many attributes, namespaces or categories, long
tags, names of authors without end. An item is handed on when the next one begins.
"""

from __future__ import annotations

import html
import io
import re
import xml.sax
import xml.sax.handler
import xml.sax.xmlreader
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar
from xml.sax import expatreader

from feedparser import api
from feedparser.util import FeedParserDict

from tidings.errors import EventError, Span
from tidings.rdf.limits import KIB, MIB, Limits, human

T = TypeVar("T")
Take: TypeAlias = Callable[[dict[str, Any]], T]

_TOMBSTONES = "http://purl.org/atompub/tombstones/1.0"
_MAX_ATTRIBUTES = 200
_MAX_NAMESPACES = 500
_MAX_NAME = 1_000
_MAX_LOOSE = 64 * MIB
_MAX_TAG = 64 * KIB
_LONG_TAG = re.compile(rf"<[^<>]{{{_MAX_TAG}}}")
# Not "utf-8", for then feedparser decodes once more what it takes for text that was encoded twice.
_ENCODING = "utf8"


class _Refused(Exception):
    """What is well-formed and still not to be read."""


@dataclass(slots=True)
class Parsed:
    """The feed itself, `version` empty where it is none; `problem` is why it is not well-formed."""

    version: str
    feed: dict[str, Any]
    hours: list[str] = field(default_factory=list)
    days: list[str] = field(default_factory=list)
    problem: str | None = None
    span: Span | None = None


class _Own:
    """What both parsers do otherwise. Stands before feedparser's classes, whose methods it calls and replaces."""

    namespaces = api._FeedParserMixin.namespaces | {_TOMBSTONES: "at"}
    _matchnamespaces: ClassVar[dict[str, str]] = {}
    resolve_relative_uris = False
    sanitize_html = False

    take: Take[None]
    hours: list[str]
    days: list[str]

    def begin(self, take: Take[None]) -> None:
        self.take = take
        self.hours, self.days = [], []

    def flush(self: Any) -> None:
        for entry in self.entries:
            self.take(entry)
            self.property_depth_map.pop(entry, None)
        self.entries.clear()

    def _start_item(self: Any, attrs: dict[str, str]) -> None:
        self.flush()
        api._FeedParserMixin._start_item(self, attrs)

    _start_entry = _start_item

    def _start_deleted(self: Any, attrs: dict[str, str]) -> None:
        self._start_item({})
        dict.update(self.entries[-1], tombstone=attrs.get("ref", ""), when=attrs.get("when", ""))

    def _end_deleted(self: Any) -> None:
        self._end_item()

    def _start_hour(self: Any, attrs: dict[str, str]) -> None:
        self.push("hour", 0)

    def _end_hour(self: Any) -> None:
        self.hours.append(self.pop("hour") or "")

    def _start_day(self: Any, attrs: dict[str, str]) -> None:
        self.push("day", 0)

    def _end_day(self: Any) -> None:
        self.days.append(self.pop("day") or "")

    def _add_tag(self: Any, term: str | None, scheme: str | None, label: str | None) -> None:
        tags = self._get_context().setdefault("tags", [])
        if term or scheme or label:
            tags.append(FeedParserDict(term=term, scheme=scheme, label=label))

    def _sync_author_detail(self: Any, key: str = "author") -> None:
        context = self._get_context()
        author = dict.get(context, key)
        if isinstance(author, str) and len(author) > _MAX_NAME:
            people = dict.get(context, f"{key}s")
            if people and not people[-1]:
                people[-1]["name"] = author
            return
        api._FeedParserMixin._sync_author_detail(self, key)

    def track_namespace(self: Any, prefix: str | None, uri: str) -> None:
        api._FeedParserMixin.track_namespace(self, prefix, uri)
        if len(self.namespaces_in_use) > _MAX_NAMESPACES:
            raise _Refused(f"more than {_MAX_NAMESPACES} namespaces")


setattr(_Own, "_start_at_deleted-entry", _Own._start_deleted)
setattr(_Own, "_end_at_deleted-entry", _Own._end_deleted)


class _Strict(_Own, api.StrictFeedParser):  # type: ignore[misc]
    most_deep: int

    def startElementNS(self, name: Any, qname: Any, attrs: Any) -> None:
        if self.depth >= self.most_deep:
            raise _Refused(f"elements nested more than {self.most_deep} deep")
        if len(attrs) > _MAX_ATTRIBUTES:
            raise _Refused(f"an element with more than {_MAX_ATTRIBUTES} attributes")
        super().startElementNS(name, qname, attrs)


class _Loose(_Own, api.LooseFeedParser):  # type: ignore[misc]
    def handle_charref(self, ref: str) -> None:
        """A reference to what is no character is U+FFFD."""
        digits = ref[1:] if ref[:1] in "xX" else ref
        code = int(digits, 16 if ref[:1] in "xX" else 10) if len(digits) < 10 else -1
        if 0 < code < 0xD800 or 0xE000 <= code < 0x110000:
            super().handle_charref(ref)
        else:
            self.handle_data("\ufffd")

    def unknown_starttag(self, tag: str, attrs: list[tuple[str, str]]) -> None:
        super().unknown_starttag(tag, attrs[:_MAX_ATTRIBUTES])


def parse(text: str, entities: dict[str, str], source: str, limits: Limits, take: Take[T]) -> tuple[Parsed, list[T]]:
    """The feed that `text` is, read as far as it can be, and what `take` makes of each of its items."""
    try:
        return _strictly(text, limits, take)
    except _Refused as error:
        raise EventError(str(error), source=source) from error
    except xml.sax.SAXParseException as error:
        span = Span(error.getLineNumber() or 1, (error.getColumnNumber() or 0) + 1)
        problem = f"XML that is not well-formed: {error.getMessage()}"
    except Exception as error:  # feedparser's own, on what it does not expect: the loose parser may cope
        span, problem = Span(1), f"XML that cannot be read: {error}"
    try:
        parsed, items = _loosely(text, entities, take)
    except Exception as error:
        raise EventError(problem, span=span, source=source) from error
    parsed.problem, parsed.span = problem, span
    return parsed, items


def _strictly(text: str, limits: Limits, take: Take[T]) -> tuple[Parsed, list[T]]:
    parser, items = _Strict("", None, _ENCODING), list[T]()
    parser.most_deep = limits.max_depth
    parser.begin(lambda entry: items.append(take(entry)))
    reader = expatreader.create_parser()
    reader.setFeature(xml.sax.handler.feature_namespaces, True)
    reader.setFeature(xml.sax.handler.feature_external_ges, False)
    reader.setContentHandler(parser)
    reader.setErrorHandler(parser)
    given = xml.sax.xmlreader.InputSource()
    given.setByteStream(io.BytesIO(text.encode()))
    reader.parse(given)
    return _parsed(parser), items


def _loosely(text: str, entities: dict[str, str], take: Take[T]) -> tuple[Parsed, list[T]]:
    if len(text) > _MAX_LOOSE:
        raise _Refused(f"a document of more than {human(_MAX_LOOSE)} that is not well-formed")
    if _LONG_TAG.search(text):
        raise _Refused(f"a tag of more than {human(_MAX_TAG)}")
    plain = {name: html.unescape(value) for name, value in entities.items()}
    parser, items = _Loose("", None, _ENCODING, plain), list[T]()
    parser.begin(lambda entry: items.append(take(entry)))
    parser.feed(text)
    return _parsed(parser), items


def _parsed(parser: Any) -> Parsed:
    parser.flush()
    return Parsed(parser.version, parser.feeddata, parser.hours, parser.days)
