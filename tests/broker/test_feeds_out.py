"""Subscriptions as Atom feeds: pages that go back, conditional requests, keys; and the server as a hub for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import feedparser
import httpx2
import pytest
from tests.broker.threaded import Threaded
from tests.unit.broker.offers import ANY, offer
from tests.unit.delivery.site import Answer, Asked, Site

from tidings.broker import postings
from tidings.broker.feeds import audience
from tidings.broker.feeds import hub as hubs
from tidings.broker.feeds.atom import Published
from tidings.broker.feeds.audience import Listener
from tidings.broker.feeds.hub import Hub
from tidings.broker.feeds.websub import is_signed
from tidings.broker.hooks import Patience
from tidings.delivery.notification import notification_id
from tidings.rdf.event import Event, to_nquads

T = TypeVar("T")
NQUADS = {"content-type": "application/n-quads"}
A = "{http://www.w3.org/2005/Atom}"
QUICK = Patience(tries=3, first=0.01, longest=0.02, breaks=1_000, timeout=2)


@pytest.fixture
def server() -> Iterator[Threaded]:
    with Threaded(private=True, patience=QUICK) as made:
        yield made


@pytest.fixture
def client(server: Threaded) -> Iterator[httpx2.Client]:
    headers = server.token("one", "subscribe", "publish")
    with httpx2.Client(base_url=server.url, timeout=30, headers=headers) as made:
        made.put("/v1/subscriptions/s", json={"query": ANY, "labels": {"title": "<Offers>"}}).raise_for_status()
        yield made


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


def publish(client: httpx2.Client, *numbers: int) -> None:
    for number in numbers:
        client.post("/v1/events", content=to_nquads(offer(number)), headers=NQUADS).raise_for_status()


def entries(text: str | bytes) -> list[str]:
    return [str(each.findtext(f"{A}id")) for each in ElementTree.fromstring(text).iter(f"{A}entry")]


def named(*numbers: int) -> list[str]:
    """The entries of these offers."""
    ids = (notification_id("s", offer(number).id, tenant="one", version=1) for number in numbers)
    return [f"urn:tidings:notification:{id}" for id in ids]


def link(text: str, relation: str) -> str | None:
    found = ElementTree.fromstring(text).findall(f"{A}link[@rel='{relation}']")
    return found[0].attrib["href"] if found else None


def address(client: httpx2.Client) -> str:
    answer = client.post("/v1/subscriptions/s/feed/key")
    assert answer.status_code == 201
    return str(answer.json()["url"])


def wait_for(look: Callable[[], T]) -> T:
    end = time.monotonic() + 60
    while not (found := look()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


def test_a_subscription_is_a_feed_that_readers_understand(server: Threaded, client: httpx2.Client) -> None:
    publish(client, 1, 2, 3)
    url = address(client)
    answer = httpx2.get(url)
    assert answer.headers["content-type"].startswith("application/atom+xml")
    assert entries(answer.text) == named(3, 2, 1)
    read = feedparser.parse(answer.content)
    assert not read.bozo
    assert read.feed.title_detail.value == "<Offers>"
    assert [each.link for each in read.entries] == ["http://x/pc3", "http://x/pc2", "http://x/pc1"]
    assert link(answer.text, "self") == url
    assert link(answer.text, "hub") == f"{server.url}/v1/hub"
    assert answer.headers["link"] == f'<{url}>; rel="self", <{server.url}/v1/hub>; rel="hub"'
    assert answer.headers["cache-control"].startswith("private")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert httpx2.head(url).status_code == 200


def test_what_has_not_changed_is_not_sent_again(client: httpx2.Client) -> None:
    url = address(client)
    empty = httpx2.get(url)
    assert entries(empty.text) == []
    assert httpx2.get(url, headers={"if-none-match": empty.headers["etag"]}).status_code == 304
    publish(client, 1)
    first = httpx2.get(url, headers={"if-none-match": empty.headers["etag"]})
    assert entries(first.text) == named(1)
    for known in ({"if-none-match": first.headers["etag"]}, {"if-modified-since": first.headers["last-modified"]}):
        answer = httpx2.get(url, headers=known)
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == first.headers["etag"]
    both = {"if-none-match": '"x"', "if-modified-since": first.headers["last-modified"]}
    assert httpx2.get(url, headers=both).status_code == 200
    assert httpx2.get(url, headers={"if-modified-since": "some day"}).status_code == 200


@pytest.mark.parametrize("block", [4_096, 8])
def test_pages_go_back_to_the_beginning(
    server: Threaded, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Also through what has been turned round and written down."""
    monkeypatch.setattr(postings, "BLOCK", block)
    publish(client, *range(50))
    server.core.upkeep.turn_round()
    with server.core.database.reading() as reader:
        assert bool(postings.blocks(reader)) == (block < 50)
    url: str | None = f"{address(client)}&limit=7"
    seen: list[str] = []
    pages = 0
    while url is not None:
        text = httpx2.get(url).raise_for_status().text
        assert link(text, "self") == url
        seen += entries(text)
        pages += 1
        if pages == 2:
            # What comes meanwhile moves nothing.
            publish(client, 1_000)
        url = link(text, "next")
    assert seen == named(*reversed(range(50)))
    assert pages == 8


