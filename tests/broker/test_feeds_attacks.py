"""What a feed, its server or a hub would try against who reads it, each refused, and each alone with it: another feed
is read all the while.
"""

from __future__ import annotations

import gzip
import socket
import zlib
from collections.abc import Iterator
from contextlib import suppress
from threading import Event as Flag
from threading import Thread

import httpx2
import pytest
from tests.broker.feeds import Hub, Item, atom, rss
from tests.broker.test_feeds import ALL, SELDOM, added, polled, titles, wait_for
from tests.broker.threaded import Threaded
from tests.unit.delivery.site import Answer, Site

from tidings.broker.feeds.poller import Manner
from tidings.delivery.fetch import Care

INNOCENT = "93.184.216.34"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    """Of a server that may ask loopback."""
    care = Care(size=4 << 20, private=True)
    with (
        Threaded(open=True, feeds=Manner(SELDOM, care)) as server,
        httpx2.Client(base_url=server.url, timeout=60) as made,
    ):
        made.put("/v1/subscriptions/all", json={"query": ALL}).raise_for_status()
        yield made


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch, site: Site) -> Iterator[httpx2.Client]:
    """Of a server as it is: it may ask public addresses alone. One of these, by the name innocent.example, is here."""
    connect = socket.create_connection

    def connected(to: tuple[str, int], *more: object, **rest: object) -> socket.socket:
        return connect(("127.0.0.1", to[1]) if to[0] == INNOCENT else to, *more, **rest)  # type: ignore[arg-type]

    def look(host: str, port: int) -> list[str]:
        return [INNOCENT] if host == "innocent.example" else ["127.0.0.1"]

    monkeypatch.setattr(socket, "create_connection", connected)
    manner = Manner(SELDOM, Care(look=look))
    with (
        Threaded(open=True, feeds=manner, public=True) as server,
        httpx2.Client(base_url=server.url, timeout=60) as made,
    ):
        made.put("/v1/subscriptions/all", json={"query": ALL}).raise_for_status()
        yield made


def well(client: httpx2.Client, site: Site) -> None:
    """Another feed is read as if nothing had been."""
    added(client, site.put("/well", rss("2.0", [Item("well", "well")])))
    assert titles(client) == ["well"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "169.254.169.254"])
