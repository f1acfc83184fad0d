"""Whether a document is a feed, by how it begins."""

from __future__ import annotations

import codecs
import re

_PROLOG = re.compile(
    r"(?:\s++|<\?[^>]*+>|<!--.*?-->|<!DOCTYPE[^\[>]*+(?:\[[^\]]*+\]\s*+)?+>)*+", re.DOTALL | re.IGNORECASE
)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)([^>]*+)")
_ATOM = re.compile(r"http://(?:www\.w3\.org/2005/Atom|purl\.org/atom/ns#)")
_RDF = re.compile(r"http://(?:purl\.org/rss/1\.0/|my\.netscape\.com/rdf/simple/0\.9/)")
_JSON = re.compile(r'"version"\s*+:\s*+"https?:(?:\\?/){2}jsonfeed\.org(?:\\?/)version(?:\\?/)')


def sniff(head: bytes) -> str | None:
    """`rss`, `atom`, `rdf` (RSS 1.0 and 0.90) or `json` for what begins like such a feed, else None.

    The first few thousand bytes are enough.
    """
    text = _text(head).lstrip("\ufeff \t\r\n")
    if text.startswith("{"):
        return "json" if _JSON.search(text) else None
    prolog = _PROLOG.match(text)
    root = _ROOT.match(text, prolog.end() if prolog else 0)
    if root is None:
        return None
    name, attributes = root[1].lower(), root[2]
    if name == "rss":
        return "rss"
    if name == "feed":
        return "atom" if _ATOM.search(attributes) or "xmlns" not in attributes else None
    if name == "rdf":
        return "rdf" if _RDF.search(text, root.start()) else None
    return None


def _text(head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "replace")
    if head.startswith(b"<\0"):
        return head.decode("utf-16-le", "replace")
    if head.startswith(b"\0<"):
        return head.decode("utf-16-be", "replace")
    return head.decode("utf-8", "replace")
