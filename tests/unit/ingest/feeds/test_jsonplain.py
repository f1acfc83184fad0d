"""Items that are written straight away are those that the facts make."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tidings.errors import EventError
from tidings.ingest.base import How
from tidings.ingest.feeds.jsonfeed import read_json
from tidings.ingest.feeds.jsonplain import Plain
from tidings.rdf.limits import DEFAULT_LIMITS

TEXTS: list[Any] = [
    "",
    "a",
    'Café "x"',
    "tab\t, line\n",
    "\\",
    "\x7f",
    "\ufffe",
    "😀",
    "\x01",
    "_:x",
    "x" * 300,
    5,
    True,
    [],
]
ADDRESSES: list[Any] = [
    "https://e.x/a",
    "https://e.x/b?c=d#e",
    "/rel",
    "urn:x:y",
    "javascript:a()",
    "http://e.x/é",
    None,
    5,
]
TIMES: list[Any] = [
    "2020-01-01T00:00:00Z",
    "2020-01-01T00:00:00+02:00",
    "2020-02-30T00:00:00Z",
    "bad",
    "2020-01-01",
    None,
    5,
]


def drawn(dice: random.Random) -> dict[str, Any]:
    pick = dice.choice
    people = [{"name": pick(TEXTS), "url": pick(ADDRESSES)}, {"name": pick(TEXTS)}, pick(TEXTS)]
    item = {
        "id": pick(ADDRESSES[:2] + TEXTS[:2]),
        "url": pick(ADDRESSES),
        "title": pick(TEXTS),
        "summary": pick(TEXTS),
        "content_html": pick(TEXTS),
        "content_text": pick(TEXTS),
        "date_published": pick(TIMES),
        "date_modified": pick(TIMES),
        "authors": dice.sample(people, dice.randrange(3)),
        "tags": dice.choices([*TEXTS, "https://e.x/tag"], k=dice.randrange(4)),
        "attachments": [{"url": pick(ADDRESSES), "mime_type": pick(TEXTS), "size_in_bytes": pick([7, "8", -1, None])}],
        "image": pick(ADDRESSES),
        "external_url": pick(ADDRESSES),
        "language": pick(["de", *TEXTS]),
    }
    return {key: item[key] for key in dice.sample(list(item), dice.randrange(1, 8)) if key != "id"} | {"id": item["id"]}


def bodies(document: str) -> list[str]:
    problems: list[EventError] = []
    feed = read_json(document, "feed", DEFAULT_LIMITS, "https://e.x/", None, problems.append)
    found = [said.body for said in feed.events(How(), "https://e.x/")]
    assert not problems
    return found


def test_both_ways_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(7)
    channel = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "T",
        "feed_url": "https://e.x/feed",
        "language": "en",
    }
    documents = [
        json.dumps(channel | {"items": [drawn(dice) for _ in range(20)]}, ensure_ascii=dice.random() < 0.5)
        for _ in range(100)
    ]
    straight = [bodies(document) for document in documents]
    taken: list[bool] = []
    body = Plain.body

    def watched(self: Plain, one: dict[str, Any]) -> None:
        taken.append(body(self, one) is not None)

    monkeypatch.setattr(Plain, "body", watched)
    assert [bodies(document) for document in documents] == straight
    assert 200 < sum(taken) < len(taken)
