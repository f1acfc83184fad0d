"""Addresses as feeds write them, made into IRIs where they can be."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

import pyoxigraph as ox

_PLAIN = re.compile(
    r"https?://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*+(?::[0-9]{1,5})?"
    r"(?:/[\w.~!$&'()*+,;=:@/-]*+)?+(?:\?[\w.~!$&'()*+,;=:@/?-]*+)?+(?:#[\w.~!$&'()*+,;=:@/?-]*+)?+",
    re.ASCII,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_RUNS = re.compile(r"(?i)(?:javascript|vbscript|data|blob|about):")
_NOT_ALLOWED = re.compile(r"[\x00-\x20\x7f-\x9f<>\"{}|\\^`\[\]]|%(?![0-9A-Fa-f]{2})")
_MOST = 8_192


plain: Callable[[str], object] = _PLAIN.fullmatch
"""Something where the text is surely an absolute IRI that runs nothing, with nothing to escape in it."""


def absolute(text: str, base: str | None) -> str | None:
    """The IRI that `text` names, resolved against `base`; None where it is none.

    What an IRI may not hold is percent-encoded. An address that would run something (`javascript:`) is none.
    """
    if plain(text):
        return text
    text = text.strip()
    if not text or len(text) > _MOST:
        return None
    if not _SCHEME.match(text):
        if base is None:
            return None
        try:
            text = urljoin(base, text)
        except ValueError:
            return None
    return checked(_NOT_ALLOWED.sub(lambda found: quote(found[0]), text))


def checked(text: str) -> str | None:
    """`text` where it is a valid absolute IRI that runs nothing."""
    if plain(text):
        return text
    return _checked(text) if len(text) <= _MOST else None


@lru_cache(maxsize=4_096)
def _checked(text: str) -> str | None:
    if _RUNS.match(text):
        return None
    try:
        return ox.NamedNode(text).value
    except ValueError:
        return None


def identifier(text: str) -> str | None:
    """`text` where it is written as an IRI already, with something behind its scheme: a guid that can be a subject."""
    if plain(text):
        return text
    found = checked(text)
    return found if found and _SCHEME.sub("", found, count=1).strip("/") else None


def shown(text: str, base: str | None) -> str:
    """An address as it is told in a literal: resolved where that can be done, else as it is written."""
    text = text.strip()
    if base is None or _SCHEME.match(text) or not text:
        return text
    try:
        return urljoin(base, text)
    except ValueError:
        return text


def below(scheme: str, term: str) -> str | None:
    """The IRI of a category: its term below its scheme, if that is an IRI; the term alone where it is an address."""
    if term.startswith(("http://", "https://")):
        return absolute(term, None)
    root = absolute(scheme, None) if scheme else None
    if root is None or not term.strip():
        return None
    joint = "" if root[-1] in "/#:=?" else "/"
    return checked(
        root + joint + _NOT_ALLOWED.sub(lambda found: quote(found[0]), re.sub("[/?#%]", _quoted, term.strip()))
    )


def _quoted(found: re.Match[str]) -> str:
    return quote(found[0], safe="")


def hierarchical(base: str | None) -> str | None:
    """`base` where relative addresses can be resolved against it."""
    return base if base and urlsplit(base).netloc and checked(base) else None