def test_a_feed_at_a_private_address(site: Site, strict: httpx2.Client, host: str) -> None:
    site.put("/feed", rss("2.0", [Item("1", "secret")]))
    feed = added(strict, f"http://{host}:{site.port}/feed")
    assert "private" in feed["problem"]
    assert (site.asked, titles(strict)) == ([], [])
    added(strict, f"http://innocent.example:{site.port}/feed")
    assert titles(strict) == ["secret"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_a_private_address(site: Site, strict: httpx2.Client, status: int) -> None:
    site.put("/secret", rss("2.0", [Item("1", "secret")]))
    site.pages["/feed"] = Answer(status, b"", {"location": f"http://127.0.0.1:{site.port}/secret"})
    feed = added(strict, f"http://innocent.example:{site.port}/feed")
    assert "private" in feed["problem"]
    assert feed["url"].endswith(f"example:{site.port}/feed")
    assert (site.count("/secret"), titles(strict)) == (0, [])


def test_a_hub_at_a_private_address(site: Site, strict: httpx2.Client) -> None:
    hub = Hub(site)
    site.put("/feed", atom([Item("1", "one")], f'<link rel="hub" href="{hub.url}"/>'))
    feed = added(strict, f"http://innocent.example:{site.port}/feed")
    found = wait_for(lambda: strict.get(f"/v1/feeds/{feed['id']}").json().get("hub"))
    wait_for(lambda: strict.get(f"/v1/feeds/{feed['id']}").json()["hub"]["state"] == "refused")
    assert found["url"] == hub.url
    assert "private" in strict.get(f"/v1/feeds/{feed['id']}").json()["hub"]["problem"]
    assert site.count("/hub") == 0


def test_a_bomb(site: Site, client: httpx2.Client) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    start = packer.compress(b'<rss version="2.0"><channel><title>')
    bomb = start + b"".join(packer.compress(b"x" * (1 << 20)) for _ in range(50)) + packer.flush()
    url = site.put("/feed", bomb, **{"content-encoding": "gzip"})
    assert "more than" in added(client, url)["problem"]
    # And one that is not called what it is.
    inner = gzip.compress(rss("2.0", [Item("1", "x" * (5 << 20))]).encode())
    assert "more than 4 MiB" in added(client, site.put("/inner", inner))["problem"]
    well(client, site)


def test_entities_that_grow_and_entities_from_elsewhere(site: Site, client: httpx2.Client) -> None:
    laughs = '<!ENTITY l0 "lol">' + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    site.put("/laughs", f"<!DOCTYPE rss [{laughs}]>" + rss("2.0", [Item("1", "ha")]).replace("ha", "&l11;"))
    outside = f'<!DOCTYPE rss [<!ENTITY x SYSTEM "{site.url}/secret"><!ENTITY y SYSTEM "file:///etc/passwd">]>'
    site.put("/xxe", outside + rss("2.0", [Item("1", "ha")]).replace("ha", "&x;&y;"))
    for path in ("/laughs", "/xxe"):
        added(client, site.url + path)
    assert not [each for each in titles(client) if "root:" in each or len(each) > 10_000]
    assert site.count("/secret") == 0


def test_a_server_that_speaks_slowly_holds_no_other_feed_up(site: Site) -> None:
    over = Flag()
    with (
        Threaded(open=True, feeds=Manner(SELDOM, Care(seconds=5, private=True))) as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        client.put("/v1/subscriptions/all", json={"query": ALL}).raise_for_status()
        listener.settimeout(10)

        def run() -> None:
            with suppress(BrokenPipeError, ConnectionResetError), listener.accept()[0] as connection:
                connection.recv(1 << 16)
                for letter in b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + b"x" * 1_000:
                    if over.wait(0.05):
                        return
                    connection.sendall(bytes([letter]))

        thread = Thread(target=run, daemon=True)
        thread.start()
        slow = client.post("/v1/feeds", json={"url": f"http://127.0.0.1:{listener.getsockname()[1]}/"}).json()
        well(client, site)
        feed = wait_for(lambda: (found := client.get(f"/v1/feeds/{slow['id']}").json()) and found.get("problem"))
        assert "too long" in feed
        over.set()
        thread.join(10)


def test_a_server_that_ends_does_not_wait_for_one_that_speaks_slowly(site: Site) -> None:
    hold, spoke = Flag(), Flag()

    def slow(asked: object) -> Answer:
        hold.wait(60)
        spoke.set()
        return Answer(404)

    site.pages["/slow"] = slow
    with (
        Threaded(open=True, feeds=Manner(SELDOM, Care(seconds=60, private=True))) as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
    ):
        client.post("/v1/feeds", json={"url": f"{site.url}/slow"}).raise_for_status()
        wait_for(lambda: site.count("/slow"))
    assert not spoke.is_set()
    hold.set()


def test_a_redirect_without_an_end(site: Site, client: httpx2.Client) -> None:
    site.pages["/round"] = Answer(301, b"", {"location": "/about"})
    site.pages["/about"] = Answer(301, b"", {"location": "/round"})
    feed = added(client, f"{site.url}/round")
    assert "again and again" in feed["problem"]
    assert len(site.asked) == 6
    well(client, site)


def test_a_feed_without_an_end(site: Site, client: httpx2.Client) -> None:
    feed = added(client, site.put("/feed", bytes(5 << 20)))
    assert "more than" in feed["problem"]
    well(client, site)


def test_a_feed_of_many_items(site: Site, client: httpx2.Client) -> None:
    items = [Item(str(number), f"t{number}") for number in range(3_000)]
    feed = added(client, site.put("/feed", rss("2.0", items)))
    assert feed["items"] == 3_000
    assert len(titles(client)) == 1_000
    items = [Item(str(number), f"t{number}") for number in range(3_001)]
    site.put("/feed", rss("2.0", items))
    assert polled(client, feed)["items"] == 3_001


EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def _shown(client: httpx2.Client) -> Iterator[tuple[str, httpx2.Response]]:
    page = client.get("/v1/subscriptions/all/notifications?payload=event").json()
    event = page["notifications"][0]["event"]
    yield "notifications", client.get("/v1/subscriptions/all/notifications")
    yield "events", client.get("/v1/events")
    yield "feed", client.get("/v1/subscriptions/all/feed")
    yield "problem", client.get("/v1/subscriptions/all/feed?before=%3Cscript%3Ealert(1)%3C/script%3E")
    asked = {"subscription": "all", "event": event}
    yield "explain", client.post("/v1/explain", json=asked)
    yield "drawing", client.post("/v1/explain", json=asked, headers={"accept": "image/svg+xml"})
    for kind in ("text/turtle", "application/rdf+xml", "application/ld+json"):
        yield kind, client.get(f"/v1/events/{event}", headers={"accept": kind})


def test_script_in_a_title_is_shown_nowhere_as_markup(site: Site, client: httpx2.Client) -> None:
    document = rss("2.0", [Item("1", EVIL, EVIL)])
    feed = added(client, site.put("/feed", document))
    assert feed["items"] == 1
    data = ("application/json", "application/problem+json", "text/turtle", "application/ld+json")
    for name, answer in _shown(client):
        kind = answer.headers["content-type"].partition(";")[0]
        assert answer.headers["x-content-type-options"] == "nosniff", name
        # Either it is of a kind that no browser runs anything of, or no tag of it is left.
        assert kind in data or "<script>" not in answer.text, name
        assert kind in data or "<img" not in answer.text, name
        assert kind != "text/html", name


def test_what_comes_as_if_from_a_hub(site: Site) -> None:
    manner = Manner(SELDOM, Care(private=True))
    with (
        Threaded(open=True, feeds=manner, public=True) as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
    ):
        client.put("/v1/subscriptions/all", json={"query": ALL}).raise_for_status()
        hub = Hub(site)
        head = f'<link rel="self" href="{site.url}/feed"/><link rel="hub" href="{hub.url}"/>'
        added(client, site.put("/feed", atom([Item("1", "one")], head)))
        wait_for(lambda: hub.listeners)
        [(_, callback)] = hub.listeners
        forged = atom([Item("2", "forged")]).encode()
        headers: list[dict[str, str]] = [{}]
        headers += [
            {"x-hub-signature": text} for text in ("", "sha256=", "sha256", "md5=0", "sha1=" + "0" * 40, "=", "x=y")
        ]
        for each in headers:
            assert httpx2.post(callback, content=forged, headers=each).status_code == 202
        assert titles(client) == ["one"]
        packed = gzip.compress(bytes(100 << 20))
        answer = httpx2.post(callback, content=packed, headers={"content-encoding": "gzip"})
        assert answer.status_code == 413


def test_signatures_of_every_kind() -> None:
    import hmac

    from tidings.broker.feeds.websub import is_signed

    for method in ("sha1", "sha256", "sha384", "sha512"):
        digest = hmac.new(b"secret", b"body", method).hexdigest()
        assert is_signed(b"secret", b"body", f"{method}={digest}")
        assert is_signed(b"secret", b"body", f"{method.upper()}={digest.upper()}")
        assert not is_signed(b"secret", b"body2", f"{method}={digest}")
        assert not is_signed(b"other", b"body", f"{method}={digest}")
        assert not is_signed(b"secret", b"body", f"{method}={digest[:-1]}")
    assert not is_signed(b"secret", b"body", "sha256=é")
