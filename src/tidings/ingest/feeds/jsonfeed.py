"""JSON Feed 1.0 and 1.1 (jsonfeed.org), in the same words as the others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tidings.errors import EventError, Span
from tidings.ingest.base import How, Report
from tidings.ingest.feeds import names
from tidings.ingest.feeds.dates import stamp
from tidings.ingest.feeds.facts import Facts
from tidings.ingest.feeds.jsonplain import Plain, carefully, quoting
from tidings.ingest.feeds.links import absolute
from tidings.ingest.feeds.model import Channel, Feed, Item, Said, made_id, without_repeats
from tidings.ingest.feeds.schedule import Hints
from tidings.rdf.limits import Limits, human

_VERSION = re.compile(r"https?://jsonfeed\.org/version/(\d+(?:\.\d+)?)")

_LINE = len("<a:> <a:> <a:> .\n")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


@dataclass(slots=True)
class JsonFeed(Feed):
    """Its items are objects (`given`) until their events are asked for. `base` resolves addresses in them, and `quoted`
    writes their strings."""

    given: list[dict[str, Any]] = field(default_factory=list)
    base: str | None = None
    quoted: Callable[[str], str] = carefully

    def events(self, how: How, base: str | None) -> Iterator[Said]:
        write = self.writer(how, base)
        channel = f"<{self.channel.id}>"
        shared = without_repeats(self.channel.facts.lines(channel))
        plain = Plain(channel, shared, self.channel.language, self.quoted)
        # A body of so many characters is within all limits, however many lines it has.
        most = min(how.limits.max_term, how.limits.max_event, _LINE * how.limits.max_triples)
        self.given.reverse()
        while self.given:
            one = self.given.pop()
            body = None if how.home or how.classes else plain.body(one)
            if body is None or len(body) > most:
                yield write(_item(one, self.base))
            else:
                yield Said(body, 0, None)


def read_json(text: str, source: str, limits: Limits, base: str | None, address: str | None, report: Report) -> Feed:
    """The feed; an `EventError` where it is none. An item that is none is reported."""
    if len(text) > limits.max_json:
        raise EventError(f"a JSON Feed of more than {human(limits.max_json)}", source=source)
    try:
        tree = json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        reason = f"JSON that is not well-formed: {error.msg[0].lower()}{error.msg[1:]}"
        raise EventError(reason, span=Span.at(text, error.pos), source=source) from error
    except RecursionError as error:
        raise EventError("nested too deeply", source=source) from error
    version = _VERSION.match(_text(tree.get("version")) or "") if isinstance(tree, dict) else None
    if version is None:
        hint = 'a JSON Feed has "version": "https://jsonfeed.org/version/1.1"'
        raise EventError("is JSON, and no feed", source=source, hint=hint)
    if "\\u" in text and _ESCAPED_SURROGATE.search(text):
        tree = _cleaned(tree)
    base = absolute(_text(tree.get("feed_url")) or "", base) or base
    items = list(_items(tree.get("items"), source, report))
    channel = _channel(tree, base, address)
    named = "json" + version[1].replace(".", "")
    return JsonFeed(named, channel, [], _hints(tree, base), None, items, base, quoting(text))


def _items(given: object, source: str, report: Report) -> Iterator[dict[str, Any]]:
    for number, one in enumerate(_list(given), start=1):
        if isinstance(one, dict):
            yield one
        else:
            report(EventError(f"item {number} is no JSON object", source=source))


def _item(one: dict[str, Any], base: str | None) -> Item:
    facts = Facts(base)
    facts.type(names.ITEM)
    guid, link = _text(one.get("id")), _text(one.get("url"))
    facts.text(names.TITLE, one.get("title"))
    facts.text(names.IDENTIFIER, guid)
    facts.address(names.LINK, link)
    facts.text(names.DESCRIPTION, one.get("summary"))
    facts.text(names.ENCODED, one.get("content_html") or one.get("content_text"))
    for key, property in (("date_published", names.ISSUED), ("date_modified", names.MODIFIED)):
        if (written := one.get(key)) is not None:
            facts.date(property, written, stamp(written))
    for person in _list(one.get("authors")) or [one.get("author")]:
        _person(person, facts)
    for tag in _list(one.get("tags")):
        facts.category(tag, None, None)
    for attached in _list(one.get("attachments")):
        if isinstance(attached, dict):
            facts.enclosure(attached.get("url"), attached.get("mime_type"), attached.get("size_in_bytes"))
    facts.node(names.IMAGE, one.get("image"), names.PICTURE)
    facts.node(names.REFERENCES, one.get("external_url"), names.DOCUMENT)
    return Item(facts, guid, link, language=_text(one.get("language")))


def _person(person: object, facts: Facts) -> None:
    if isinstance(person, dict):
        facts.person(names.CREATOR, names.CREATOR_NODE, person.get("name"), None, person.get("url"))


def _channel(tree: dict[str, Any], base: str | None, address: str | None) -> Channel:
    facts = Facts(base)
    facts.type(names.CHANNEL)
    title, link, language = (_text(tree.get(key)) for key in ("title", "home_page_url", "language"))
    facts.text(names.TITLE, title)
    facts.address(names.LINK, link)
    facts.text(names.DESCRIPTION, tree.get("description"))
    facts.text(names.LANGUAGE, language)
    found = None
    for one in (_text(tree.get("feed_url")), link, address):
        found = found or (absolute(one, base) if one else None)
    return Channel(found or made_id(title, link), facts, language)


def _hints(tree: dict[str, Any], base: str | None) -> Hints:
    given = [_text(hub.get("url")) for hub in _list(tree.get("hubs")) if isinstance(hub, dict)]
    hubs = [absolute(hub, base) for hub in given if hub]
    return Hints(hubs=tuple(hub for hub in hubs if hub), topic=absolute(_text(tree.get("feed_url")) or "", base))


def _cleaned(tree: Any) -> Any:
    """Without halves of surrogate pairs, which JSON can hold and which are no characters."""
    if isinstance(tree, str):
        return tree.translate(_SURROGATES)
    if isinstance(tree, list):
        return [_cleaned(one) for one in tree]
    return {key: _cleaned(value) for key, value in tree.items()} if isinstance(tree, dict) else tree


def _text(value: object) -> str | None:
    """A string; a number, which stands where only strings belong, as it is written."""
    return value if isinstance(value, str) else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