def test_events_that_are_deleted_are_not_in_it(server: Threaded, client: httpx2.Client) -> None:
    publish(client, 1, 2, 3)
    admin = server.token("x", "admin")
    client.delete(f"/v1/events/{offer(2).id}", headers=admin).raise_for_status()
    assert entries(httpx2.get(address(client)).text) == named(3, 1)


def test_a_subscription_that_looks_back_and_one_of_several_versions(client: httpx2.Client) -> None:
    publish(client, 1)
    client.put("/v1/subscriptions/s", json={"query": ANY + " LIMIT 5"}).raise_for_status()
    publish(client, 2)
    answer = client.get("/v1/subscriptions/s/feed")
    assert len(entries(answer.text)) == 2
    back = {"query": ANY, "since": "2026-01-01T00:00:00Z"}
    client.put("/v1/subscriptions/s", json=back).raise_for_status()
    wait_for(lambda: not client.get("/v1/subscriptions/s").json()["looking_back"])
    publish(client, 3)
    assert len(entries(client.get("/v1/subscriptions/s/feed").text)) == 3


# ----------------------------------------------------------------------------------------------------------------- keys


def test_a_key_opens_one_subscription_of_one_tenant_and_nothing_else(server: Threaded, client: httpx2.Client) -> None:
    publish(client, 1)
    assert client.get("/v1/subscriptions/s/feed/key").status_code == 404
    url = address(client)
    key = parse_qs(urlsplit(url).query)["key"][0]
    assert client.get("/v1/subscriptions/s/feed/key").json() == {"key": key, "url": url}
    client.put("/v1/subscriptions/t", json={"query": ANY})
    with httpx2.Client(base_url=server.url, timeout=60) as nobody:
        assert nobody.get("/v1/subscriptions/s/feed").status_code == 401
        assert nobody.get(f"/v1/subscriptions/s/feed?key={key}").status_code == 200
        for path in (
            f"/v1/subscriptions/t/feed?key={key}",
            f"/v1/subscriptions/s/feed?key={key[:-1]}{'A' if key[-1] != 'A' else 'B'}",
            f"/v1/subscriptions/s/feed?key=2{key[1:]}",
            f"/v1/subscriptions/s/feed?key={key.replace('.1.', '.2.')}",
            "/v1/subscriptions/s/feed?key=",
            "/v1/subscriptions/s/feed?key=%C3%A9",
        ):
            answer = nobody.get(path)
            assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json"), path
        for path in ("/v1/subscriptions/s", "/v1/subscriptions/s/notifications", "/v1/subscriptions/s/feed/key"):
            assert nobody.get(path).status_code == 401
            assert nobody.get(f"{path}?key={key}").status_code in (400, 401)
    # Somebody else's subscription of the same id is another one.
    other = server.token("other", "subscribe")
    client.put("/v1/subscriptions/s", json={"query": ANY}, headers=other).raise_for_status()
    theirs = client.post("/v1/subscriptions/s/feed/key", headers=other).json()["url"]
    assert entries(httpx2.get(theirs).text) == []
    assert entries(httpx2.get(url).text) == named(1)


