"""The same items as RSS 2.0, Atom, RSS 1.0 and JSON Feed: of about 1 kB each, in feeds of as many as feeds have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from html import escape

from tidings.bench.workloads.ingest.words import Words

ITEMS = 50
_SITE = "https://news.example"
_CONTENT = 380
_SUMMARY = 110
_SOUND = 0.1


@dataclass(frozen=True, slots=True)
class Story:
    """What an item says, whatever it is written in. `sound` is a file that comes with some of them."""

    link: str
    title: str
    summary: str
    content: str
    author: str
    tags: tuple[str, ...]
    issued: datetime
    sound: str | None


def stories(count: int, words: Words) -> list[Story]:
    return [_story(number, words) for number in range(count)]


def feeds(stories: Sequence[Story], write: Callable[[int, Sequence[Story]], str]) -> list[bytes]:
    """Documents of `ITEMS` each."""
    starts = range(0, len(stories), ITEMS)
    return [write(start // ITEMS, stories[start : start + ITEMS]).encode() for start in starts]


def _story(number: int, words: Words) -> Story:
    link = f"{_SITE}/{words.word().encode('ascii', 'ignore').decode()}/{number}/{words.slug()}"
    html = (
        f'<p>{words.prose(_CONTENT)}</p>\n<p><a href="{link}?from=feed&amp;n={number}">{words.sentence(2, 4)}</a></p>'
    )
    return Story(
        link,
        words.sentence(5, 9),
        words.prose(_SUMMARY),
        html,
        words.name(),
        tuple(dict.fromkeys(words.some(3))),
        words.moment(),
        f"{_SITE}/audio/{number}.mp3" if words.dice.random() < _SOUND else None,
    )


def rss2(number: int, stories: Sequence[Story]) -> str:
    items = "".join(_rss2_item(story) for story in stories)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>News {number}</title>
<link>{_SITE}/{number}</link>
<atom:link rel="self" type="application/rss+xml" href="{_SITE}/{number}/rss"/>
<description>All that is new</description>
<language>en</language>
<ttl>60</ttl>
{items}</channel>
</rss>
"""


def _rss2_item(story: Story) -> str:
    tags = "".join(f"<category>{escape(tag)}</category>\n" for tag in story.tags)
    sound = f'<enclosure url="{story.sound}" type="audio/mpeg" length="3145728"/>\n' if story.sound else ""
    return f"""<item>
<title>{escape(story.title)}</title>
<link>{story.link}</link>
<guid isPermaLink="true">{story.link}</guid>
<pubDate>{format_datetime(story.issued)}</pubDate>
<dc:creator>{escape(story.author)}</dc:creator>
{tags}{sound}<description>{escape(story.summary)}</description>
<content:encoded><![CDATA[{story.content}]]></content:encoded>
</item>
"""


def atom(number: int, stories: Sequence[Story]) -> str:
    entries = "".join(_atom_entry(story) for story in stories)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>{_SITE}/{number}/atom</id>
<title>News {number}</title>
<link rel="self" href="{_SITE}/{number}/atom"/>
<link href="{_SITE}/{number}"/>
<subtitle>All that is new</subtitle>
<updated>2025-01-01T00:00:00Z</updated>
{entries}</feed>
"""


def _atom_entry(story: Story) -> str:
    tags = "".join(f'<category term="{escape(tag)}"/>\n' for tag in story.tags)
    sound = f'<link rel="enclosure" href="{story.sound}" type="audio/mpeg" length="3145728"/>\n' if story.sound else ""
    return f"""<entry>
<id>{story.link}</id>
<title>{escape(story.title)}</title>
<link href="{story.link}"/>
<published>{_stamp(story)}</published>
<updated>{_stamp(story)}</updated>
<author><name>{escape(story.author)}</name></author>
{tags}{sound}<summary>{escape(story.summary)}</summary>
<content type="html">{escape(story.content)}</content>
</entry>
"""


def rss1(number: int, stories: Sequence[Story]) -> str:
    members = "".join(f'<rdf:li rdf:resource="{story.link}"/>' for story in stories)
    items = "".join(_rss1_item(story) for story in stories)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="{_SITE}/{number}/rdf">
<title>News {number}</title>
<link>{_SITE}/{number}</link>
<description>All that is new</description>
<dc:language>en</dc:language>
<items><rdf:Seq>{members}</rdf:Seq></items>
</channel>
{items}</rdf:RDF>
"""


def _rss1_item(story: Story) -> str:
    tags = "".join(f"<dc:subject>{escape(tag)}</dc:subject>\n" for tag in story.tags)
    return f"""<item rdf:about="{story.link}">
<title>{escape(story.title)}</title>
<link>{story.link}</link>
<dc:date>{_stamp(story)}</dc:date>
<dc:creator>{escape(story.author)}</dc:creator>
{tags}<description>{escape(story.summary)}</description>
<content:encoded><![CDATA[{story.content}]]></content:encoded>
</item>
"""


def json_feed(number: int, stories: Sequence[Story]) -> str:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": f"News {number}",
        "home_page_url": f"{_SITE}/{number}",
        "feed_url": f"{_SITE}/{number}/feed.json",
        "description": "All that is new",
        "language": "en",
        "items": [dict(_json_item(story)) for story in stories],
    }
    return json.dumps(feed, ensure_ascii=False, indent=1)


def _json_item(story: Story) -> Iterator[tuple[str, object]]:
    yield from {
        "id": story.link,
        "url": story.link,
        "title": story.title,
        "summary": story.summary,
        "content_html": story.content,
        "date_published": _stamp(story),
        "authors": [{"name": story.author}],
        "tags": list(story.tags),
    }.items()
    if story.sound:
        yield "attachments", [{"url": story.sound, "mime_type": "audio/mpeg", "size_in_bytes": 3_145_728}]


def _stamp(story: Story) -> str:
    return story.issued.strftime("%Y-%m-%dT%H:%M:%SZ")


WRITERS: Mapping[str, Callable[[int, Sequence[Story]], str]] = {
    "RSS 2.0": rss2,
    "Atom": atom,
    "RSS 1.0": rss1,
    "JSON Feed": json_feed,
}
