"""A JSON record as triples by a JSON-LD context that the user gives: what the JSON-LD of `rdf/` makes of the two.

Numbers are as JSON-LD has them: a fraction becomes an xsd:double in its canonical form. A remote context, in the
user's or in a record, is not fetched; the option `contexts` has local copies by their address.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tidings.errors import EventError, UsageError
from tidings.ingest.base import DATA, How
from tidings.ingest.trees.json_records import Number
from tidings.rdf.read import read_triples
from tidings.rdf.terms import Term, Triple, iri

_HERE = "urn:tidings:record"
_IS = "urn:tidings:record:is"


class InContext:
    """Expands records, one after the other, with one context."""

    def __init__(self, how: How) -> None:
        assert how.context is not None
        try:
            given = json.loads(how.context)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"the context is not well-formed JSON: {error}") from error
        context = given["@context"] if isinstance(given, dict) and "@context" in given else given
        self._before = f'{{"@context":{json.dumps(context)},"@id":"{_HERE}","{_IS}":'
        self._contexts: Mapping[str, bytes] = how.options.get("contexts", {})
        self._limits = how.limits
        # Relative references in data have no place of their own unless the user names one.
        self._base = how.base if how.base != DATA else None

    def check(self) -> None:
        """An `EventError` where it is no context."""
        list(self._read("{}"))

    def _read(self, record: str) -> Iterator[Triple]:
        text = f"{self._before}{record}}}".encode()
        return read_triples(text, format="jsonld", limits=self._limits, contexts=self._contexts, base=self._base)

    def triples(self, record: Any) -> tuple[Term | None, list[Triple]]:
        """What the record is about, where it is one thing, and all that it says."""
        if not isinstance(record, tuple):
            raise EventError("a record that is no object has no meaning in a JSON-LD context")
        triples = list(self._read(as_json(record)))
        root = [o for s, p, o in triples if s == iri(_HERE) and p == iri(_IS)]
        said = [triple for triple in triples if triple[1] != iri(_IS) or triple[0] != iri(_HERE)]
        if not said:
            raise EventError(
                "nothing of the record is in the context", hint="name its members in the context, or a @vocab"
            )
        return (root[0] if len(root) == 1 else None), said


def as_json(value: Any) -> str:
    """The JSON text of a value of `json_records`; numbers as they were written."""
    if isinstance(value, tuple):
        return "{" + ",".join(f"{json.dumps(key)}:{as_json(inner)}" for key, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    return str(value) if isinstance(value, Number) else json.dumps(value)