def test_a_new_key_ends_the_one_before(server: Threaded, client: httpx2.Client) -> None:
    first = address(client)
    second = address(client)
    assert [httpx2.get(url).status_code for url in (first, second)] == [404, 200]
    assert client.delete("/v1/subscriptions/s/feed/key").status_code == 204
    assert client.delete("/v1/subscriptions/s/feed/key").status_code == 404
    third = address(client)
    assert [httpx2.get(url).status_code for url in (first, second, third)] == [404, 404, 200]
    client.delete("/v1/subscriptions/s")
    assert httpx2.get(third).status_code == 404
    entries = client.get("/v1/audit", headers=server.token("x", "admin")).json()["entries"]
    done = [each["what"] for each in entries if "key" in each["what"]]
    assert done == ["make feed key", "revoke feed key", "make feed key", "make feed key"]


def test_places_that_are_none(client: httpx2.Client) -> None:
    publish(client, 1)
    for query, status in (("before=x", 400), ("before=99-1", 410), ("limit=0", 400), ("after=1-1", 400)):
        assert client.get(f"/v1/subscriptions/s/feed?{query}").status_code == status


def test_script_in_a_title_is_data_to_the_end(client: httpx2.Client) -> None:
    evil = "<script>alert(1)</script>"
    title = "http://purl.org/rss/1.0/title"
    client.put("/v1/subscriptions/s", json={"query": f"SELECT * {{ ?x <{title}> ?t }}"}).raise_for_status()
    body = f'<javascript:alert(1)> <{title}> "{evil}" .\n'
    client.post("/v1/events", content=to_nquads(Event("http://x/evil", body)), headers=NQUADS).raise_for_status()
    answer = httpx2.get(address(client))
    assert evil not in answer.text
    root = ElementTree.fromstring(answer.text)
    assert {each.tag for each in root.iter()} == {
        f"{A}{name}" for name in ("feed", "id", "title", "updated", "author", "name", "link", "entry", "content")
    }
    assert "javascript:" not in " ".join(each.attrib["href"] for each in root.iter(f"{A}link"))
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"


# ----------------------------------------------------------------------------------------------------------------- hub


