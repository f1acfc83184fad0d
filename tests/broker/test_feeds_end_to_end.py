"""All of it at once: ten feeds of every kind, one broker in a process of its own, a hundred subscriptions with words
and classes, told in every way there is. An item is updated, one deleted, one feed turns ill-formed and recovers, one
goes down, and one has a hub: every subscriber gets what the oracle says of the events, once.
"""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import httpx2
from tests.broker.feeds import Hub, Item, atom, json_feed, rss, rss1
from tests.broker.server import Server
from tests.unit.broker.endpoint import Receiver
from tests.unit.delivery.site import Answer, Asked, Site

import tidings
from tidings.broker.client import AsyncClient
from tidings.delivery.notification import notification_id
from tidings.rdf.event import Event

NEWS = "http://news.example/ns#"
TAXONOMY = f"""@prefix : <{NEWS}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Sport rdfs:subClassOf :News . :Football rdfs:subClassOf :Sport . :Chess rdfs:subClassOf :Sport .
:Politics rdfs:subClassOf :News . :Election rdfs:subClassOf :Politics .
:Science rdfs:subClassOf :News . :Physics rdfs:subClassOf :Science . :Biology rdfs:subClassOf :Science .
"""
PARENTS = ("News", "Sport", "Politics", "Science")
WORDS = ("goal", "vote", "cell", "king", "laser", "party")
ITEM, TITLE = "<http://purl.org/rss/1.0/item>", "<http://purl.org/rss/1.0/title>"
TOMBSTONE = "<https://www.w3.org/ns/activitystreams#Tombstone>"
SUBSCRIPTIONS = 100
WAYS = ("page", "webhook", "stream", "websub")

Document = Callable[[Sequence[Item]], str]
KINDS: dict[str, tuple[Document, str]] = {
    "rss091": (lambda items: rss("0.91", items), "Football"),
    "rss092": (lambda items: rss("0.92", items), "Chess"),
    "rss20": (lambda items: rss("2.0", items), "Election"),
    "ttl": (lambda items: rss("2.0", items, "<ttl>60</ttl><skipHours><hour>3</hour></skipHours>"), "Physics"),
    "rss10": (rss1, "Biology"),
    "rss10b": (rss1, "Sport"),
    "atom": (atom, "Politics"),
    "hubbed": (atom, "Science"),
    "json": (json_feed, "Football"),
    "down": (lambda items: rss("2.0", items), "Election"),
}


def subscription(number: int) -> str:
    """By class, by words, by both, or for what is deleted."""
    word, other = WORDS[number % len(WORDS)], WORDS[(number * 5 + 1) % len(WORDS)]
    is_one = f"?item a <{NEWS}{PARENTS[number % len(PARENTS)]}>"
    match number % 5:
        case 0:
            return f"SELECT ?item {{ {is_one} ; a {ITEM} }}"
        case 1:
            return f'SELECT ?t {{ ?item {TITLE} ?t FILTER ftcontains(?t, "{word}") }}'
        case 2:
            return f'SELECT ?t {{ {is_one} ; {TITLE} ?t FILTER ftcontains(?t, "{word}" ftOR "{other}") }}'
        case 3:
            return f'SELECT ?t {{ {is_one} ; {TITLE} ?t FILTER ftcontains(?t, ftNOT "{word}") }}'
    if number % 2:
        return f"SELECT ?item {{ ?item a {TOMBSTONE} }}"
    return f'ASK {{ {is_one} ; {TITLE} ?t FILTER ftcontains(?t, "{word}" ftAND "{other}") }}'


