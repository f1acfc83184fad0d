"""JSON-LD in the script elements of a page.

No context is fetched. Local copies come with the option `contexts`; for schema.org, whose context most pages name,
there is a rule where no copy is given: every term is in http://schema.org/, `id` and `type` are keywords, and values
are as they are written (the real context makes IRIs of some strings, and dates of others).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tidings.errors import EventError
from tidings.ingest.base import How
from tidings.rdf.read import read_triples
from tidings.rdf.terms import Triple

_RULE = b"""{"@context": {"@vocab": "http://schema.org/", "schema": "http://schema.org/", "id": "@id", "type": "@type",
"xsd": "http://www.w3.org/2001/XMLSchema#"}}"""
SCHEMA_ORG = {
    f"{scheme}://{host}{path}": _RULE
    for scheme in ("http", "https")
    for host in ("schema.org", "www.schema.org")
    for path in ("", "/docs/jsonldcontext.json", "/docs/jsonldcontext.jsonld")
}


def scripts(dom: Any) -> Iterator[str]:
    """The texts of the JSON-LD scripts of a page, in order."""
    for script in dom.getElementsByTagName("script"):
        kind = script.getAttribute("type").partition(";")[0].strip().lower()
        if kind == "application/ld+json":
            yield "".join(child.data for child in script.childNodes if hasattr(child, "data"))


def triples(script: str, number: int, name: str, base: str, how: How) -> list[Triple]:
    """The triples of the script of this number; an `EventError` where it is no sound JSON-LD."""
    given: Mapping[str, bytes] = how.options.get("contexts", {})
    own = {address.rstrip("/") for address in given}
    contexts = {address: rule for address, rule in SCHEMA_ORG.items() if address not in own} | dict(given)
    try:
        return list(read_triples(script.encode(), format="jsonld", limits=how.limits, contexts=contexts, base=base))
    except EventError as error:
        where = f"JSON-LD script {number}" + (f", line {error.line}" if error.line else "")
        raise EventError(f"{where}: {error.reason}", source=name, hint=error.hint) from None
    except UnicodeEncodeError:
        raise EventError(f"JSON-LD script {number}: half a character", source=name) from None
