"""HTML pages to events: what their JSON-LD, microdata and RDFa say, in one event about the page.

html5lib makes a tree of any page, as browsers do. What a page describes, and nothing else in it refers to, is its
foaf:topic. Nothing is fetched and nothing is run; markup in titles is text. Of `How` it uses `base`
(which also resolves relative addresses where the page has no address), `classes`, `home` and the option `contexts`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import html5lib
import pyarrow as pa
from html5lib.treebuilders import getTreeBuilder

from tidings.errors import EventError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.documents import microdata, rdfa, scripts
from tidings.ingest.documents.about import DCTERMS, FOAF, Document, apart, described, event, opened, said
from tidings.ingest.trees.naming import is_valid
from tidings.rdf.limits import MIB
from tidings.rdf.terms import Term, Triple, iri, is_literal

_LARGEST = 8 * MIB
_TOPIC = iri(f"{FOAF}topic")


def convert(input: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    try:
        with opened(input, how, min(_LARGEST, how.limits.max_document)) as document:
            dom = _dom(document, how.limits.max_depth)
            yield from event(document, _triples(dom, document, how, report), how)
    except EventError as error:
        report(error)


class _TooDeep(Exception):
    """Elements in elements, beyond the limit."""


class _Open(list[Any]):
    """The open elements of a page, which are not to be too many: html5lib looks through all of them time and again."""

    most: int

    def append(self, element: Any) -> None:
        if len(self) >= self.most:
            raise _TooDeep
        super().append(element)


def _dom(document: Document, depth: int) -> Any:
    class Bounded(getTreeBuilder("dom")):  # type: ignore[misc]
        def reset(self) -> None:
            super().reset()
            self.openElements = _Open()
            self.openElements.most = depth

    data = document.file.read()
    try:
        text: bytes | str = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data  # html5lib finds out, by the rules for browsers
    try:
        return html5lib.HTMLParser(tree=Bounded, namespaceHTMLElements=False).parse(text)
    except _TooDeep:
        raise EventError(f"elements nested more than {depth} deep", source=document.name) from None
    except Exception as error:  # html5lib is meant to take anything, and has faults
        raise EventError(f"cannot be read: {type(error).__name__}: {error}", source=document.name) from error


def _triples(dom: Any, document: Document, how: How, report: Report) -> list[Triple]:
    base = _base(dom, document.base)
    found: list[Triple] = []
    for number, script in enumerate(scripts.scripts(dom), 1):
        try:
            found += apart(scripts.triples(script, number, document.name, base, how), number)
        except EventError as error:
            report(error)
    found += microdata.Microdata(dom, base).triples()
    try:
        # pyRdfa changes the tree as it goes, so it comes last.
        page = _page(dom, document)
        found += _about_page(rdfa.triples(dom, base, document.name), base, document)
    except EventError as error:
        report(error)
    found = [(document.own(s), document.own(p), document.own(o)) for s, p, o in found]
    return [*described(document, "text/html"), *page, *found, *_topics(found, document.subject)]


def _base(dom: Any, base: str) -> str:
    for element in dom.getElementsByTagName("base"):
        if element.hasAttribute("href"):
            try:
                joined = urljoin(base, element.getAttribute("href").strip())
            except ValueError:
                return base
            return joined if is_valid(joined) else base
    return base


def _about_page(triples: list[Triple], base: str, document: Document) -> Iterator[Triple]:
    """In RDFa the page is called by its base; here it is the document all the same."""
    page = iri(base)
    for s, p, o in triples:
        yield (document.subject if s == page else s), p, (document.subject if o == page else o)


def _page(dom: Any, document: Document) -> list[Triple]:
    """The title and the language of the page."""
    triples: list[Triple] = []
    for title in dom.getElementsByTagName("title")[:1]:
        words = " ".join("".join(child.data for child in title.childNodes if hasattr(child, "data")).split())
        triples += said(document.subject, f"{DCTERMS}title", words)
    for root in dom.getElementsByTagName("html")[:1]:
        triples += said(document.subject, f"{DCTERMS}language", root.getAttribute("lang"))
    return triples


def _topics(triples: list[Triple], page: Term) -> Iterator[Triple]:
    """What the page is about: the subjects that no other one refers to; of those that refer to each other in a circle,
    and are not reached otherwise, the first."""
    arcs: defaultdict[Term, list[Term]] = defaultdict(list)
    for s, _, o in triples:
        if not is_literal(o):
            arcs[s].append(o)
    objects = {o for s, found in arcs.items() for o in found if o != s}
    subjects = dict.fromkeys(s for s, _, _ in triples)
    reached: set[Term] = set()
    for subject in [page, *(s for s in subjects if s not in objects), *subjects]:
        if subject in reached:
            continue
        if subject != page:
            yield page, _TOPIC, subject
        reached.add(subject)
        front = [subject]
        while front:
            new = [term for term in arcs.get(front.pop(), ()) if term not in reached]
            reached.update(new)
            front += new
