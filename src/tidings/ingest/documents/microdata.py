"""Microdata to triples, by the rules of the W3C's "Microdata to RDF" (second edition, 2014), without its registry.

A property is below the vocabulary of the item's first type: up to its `#`, or its last `/`. In an item without a type
it is that of the item around it, and where there is none, a fragment of the page. Several values of a property have no
order. Values are as the elements give them: addresses, numbers, dates and times, text with its language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from tidings.ingest.trees.naming import encoded, is_valid
from tidings.rdf.terms import (
    RDF_TYPE,
    XSD,
    XSD_DATETIME,
    XSD_DOUBLE,
    XSD_INTEGER,
    Term,
    Triple,
    iri,
    literal,
)

_ADDRESSES = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    "object": "data",
}
_DATE, _TIME, _ZONE = r"-?\d{4,}-\d\d-\d\d", r"\d\d:\d\d:\d\d(\.\d+)?", r"(Z|[+-]\d\d:\d\d)?"
_TIMES = (
    (re.compile(_DATE + _ZONE), f"{XSD}date"),
    (re.compile(_TIME + _ZONE), f"{XSD}time"),
    (re.compile(f"{_DATE}T{_TIME}{_ZONE}"), XSD_DATETIME),
    (re.compile(r"-?\d{4,}-\d\d"), f"{XSD}gYearMonth"),
    (re.compile(r"-?\d{4,}"), f"{XSD}gYear"),
    (re.compile(r"-?P(?=.)(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?"), f"{XSD}duration"),
)
_INTEGER = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_SPACE = " \t\n\f\r"


class Microdata:
    """The items of one page."""

    def __init__(self, dom: Any, base: str) -> None:
        self._dom = dom
        self._base = base
        self._ids: dict[str, Any] = {}
        self._named: dict[int, Term] = {}
        self._taken: set[int] = set()
        self._triples: list[Triple] = []

    def triples(self) -> list[Triple]:
        """All that the items say."""
        top = []
        for element in _elements(self._dom):
            if element.hasAttribute("id"):
                self._ids.setdefault(element.getAttribute("id"), element)
            if element.hasAttribute("itemscope") and not element.hasAttribute("itemprop"):
                top.append(element)
        for element in top:
            self._take(element)
        return self._triples

    def _take(self, top: Any) -> None:
        """An item and what is in it, however deep: no item is taken twice, so that references may go in circles."""
        todo: list[tuple[Any, str | None]] = [(top, None)]
        while todo:
            item, outer = todo.pop()
            if id(item) in self._taken:
                continue
            self._taken.add(id(item))
            subject = self._subject(item)
            types = [name for name in item.getAttribute("itemtype").split() if is_valid(name)]
            self._triples += [(subject, RDF_TYPE, iri(name)) for name in types]
            vocabulary = _vocabulary(types[0]) if types else outer
            for element in self._properties(item):
                inner = element.hasAttribute("itemscope")
                if inner:
                    todo.append((element, vocabulary))
                value = self._subject(element) if inner else self._value(element)
                for name in dict.fromkeys(element.getAttribute("itemprop").split()):
                    property = self._property(name, vocabulary)
                    if property is not None:
                        self._triples.append((subject, property, value))

    def _subject(self, item: Any) -> Term:
        if id(item) not in self._named:
            given = item.getAttribute("itemid").strip(_SPACE)
            self._named[id(item)] = (self._address(given) if given else None) or Term(f"_:i{len(self._named)}")
        return self._named[id(item)]

    def _properties(self, item: Any) -> Iterator[Any]:
        """The elements that are properties of the item, those that it refers to after those in it."""
        roots = [item, *(self._ids[name] for name in item.getAttribute("itemref").split() if name in self._ids)]
        seen: set[int] = set()
        for root in roots:
            todo = list(reversed(_children(item))) if root is item else [root]
            while todo:
                element = todo.pop()
                if id(element) in seen or element is item:
                    continue
                seen.add(id(element))
                if element.getAttribute("itemprop").split():
                    yield element
                if not element.hasAttribute("itemscope"):
                    todo += reversed(_children(element))

    def _property(self, name: str, vocabulary: str | None) -> Term | None:
        if ":" in name and is_valid(name):
            return iri(name)
        text = f"{self._base.partition('#')[0]}#{encoded(name)}" if vocabulary is None else vocabulary + encoded(name)
        return iri(text) if is_valid(text) else None

    def _value(self, element: Any) -> Term:
        tag = element.tagName.lower()
        if tag in _ADDRESSES and element.hasAttribute(_ADDRESSES[tag]):
            written = element.getAttribute(_ADDRESSES[tag]).strip(_SPACE)
            return self._address(written) or literal(written)
        if tag in ("data", "meter") and element.hasAttribute("value"):
            return _number(element.getAttribute("value"))
        if tag == "time":
            return _time(element.getAttribute("datetime") or _text(element).strip(_SPACE))
        text = element.getAttribute("content") if element.hasAttribute("content") else _text(element)
        return literal(text, language=_language(element))

    def _address(self, written: str) -> Term | None:
        try:
            text = urljoin(self._base, written)
        except ValueError:
            return None
        return iri(text) if is_valid(text) else None


def _vocabulary(name: str) -> str:
    if "#" in name:
        return name[: name.index("#") + 1]
    return name[: name.rindex("/") + 1] if "/" in name else f"{name}#"


def _number(text: str) -> Term:
    stripped = text.strip(_SPACE)
    if _INTEGER.fullmatch(stripped):
        return literal(stripped, XSD_INTEGER)
    return literal(stripped, XSD_DOUBLE) if _DOUBLE.fullmatch(stripped) else literal(text)


def _time(text: str) -> Term:
    return literal(text, next((datatype for form, datatype in _TIMES if form.fullmatch(text)), None))


def _language(element: Any) -> str | None:
    while element is not None and element.nodeType == element.ELEMENT_NODE:
        for name in ("lang", "xml:lang"):
            if element.hasAttribute(name):
                tag = element.getAttribute(name)
                return tag if _LANGUAGE.fullmatch(tag) else None
        element = element.parentNode
    return None


def _children(element: Any) -> list[Any]:
    return [child for child in element.childNodes if child.nodeType == child.ELEMENT_NODE]


def _elements(dom: Any) -> Iterator[Any]:
    """All elements, in document order."""
    todo = list(reversed(_children(dom)))
    while todo:
        element = todo.pop()
        yield element
        todo += reversed(_children(element))


def _text(element: Any) -> str:
    pieces: list[str] = []
    todo = [element]
    while todo:
        node = todo.pop()
        if node.nodeType == node.TEXT_NODE:
            pieces.append(node.data)
        else:
            todo += reversed(node.childNodes)
    return "".join(pieces)
