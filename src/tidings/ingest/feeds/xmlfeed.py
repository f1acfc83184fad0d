"""RSS 0.9x and 2.0 and Atom: what feedparser finds in them, as facts. docs/feeds.md has the table."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from tidings.errors import EventError
from tidings.ingest.feeds import names, schedule
from tidings.ingest.feeds.dates import stamp_of
from tidings.ingest.feeds.facts import Facts
from tidings.ingest.feeds.links import absolute, identifier
from tidings.ingest.feeds.model import Channel, Feed, Item, deleted, made_id
from tidings.ingest.feeds.parser import Parsed, parse
from tidings.ingest.feeds.schedule import Hints
from tidings.ingest.feeds.text import without_doctype
from tidings.rdf.limits import Limits

# feedparser's dictionaries answer for other keys than the one asked for, and slowly.
_get = dict.get

_FIRST = re.compile(r"<([A-Za-z_][^\s<>/]*+)")
_TIMES = (("published", names.ISSUED), ("updated", names.MODIFIED), ("created", names.CREATED))
_RELATIONS = {"via": names.SOURCE, "related": names.RELATION, "replies": names.COMMENTS, "license": names.LICENSE}


def read_xml(text: str, source: str, limits: Limits, base: str | None, address: str | None) -> Feed:
    """The feed; an `EventError` where it is none. `base` resolves addresses, `address` is where it came from."""
    text, entities = without_doctype(text, source, limits)
    parsed, items = parse(text, entities, source, limits, partial(_item, base=base))
    if not parsed.version and not items:
        first = _FIRST.search(text)
        reason = f"is no feed: its first element is <{first[1][:100]}>" if first else "is no feed, and has no elements"
        hint = "a feed is RSS, Atom or JSON Feed" + (f"; this is {parsed.problem}" if parsed.problem else "")
        raise EventError(reason, span=parsed.span, source=source, hint=hint)
    channel = _channel(parsed.feed, base, address)
    problem = parsed.problem and f"{parsed.problem} (line {parsed.span.line if parsed.span else 1})"
    return Feed(parsed.version or "unknown", channel, items, _hints(parsed, base), problem)


def _item(entry: dict[str, Any], base: str | None) -> Item:
    if "tombstone" in entry:
        return deleted(entry["tombstone"], entry["when"], base)
    facts = Facts(base)
    facts.type(names.ITEM)
    title, summary = _get(entry, "title_detail"), _get(entry, "summary_detail")
    guid, link = _get(entry, "id"), _link(entry)
    facts.text(names.TITLE, _get(entry, "title"))
    facts.text(names.IDENTIFIER, guid)
    facts.address(names.LINK, link)
    # What has no details is a copy of the content that feedparser makes.
    if summary is not None:
        facts.text(names.DESCRIPTION, _get(entry, "summary"))
    for content in _get(entry, "content") or ():
        facts.text(names.ENCODED, _get(content, "value"))
        facts.node(names.HAS_FORMAT, _get(content, "src"), names.DOCUMENT)
    for key, property in _TIMES:
        if key in entry:
            facts.date(property, _get(entry, key), stamp_of(_get(entry, key + "_parsed")))
    _people(entry, facts)
    for tag in _get(entry, "tags") or ():
        facts.category(_get(tag, "term"), _get(tag, "scheme"), _get(tag, "label"))
    _media(entry, facts)
    _related(entry, facts)
    language = _get(entry, "language") or next((_get(d, "language") for d in (title, summary) if d), None)
    return Item(facts, guid, link, language=language)


def _link(entry: dict[str, Any]) -> str | None:
    """What a reader would open: the link, or the first of the alternates."""
    link = _get(entry, "link")
    if not link:
        alternates = (_get(one, "href") for one in _get(entry, "links") or () if _get(one, "rel") == "alternate")
        link = next(filter(None, alternates), None)
    return link if isinstance(link, str) else None


def _people(entry: dict[str, Any], facts: Facts) -> None:
    for one in _get(entry, "authors") or ():
        facts.person(names.CREATOR, names.CREATOR_NODE, *map(partial(_get, one), ("name", "email", "href")))
    for one in _get(entry, "contributors") or ():
        facts.person(names.CONTRIBUTOR, names.CONTRIBUTOR_NODE, *map(partial(_get, one), ("name", "email", "href")))


def _media(entry: dict[str, Any], facts: Facts) -> None:
    for link in _get(entry, "links") or ():
        relation = _get(link, "rel")
        if relation == "enclosure":
            facts.enclosure(_get(link, "href"), _get(link, "type"), _get(link, "length"))
        elif relation in _RELATIONS:
            facts.node(_RELATIONS[relation], _get(link, "href"), names.DOCUMENT)
    for one in _get(entry, "media_content") or ():
        facts.enclosure(_get(one, "url"), _get(one, "type"), _get(one, "filesize"))
    for one in _get(entry, "media_thumbnail") or ():
        facts.node(names.IMAGE, _get(one, "url"), names.PICTURE)
    image = _get(entry, "image")
    if isinstance(image, dict):
        facts.node(names.IMAGE, _get(image, "href"), names.PICTURE)


def _related(entry: dict[str, Any], facts: Facts) -> None:
    facts.text(names.RIGHTS, _get(entry, "rights"))
    if comments := _get(entry, "comments"):
        facts.node(names.COMMENTS, comments, names.DOCUMENT)
    source = _get(entry, "source")
    if isinstance(source, dict):
        address = _get(source, "href") or _get(source, "link") or _get(source, "id")
        title = _get(source, "title")
        if not facts.node(names.SOURCE, address, names.DOCUMENT, [(names.TITLE, title)]):
            facts.text(names.SOURCE, title)


def _channel(feed: dict[str, Any], base: str | None, address: str | None) -> Channel:
    facts = Facts(base)
    facts.type(names.CHANNEL)
    title, language = _get(feed, "title"), _get(feed, "language")
    # Without links, what feedparser has as the link of a channel is its id.
    link = _link(feed) if _get(feed, "links") else None
    facts.text(names.TITLE, title)
    facts.address(names.LINK, link)
    facts.text(names.DESCRIPTION, _get(feed, "subtitle"))
    facts.text(names.LANGUAGE, language)
    found = identifier(_get(feed, "id") or "")
    for one in (_self(feed), link, address):
        found = found or (absolute(one, base) if one else None)
    return Channel(found or made_id(title, link), facts, language)


def _self(feed: dict[str, Any]) -> str | None:
    return next((_get(one, "href") for one in _get(feed, "links") or () if _get(one, "rel") == "self"), None)


def _hints(parsed: Parsed, base: str | None) -> Hints:
    feed = parsed.feed
    hubs = [_get(one, "href") for one in _get(feed, "links") or () if _get(one, "rel") == "hub"]
    found = [absolute(hub, base) for hub in hubs if isinstance(hub, str)]
    topic = _self(feed)
    return Hints(
        ttl=schedule.ttl(_text(_get(feed, "ttl"))),
        period=schedule.period(_text(_get(feed, "sy_updateperiod")), _text(_get(feed, "sy_updatefrequency"))),
        skip_hours=schedule.skip_hours(parsed.hours),
        skip_days=schedule.skip_days(parsed.days),
        hubs=tuple(dict.fromkeys(hub for hub in found if hub)),
        topic=absolute(topic, base) if topic else None,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
