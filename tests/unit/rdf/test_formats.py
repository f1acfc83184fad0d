"""Formats by name, extension and media type."""

from __future__ import annotations

import pytest

from tidings.errors import UsageError
from tidings.rdf.formats import Format


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("a.nt", Format.NT),
        ("a.nq", Format.NQ),
        ("a.ttl", Format.TTL),
        ("a.TRIG", Format.TRIG),
        ("a.rdf", Format.RDF),
        ("a.owl", Format.RDF),
        ("a.xml", Format.RDF),
        ("a.jsonld", Format.JSONLD),
        ("a.json", Format.JSONLD),
        ("a.b.ttl.gz", Format.TTL),
        ("a.nq.zst", Format.NQ),
        ("a.gz", None),
        ("a.txt", None),
        ("ttl", None),
    ],
)
def test_by_path(path: str, format: Format | None) -> None:
    assert Format.of_path(path) is format


@pytest.mark.parametrize("name", ["ttl", "Turtle", ".ttl", "text/turtle", Format.TTL])
def test_by_name(name: str | Format) -> None:
    found = Format.of_media_type(name) if isinstance(name, str) and "/" in name else Format.of(name)
    assert found is Format.TTL


@pytest.mark.parametrize(
    ("name", "format"), [("N-Quads", Format.NQ), ("rdf/xml", Format.RDF), ("JSON-LD", Format.JSONLD)]
)
def test_names_of_other_tools(name: str, format: Format) -> None:
    assert Format.of(name) is format


def test_media_type_with_parameters() -> None:
    assert Format.of_media_type("application/ld+json; profile=x; charset=utf-8") is Format.JSONLD
    assert Format.of_media_type("image/png") is None


def test_an_unknown_name_lists_the_formats() -> None:
    with pytest.raises(UsageError, match="nt, nq, ttl, trig, rdf, jsonld"):
        Format.of("yaml")
