"""IRIs for what trees name: members, elements and records below the base, and the home vertex.

A name becomes an IRI by percent-encoding all that is not an unreserved character (the "IRI-safe" form of R2RML).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pyoxigraph as ox

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How
from tidings.ingest.trees.paths import SEPARATOR
from tidings.rdf.terms import HOME, RDF_TYPE, XSD, Term, Triple, iri, is_iri, literal

IDENTIFIER = iri("http://purl.org/dc/terms/identifier")
_PLANES = "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xFFFD)}" for plane in range(1, 14))
_UNSAFE = re.compile(f"[^A-Za-z0-9._~\\-\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef{_PLANES}]")


def encoded(text: str) -> str:
    """`text` as a part of an IRI."""
    return _UNSAFE.sub(lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode("utf-8", "surrogatepass")), text)


@lru_cache(maxsize=4096)
def is_valid(text: str) -> bool:
    """Whether `text` is an absolute IRI."""
    try:
        ox.NamedNode(text)
    except ValueError:
        return False
    return True


class Names:
    """The IRIs of one run: each name is made once."""

    def __init__(self, how: How) -> None:
        if not is_valid(f"{how.base}a"):
            raise UsageError(f"the base '{how.base}' is no absolute IRI")
        for each in how.classes:
            if not is_valid(each):
                raise UsageError(f"the class '{each}' is no absolute IRI")
        self._base = how.base
        self._made: dict[str, Term] = {}

    def of(self, name: str) -> Term:
        """A member of an object, below the base."""
        found = self._made.get(name)
        if found is None:
            found = self._keep(name, f"{self._base}{encoded(name)}")
        return found

    def of_xml(self, name: str) -> Term:
        """An element or attribute, by its name of `xml_records`: in its namespace, or below the base."""
        found = self._made.get(name)
        if found is None:
            namespace, _, local = name.rpartition(SEPARATOR)
            text = f"{namespace}{'' if namespace.endswith(('/', '#', ':')) else '#'}{encoded(local)}"
            if not namespace:
                text = f"{self._base}{encoded(local)}"
            elif not is_valid(text):
                text = f"{self._base}{encoded(namespace)}:{encoded(local)}"
            found = self._keep(name, text)
        return found

    def _keep(self, name: str, text: str) -> Term:
        # Names that are data (identifiers as keys, say) must not gather without end.
        if len(self._made) >= 10_000:
            self._made.clear()
        return self._made.setdefault(name, iri(text))


def subject(how: How, number: int, values: Sequence[str] | None) -> Term:
    """The IRI of a record: by the values of its key, else by its number in the document, from 1."""
    if values is None:
        return iri(f"{how.base}{'' if '#' in how.base else '#'}record={number}")
    return iri(f"{how.base}{'/'.join(map(encoded, values))}")


def key_values(how: How, look_up: Callable[[str], list[Any]]) -> list[str] | None:
    """The values of a record's key, of which each must be one; None where the user names no key."""
    if not how.key:
        return None
    values = []
    for name in how.key:
        found = look_up(name)
        if len(found) != 1:
            raise EventError(f"the record has {len(found) or 'no'} values for '{name}', which is its key")
        values.append(str(found[0]).lower() if isinstance(found[0], bool) else str(found[0]))
    return values


def about(subject: Term, how: How) -> list[Triple]:
    """What is said of every record's subject: its classes, and its IRI where it is to be the home vertex."""
    node = HOME if how.home else subject
    triples: list[Triple] = [(node, RDF_TYPE, iri(each)) for each in how.classes]
    if how.home and is_iri(subject):
        triples.append((node, IDENTIFIER, literal(subject[1:-1], f"{XSD}anyURI")))
    return triples
