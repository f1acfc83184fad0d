"""Items of JSON Feed as most of them are, written straight away as the bodies of their events, with lines in order.

To gather facts and sort them takes several times as long. What is not plain (addresses that have to be resolved or
encoded, several attachments, two nodes of one address …) is left to the facts; a test compares both ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from tidings.ingest.feeds import names
from tidings.ingest.feeds.dates import stamp
from tidings.ingest.feeds.links import plain
from tidings.rdf.terms import RDF_TYPE, XSD_DATETIME, XSD_INTEGER, escape

# What JSON and N-Triples escape differently, and may stand in a string of JSON; and the escapes of such characters.
_ODD = ("\x7f", "\ufffe", "\uffff")
_ODD_ESCAPE = re.compile(r"\\u(?:00[01]|007[fF]|[fF]{3}[eEfF])")
_LONG = 100
_REPLACED = (('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"), ("\b", "\\b"), ("\f", "\\f"))
_CONCEPT = ("http://", "https://")
_DIGITS = 20

_END = " .\n"
_TYPE = f" {RDF_TYPE} "
_IS_ITEM = f"{_TYPE}{names.ITEM}{_END}"
_IS_AGENT = f"{_TYPE}{names.AGENT}{_END}"
_IS_ENCLOSURE = f"{_TYPE}{names.ENCLOSURE_CLASS}{_END}"
_IS_PICTURE = f"{_TYPE}{names.PICTURE}{_END}"
_IS_DOCUMENT = f"{_TYPE}{names.DOCUMENT}{_END}"
_TIME = f'"^^<{XSD_DATETIME}>{_END}'
_WHOLE = f'"^^<{XSD_INTEGER}>{_END}'
_ISSUED, _MODIFIED = f" {names.ISSUED} ", f" {names.MODIFIED} "
_DESCRIPTION, _LINK = f" {names.DESCRIPTION} ", f" {names.LINK} "
_ENCODED, _TITLE = f" {names.ENCODED} ", f" {names.TITLE} "
_CREATOR, _LANGUAGE, _SUBJECT = f" {names.CREATOR} ", f" {names.LANGUAGE} ", f" {names.SUBJECT} "
_IDENTIFIER, _PART_OF = f" {names.IDENTIFIER} ", f" {names.IS_PART_OF} "
_CREATOR_NODE, _REFERENCES, _IMAGE = f" {names.CREATOR_NODE} ", f" {names.REFERENCES} ", f" {names.IMAGE} "
_NAME, _ENCLOSURE = f" {names.NAME} ", f" {names.ENCLOSURE} "
_ENCLOSURE_TYPE, _ENCLOSURE_LENGTH = f" {names.ENCLOSURE_TYPE} ", f' {names.ENCLOSURE_LENGTH} "'


def quoting(document: str) -> Callable[[str], str]:
    """How the strings of a document are written as literals: by the fastest way that is right for all of them."""
    odd = any(each in document for each in _ODD) or ("\\u" in document and _ODD_ESCAPE.search(document))
    return carefully if odd else _quickly


def carefully(text: str) -> str:
    return f'"{escape(text)}"'


def _quickly(text: str) -> str:
    if len(text) < _LONG:
        return encode_basestring(text)
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    for character, escaped in _REPLACED:
        if character in text:
            text = text.replace(character, escaped)
    return f'"{text}"'


class Plain:
    """Writes the items of one channel: `shared` are the lines about that, in order."""

    def __init__(self, channel: str, shared: list[str], language: str | None, quoted: Callable[[str], str]) -> None:
        self._channel = channel
        self._shared = "".join(shared)
        self._language = language
        self._quoted = quoted
        self._part_of = f"{_PART_OF}{channel}{_END}"

    def body(self, one: dict[str, Any]) -> str | None:
        """The body of the item's event; None where it is not plain."""
        try:
            return self._body(one)
        except _NotPlain:
            return None

    def _body(self, one: dict[str, Any]) -> str:
        get = one.get
        guid = _address(get("id"))
        item = f"<{guid}>"
        nodes = {self._channel: self._shared}
        people = self._people(get("authors") or get("author"), item, nodes)
        lines = [
            self._attached(get("attachments"), item, nodes),
            people[0],
            self._text(item, _LANGUAGE, get("language")) or self._text(item, _LANGUAGE, self._language),
            self._tags(get("tags"), item),
            people[1],
            f'{item}{_IDENTIFIER}"{guid}"{_END}{item}{self._part_of}',
            self._time(item, _ISSUED, get("date_published")),
            self._time(item, _MODIFIED, get("date_modified")),
            _node(item, _REFERENCES, get("external_url"), _IS_DOCUMENT, nodes),
            self._text(item, _DESCRIPTION, get("summary")),
            _link(item, get("url"), guid),
            self._text(item, _ENCODED, get("content_html") or get("content_text")),
            self._text(item, _TITLE, get("title")),
            _node(item, _IMAGE, get("image"), _IS_PICTURE, nodes),
            f"{item}{_IS_ITEM}",
        ]
        _put(nodes, item, "".join(lines))
        return "".join([nodes[subject] for subject in sorted(nodes)])

    def _text(self, item: str, property: str, text: object) -> str:
        return f"{item}{property}{self._quoted(text)}{_END}" if text and type(text) is str else ""

    def _time(self, item: str, property: str, written: object) -> str:
        if written is None:
            return ""
        found = stamp(written)
        return self._text(item, property, written) if found is None else f'{item}{property}"{found}{_TIME}'

    def _tags(self, tags: object, item: str) -> str:
        if not tags or type(tags) is not list:
            return ""
        lines = []
        for tag in tags:
            if tag and type(tag) is str:
                if tag.startswith(_CONCEPT):
                    raise _NotPlain
                lines.append(f"{item}{_SUBJECT}{self._quoted(tag)}{_END}")
        return "".join(sorted(set(lines)))

    def _people(self, people: object, item: str, nodes: dict[str, str]) -> tuple[str, str]:
        """Lines with strings and, where they have addresses, with nodes."""
        if not people:
            return "", ""
        texts, linked = [], []
        for one in people if type(people) is list else [people]:
            if type(one) is not dict:
                continue
            name, address = one.get("name"), one.get("url")
            texts.append(self._text(item, _CREATOR, name or address))
            if address:
                linked.append(_node(item, _CREATOR_NODE, address, _IS_AGENT, nodes))
                nodes[f"<{address}>"] += self._text(f"<{address}>", _NAME, name)
        return "".join(sorted(set(texts))), "".join(sorted(linked))

    def _attached(self, attached: object, item: str, nodes: dict[str, str]) -> str:
        if not attached or type(attached) is not list:
            return ""
        lines = []
        for one in attached:
            if type(one) is not dict:
                continue
            node, length = f"<{_address(one.get('url'))}>", one.get("size_in_bytes")
            size = ""
            if type(length) is str and length.isascii() and length.isdigit() and len(length) < _DIGITS:
                size = f"{node}{_ENCLOSURE_LENGTH}{int(length)}{_WHOLE}"
            elif length is not None:
                raise _NotPlain
            media_type = self._text(node, _ENCLOSURE_TYPE, one.get("mime_type"))
            _put(nodes, node, f"{size}{media_type}{node}{_IS_ENCLOSURE}")
            lines.append(f"{item}{_ENCLOSURE}{node}{_END}")
        return "".join(sorted(lines))


class _NotPlain(Exception):
    """The facts have to make this."""


def _address(text: object) -> str:
    if type(text) is not str or not plain(text):
        raise _NotPlain
    return text


def _put(nodes: dict[str, str], node: str, lines: str) -> None:
    if node in nodes:
        raise _NotPlain
    nodes[node] = lines


def _node(item: str, property: str, address: object, kind: str, nodes: dict[str, str]) -> str:
    if address is None:
        return ""
    node = f"<{_address(address)}>"
    _put(nodes, node, f"{node}{kind}")
    return f"{item}{property}{node}{_END}"


def _link(item: str, link: object, guid: str) -> str:
    if link is None:
        return ""
    return f'{item}{_LINK}"{guid if link == guid else _address(link)}"{_END}'
