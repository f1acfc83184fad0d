"""RSS 1.0 is RDF: its items with all that is said of them, and beside that what the other feeds' items have.

Where it is no RDF that can be read, or does not have the items that its elements promise, the feed parser reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.parsers import expat

from tidings.errors import EventError
from tidings.ingest.feeds import names, schedule
from tidings.ingest.feeds.dates import stamp
from tidings.ingest.feeds.facts import Facts
from tidings.ingest.feeds.model import Channel, Feed, Item, made_id
from tidings.ingest.feeds.schedule import Hints
from tidings.ingest.feeds.text import DECLARATION
from tidings.rdf.limits import Limits
from tidings.rdf.read import read_triples
from tidings.rdf.terms import RDF, RDF_TYPE, Term, blank, iri, iri_text, is_blank, is_iri, is_literal, parts

# RDF of before 2001, which feeds still write.
_LI = re.compile(r"(<rdf:li\s+)resource(?==)")
_SY = "http://purl.org/rss/1.0/modules/syndication/"
_TOPICS = iri("http://purl.org/rss/1.0/modules/taxonomy/topics")
_DATE = iri(names.DC + "date")
_MEMBER = f"<{RDF}_"
_STAYS = (names.TITLE, names.LINK, names.DESCRIPTION, names.LANGUAGE, names.CREATOR, names.RIGHTS)
# Figures that change while an item does not.
_PASSING = ("<http://purl.org/rss/1.0/modules/slash/", "<http://purl.org/syndication/thread/1.0")


class _Graph:
    """The document by subject, in its order."""

    def __init__(self, data: bytes, limits: Limits, base: str | None) -> None:
        self.about: dict[Term, list[tuple[Term, Term]]] = {}
        self.items: list[Term] = []
        self.apart: set[Term] = set()
        self.channel: Term | None = None
        for s, p, o in read_triples(data, format="rdf", limits=limits, base=base):
            self.about.setdefault(s, []).append((p, o))
            if p == RDF_TYPE and o in (names.ITEM, names.CHANNEL):
                if o == names.ITEM and s not in self.apart:
                    self.items.append(s)
                elif o == names.CHANNEL and self.channel is None:
                    self.channel = s
                self.apart.add(s)

    def texts(self, subject: Term, property: Term) -> list[str]:
        return [parts(o).lexical for p, o in self.about.get(subject, ()) if p == property and is_literal(o)]

    def first(self, subject: Term, property: Term) -> str | None:
        return next(iter(self.texts(subject, property)), None)


def read_rss1(text: str, limits: Limits, base: str | None) -> Feed | None:
    """The feed; None where the feed parser has to read it."""
    data = _LI.sub(r"\1rdf:resource", DECLARATION.sub("", text, count=1)).encode()
    try:
        graph = _Graph(data, limits, base)
    except EventError:
        return None
    if graph.channel is None or len(graph.items) != _elements(data):
        return None
    channel = _channel(graph, graph.channel)
    return Feed("rss10", channel, [_item(graph, item, base) for item in graph.items], _hints(graph, graph.channel))


def _elements(data: bytes) -> int:
    """How many elements are items."""
    found = 0

    def start(name: str, attributes: object) -> None:
        nonlocal found
        found += name == f"{names.RSS}item"

    parser = expat.ParserCreate(namespace_separator="")
    parser.StartElementHandler = start
    parser.Parse(data, True)
    return found


def _channel(graph: _Graph, channel: Term) -> Channel:
    facts = Facts(None)
    facts.type(names.CHANNEL)
    for property, term in graph.about[channel]:
        if property in _STAYS and is_literal(term):
            facts.term(property, term)
    made = made_id(graph.first(channel, names.TITLE), graph.first(channel, names.LINK))
    id = iri_text(channel) if is_iri(channel) else made
    return Channel(id, facts, graph.first(channel, names.LANGUAGE))


def _item(graph: _Graph, item: Term, base: str | None) -> Item:
    facts = Facts(base)
    # Blank nodes are called by their place in the event, so that what stands around it in the document does not matter.
    labels: dict[Term, Term] = {}

    def named(term: Term) -> Term:
        return labels.setdefault(term, blank(f"b{len(labels)}")) if is_blank(term) else term

    for property, term in graph.about[item]:
        if not property.startswith(_PASSING):
            facts.term(property, named(term))
    for node in _beyond(graph, item):
        for property, term in graph.about[node]:
            facts.line(named(node), property, named(term))
    about = iri_text(item) if is_iri(item) else None
    facts.text(names.IDENTIFIER, about)
    for date in graph.texts(item, _DATE):
        facts.date(names.MODIFIED, date, stamp(date))
    for topic in _topics(graph, item):
        facts.linked(names.SUBJECT_NODE, topic, names.CONCEPT)
    return Item(facts, link=graph.first(item, names.LINK), about=about, language=graph.first(item, names.LANGUAGE))


def _beyond(graph: _Graph, item: Term) -> Iterable[Term]:
    """The nodes that an item leads to and that are described in the document, items and channels aside."""
    found: dict[Term, None] = {}
    waiting = [item]
    while waiting:
        for _, term in graph.about[waiting.pop()]:
            if term in graph.about and term not in graph.apart and term not in found:
                found[term] = None
                waiting.append(term)
    return found


def _topics(graph: _Graph, item: Term) -> Iterable[Term]:
    bags = [bag for property, bag in graph.about[item] if property == _TOPICS]
    members = [term for bag in bags for property, term in graph.about.get(bag, ()) if property.startswith(_MEMBER)]
    return [term for term in members if is_iri(term)]


def _hints(graph: _Graph, channel: Term) -> Hints:
    said = (graph.first(channel, iri(_SY + name)) for name in ("updatePeriod", "updateFrequency"))
    return Hints(period=schedule.period(*said))
