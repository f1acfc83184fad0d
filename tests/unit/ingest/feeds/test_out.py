"""Events out again as Atom: escaped, valid, and read back."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.ingest.feeds.reading import DC, DCTERMS, RSS, atom, events, item_of, objects, reading, rss

from tidings.errors import UsageError
from tidings.ingest.feeds.out import Entry, Page, entry_of, write_atom
from tidings.rdf.event import Event
from tidings.rdf.terms import literal, parts

NOW = "2021-09-06T16:45:00Z"
PAGE = Page("urn:x:page", "Matches")
A = "{http://www.w3.org/2005/Atom}"


def test_a_page_is_a_valid_feed() -> None:
    page = Page(
        "urn:x:page",
        "Matches & more",
        address="http://b.example/feed?a=1&b=2",
        site="http://b.example/",
        hubs=("http://b.example/hub",),
        next="http://b.example/feed?after=7",
    )
    root = ElementTree.fromstring(write_atom(page, [Entry("urn:x:1", NOW, "T", link="http://news.example/1")]))
    assert root.tag == A + "feed"
    assert [root.findtext(A + name) for name in ("id", "title", "updated")] == ["urn:x:page", "Matches & more", NOW]
    assert root.find(f"{A}author/{A}name") is not None
    links = {link.get("rel"): link.get("href") for link in root.findall(A + "link")}
    assert links == {
        "self": "http://b.example/feed?a=1&b=2",
        "alternate": "http://b.example/",
        "hub": "http://b.example/hub",
        "next": "http://b.example/feed?after=7",
    }
    (entry,) = root.findall(A + "entry")
    assert all(entry.find(A + name) is not None for name in ("id", "title", "updated", "content", "link"))
    hints = reading(write_atom(page, [])).hints
    assert (hints.hubs, hints.topic) == (("http://b.example/hub",), "http://b.example/feed?a=1&b=2")


def test_an_item_goes_round() -> None:
    said = '<title>A &lt;b> "c" &amp; d</title><description>&lt;p>x</description><dc:creator>Jane</dc:creator>'
    rest = "<category>sports</category><pubDate>Mon, 06 Sep 2021 16:45:00 GMT</pubDate>"
    (item,) = events(rss(f"<item><guid>http://news.example/1</guid>{said}{rest}</item>"))
    entry = entry_of("urn:x:1", item, NOW)
    assert entry == Entry(
        "urn:x:1",
        NOW,
        'A <b> "c" & d',
        content="<p>x",
        html=True,
        link="http://news.example/1",
        authors=("Jane",),
        categories=("sports",),
        published=NOW,
    )
    (again,) = events(write_atom(PAGE, [entry]))
    assert item_of(again) == "<urn:x:1>"
    for property, said in (
        (RSS + "title", 'A <b> "c" & d'),
        (RSS + "link", "http://news.example/1"),
        (RSS + "modules/content/encoded", "<p>x"),
        (DC + "creator", "Jane"),
        (DC + "subject", "sports"),
    ):
        assert objects(again, property) == [literal(said)]
    assert objects(again, DCTERMS + "isPartOf") == ["<urn:x:page>"]


def test_other_events_are_told_by_their_titles_and_triples() -> None:
    body = (
        '<http://p.example/1> <http://schema.org/name> "Thing" .\n'
        "<http://p.example/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Product> .\n"
    )
    entry = entry_of("urn:x:1", Event("urn:e:1", body), NOW)
    assert (entry.title, entry.link, entry.html, entry.content) == ("Thing", "http://p.example/1", False, body)
    home = Event("urn:e:2", '_:H <http://www.w3.org/2000/01/rdf-schema#label> "Home"@en .\n')
    assert entry_of("urn:x:2", home, NOW).title == "Home"
    bare = Event("urn:e:3", "_:b0 <urn:p> <urn:o> .\n")
    assert entry_of("urn:x:3", bare, NOW).title == "urn:e:3"


def test_a_deletion_says_so() -> None:
    (gone,) = events(atom('<at:deleted-entry ref="urn:x:1" when="2021-01-01T00:00:00Z"/>'))
    assert entry_of("urn:y:1", gone, NOW).title == "Deleted: urn:x:1"


def test_links_that_run_something_are_not_written() -> None:
    (item,) = events(rss("<item><title>T</title><link>javascript:alert(1)</link></item>"))
    data = write_atom(PAGE, [entry_of("urn:x:1", item, NOW)])
    assert b"href" not in data


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="no time"):
        write_atom(PAGE, [Entry("urn:x:1", "yesterday", "T")])


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_written(text: str) -> None:
    entry = Entry("urn:x:1", NOW, text, content=text, html=True, authors=(text,), categories=(text,))
    root = ElementTree.fromstring(write_atom(Page("urn:x:page", text, subtitle=text), [entry]))
    allowed = "".join(c if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff") else "\ufffd" for c in text)
    assert root.findtext(f"{A}entry/{A}title") == allowed
    assert root.findtext(f"{A}entry/{A}content") == allowed
    category = root.find(f"{A}entry/{A}category")
    assert category is not None
    assert category.get("term") == allowed


@settings(max_examples=40, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"))
    .map(str.strip)
    .filter(bool)
)
def test_any_title_is_read_back(text: str) -> None:
    (again,) = events(write_atom(PAGE, [Entry("urn:x:1", NOW, text, content=text)]))
    assert [parts(term).lexical for term in objects(again, RSS + "title")] == [text]
