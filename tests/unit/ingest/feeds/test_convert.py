"""Items of every kind of feed become events in the same words."""

from __future__ import annotations

import json
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.ingest.feeds.reading import (
    DC,
    DCTERMS,
    RSS,
    TYPE,
    atom,
    events,
    has,
    item_of,
    objects,
    rdf,
    reading,
    refused,
    rss,
)

from tidings.errors import EventError
from tidings.ingest import registry
from tidings.ingest.feeds.sniff import sniff
from tidings.rdf.terms import parts

AS = "https://www.w3.org/ns/activitystreams#"
ENC = "http://purl.oclc.org/net/rss_2.0/enc#"
DATETIME = "^^<http://www.w3.org/2001/XMLSchema#dateTime>"
CHANNEL = "<http://news.example/feed>"


def json_feed(*items: object, **feed: object) -> str:
    head = {"version": "https://jsonfeed.org/version/1.1", "title": "News", "feed_url": "http://news.example/feed"}
    return json.dumps({**head, **feed, "items": list(items)})


SAME = {
    "rss": rss(
        "<item><title>T</title><link>http://news.example/1</link><guid>http://news.example/1</guid>"
        "<description>D</description><content:encoded>&lt;p&gt;C</content:encoded><dc:creator>Jane</dc:creator>"
        "<pubDate>Mon, 06 Sep 2021 16:45:00 +0200</pubDate><category>sports</category></item>",
        '<title>News</title><language>en</language><atom:link rel="self" href="http://news.example/feed"/>',
    ),
    "atom": atom(
        '<entry><title>T</title><link href="http://news.example/1"/><id>http://news.example/1</id>'
        '<summary>D</summary><content type="html">&lt;p&gt;C</content><author><name>Jane</name></author>'
        '<published>2021-09-06T16:45:00+02:00</published><category term="sports"/></entry>'
    ).replace("<feed ", '<feed xml:lang="en" '),
    "json": json_feed(
        {
            "title": "T",
            "url": "http://news.example/1",
            "id": "http://news.example/1",
            "summary": "D",
            "content_html": "<p>C",
            "authors": [{"name": "Jane"}],
            "date_published": "2021-09-06T16:45:00+02:00",
            "tags": ["sports"],
        },
        language="en",
    ),
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_item_is_the_same_event_in_every_format(kind: str) -> None:
    (event,) = events(SAME[kind])
    item = "<http://news.example/1>"
    assert set(event.triples()) == {
        (item, TYPE, f"<{RSS}item>"),
        (item, f"<{RSS}title>", '"T"'),
        (item, f"<{RSS}link>", '"http://news.example/1"'),
        (item, f"<{RSS}description>", '"D"'),
        (item, f"<{RSS}modules/content/encoded>", '"<p>C"'),
        (item, f"<{DC}creator>", '"Jane"'),
        (item, f"<{DC}subject>", '"sports"'),
        (item, f"<{DC}language>", '"en"'),
        (item, f"<{DCTERMS}issued>", f'"2021-09-06T14:45:00Z"{DATETIME}'),
        (item, f"<{DCTERMS}identifier>", '"http://news.example/1"'),
        (item, f"<{DCTERMS}isPartOf>", CHANNEL),
        (CHANNEL, TYPE, f"<{RSS}channel>"),
        (CHANNEL, f"<{RSS}title>", '"News"'),
        (CHANNEL, f"<{DC}language>", '"en"'),
    }


def test_rss_1_keeps_its_rdf_and_has_what_the_others_have() -> None:
    (event,) = events(
        rdf(
            '<item rdf:about="http://news.example/1"><title xml:lang="en">T</title><dc:date>2021-09-06</dc:date>'
            "<dc:subject>sports</dc:subject><slash:comments>7</slash:comments><taxo:topics><rdf:Bag>"
            '<rdf:li resource="http://news.example/topics/sports"/></rdf:Bag></taxo:topics></item>',
            "<title>News</title><sy:updatePeriod>hourly</sy:updatePeriod><dc:date>2021-09-07</dc:date>",
        )
    )
    item = item_of(event)
    assert item == "<http://news.example/1>"
    assert objects(event, RSS + "title") == ['"T"@en']
    assert objects(event, DC + "date") == ['"2021-09-06"']
    assert objects(event, DCTERMS + "modified") == [f'"2021-09-06T00:00:00Z"{DATETIME}']
    assert objects(event, DCTERMS + "subject") == ["<http://news.example/topics/sports>"]
    assert has(event, item, f"<{DCTERMS}isPartOf>", CHANNEL)
    assert objects(event, RSS + "title", CHANNEL) == ['"News"']
    assert "hourly" not in event.body
    assert "2021-09-07" not in event.body
    assert "slash" not in event.body


def test_blank_nodes_do_not_depend_on_what_stands_around() -> None:
    creator = '<dc:creator><rdf:Description dc:title="J"/></dc:creator>'
    one = f'<item rdf:about="http://news.example/1"><title>T</title>{creator}</item>'
    other = one.replace("/1", "/2")
    assert events(rdf(one))[0] == events(rdf(other + one))[1]


def test_rss_1_that_is_no_rdf_is_read_all_the_same() -> None:
    found = events(rdf('<item rdf:about="not an IRI"><title>T</title></item><item><title>U</title>'))
    assert [objects(event, RSS + "title") for event in found] == [['"T"'], ['"U"']]


def test_two_items_of_one_resource_are_two() -> None:
    same = '<item rdf:about="http://news.example/1"><title>{}</title></item>'
    assert [objects(e, RSS + "title") for e in events(rdf(same.format("A") + same.format("B")))] == [['"A"'], ['"B"']]


# ------------------------------------------------------------------------------------------------------------ subjects


@pytest.mark.parametrize(
    ("item", "subject"),
    [
        (
            '<guid isPermaLink="false">tag:news.example,2021:1</guid><link>http://x.example/</link>',
            "tag:news.example,2021:1",
        ),
        ('<guid isPermaLink="false">17</guid><link>http://news.example/17</link>', "http://news.example/17"),
        ("<guid>javascript:alert(1)</guid><link>http://news.example/17</link>", "http://news.example/17"),
        ("<link>http://news.example/a b|c</link>", "http://news.example/a%20b%7Cc"),
        ("<link>/17</link>", "http://base.example/17"),
    ],
)
def test_the_subject_is_guid_or_link(item: str, subject: str) -> None:
    (event,) = events(rss(f"<item><title>T</title>{item}</item>"), base="http://base.example/")
    assert item_of(event) == f"<{subject}>"


def test_without_guid_and_link_the_subject_is_made_of_feed_and_content() -> None:
    first, again = (events(rss("<item><title>T</title></item>"))[0] for _ in range(2))
    assert first == again
    assert item_of(first).startswith("<urn:tidings:feed:")
    other = events(rss("<item><title>T</title></item>", "<link>http://other.example/</link>"))[0]
    assert item_of(other) != item_of(first)


def test_an_update_has_the_same_subject_and_another_id() -> None:
    item = "<item><guid>http://news.example/1</guid><title>{}</title></item>"
    old, new = (events(rss(item.format(title)))[0] for title in "AB")
    assert item_of(old) == item_of(new)
    assert old.id != new.id


def test_what_passes_in_a_channel_makes_no_update() -> None:
    item = "<item><guid>http://news.example/1</guid><title>T</title></item>"
    passing = "<lastBuildDate>Mon, 06 Sep 2021 16:45:00 GMT</lastBuildDate><ttl>5</ttl><generator>x</generator>"
    head = "<title>News</title><link>http://news.example/</link>"
    assert events(rss(item, head)) == events(rss(item, head + passing))


def test_addresses_are_resolved_by_xml_base_and_where_the_document_came_from() -> None:
    entry = '<entry><id>tag:x,2021:1</id><link href="1.html"/></entry>'
    (event,) = events(atom(entry), address="http://came.example/from/feed.xml")
    assert objects(event, RSS + "link") == ['"http://came.example/from/1.html"']
    based = atom(entry.replace("<entry", '<entry xml:base="http://base.example/b/"'))
    (event,) = events(based, address="http://came.example/from/feed.xml")
    assert objects(event, RSS + "link") == ['"http://base.example/b/1.html"']
    (event,) = events(atom(entry))
    assert objects(event, RSS + "link") == ['"1.html"']


# ------------------------------------------------------------------------------------------------------- what is told


def test_people_with_mail_or_an_address_are_nodes() -> None:
    (event,) = events(
        atom(
            "<entry><id>urn:x:1</id><author><name>Jane</name><email>j@x.example</email></author>"
            "<author><name>Joe</name><uri>http://joe.example/</uri></author></entry>"
        )
    )
    assert objects(event, DC + "creator") == ['"Jane"', '"Joe"']
    assert objects(event, DCTERMS + "creator") == ["<http://joe.example/>", "<mailto:j@x.example>"]
    assert objects(event, "http://xmlns.com/foaf/0.1/name", "<mailto:j@x.example>") == ['"Jane"']


def test_categories_with_a_scheme_are_concepts() -> None:
    (event,) = events(
        rss(
            '<item><title>T</title><category domain="http://topics.example/news">world cup</category>'
            '<category domain="no IRI">x</category><category>y</category></item>'
        )
    )
    assert objects(event, DC + "subject") == ['"world cup"', '"x"', '"y"']
    assert objects(event, DCTERMS + "subject") == ["<http://topics.example/news/world%20cup>"]
    concept = "<http://topics.example/news/world%20cup>"
    assert has(event, concept, TYPE, "<http://www.w3.org/2004/02/skos/core#Concept>")


def test_enclosures() -> None:
    (event,) = events(
        rss('<item><title>T</title><enclosure url="http://news.example/a.mp3" type="audio/mpeg" length="123"/></item>')
    )
    assert objects(event, ENC + "enclosure") == ["<http://news.example/a.mp3>"]
    sound = "<http://news.example/a.mp3>"
    assert objects(event, ENC + "type", sound) == ['"audio/mpeg"']
    assert objects(event, ENC + "length", sound) == ['"123"^^<http://www.w3.org/2001/XMLSchema#integer>']


def test_a_time_that_cannot_be_read_is_kept() -> None:
    (event,) = events(rss("<item><title>T</title><pubDate>last Tuesday, or so</pubDate></item>"))
    assert objects(event, DCTERMS + "issued") == ['"last Tuesday, or so"']


def test_a_deleted_entry_is_an_event_that_says_so() -> None:
    gone, item = events(
        atom(
            '<at:deleted-entry ref="tag:x,2021:1" when="2021-09-06T16:45:00Z"><at:comment>spam</at:comment>'
            '<link href="http://elsewhere.example/"/></at:deleted-entry><entry><id>tag:x,2021:2</id></entry>'
        )
    )
    assert set(gone.triples()) >= {
        ("<tag:x,2021:1>", TYPE, f"<{AS}Tombstone>"),
        ("<tag:x,2021:1>", f"<{AS}formerType>", f"<{RSS}item>"),
        ("<tag:x,2021:1>", f"<{AS}deleted>", f'"2021-09-06T16:45:00Z"{DATETIME}'),
        ("<tag:x,2021:1>", f"<{DCTERMS}isPartOf>", CHANNEL),
    }
    assert item_of(item) == "<tag:x,2021:2>"
    assert "elsewhere" not in gone.body + item.body


def test_home_and_classes() -> None:
    (event,) = events(SAME["rss"], home=True, classes=("http://news.example/Story",))
    assert has(event, "_:H", TYPE, "<http://news.example/Story>")
    assert has(event, "_:H", f"<{DCTERMS}identifier>", "<http://news.example/1>")
    assert has(event, "_:H", f"<{RSS}title>", '"T"')


# --------------------------------------------------------------------------------------------------------- ill-formed


def test_an_ill_formed_feed_is_read_as_far_as_it_can_be() -> None:
    broken = rss("<item><title>A & B &eacute;</title></item><item><title>C</title>")[:-16]
    assert [objects(event, RSS + "title") for event in events(broken)] == [['"A & B é"'], ['"C"']]
    problem = reading(broken).problem
    assert problem is not None
    assert "not well-formed" in problem


def test_what_is_no_feed_says_so() -> None:
    assert "its first element is <html>" in refused("<html><body>Not found</body></html>").reason
    assert "is no feed" in refused("").reason
    assert "is no feed" in refused(b"\x89PNG\r\n\x1a\n\0\0\0").reason
    assert "no feed" in refused('{"items": []}').reason
    problem = refused('{"version": "https://jsonfeed.org/version/1", \n"items": [}')
    assert problem.line == 2


def test_a_broken_item_of_a_json_feed_costs_itself() -> None:
    problems: list[EventError] = []
    found = events(json_feed(7, {"id": 1, "title": "T"}), problems=problems)
    assert [objects(event, RSS + "title") for event in found] == [['"T"']]
    assert [problem.reason for problem in problems] == ["item 1 is no JSON object"]


def test_halves_of_surrogate_pairs_are_no_characters() -> None:
    (event,) = events('{"version": "https://jsonfeed.org/version/1", "items": [{"title": "a\\ud800b \\ud83d\\ude00"}]}')
    assert objects(event, RSS + "title") == ['"a\ufffdb 😀"']


@pytest.mark.parametrize(
    "data",
    [
        rss("<item><title>Grüße</title></item>").encode("latin-1"),
        rss("<item><title>Grüße</title></item>").replace("?>", ' encoding="iso-8859-1"?>', 1).encode("latin-1"),
        rss("<item><title>Grüße</title></item>").encode("utf-16"),
        rss("<item><title>Grüße</title></item>").replace("?>", ' encoding="utf-8"?>', 1).encode("latin-1"),
        rss("<item><title>Grüße</title></item>").replace("?>", ' encoding="idna"?>', 1).encode(),
        rdf('<item rdf:about="urn:x:1"><title>Grüße</title></item>')
        .replace("?>", ' encoding="latin1"?>')
        .encode("latin-1"),
        b"\xef\xbb\xbf" + rss("<item><title>Grüße</title></item>").encode(),
    ],
)
def test_encodings(data: bytes) -> None:
    (event,) = events(data)
    assert objects(event, RSS + "title") == ['"Grüße"']


def test_the_encoding_that_the_server_says() -> None:
    (event,) = events(rss("<item><title>Привет</title></item>").encode("koi8-r"), options={"charset": "KOI8-R"})
    assert objects(event, RSS + "title") == ['"Привет"']


# XML cannot hold the others; feedparser reads controls from 128 on as windows-1252, and strips titles.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")).map(str.strip)


@settings(max_examples=60, deadline=None)
@given(TEXT.filter(bool))
def test_any_text_of_a_title_survives(text: str) -> None:
    for document in (
        atom(f"<entry><id>urn:x:1</id><title>{escape(text)}</title></entry>"),
        rss(f"<item><guid>urn:x:1</guid><title>{escape(text)}</title></item>"),
        rdf(f'<item rdf:about="urn:x:1"><title>{escape(text)}</title></item>'),
        json_feed({"id": "urn:x:1", "title": text}),
    ):
        (event,) = events(document)
        assert [parts(term).lexical for term in objects(event, RSS + "title")] == [text]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([SAME["rss"], SAME["atom"], SAME["json"], rdf("<item/>")]), st.data())
def test_broken_bytes_give_events_or_a_reason(junk: bytes, document: str, data: st.DataObject) -> None:
    whole = document.encode()
    at = data.draw(st.integers(0, len(whole)))
    problems: list[EventError] = []
    broken = whole[:at] + junk + whole[data.draw(st.integers(at, len(whole))) :]
    assert events(broken, problems=problems) == events(broken, problems=[])


# ------------------------------------------------------------------------------------------------ which documents it is


def test_sniff() -> None:
    assert [sniff(SAME[kind].encode()) for kind in SAME] == list(SAME)
    assert sniff(rdf("").encode()) == "rdf"
    assert sniff(rss("").encode("utf-16")) == "rss"
    assert sniff(b'<!DOCTYPE rss [<!ENTITY a "b">]><!-- <html> --><rss>') == "rss"
    assert sniff(b"<html><body><rss>") is None
    assert sniff(b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>') is None
    assert sniff(b'{"@context": {}}') is None
    assert sniff(b"") is None


def test_the_registry_knows_feeds() -> None:
    assert registry.of_path("news.rss.gz") == registry.of_media_type("application/atom+xml; charset=utf-8") == "feed"
    assert registry.of_path("news.xml") is None
    assert registry.converter("feed") is not None
