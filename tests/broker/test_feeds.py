"""Feeds that a broker reads, over real connections: asked for politely, when they are due, and taken once."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from click.testing import CliRunner
from tests.broker.feeds import Hub, Item, atom, json_feed, rss, rss1
from tests.broker.threaded import Threaded
from tests.support import ROOT
from tests.unit.delivery.site import Answer, Site

from tidings.broker.client import AsyncClient, Client
from tidings.broker.feeds import rows
from tidings.broker.feeds.poller import Manner
from tidings.cli.app import app
from tidings.delivery.fetch import Care
from tidings.ingest.feeds.schedule import Policy

T = TypeVar("T")
ALL = "SELECT ?title { ?item a <http://purl.org/rss/1.0/item> ; <http://purl.org/rss/1.0/title> ?title }"
DELETED = "SELECT ?item { ?item a <https://www.w3.org/ns/activitystreams#Tombstone> }"
HERE = Care(size=1 << 20, private=True)
SELDOM = Policy(minimum=1_000, first=1_000, jitter=0)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


@pytest.fixture
def server() -> Iterator[Threaded]:
    with Threaded(open=True, private=True, feeds=Manner(SELDOM, HERE)) as made:
        yield made


@pytest.fixture
def client(server: Threaded) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, timeout=30) as made:
        made.put("/v1/subscriptions/all", json={"query": ALL}).raise_for_status()
        made.put("/v1/subscriptions/deleted", json={"query": DELETED}).raise_for_status()
        yield made


def titles(client: httpx2.Client, id: str = "all", name: str = "title") -> list[str]:
    page = client.get(f"/v1/subscriptions/{id}/notifications?limit=1000").json()
    return [row[name]["value"] for each in page["notifications"] for row in each["bindings"]]


def added(client: httpx2.Client, url: str, **options: object) -> dict[str, Any]:
    """A feed that has been asked for."""
    answer = client.post("/v1/feeds", json={"url": url, **options})
    assert answer.status_code == 201, answer.text
    id = answer.json()["id"]
    return wait_for(lambda: (found := client.get(f"/v1/feeds/{id}").json()) and "polled" in found and found)


def polled(client: httpx2.Client, feed: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"/v1/feeds/{feed['id']}/poll")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def wait_for(look: Callable[[], T]) -> T:
    end = time.monotonic() + 60
    while not (found := look()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


@pytest.mark.parametrize(
    ("version", "document"),
    [
        ("rss091u", lambda items: rss("0.91", items)),
        ("rss092", lambda items: rss("0.92", items)),
        ("rss20", lambda items: rss("2.0", items)),
        ("rss10", rss1),
        ("atom10", atom),
        ("json11", json_feed),
    ],
)
def test_feeds_of_every_kind(site: Site, client: httpx2.Client, version: str, document: Callable[..., str]) -> None:
    url = site.put("/feed", document([Item("2", "two"), Item("1", "one")]))
    feed = added(client, url)
    assert (feed["state"], feed["status"], feed["items"], feed["failures"]) == ("active", 200, 2, 0)
    assert feed["version"] == version
    assert "problem" not in feed
    # The oldest first, as if they had been told one after the other.
    assert titles(client) == ["one", "two"]
    assert polled(client, feed)["status"] == 304
    site.put("/feed", document([Item("3", "three"), Item("2", "two, corrected"), Item("1", "one")]))
    assert polled(client, feed)["items"] == 4
    assert titles(client) == ["one", "two", "two, corrected", "three"]
    counts = _metrics(client)
    assert counts['tidings_feed_polls_total{outcome="changed"}'] == "2"
    assert counts['tidings_feed_polls_total{outcome="not modified"}'] == "1"
    assert (counts["tidings_feed_items_new_total"], counts["tidings_feed_items_updated_total"]) == ("3", "1")
    assert (counts["tidings_feed_items_repeated_total"], counts["tidings_feeds"]) == ("1", "1")
    asked = site.asked[0].headers
    assert asked["user-agent"].startswith("tidings/")
    assert "application/rss+xml" in asked["accept"]


def _metrics(client: httpx2.Client) -> dict[str, str]:
    lines = [line for line in client.get("/metrics").text.splitlines() if not line.startswith("#")]
    return dict(line.rsplit(" ", 1) for line in lines)


def test_what_is_wrong_with_a_document_is_told_until_there_is_another(site: Site, client: httpx2.Client) -> None:
    good = rss("2.0", [Item("1", "one")])
    feed = added(client, site.put("/feed", good.replace("</channel></rss>", "")))
    assert (feed["items"], feed["failures"], bool(feed["problem"])) == (1, 0, True)
    again = polled(client, feed)
    assert (again["status"], again["problem"]) == (304, feed["problem"])
    site.put("/feed", good)
    assert "problem" not in polled(client, feed)


def test_one_request_for_any_number_of_subscribers(site: Site, client: httpx2.Client) -> None:
    for number in range(30):
        client.put(f"/v1/subscriptions/s{number}", json={"query": ALL}).raise_for_status()
    url = site.put("/feed", rss("2.0", [Item("1", "one")]))
    feed = added(client, url)
    again = client.post("/v1/feeds", json={"url": url})
    assert (again.status_code, again.json()["id"]) == (200, feed["id"])
    assert all(titles(client, f"s{number}") == ["one"] for number in range(30))
    assert site.count("/feed") == 1


def test_an_item_that_is_deleted(site: Site, client: httpx2.Client) -> None:
    feed = added(client, site.put("/feed", atom([Item("1", "one"), Item("2", "two")])))
    site.put("/feed", atom([Item("1", "one", deleted=True), Item("2", "two")]))
    polled(client, feed)
    assert titles(client, "deleted", "item") == ["http://news.example/1"]
    assert titles(client) == ["two", "one"]


def test_what_is_gone_is_not_asked_for_any_more(site: Site, client: httpx2.Client, server: Threaded) -> None:
    feed = added(client, site.put("/feed", rss("2.0", [Item("1", "one")])))
    site.pages["/feed"] = Answer(410)
    feed = polled(client, feed)
    assert (feed["state"], feed["status"], "due" in feed) == ("gone", 410, False)
    with server.core.database.reading() as reader:
        assert list(rows.active(reader)) == []
    # Who adds it again means it.
    site.put("/feed", rss("2.0", [Item("2", "two")]))
    assert client.post("/v1/feeds", json={"url": feed["url"]}).json()["state"] == "active"
    wait_for(lambda: titles(client) == ["one", "two"])


def test_a_feed_that_moves(site: Site, client: httpx2.Client) -> None:
    site.put("/new", rss("2.0", [Item("1", "one")]))
    site.pages["/old"] = Answer(301, b"", {"location": "/new"})
    site.pages["/away"] = Answer(302, b"", {"location": "/new"})
    assert added(client, f"{site.url}/away")["url"] == f"{site.url}/away"
    assert added(client, f"{site.url}/old")["url"] == f"{site.url}/new"
    assert titles(client) == ["one"]
    # Two are one from now on.
    site.pages["/other"] = Answer(308, b"", {"location": "/new"})
    other = added(client, f"{site.url}/other")
    assert other["state"] == "gone"
    assert "moved" in other["problem"]
    # What leads nowhere is not believed.
    site.pages["/lost"] = Answer(301, b"", {"location": "/nowhere"})
    lost = added(client, f"{site.url}/lost")
    assert (lost["url"], lost["status"]) == (f"{site.url}/lost", 404)


def test_a_feed_that_fails_is_left_alone_for_longer_each_time_and_others_go_on(
    site: Site, client: httpx2.Client, server: Threaded
) -> None:
    well = added(client, site.put("/well", rss("2.0", [Item("1", "one")])))
    feed = added(client, site.put("/feed", rss("2.0", [Item("2", "two")])))
    waits = []
    for status, more in ((500, {}), (404, {}), (503, {"retry-after": "7200"}), (429, {"retry-after": "10000"})):
        site.pages["/feed"] = Answer(status, b"", more)
        feed = polled(client, feed)
        assert (feed["state"], feed["status"]) == ("active", status)
        assert str(status) in feed["problem"]
        with server.core.database.reading() as reader:
            found = rows.by_id(reader, feed["id"])
        assert found is not None
        assert found.polled is not None
        waits.append(found.schedule.due - found.polled / 1e6)
    assert feed["failures"] == 4
    assert waits == pytest.approx([60, 120, 7_200, 10_000], abs=1)
    site.put("/feed", "this is no feed at all, but some text")
    feed = polled(client, feed)
    assert "no feed" in feed["problem"]
    site.put("/well", rss("2.0", [Item("3", "three"), Item("1", "one")]))
    assert "problem" not in polled(client, well)
    site.put("/feed", rss("2.0", [Item("4", "four"), Item("2", "two")]))
    feed = polled(client, feed)
    assert (feed["failures"], "problem" in feed) == (0, False)
    assert titles(client) == ["one", "two", "three", "four"]
    assert _metrics(client)["tidings_feeds_failing"] == "0"


def test_feeds_are_asked_for_when_they_are_due(site: Site) -> None:
    site.put("/feed", rss("2.0", [Item("1", "one")]))
    site.put("/slow", rss("2.0", [Item("2", "two")], "<ttl>60</ttl>"))
    often = Policy(minimum=0.05, first=0.05, maximum=0.1, back_off=0.05, jitter=0.1)
    with (
        Threaded(open=True, feeds=Manner(often, HERE)) as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
    ):
        client.put("/v1/subscriptions/all", json={"query": ALL})
        added(client, f"{site.url}/feed")
        wait_for(lambda: site.count("/feed") >= 3)
        site.put("/feed", rss("2.0", [Item("3", "three"), Item("1", "one")]))
        wait_for(lambda: titles(client) == ["one", "three"])
        site.pages["/feed"] = Answer(500)
        before = site.count("/feed")
        wait_for(lambda: site.count("/feed") >= before + 2)
        site.put("/feed", rss("2.0", [Item("4", "four"), Item("1", "one")]))
        wait_for(lambda: titles(client) == ["one", "three", "four"])


def test_a_feed_says_itself_when_to_ask_for_it(site: Site, client: httpx2.Client, server: Threaded) -> None:
    feed = added(client, site.put("/feed", rss("2.0", [Item("1", "one")], "<ttl>120</ttl>")))
    kept = added(client, site.put("/kept", rss("2.0", [Item("2", "two")])))
    site.put("/kept", rss("2.0", [Item("2", "two")]), **{"cache-control": "max-age=5000"})
    polled(client, kept)
    waits = []
    with server.core.database.reading() as reader:
        for each in (feed, kept):
            found = rows.by_id(reader, each["id"])
            assert found is not None
            assert found.polled is not None
            waits.append(found.schedule.due - found.polled / 1e6)
    assert waits == pytest.approx([7_200, 5_000], abs=1)


def test_few_at_a_time_and_fewer_of_one_host(site: Site) -> None:
    """Each answer waits until two are asked for; the third is not, before one of them is done."""
    from threading import Barrier, Lock

    gate, lock, now, most = Barrier(2, timeout=10), Lock(), [0], [0]

    def slow(asked: object) -> Answer:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        gate.wait()
        time.sleep(0.02)
        with lock:
            now[0] -= 1
        return Answer(200, rss("2.0", [Item("1", "one")]).encode(), {"content-type": "application/rss+xml"})

    site.pages |= {f"/{number}": slow for number in range(6)}
    with (
        Threaded(open=True, feeds=Manner(SELDOM, HERE)) as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
    ):
        for number in range(6):
            client.post("/v1/feeds", json={"url": f"{site.url}/{number}"}).raise_for_status()
        wait_for(lambda: all("polled" in each for each in client.get("/v1/feeds").json()["feeds"]))
    assert (len(site.asked), most[0]) == (6, 2)


def test_a_crash_between_the_events_and_the_state_loses_nothing(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = site.put("/feed", rss("2.0", [Item("2", "two"), Item("1", "one")]))
    with (
        Threaded(tmp_path, open=True, feeds=Manner(SELDOM, HERE)) as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
    ):
        client.put("/v1/subscriptions/all", json={"query": ALL})
        with monkeypatch.context() as patch:

            def crash(*_: object, **__: object) -> None:
                raise RuntimeError("the machine stops")

            patch.setattr("tidings.broker.feeds.poller._written", crash)
            client.post("/v1/feeds", json={"url": url}).raise_for_status()
            wait_for(lambda: titles(client) == ["one", "two"])
    with (
        Threaded(tmp_path, open=True, feeds=Manner(SELDOM, HERE)) as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
    ):
        [feed] = wait_for(lambda: [each for each in client.get("/v1/feeds").json()["feeds"] if "polled" in each])
        assert feed["items"] == 2
        site.put("/feed", rss("2.0", [Item("3", "three"), Item("2", "two")]))
        polled(client, feed)
        assert titles(client) == ["one", "two", "three"]


def test_options_make_other_events(site: Site, client: httpx2.Client) -> None:
    url = site.put("/feed", rss("2.0", [Item("1", "one")]))
    client.put("/v1/subscriptions/sport", json={"query": "SELECT ?x { ?x a <http://x/Sport> }"}).raise_for_status()
    feed = added(client, url)
    assert titles(client, "sport", "x") == []
    changed = client.post("/v1/feeds", json={"url": url, "classes": ["http://x/Sport"]})
    assert (changed.status_code, changed.json()["id"]) == (200, feed["id"])
    wait_for(lambda: titles(client, "sport", "x") == ["http://news.example/1"])
    for wrong in (
        {"classes": "http://x/"}, {"classes": ["no iri"]}, {"classes": ["x:<>"]}, {"home": 1}, {"charset": "klingon"},
        {"base": "x:y"}, {"url": 5}, {"url": "ftp://x/"}, {"url": "http://u:p@x/"}, {"url": "http://x y/"},
    ):  # fmt: skip
        answer = client.post("/v1/feeds", json={"url": url, **wrong})
        assert answer.status_code == 400, answer.text


def test_who_may_add_feeds_and_who_did(site: Site) -> None:
    with Threaded(feeds=Manner(SELDOM, HERE)) as server, httpx2.Client(base_url=server.url, timeout=60) as client:
        url = site.put("/feed", rss("2.0", [Item("1", "one")]))
        assert client.post("/v1/feeds", json={"url": url}).status_code == 401
        others = server.token("t", "publish", "subscribe")
        for answer in (client.get("/v1/feeds", headers=others), client.post("/v1/feeds", json={}, headers=others)):
            assert answer.status_code == 403
        may = server.token("t", "feeds")
        id = client.post("/v1/feeds", json={"url": url}, headers=may).json()["id"]
        client.post(f"/v1/feeds/{id}/poll", headers=may).raise_for_status()
        assert client.delete(f"/v1/feeds/{id}", headers=may).status_code == 204
        assert client.delete(f"/v1/feeds/{id}", headers=may).status_code == 404
        assert client.get(f"/v1/feeds/{id}", headers=may).status_code == 404
        entries = client.get("/v1/audit", headers=server.token("t", "admin")).json()["entries"]
        done = [(each["what"], each["object"]) for each in entries if each["what"].endswith("feed")]
        assert done == [("remove feed", id), ("poll feed", id), ("add feed", id)]
        assert site.url not in json.dumps(entries)


def test_pages_of_feeds(site: Site, client: httpx2.Client) -> None:
    for number in range(5):
        client.post("/v1/feeds", json={"url": f"{site.url}/{number}"}).raise_for_status()
    path, seen = "/v1/feeds?limit=2", []
    while path:
        page = client.get(path).json()
        seen += [each["url"] for each in page["feeds"]]
        path = page.get("next", "")
    assert seen == [f"{site.url}/{number}" for number in range(5)]


def test_feeds_go_on_after_a_restart(site: Site, tmp_path: Path) -> None:
    url = site.put("/feed", rss("2.0", [Item("1", "one")]))
    for expected in (200, 304):
        with (
            Threaded(tmp_path, open=True, feeds=Manner(SELDOM, HERE)) as server,
            httpx2.Client(base_url=server.url, timeout=60) as client,
        ):
            if expected == 200:
                added(client, url)
                continue
            [feed] = client.get("/v1/feeds").json()["feeds"]
            assert polled(client, feed)["status"] == 304
    assert site.count("/feed") == 2


def test_the_command_line(site: Site, server: Threaded) -> None:
    url = site.put("/feed", rss("2.0", [Item("1", "one")]))

    def run(*arguments: str, code: int = 0) -> list[dict[str, Any]]:
        result = CliRunner().invoke(app, ["feeds", arguments[0], "--url", server.url, *arguments[1:]])
        assert result.exit_code == code, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]

    [feed, other] = run("add", url, f"{site.url}/other", "--class", "http://x/News", "--home")
    assert (feed["url"], feed["classes"], feed["home"]) == (url, ["http://x/News"], True)
    assert [each["id"] for each in run("add", "ftp://x/", url, "--class", "http://x/News", "--home", code=1)] == [
        feed["id"]
    ]
    [polled] = run("poll", url)
    assert (polled["id"], polled["items"]) == (feed["id"], 1)
    assert [each["id"] for each in run("list")] == [feed["id"], other["id"]]
    assert run("remove", url, other["id"]) == []
    assert run("list") == []
    assert run("remove", feed["id"], code=1) == []


def test_the_clients(site: Site, server: Threaded) -> None:
    url = site.put("/feed", rss("2.0", [Item("1", "one")]))
    with Client(server.url) as client:
        client.subscribe("all", ALL)
        feed = client.add_feed(url, home=True)
        assert client.poll_feed(feed["id"])["items"] == 1
        assert [each["id"] for each in client.feeds()] == [client.feed(feed["id"])["id"]] == [feed["id"]]
        assert httpx2.get(client.feed_address("all")).status_code == 200
        client.remove_feed(feed["id"])
        assert list(client.feeds()) == []

    async def run() -> None:
        async with AsyncClient(server.url) as client:
            feed = await client.add_feed(url)
            # Asked for while it has its first turn, it is read by that one; asked for again, it has been read.
            assert (await client.poll_feed(feed["id"]))["items"] == 1
            assert (await client.poll_feed(feed["id"]))["status"] == 304
            assert [each["id"] async for each in client.feeds()] == [(await client.feed(feed["id"]))["id"]]
            async with httpx2.AsyncClient() as http:
                assert (await http.get(await client.feed_address("all"))).status_code == 200
            await client.remove_feed(feed["id"])
            assert [each async for each in client.feeds()] == []

    asyncio.run(run())


# --------------------------------------------------------------------------------------------------------------- hubs


@pytest.fixture
def reached() -> Iterator[Threaded]:
    """A server that knows its address."""
    made = Threaded(open=True, private=True, feeds=Manner(SELDOM, HERE), public=True)
    with made:
        yield made


def document(site: Site, hub: Hub, *items: Item) -> str:
    return atom(items, f'<link rel="self" href="{site.url}/feed"/><link rel="hub" href="{hub.url}"/>')


def hubbed(site: Site, hub: Hub, *items: Item) -> str:
    return site.put("/feed", document(site, hub, *items), "application/atom+xml")


def test_a_hub_tells(site: Site, reached: Threaded) -> None:
    hub = Hub(site)
    url = hubbed(site, hub, Item("1", "one"))
    with httpx2.Client(base_url=reached.url, timeout=60) as client:
        client.put("/v1/subscriptions/all", json={"query": ALL}).raise_for_status()
        feed = added(client, url)
        wait_for(lambda: client.get(f"/v1/feeds/{feed['id']}").json().get("hub", {}).get("state") == "active")
        # The hub knows it when it has our answer.
        wait_for(lambda: hub.listeners)
        asked = site.count("/feed")
        assert hub.tell(url, document(site, hub, Item("2", "two"))) == [202]
        assert titles(client) == ["one", "two"]
        # The same again, and without the item that was there before.
        assert hub.tell(url, document(site, hub, Item("2", "two"), Item("1", "one"))) == [202]
        assert hub.tell(url, document(site, hub, Item("3", "forged")), secret="another") == [202]
        assert hub.tell(url, document(site, hub, Item("1", "one", deleted=True))) == [202]
        assert titles(client) == ["one", "two"]
        assert _metrics(client)["tidings_websub_unsigned_total"] == "1"
        assert site.count("/feed") == asked
        # It is asked for all the same, and seldom.
        feed = polled(client, feed)
        with reached.core.database.reading() as reader:
            found = rows.by_id(reader, feed["id"])
        assert found is not None
        assert found.schedule.due - found.polled / 1e6 == pytest.approx(12 * 3_600, abs=1)
        # What cannot be read leads to the feed itself.
        hubbed(site, hub, Item("4", "four"))
        assert hub.tell(url, "something has changed", "text/plain") == [202]
        wait_for(lambda: titles(client) == ["one", "two", "four"])
        client.delete(f"/v1/feeds/{feed['id']}")
        wait_for(lambda: not hub.listeners)
        assert hub.answers == [("subscribe", 200, "really?"), ("unsubscribe", 200, "really?")]


def test_a_hub_is_believed_for_what_it_was_asked(site: Site, reached: Threaded) -> None:
    hub = Hub(site, asks_back=False)
    url = hubbed(site, hub, Item("1", "one"))
    with httpx2.Client(base_url=reached.url, timeout=60) as client:
        feed = added(client, url)
        form = wait_for(lambda: [each for each in site.asked if each.path == "/hub"])[0].body.decode()
        asked = dict(httpx2.QueryParams(form))
        callback = asked["hub.callback"]
        assert callback.startswith(f"{reached.url}/v1/websub/")
        good = {"hub.mode": "subscribe", "hub.topic": url, "hub.challenge": "<b>x</b>", "hub.lease_seconds": "100"}
        for wrong in ({"hub.topic": "http://x/"}, {"hub.mode": "unsubscribe"}, {"hub.mode": ""}):
            assert httpx2.get(callback, params={**good, **wrong}).status_code == 404
        assert httpx2.get(f"{callback}x", params=good).status_code == 404
        # Not before it was agreed.
        assert httpx2.post(callback, content=b"", headers={"x-hub-signature": "sha1=0"}).status_code == 202
        answer = httpx2.get(callback, params=good)
        assert (answer.status_code, answer.text) == (200, "<b>x</b>")
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert client.get(f"/v1/feeds/{feed['id']}").json()["hub"]["state"] == "active"
        # Once.
        assert httpx2.get(callback, params=good).status_code == 404
        denied = {"hub.mode": "denied", "hub.topic": url, "hub.reason": "no"}
        assert httpx2.get(callback, params=denied).status_code == 200
        found = client.get(f"/v1/feeds/{feed['id']}").json()["hub"]
        assert (found["state"], found["problem"]) == ("refused", "the hub does not want to: no")
        assert httpx2.post(f"{reached.url}/v1/websub/unknown", content=b"").status_code == 410


def test_leases_are_renewed(site: Site, reached: Threaded, monkeypatch: pytest.MonkeyPatch) -> None:
    from tidings.broker.feeds import websub

    monkeypatch.setattr(websub, "_SHORTEST", 1)
    hub = Hub(site, lease=1)
    with httpx2.Client(base_url=reached.url, timeout=60) as client:
        feed = added(client, hubbed(site, hub, Item("1", "one")))
        wait_for(lambda: len(hub.answers) >= 3)
        assert set(hub.answers) == {("subscribe", 200, "really?")}
        assert len(hub.listeners) == 1
        assert client.get(f"/v1/feeds/{feed['id']}").json()["hub"]["state"] in ("active", "renewing")
        assert site.count("/feed") == 1


def test_without_a_public_address_no_hub_is_asked(site: Site, client: httpx2.Client) -> None:
    hub = Hub(site)
    feed = added(client, hubbed(site, hub, Item("1", "one")))
    polled(client, feed)
    assert site.count("/hub") == 0
    assert "hub" not in client.get(f"/v1/feeds/{feed['id']}").json()


def test_the_example_of_the_page_runs(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.put("/rss", rss("2.0", [Item("2", "A goal at last"), Item("1", "No score yet")]))
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "aggregator.md").read_text(), re.DOTALL)
    with Threaded(open=True, feeds=Manner(SELDOM, HERE)) as server:
        code = code.replace("http://127.0.0.1:8420", server.url).replace("https://news.example", site.url)
        exec(compile(code, "aggregator.md", "exec"), {"token": None})
        items, title, address = capsys.readouterr().out.splitlines()
        assert (items, title) == ("2", "A goal at last")
        assert "A goal at last" in httpx2.get(address).text
