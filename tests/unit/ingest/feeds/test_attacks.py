"""What hostile feeds try: none of it is fetched, grows, runs, or takes more than its share."""

from __future__ import annotations

import gzip
import io
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib import request

import feedparser
import pytest
from tests.unit.ingest.feeds.reading import RSS, atom, events, given, item_of, objects, rdf, refused, rss

from tidings.errors import EventError
from tidings.ingest.base import How, Input
from tidings.ingest.feeds.convert import convert
from tidings.rdf.limits import MIB, Limits
from tidings.rdf.sources import Stream

ITEM = "<item><title>{}</title></item>"


@pytest.fixture(autouse=True)
def nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: Any, **named: Any) -> Any:
        pytest.fail(f"something was opened: {arguments}")

    monkeypatch.setattr(socket, "create_connection", never)
    monkeypatch.setattr(request, "urlopen", never)
    monkeypatch.setattr(feedparser.http, "get", never)


@pytest.mark.parametrize("document", [rss, rdf], ids=["rss", "rdf"])
@pytest.mark.parametrize("where", ["file://{}", "http://127.0.0.1:1/x"])
def test_external_entities_are_refused(document: Callable[[str], str], where: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    doctype = f'<!DOCTYPE x [<!ENTITY x SYSTEM "{where.format(secret)}">]>'
    text = document(ITEM.format("&x;")).replace("?>", "?>" + doctype, 1)
    assert "the external entity &x; is not read" in refused(text).reason


def test_an_external_declaration_is_not_fetched(tmp_path: Path) -> None:
    declaration = tmp_path / "rss.dtd"
    declaration.write_text('<!ENTITY x "a secret">')
    address = declaration.as_uri()
    for doctype in (f'<!DOCTYPE rss SYSTEM "{address}">', f'<!DOCTYPE rss [<!ENTITY % d SYSTEM "{address}"> %d;]>'):
        (event,) = events(rss(ITEM.format("&x;")).replace("?>", "?>" + doctype, 1))
        assert "secret" not in event.body


@pytest.mark.parametrize("document", [rss, rdf], ids=["rss", "rdf"])
def test_entities_made_of_entities_are_refused(document: Callable[[str], str]) -> None:
    made = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    laughs = f'<!DOCTYPE x [<!ENTITY e0 "ha">{made}]>'
    assert "other entities" in refused(document(ITEM.format("&e9;")).replace("?>", "?>" + laughs, 1)).reason


def test_entities_that_only_repeat_are_bounded() -> None:
    doctype = f'<!DOCTYPE x [<!ENTITY e "{"x" * 1_000}">]>'
    assert "too large" in refused(rss(ITEM.format("&e;" * 100_000)).replace("?>", "?>" + doctype, 1)).reason
    big = f'<!DOCTYPE x [<!ENTITY e "{"x" * 100_000}">]>'
    assert "larger than" in refused(rss(ITEM.format("&e;")).replace("?>", "?>" + big, 1)).reason


def test_simple_entities_are_read() -> None:
    doctype = '<!DOCTYPE rss [<!ENTITY c "(c) &#169;">]>'
    for text in (rss(ITEM.format("&c;")), rss(ITEM.format("&c;"))[:-6]):
        (event,) = events(text.replace("?>", "?>" + doctype, 1))
        assert objects(event, RSS + "title") == ['"(c) ©"']


def test_what_unpacks_without_end_is_left_when_it_is_too_much() -> None:
    bomb = gzip.compress(b"<rss>" + b" " * (8 * MIB))
    assert len(bomb) < 20_000
    problems: list[EventError] = []
    stream = Stream("bomb", io.BytesIO(bomb))
    limits = Limits(max_document=1 * MIB)
    assert list(convert(Input("bomb", stream), How(limits=limits), problems.append)) == []
    assert "more than 1 MiB" in problems[0].reason
    assert len(stream.read(100)) == 100, "the rest is not unpacked"


def test_depth_attributes_and_namespaces_are_bounded() -> None:
    assert "nested more than" in refused(rss(ITEM.format("<a>" * 500 + "</a>" * 500))).reason
    many = " ".join(f'a{n}="x"' for n in range(1_000))
    assert "attributes" in refused(f"<rss {many}><channel>{ITEM}</channel></rss>").reason
    names = " ".join(f'xmlns:a{n}="urn:{n}"' for n in range(1_000))
    assert refused(f"<rss {names}><channel>{ITEM}</channel></rss>").reason
    assert "nested" in refused('{"version": "https://jsonfeed.org/version/1", "items": ' + "[" * 100_000).reason


def test_a_tag_without_end_is_refused() -> None:
    assert refused("<rss><channel><item><title " + "x" * 1_000_000).reason


def test_a_hundred_thousand_items_come_in_batches() -> None:
    items = "".join(f'{{"id": "urn:x:{n}", "title": "t"}},' for n in range(100_000))
    feed = f'{{"version": "https://jsonfeed.org/version/1.1", "items": [{items[:-1]}]}}'
    sizes = [batch.num_rows for batch in convert(given(feed), How(), pytest.fail)]
    assert sum(sizes) == 100_000
    assert max(sizes) == 1_000


@pytest.mark.parametrize(
    "item",
    [
        "<author>" + "a" * 300_000 + "</author>",
        "".join(f"<category>{n}</category>" for n in range(20_000)),
        "<pubDate>" + "1" * 300_000 + "</pubDate>",
        "<title>" + " &#32;" * 50_000 + "</title>",
        "<link>" + "http://" * 50_000 + "</link>",
    ],
    ids=["author", "categories", "date", "space", "link"],
)
def test_no_element_takes_more_than_linear_time(item: str) -> None:
    """Each of these took feedparser minutes, or could be thought to; the test would not end."""
    for text in (rss(f"<item>{item}</item>"), rss(f"<item>{item}</item>")[:-6]):
        assert len(events(text)) == 1


def test_what_items_share_does_not_multiply() -> None:
    shared = '<item rdf:about="urn:x:{}"><dc:relation rdf:resource="urn:big"/></item>'
    big = f'<rdf:Description rdf:about="urn:big"><dc:title>{"x" * 1_000_000}</dc:title></rdf:Description>'
    problems: list[EventError] = []
    found = events(rdf("".join(map(shared.format, range(1_000))) + big), problems=problems)
    assert len(found) < 200
    assert "times as large" in problems[0].reason


@pytest.mark.parametrize(
    "text",
    [
        atom('<entry><id>urn:x:1</id><title type="html">&lt;script>alert(1)&lt;/script></title></entry>'),
        rss("<item><title><![CDATA[<script>alert(1)</script>]]></title></item>"),
        rdf('<item rdf:about="urn:x:1"><title>&lt;script>alert(1)&lt;/script></title></item>'),
        json.dumps({"version": "https://jsonfeed.org/version/1", "items": [{"title": "<script>alert(1)</script>"}]}),
    ],
)
def test_a_script_in_a_title_stays_data(text: str) -> None:
    (event,) = events(text)
    assert objects(event, RSS + "title") == ['"<script>alert(1)</script>"']


def test_addresses_that_run_something_are_text_and_never_nodes() -> None:
    (event,) = events(
        rss(
            "<item><title>T</title><link>javascript:alert(1)</link><comments>javascript:alert(2)</comments>"
            '<enclosure url="data:text/html,x" type="text/html" length="1"/></item>'
        )
    )
    assert objects(event, RSS + "link") == ['"javascript:alert(1)"']
    assert item_of(event).startswith("<urn:tidings:feed:")
    assert "<javascript" not in event.body
    assert "<data:" not in event.body


def test_a_title_of_ten_megabytes_costs_its_item() -> None:
    problems: list[EventError] = []
    found = events(rss(ITEM.format("x" * 10 * MIB) + ITEM.format("small")), problems=problems)
    assert [objects(event, RSS + "title") for event in found] == [['"small"']]
    assert [problem.reason for problem in problems] == ["item 1: a term of more than 4 MiB, the limit for one term"]


def test_names_of_files_and_addresses_are_no_feeds(tmp_path: Path) -> None:
    feed = tmp_path / "feed.rss"
    feed.write_text(rss(ITEM.format("a secret")))
    for text in (str(feed), feed.as_uri(), "http://127.0.0.1:1/"):
        assert "is no feed" in refused(text).reason