class Reader:
    """Who listens, at `/told` of a site."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.callback = f"{site.url}/told?me=1"
        self.means_it = True
        self.answers: list[int] = []
        self.asked: list[dict[str, str]] = []
        self.heard: list[Asked] = []
        site.pages["/told"] = self._asked

    def _asked(self, asked: Asked) -> Answer:
        if asked.method == "GET":
            question = {name: values[0] for name, values in parse_qs(urlsplit(asked.path).query).items()}
            self.asked.append(question)
            return Answer(200, question["hub.challenge"].encode()) if self.means_it else Answer(404)
        self.heard.append(asked)
        return Answer(self.answers.pop(0) if self.answers else 204)

    def ask(self, client: httpx2.Client, topic: str, mode: str = "subscribe", **more: str) -> httpx2.Response:
        form = {"hub.mode": mode, "hub.topic": topic, "hub.callback": self.callback, **more}
        return httpx2.post(f"{str(client.base_url).rstrip('/')}/v1/hub", data=form)

    def told(self) -> list[str]:
        return [id for each in self.heard for id in reversed(entries(each.body))]


def listening(server: Threaded, count: int = 1) -> bool:
    with server.core.database.reading() as reader:
        return len(audience.everybody(reader)) == count


def test_a_reader_is_told_signed_and_in_order(server: Threaded, client: httpx2.Client, site: Site) -> None:
    publish(client, 1)
    topic, reader = address(client), Reader(site)
    assert reader.ask(client, topic, **{"hub.secret": "geheim", "hub.lease_seconds": "1000"}).status_code == 202
    wait_for(lambda: listening(server))
    [question] = reader.asked
    assert {name: question[name] for name in ("hub.mode", "hub.topic", "hub.lease_seconds", "me")} == {
        "hub.mode": "subscribe",
        "hub.topic": topic,
        "hub.lease_seconds": "1000",
        "me": "1",
    }
    publish(client, 2, 3)
    wait_for(lambda: reader.told() == named(2, 3))
    for each in reader.heard:
        assert each.headers["content-type"] == "application/atom+xml"
        assert each.headers["link"] == f'<{topic}>; rel="self", <{server.url}/v1/hub>; rel="hub"'
        assert is_signed(b"geheim", each.body, each.headers["x-hub-signature"])
    # A new lease is no new beginning.
    assert reader.ask(client, topic).status_code == 202
    wait_for(lambda: len(reader.asked) == 2)
    publish(client, 4)
    wait_for(lambda: reader.told() == named(2, 3, 4))
    wait_for(lambda: listening(server))
    reader.ask(client, topic, "unsubscribe")
    wait_for(lambda: listening(server, 0))
    publish(client, 5)
    assert reader.asked[-1]["hub.mode"] == "unsubscribe"
    assert reader.told() == named(2, 3, 4)


def test_who_did_not_mean_it_is_not_told(server: Threaded, client: httpx2.Client, site: Site) -> None:
    topic, reader = address(client), Reader(site)
    reader.means_it = False
    assert reader.ask(client, topic).status_code == 202
    wait_for(lambda: reader.asked)
    site.pages["/other"] = Answer(200, b"something else")
    site.pages["/away"] = Answer(302, b"", {"location": reader.callback})
    for path in ("/other", "/away"):
        form = {"hub.mode": "subscribe", "hub.topic": topic, "hub.callback": site.url + path}
        assert httpx2.post(f"{server.url}/v1/hub", data=form).status_code == 202
        wait_for(lambda path=path: any(each.path.startswith(path) for each in site.asked))
    wait_for(lambda: server.app.state.service.audience._waiting == 0)
    publish(client, 1)
    assert listening(server, 0)
    assert reader.heard == []


def test_what_is_not_taken_comes_again_and_is_given_up_in_the_end(
    server: Threaded, client: httpx2.Client, site: Site
) -> None:
    topic, reader = address(client), Reader(site)
    reader.ask(client, topic)
    wait_for(lambda: listening(server))
    reader.answers = [500, 302]
    publish(client, 1)
    wait_for(lambda: reader.told() == named(1) * 3)
    reader.answers = [500] * QUICK.tries
    publish(client, 2)
    wait_for(lambda: len(reader.heard) == 3 + QUICK.tries and not reader.answers)
    publish(client, 3)
    wait_for(lambda: reader.told()[-1:] == named(3))
    assert "x-hub-signature" not in reader.heard[0].headers
    reader.answers = [410]
    publish(client, 4)
    wait_for(lambda: listening(server, 0))


def test_a_revoked_key_and_a_cancelled_subscription_end_it(server: Threaded, client: httpx2.Client, site: Site) -> None:
    reader = Reader(site)
    for end in ("/v1/subscriptions/s/feed/key", "/v1/subscriptions/s"):
        reader.ask(client, address(client))
        wait_for(lambda: listening(server))
        client.delete(end).raise_for_status()
        client.put("/v1/subscriptions/s", json={"query": ANY}).raise_for_status()
        publish(client, 100 + len(end))
        wait_for(lambda: listening(server, 0))
    assert reader.heard == []


def test_another_subscription_of_the_same_id_has_other_keys(client: httpx2.Client) -> None:
    before = address(client)
    client.delete("/v1/subscriptions/s").raise_for_status()
    assert httpx2.get(before).status_code == 404
    client.put("/v1/subscriptions/s", json={"query": ANY}).raise_for_status()
    publish(client, 1)
    assert httpx2.get(before).status_code == 404
    assert entries(httpx2.get(address(client)).text) != []
    assert httpx2.get(before).status_code == 404


def test_one_that_is_cancelled_before_he_is_listened_for(
    server: Threaded, client: httpx2.Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at a subscription and the watch for what becomes of it."""
    look, looked = Hub._published, []

    def published(hub: Hub, listener: Listener) -> Published | None:
        found = look(hub, listener)
        if not looked:
            looked.append(found)
            client.delete("/v1/subscriptions/s").raise_for_status()
            client.put("/v1/subscriptions/s", json={"query": ANY}).raise_for_status()
            publish(client, 1)
        return found

    monkeypatch.setattr(Hub, "_published", published)
    reader = Reader(site)
    reader.ask(client, address(client))
    wait_for(lambda: looked)
    wait_for(lambda: listening(server, 0))
    assert reader.heard == []


