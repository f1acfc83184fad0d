"""Documents of feeds of every kind, made of items; and a hub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from threading import Thread
from urllib.parse import parse_qs, urlencode

import httpx2
from tests.unit.delivery.site import Answer, Asked, Site

from tidings.broker.feeds.websub import signature_of


@dataclass(frozen=True, slots=True)
class Item:
    name: str
    title: str
    text: str = ""
    categories: tuple[str, ...] = ()
    deleted: bool = False
    date: str = "2026-09-01T10:00:00Z"

    @property
    def link(self) -> str:
        return f"http://news.example/{self.name}"


def rss(version: str, items: Sequence[Item], head: str = "") -> str:
    return (
        f'<?xml version="1.0"?><rss version="{version}"><channel><title>News</title><link>http://news.example/</link>'
        f"<description>All</description>{head}"
        + "".join(
            f"<item><title>{escape(each.title)}</title><link>{each.link}</link>"
            f"<description>{escape(each.text)}</description>"
            + "".join(f"<category>{escape(name)}</category>" for name in each.categories)
            + "</item>"
            for each in items
        )
        + "</channel></rss>"
    )


def rss1(items: Sequence[Item]) -> str:
    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="http://news.example/"><title>News</title>'
        "<link>http://news.example/</link><description>All</description><items><rdf:Seq>"
        + "".join(f'<rdf:li rdf:resource="{each.link}"/>' for each in items)
        + "</rdf:Seq></items></channel>"
        + "".join(
            f'<item rdf:about="{each.link}"><title>{escape(each.title)}</title><link>{each.link}</link>'
            f"<description>{escape(each.text)}</description>"
            + "".join(f"<dc:subject>{escape(name)}</dc:subject>" for name in each.categories)
            + "</item>"
            for each in items
        )
        + "</rdf:RDF>"
    )


def atom(items: Sequence[Item], head: str = "") -> str:
    return (
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">'
        f"<title>News</title><id>http://news.example/</id><updated>2026-09-01T10:00:00Z</updated>{head}"
        + "".join(
            f'<at:deleted-entry ref="{each.link}" when="{each.date}"/>'
            if each.deleted
            else f'<entry><id>{each.link}</id><title>{escape(each.title)}</title><link href="{each.link}"/>'
            f'<updated>{each.date}</updated><content type="html">{escape(escape(each.text))}</content>'
            + "".join(f'<category term="{escape(name)}"/>' for name in each.categories)
            + "</entry>"
            for each in items
        )
        + "</feed>"
    )


def json_feed(items: Sequence[Item]) -> str:
    return json.dumps(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": "News",
            "home_page_url": "http://news.example/",
            "items": [
                {
                    "id": each.link,
                    "url": each.link,
                    "title": each.title,
                    "content_text": each.text,
                    "tags": list(each.categories),
                }
                for each in items
            ],
        }
    )


@dataclass(slots=True)
class Hub:
    """A hub at `/hub` of a site: it asks back, and tells what it is told to tell. `lease` is what it gives."""

    site: Site
    lease: int = 864_000
    asks_back: bool = True
    listeners: dict[tuple[str, str], str] = field(default_factory=dict)
    answers: list[tuple[str, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.site.pages["/hub"] = self._asked

    @property
    def url(self) -> str:
        return f"{self.site.url}/hub"

    def _asked(self, asked: Asked) -> Answer:
        form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        if self.asks_back:
            Thread(target=self._ask_back, args=(form,), daemon=True).start()
        return Answer(202)

    def _ask_back(self, form: dict[str, str]) -> None:
        mode, topic, callback = form["hub.mode"], form["hub.topic"], form["hub.callback"]
        question = {"hub.mode": mode, "hub.topic": topic, "hub.challenge": "really?", "hub.lease_seconds": self.lease}
        answer = httpx2.get(f"{callback}?{urlencode(question)}")
        if answer.status_code == 200 and answer.text == "really?":
            if mode == "subscribe":
                self.listeners[topic, callback] = form["hub.secret"]
            else:
                self.listeners.pop((topic, callback), None)
        self.answers.append((mode, answer.status_code, answer.text))

    def tell(self, topic: str, body: str, kind: str = "application/atom+xml", secret: str | None = None) -> list[int]:
        """What those who listen answer."""
        found = []
        for (of, callback), own in self.listeners.items():
            if of == topic:
                signature = signature_of((own if secret is None else secret).encode(), body.encode())
                headers = {"content-type": kind, "x-hub-signature": signature}
                found.append(httpx2.post(callback, content=body.encode(), headers=headers).status_code)
        return found
