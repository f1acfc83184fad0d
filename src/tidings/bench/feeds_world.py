"""The workload of the benchmark of feeds: a server with feeds that get new items, and who wants to hear of them.

A server counts what it is asked. Those who want to hear of new items ask it themselves, or have a broker do so.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from threading import Event as Flag
from threading import Thread
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from tidings.broker.client import AsyncClient
from tidings.broker.core import Core
from tidings.broker.feeds.poller import Manner
from tidings.broker.http.app import application
from tidings.broker.http.server import Server, listening
from tidings.broker.matching import warm_up
from tidings.broker.retention import Retention
from tidings.delivery.fetch import Care
from tidings.ingest.feeds.schedule import Policy

_SHOWN = 20
"""Items that a feed shows; those before them are gone from it."""

_SELDOM = 10_000.0
"""Seconds between two polls of a feed whose hub tells: longer than anything is measured here."""

_TITLE = re.compile(rb"<title>item (\d+)</title>")
_FORM = re.compile(rb"(?is)^content-length:\s*(\d+)", re.MULTILINE)
_TEXT = "Lorem ipsum dolor sit amet, consectetur adipisicing elit, sed do eiusmod tempor incididunt ut labore. " * 4


@dataclass(slots=True)
class Feeds:
    """Feeds on one server: how often it was asked, how often in vain, how often its hub told, and the bytes that were
    moved by all of it.
    """

    count: int
    hub: bool = False
    requests: int = 0
    in_vain: int = 0
    moved: int = 0
    pushes: int = 0
    url: str = ""
    published: dict[int, float] = field(default_factory=dict)
    """The moment of each item, by its number."""
    _items: list[list[int]] = field(default_factory=list)
    _listeners: dict[str, tuple[str, str]] = field(default_factory=dict)
    _verifying: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._items = [[] for _ in range(self.count)]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1_024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            yield

    def addresses(self) -> list[str]:
        return [f"{self.url}/feed/{number}" for number in range(self.count)]

    async def publish(self, feed: int) -> None:
        """A new item in a feed, of which its hub tells, where it has one."""
        number = len(self.published)
        self.published[number] = time.monotonic()
        self._items[feed].insert(0, number)
        del self._items[feed][_SHOWN:]
        topic = f"{self.url}/feed/{feed}"
        if topic in self._listeners:
            callback, secret = self._listeners[topic]
            body = self._document(feed, self._items[feed][:1])
            signature = hmac.new(secret.encode(), body, sha256).hexdigest()
            self.pushes += 1
            self.moved += len(body)
            await self._post(callback, body, f"x-hub-signature: sha256={signature}\r\n")

    def _document(self, feed: int, items: Sequence[int]) -> bytes:
        links = f'<atom:link rel="self" href="{self.url}/feed/{feed}"/>'
        links += f'<atom:link rel="hub" href="{self.url}/hub"/>' if self.hub else ""
        shown = "".join(
            f"<item><title>item {number}</title><link>http://news.example/{number}</link>"
            f"<description>{_TEXT}</description></item>"
            for number in items
        )
        return (
            '<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>'
            f"<title>feed {feed}</title><link>http://news.example/</link><description/>{links}{shown}</channel></rss>"
        ).encode()

    # ---------------------------------------------------------------------------------------------------------- serving

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            found = _FORM.search(head)
            body = await reader.readexactly(int(found[1])) if found else b""
            path = head.split(b" ", 2)[1].decode()
            answer = self._asked(body) if path == "/hub" else self._read(path, head)
            if path != "/hub":
                self.requests += 1
                self.in_vain += b" 304 " in answer[:20]
                self.moved += len(head) + len(answer)
            writer.write(answer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def _read(self, path: str, head: bytes) -> bytes:
        feed = int(path.rpartition("/")[2])
        items = self._items[feed]
        tag = f'"{items[0] if items else -1}"'.encode()
        if b"if-none-match: " + tag in head.lower():
            return b"HTTP/1.1 304 Not Modified\r\netag: %s\r\nconnection: close\r\n\r\n" % tag
        body = self._document(feed, items)
        kind = b"application/rss+xml"
        return (
            b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\netag: %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"
            % (kind, tag, len(body), body)
        )

    def _asked(self, body: bytes) -> bytes:
        """As a hub."""
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        if form["hub.mode"] == "subscribe":
            self._listeners[form["hub.topic"]] = form["hub.callback"], form["hub.secret"]
            asyncio.get_running_loop().create_task(self._verify(form))
        return b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

    async def _verify(self, form: dict[str, str]) -> None:
        question = urlencode({"hub.mode": "subscribe", "hub.topic": form["hub.topic"], "hub.challenge": "really?",
                              "hub.lease_seconds": "864000"})  # fmt: skip
        await _ask(f"{form['hub.callback']}?{question}")

    async def _post(self, url: str, body: bytes, headers: str) -> None:
        await _ask(url, body, f"content-type: application/rss+xml\r\n{headers}")


async def _ask(url: str, body: bytes | None = None, headers: str = "") -> bytes:
    """One request on a connection of its own; what is answered."""
    parts = urlsplit(url)
    target = quote(parts.path, safe="/%") + (f"?{parts.query}" if parts.query else "")
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    length = "" if body is None else f"content-length: {len(body)}\r\n"
    method = "GET" if body is None else "POST"
    head = f"{method} {target} HTTP/1.1\r\nhost: {parts.netloc}\r\nconnection: close\r\n{length}{headers}\r\n"
    writer.write(head.encode() + (body or b""))
    try:
        return await reader.read(-1)
    finally:
        writer.close()


# ------------------------------------------------------------------------------------------------------------- hearing


@dataclass(slots=True)
class Heard:
    """Of each item, how long it took until each who wanted to hear of it had: in seconds."""

    feeds: Feeds
    delays: list[float] = field(default_factory=list)

    def item(self, number: int) -> None:
        if number in self.feeds.published:
            self.delays.append(time.monotonic() - self.feeds.published[number])


async def aggregator(feeds: Feeds, interval: float, heard: Heard, dice: Random) -> None:
    """One who asks all feeds himself, each when its time has come, and names what he has already."""

    async def follow(url: str) -> None:
        seen: set[int] = set()
        tag = ""
        await asyncio.sleep(dice.random() * interval)
        while True:
            begun = time.monotonic()
            answer = await _ask(url, headers=f"if-none-match: {tag}\r\n" if tag else "")
            head, _, body = answer.partition(b"\r\n\r\n")
            found = re.search(rb"etag: (\S+)", head)
            tag = found[1].decode() if found else tag
            for number in map(int, _TITLE.findall(body)):
                if number not in seen:
                    seen.add(number)
                    heard.item(number)
            await asyncio.sleep(max(0.0, interval - (time.monotonic() - begun)))

    async with asyncio.TaskGroup() as group:
        for url in feeds.addresses():
            group.create_task(follow(url))


class Broker:
    """A broker with its server in a thread of its own; it asks for a feed once in an interval, or has its hub tell."""

    def __init__(self, interval: float, *, hubs: bool) -> None:
        warm_up()
        self._core = Core(None, None, Retention())
        on = listening("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{on.getsockname()[1]}"
        policy = Policy(minimum=interval, maximum=interval, first=interval, pushed=_SELDOM, jitter=0.0)
        manner = Manner(policy, Care(private=True), public=self.url if hubs else None)
        ready = Flag()
        self._server = Server(application(self._core, open=True, feeds=manner), ready.set)
        self._thread = Thread(target=self._server.run, args=([on],), daemon=True)
        self._thread.start()
        ready.wait()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._core.close()


QUERY = "SELECT ?t { ?i a <http://purl.org/rss/1.0/item> ; <http://purl.org/rss/1.0/title> ?t }"


async def subscriber(client: AsyncClient, id: str, heard: Heard) -> None:
    """One who has left a subscription, and listens to its stream."""
    async for notification in client.listen(id):
        for row in notification["bindings"]:
            heard.item(int(row["t"]["value"].split()[1]))
