"""Trees of records, and documents with something in them about themselves: pages, PDF files and pictures."""

from __future__ import annotations

import io
import json
from html import escape
from typing import Any

from tidings.bench.workloads.ingest.words import Words

_PARAGRAPHS = 8


def records(count: int, words: Words) -> list[dict[str, Any]]:
    """Orders: objects in objects, and lists of them."""
    return [
        {
            "id": f"order-{number}",
            "placed": words.moment().isoformat(),
            "customer": {"name": words.name(), "city": words.word().capitalize(), "loyal": words.dice.random() < 0.5},
            "lines": [
                {"product": words.sentence(2, 5), "count": words.dice.randint(1, 9), "price": words.dice.random() * 100}
                for _ in range(words.dice.randint(1, 4))
            ],
            "note": words.prose(100),
        }
        for number in range(count)
    ]


def as_json(records: list[dict[str, Any]]) -> bytes:
    return json.dumps(records, ensure_ascii=False, indent=1).encode()


def as_xml(records: list[dict[str, Any]]) -> bytes:
    """The same as elements, a record being `/orders/order`."""
    return f"<orders>\n{''.join(_element('order', record) for record in records)}</orders>\n".encode()


def _element(name: str, value: object) -> str:
    if isinstance(value, list):
        return "".join(_element(name.removesuffix("s"), one) for one in value)
    inside = "".join(_element(key, one) for key, one in value.items()) if isinstance(value, dict) else None
    return f"<{name}>{escape(str(value)) if inside is None else inside}</{name}>\n"


def page(number: int, words: Words) -> bytes:
    """An article with JSON-LD, RDFa and microdata, and text around it."""
    title, author, place = words.sentence(4, 8), words.name(), words.word().capitalize()
    about = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "@id": f"https://news.example/{number}",
        "headline": title,
        "datePublished": words.moment().isoformat(),
        "author": {"@type": "Person", "name": author},
        "keywords": words.some(4),
    }
    text = "".join(
        f"<p>{escape(words.prose(300))} <a href='/{words.slug()}'>{words.word()}</a></p>\n" for _ in range(8)
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<script type="application/ld+json">{json.dumps(about)}</script></head>
<body><article vocab="http://schema.org/" typeof="Article"><h1 property="headline">{title}</h1>
<span property="author">{author}</span></article>
<div itemscope itemtype="http://schema.org/Place"><span itemprop="name">{place}</span></div>
{text}</body></html>
""".encode()


def packet(words: Words) -> bytes:
    """XMP, as cameras and word processors write it."""
    subjects = "".join(f"<rdf:li>{word}</rdf:li>" for word in words.some(4))
    return f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{words.sentence(3, 6)}</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>{words.name()}</rdf:li></rdf:Seq></dc:creator>
<dc:subject><rdf:Bag>{subjects}</rdf:Bag></dc:subject>
<xmp:CreateDate>{words.moment().isoformat()}</xmp:CreateDate>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>""".encode()


def pdf(words: Words) -> bytes:
    from pypdf import PdfWriter

    writer = PdfWriter()
    for _ in range(_PARAGRAPHS):
        writer.add_blank_page(595, 842)
    writer.add_metadata({"/Title": words.sentence(3, 6), "/Author": words.name(), "/Subject": words.sentence(6, 12)})
    writer.xmp_metadata = packet(words)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def picture(words: Words) -> bytes:
    from PIL import Image

    colour = (words.dice.randrange(256), words.dice.randrange(256), words.dice.randrange(256))
    out = io.BytesIO()
    Image.new("RGB", (640, 480), colour).save(out, "JPEG", xmp=packet(words))
    return out.getvalue()