def test_what_the_hub_does_not_take(server: Threaded, client: httpx2.Client, site: Site) -> None:
    topic, reader = address(client), Reader(site)
    for wrong, status in (
        ({"mode": "publish"}, 400),
        ({"hub.callback": "ftp://x/"}, 400),
        ({"hub.callback": f"{site.url}/#x"}, 400),
        ({"hub.secret": "x" * 200}, 400),
        ({"hub.lease_seconds": "for ever"}, 400),
        ({"hub.lease_seconds": "0"}, 400),
        ({"topic": "http://news.example/feed"}, 404),
        ({"topic": topic.replace("127.0.0.1", "localhost")}, 404),
        ({"topic": topic.partition("?")[0]}, 404),
        ({"topic": f"{topic}x"}, 404),
        ({"topic": f"{topic}&limit=5"}, 404),
        ({"topic": topic.replace("/feed", "/notifications")}, 404),
    ):
        given = {"topic": topic, "mode": "subscribe", **wrong}
        answer = reader.ask(client, given.pop("topic"), given.pop("mode"), **given)
        assert answer.status_code == status, (wrong, answer.text)
    assert httpx2.post(f"{server.url}/v1/hub", json={}).status_code == 415
    assert reader.asked == []


def test_there_are_only_so_many(
    server: Threaded, client: httpx2.Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, reader = address(client), Reader(site)
    reader.ask(client, topic)
    wait_for(lambda: listening(server))
    monkeypatch.setattr(audience, "OF_A_FEED", 1)
    reader.callback += "&again=1"
    answer = reader.ask(client, topic)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "3600")
    monkeypatch.setattr(audience, "OF_A_FEED", 10)
    monkeypatch.setattr(hubs, "_WAITING", 0)
    assert reader.ask(client, topic).status_code == 503


def test_callbacks_at_private_addresses_are_not_asked(site: Site) -> None:
    with Threaded(open=True) as server, httpx2.Client(base_url=server.url, timeout=60) as client:
        client.put("/v1/subscriptions/s", json={"query": ANY}).raise_for_status()
        reader = Reader(site)
        assert reader.ask(client, f"{server.url}/v1/subscriptions/s/feed").status_code == 202
        wait_for(lambda: server.app.state.service.audience._waiting == 0)
        assert (site.asked, listening(server, 0)) == ([], True)


def test_a_broker_reads_the_feed_of_another_by_its_hub(site: Site) -> None:
    """What one tells, the other is told: in both of our parts in WebSub at once."""
    from tests.broker.feeds import Item
    from tests.broker.test_feeds import ALL, HERE, SELDOM, added, rss, titles

    from tidings.broker.feeds.poller import Manner

    with (
        Threaded(open=True, private=True, public=True, feeds=Manner(SELDOM, HERE)) as first,
        Threaded(open=True, private=True, public=True, feeds=Manner(SELDOM, HERE)) as second,
        httpx2.Client(base_url=first.url, timeout=60) as one,
        httpx2.Client(base_url=second.url, timeout=60) as two,
    ):
        for client in (one, two):
            client.put("/v1/subscriptions/all", json={"query": ALL}).raise_for_status()
        topic = f"{first.url}/v1/subscriptions/all/feed"
        feed = added(two, topic)
        wait_for(lambda: two.get(f"/v1/feeds/{feed['id']}").json().get("hub", {}).get("state") == "active")
        wait_for(lambda: listening(first))
        added(one, site.put("/feed", rss("2.0", [Item("2", "two"), Item("1", "one")])))
        wait_for(lambda: titles(two) == ["one", "two"])
        assert titles(one) == ["one", "two"]