class World:
    """The feeds, and the broker that reads them."""

    def __init__(self, client: httpx2.Client, site: Site, shaky: Site, hub: Hub) -> None:
        self.client, self.site, self.shaky, self.hub = client, site, shaky, hub
        self.items: dict[str, list[Item]] = {}
        self.ids: dict[str, str] = {}
        dice = random.Random(7)
        for name in KINDS:
            self.items[name] = [self.item(name, number, dice) for number in (3, 2, 1)]
            self.show(name)

    def item(self, feed: str, number: int, dice: random.Random) -> Item:
        words = dice.sample(WORDS, 2)
        return Item(f"{feed}/{number}", f"{words[0].title()} & {words[1]} <{number}>", f"about <b>{words[0]}</b>")

    def url(self, name: str) -> str:
        return f"{(self.shaky if name == 'down' else self.site).url}/{name}"

    def document(self, name: str, items: Sequence[Item]) -> str:
        if name == "hubbed":
            head = f'<link rel="self" href="{self.url(name)}"/><link rel="hub" href="{self.hub.url}"/>'
            return atom(items, head)
        return KINDS[name][0](items)

    def show(self, name: str) -> None:
        (self.shaky if name == "down" else self.site).put(f"/{name}", self.document(name, self.items[name]))

    def add(self) -> None:
        for name, (_, kind) in KINDS.items():
            answer = self.client.post("/v1/feeds", json={"url": self.url(name), "classes": [NEWS + kind]})
            self.ids[name] = answer.raise_for_status().json()["id"]

    def poll(self) -> dict[str, dict[str, Any]]:
        answers = {name: self.client.post(f"/v1/feeds/{id}/poll") for name, id in self.ids.items()}
        return {name: answer.raise_for_status().json() for name, answer in answers.items()}


def test_every_subscriber_gets_what_the_oracle_says_once(tmp_path: Path) -> None:
    (tmp_path / "news.ttl").write_text(TAXONOMY)
    port = _free_port()
    public = f"http://127.0.0.1:{port}"
    flags = ("--open", "--private-feeds", "--private-webhooks", "--public", public, "--port", str(port))
    receivers = Receiver()
    with (
        Site() as site,
        Site() as shaky,
        Site() as readers,
        Server(tmp_path / "broker", *flags, "--ontology", tmp_path / "news.ttl") as server,
        httpx2.Client(base_url=server.url, timeout=60) as client,
    ):
        wanted = {f"s{number}": subscription(number) for number in range(SUBSCRIPTIONS)}
        way = {id: WAYS[number % len(WAYS)] for number, id in enumerate(wanted)}
        for id, query in wanted.items():
            more = {"webhook": receivers.url} if way[id] == "webhook" else {}
            client.put(f"/v1/subscriptions/{id}", json={"query": query, **more}).raise_for_status()
        told = _Told(readers)
        for id in wanted:
            if way[id] == "websub":
                told.ask(client, id, f"{public}/v1/subscriptions/{id}/feed")
        with told.streaming(server.url, [id for id in wanted if way[id] == "stream"]):
            world = World(client, site, shaky, Hub(site))
            _history(world)
            events = _events(client)
            # Three items of ten feeds; nine that came later; one that was deleted.
            assert len(events) == 30 + 9 + 1
            expected = _oracle(tmp_path / "news.ttl", wanted, events)
            assert sum(map(len, expected.values())) > 300
            assert sum(not those for those in expected.values()) < 30
            by_way = {
                "page": lambda id: _pages(client, id),
                "webhook": lambda id: [
                    str(body["data"]["event"])  # type: ignore[index]
                    for _, body, _ in receivers.heard
                    if body["subject"] == id
                ],
                "stream": lambda id: told.streams[id],
                "websub": lambda id: told.by_hub(id, events),
            }
            for id, those in expected.items():
                _wait_for(lambda id=id, those=those: len(by_way[way[id]](id)) >= len(those))
            for id, those in expected.items():
                assert Counter(by_way[way[id]](id)) == Counter(those), (id, way[id], wanted[id])
                # However he is told, it can be looked up, too.
                entries = _entries(client.get(f"/v1/subscriptions/{id}/feed?limit=1000").content)
                assert sorted(entries) == sorted(_named(id, event) for event in those)
        assert server.end() == 0
    receivers.close()


