"""Events as Turtle with prefixes, for somebody to read."""

from __future__ import annotations

from collections.abc import Iterable

import pyoxigraph as ox

from tidings.ingest.base import DATA
from tidings.rdf.event import Event
from tidings.rdf.terms import OWL, RDF, RDFS, XSD

PREFIXES = {
    "rdf": RDF,
    "rdfs": RDFS,
    "xsd": XSD,
    "owl": OWL,
    "fx": "http://sparql.xyz/facade-x/ns/",
    "dcterms": "http://purl.org/dc/terms/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "schema": "http://schema.org/",
    "rss": "http://purl.org/rss/1.0/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "sioc": "http://rdfs.org/sioc/ns#",
    "as": "https://www.w3.org/ns/activitystreams#",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "pdf": "http://ns.adobe.com/pdf/1.3/",
    "exif": "http://www.w3.org/2003/12/exif/ns#",
    "og": "http://ogp.me/ns#",
}


def preview(events: Iterable[Event], base: str = DATA) -> str:
    """The events one after the other, each under its id; prefixes that are used stand at the top."""
    kept = list(events)
    everything = "".join(event.body for event in kept)
    prefixes = {name: space for name, space in {"": base, **PREFIXES}.items() if f"<{space}" in everything}
    head = "".join(f"@prefix {name}: <{space}> .\n" for name, space in prefixes.items())
    return "\n".join([head, *(f"# event <{event.id}>\n{_turtle(event, prefixes)}" for event in kept)]).lstrip("\n")


def _turtle(event: Event, prefixes: dict[str, str]) -> str:
    triples = (quad.triple for quad in ox.parse(event.body.encode(), format=ox.RdfFormat.N_TRIPLES))
    data = ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=prefixes)
    assert data is not None
    lines = data.decode().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("@prefix "))
