"""Events out again as an Atom feed (RFC 4287), a page at a time (RFC 5005), with its hubs (WebSub).

All that is written is data: text is escaped, HTML stands escaped in `type="html"`, links go to http and https alone,
and characters that XML cannot hold become U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidings.errors import UsageError
from tidings.ingest.feeds.names import (
    CHANNEL,
    CREATOR,
    DESCRIPTION,
    ENCODED,
    ISSUED,
    ITEM,
    LINK,
    NAME,
    SUBJECT,
    TITLES,
    TOMBSTONE,
)
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, RDF_TYPE, Term, iri_text, is_iri, is_literal, parts

ATOM = "http://www.w3.org/2005/Atom"
MEDIA_TYPE = "application/atom+xml"

_DATETIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WEB = re.compile(r"(?i)https?://[^\s<>\"{}|\\^`]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `id` is an IRI that stays the same for what is the same; times are as in RFC 3339.

    `html` says that `content` is HTML and not text. `link` is the page that it is about.
    """

    id: str
    updated: str
    title: str
    content: str = ""
    html: bool = False
    link: str | None = None
    authors: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    published: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What a feed says of itself, and of the page of it that this is. All but `id` and `title` may be missing;
    `updated` is then that of the newest entry.

    `address` is where this page is (rel=self), `next` and `previous` where its neighbours are, `site` what people read.
    """

    id: str
    title: str
    updated: str | None = None
    subtitle: str | None = None
    author: str = "Tidings"
    address: str | None = None
    site: str | None = None
    hubs: tuple[str, ...] = ()
    first: str | None = None
    previous: str | None = None
    next: str | None = None
    last: str | None = None


def entry_of(id: str, event: Event, updated: str) -> Entry:
    """An entry about an event: title, link, authors and categories of what it is about, as far as it has them; its HTML
    where it is an item of a feed, else its triples as text."""
    about: dict[Term, dict[Term, list[Term]]] = {}
    for s, p, o in event.triples():
        about.setdefault(s, {}).setdefault(p, []).append(o)
    main = _main(about)
    facts = about.get(main, {})
    content = _texts(facts, (ENCODED, DESCRIPTION))
    link = next((text for term in facts.get(LINK, []) if (text := _text(term))), None)
    if link is None and is_iri(main):
        link = iri_text(main)
    title = next(iter(_texts(facts, TITLES)), "")
    if TOMBSTONE in facts.get(RDF_TYPE, []):
        title = f"Deleted: {title or (iri_text(main) if is_iri(main) else event.id)}"
    published = next((text for text in _texts(facts, (ISSUED,)) if _DATETIME.fullmatch(text)), None)
    return Entry(
        id=id,
        updated=updated,
        title=title or (link if link and _WEB.fullmatch(link) else event.id),
        content=content[0] if content else event.body,
        html=bool(content),
        link=link,
        authors=tuple(_texts(facts, (CREATOR, NAME))),
        categories=tuple(_texts(facts, (SUBJECT,))),
        published=published,
    )


def write_atom(page: Page, entries: Sequence[Entry]) -> bytes:
    """The page with these entries, in the order of the caller, in UTF-8. A `UsageError` where a time is none."""
    updated = page.updated or max((entry.updated for entry in entries), default="1970-01-01T00:00:00Z")
    lines = [
        "<?xml version='1.0' encoding='utf-8'?>",
        f'<feed xmlns="{ATOM}">',
        f"<id>{_escaped(page.id)}</id>",
        f"<title>{_escaped(page.title)}</title>",
        f"<updated>{_time(updated)}</updated>",
        f"<author><name>{_escaped(page.author)}</name></author>",
    ]
    if page.subtitle:
        lines.append(f"<subtitle>{_escaped(page.subtitle)}</subtitle>")
    addresses = [("self", page.address), ("alternate", page.site), *(("hub", hub) for hub in page.hubs)]
    addresses += [("first", page.first), ("previous", page.previous), ("next", page.next), ("last", page.last)]
    lines += _links(addresses)
    for entry in entries:
        lines += _entry(entry)
    lines.append("</feed>\n")
    return "\n".join(lines).encode()


def _entry(entry: Entry) -> Iterable[str]:
    yield "<entry>"
    yield f"<id>{_escaped(entry.id)}</id>"
    yield f"<title>{_escaped(entry.title)}</title>"
    yield f"<updated>{_time(entry.updated)}</updated>"
    if entry.published:
        yield f"<published>{_time(entry.published)}</published>"
    for author in entry.authors:
        yield f"<author><name>{_escaped(author)}</name></author>"
    for category in entry.categories:
        yield f'<category term="{_escaped(category)}"/>'
    yield from _links([("alternate", entry.link)])
    yield f'<content type="{"html" if entry.html else "text"}">{_escaped(entry.content)}</content>'
    yield "</entry>"


def _links(addresses: Iterable[tuple[str, str | None]]) -> Iterable[str]:
    for relation, address in addresses:
        if address and _WEB.fullmatch(address):
            media = f' type="{MEDIA_TYPE}"' if relation not in ("alternate", "hub") else ""
            yield f'<link rel="{relation}"{media} href="{_escaped(address)}"/>'


def _time(text: str) -> str:
    if not _DATETIME.fullmatch(text):
        raise UsageError(f"'{text}' is no time as in RFC 3339, for instance 2001-09-09T01:46:40Z")
    return text


_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\t": "&#9;", "\n": "&#10;"}
_SPECIAL = re.compile('[&<>"\r\t\n]')


def _escaped(text: str) -> str:
    """Text in an element or an attribute, white space and all."""
    return _SPECIAL.sub(lambda found: _REFERENCES[found[0]], _NOT_XML.sub("\ufffd", text))


def _main(about: dict[Term, dict[Term, list[Term]]]) -> Term:
    """What an event is about: an item, the home vertex, what has a title, or what comes first."""
    for subject, facts in about.items():
        if {ITEM, TOMBSTONE} & set(facts.get(RDF_TYPE, [])):
            return subject
    if HOME in about:
        return HOME
    titled = (s for s, facts in about.items() if CHANNEL not in facts.get(RDF_TYPE, []) and _texts(facts, TITLES))
    return next(titled, next(iter(about), HOME))


def _texts(facts: dict[Term, list[Term]], properties: Iterable[Term]) -> list[str]:
    return [parts(term).lexical for p in properties for term in facts.get(p, []) if is_literal(term)]


def _text(term: Term) -> str:
    return iri_text(term) if is_iri(term) else parts(term).lexical if is_literal(term) else ""