def _history(world: World) -> None:
    """What becomes of the feeds."""
    world.add()
    first = world.poll()
    assert {each["state"] for each in first.values()} == {"active"}
    assert not [each for each in first.values() if "problem" in each]
    _wait_for(lambda: world.hub.listeners)
    # An item is updated, one deleted, there are new ones; one feed turns ill-formed, one server goes down.
    dice = random.Random(8)
    items = world.items
    items["rss091"][1] = Item(items["rss091"][1].name, "Goal for the laser party", "corrected")
    items["atom"][2] = Item(items["atom"][2].name, "", deleted=True, date="2026-09-02T10:00:00Z")
    for name in ("rss092", "ttl", "rss10b", "json", "rss20"):
        items[name].insert(0, world.item(name, 4, dice))
        world.show(name)
    for name in ("rss091", "atom"):
        world.show(name)
    world.site.put("/rss10", "<rdf:RDF><channel>" + "<<&" * 100)
    world.shaky.pages["/down"] = Answer(503, b"", {"retry-after": "1"})
    pushed = [world.item("hubbed", number, dice) for number in (5, 4)]
    assert world.hub.tell(world.url("hubbed"), world.document("hubbed", pushed)) == [202]
    second = world.poll()
    failing = {name for name, each in second.items() if each.get("failures")}
    assert failing == {"rss10", "down"}, second
    assert (second["hubbed"]["status"], second["hubbed"]["hub"]["state"]) == (304, "active")
    # It recovers, with something new; the other one is not there at all; and nothing comes twice.
    items["rss10"].insert(0, world.item("rss10", 4, dice))
    world.show("rss10")
    world.shaky.__exit__()
    third = world.poll()
    assert third["rss10"]["failures"] == 0
    assert "refused" in third["down"]["problem"]
    assert world.poll()["rss10"]["status"] == 304


class _Told:
    """What subscribers are told by streams, and by the hub at a site."""

    def __init__(self, site: Site) -> None:
        self.streams: dict[str, list[str]] = {}
        self._site = site
        self._listening: set[str] = set()
        self._heard: list[tuple[str, bytes]] = []

    def ask(self, client: httpx2.Client, id: str, topic: str) -> None:
        self._site.pages[f"/{id}"] = self._asked
        form = {"hub.mode": "subscribe", "hub.topic": topic, "hub.callback": f"{self._site.url}/{id}"}
        assert client.post("/v1/hub", data=form).status_code == 202
        _wait_for(lambda: id in self._listening)

    def _asked(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        id = parts.path[1:]
        if asked.method == "GET":
            self._listening.add(id)
            return Answer(200, parse_qs(parts.query)["hub.challenge"][0].encode())
        self._heard.append((id, asked.body))
        return Answer(204)

    def by_hub(self, id: str, events: Mapping[str, Event]) -> list[str]:
        by_name = {_named(id, event): event for event in events}
        return [by_name[name] for of, body in self._heard if of == id for name in _entries(body)]

    @contextmanager
    def streaming(self, url: str, ids: Sequence[str]) -> Iterator[None]:
        self.streams = {id: [] for id in ids}
        loop = asyncio.new_event_loop()

        async def listen() -> None:
            async with AsyncClient(url) as client:

                async def one(id: str) -> None:
                    async for notification in client.listen(id):
                        self.streams[id].append(notification["event"])

                await asyncio.gather(*(one(id) for id in ids))

        task = loop.create_task(listen())

        def run() -> None:
            try:
                loop.run_until_complete(task)
            except asyncio.CancelledError:
                return

        thread = Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            loop.call_soon_threadsafe(task.cancel)
            thread.join(20)


def _oracle(taxonomy: Path, wanted: Mapping[str, str], events: Mapping[str, Event]) -> dict[str, list[str]]:
    matcher = tidings.Matcher("naive", ontology=tidings.Ontology.load(taxonomy))
    matcher.add_many(wanted.items())
    found: dict[str, list[str]] = {id: [] for id in wanted}
    for event in events.values():
        for match in matcher.match(event):
            found[match.subscription].append(match.event)
    return found


def _events(client: httpx2.Client) -> dict[str, Event]:
    recent = client.get("/v1/events?limit=1000").json()["events"]
    found = {}
    for each in recent:
        answer = client.get(f"/v1/events/{each['id']}", headers={"accept": "application/n-triples"})
        found[each["id"]] = Event(each["id"], answer.raise_for_status().text)
    return found


def _pages(client: httpx2.Client, id: str) -> list[str]:
    page = client.get(f"/v1/subscriptions/{id}/notifications?limit=1000").json()
    return [each["event"] for each in page["notifications"]]


def _entries(data: bytes) -> list[str]:
    atom_ns = "{http://www.w3.org/2005/Atom}"
    return [str(each.findtext(f"{atom_ns}id")) for each in ElementTree.fromstring(data).iter(f"{atom_ns}entry")]


def _named(id: str, event: str) -> str:
    return f"urn:tidings:notification:{notification_id(id, event)}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _wait_for(look: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not look():
        assert time.monotonic() < end
        time.sleep(0.02)
