"""Triples for tests, written in Turtle with the usual prefixes."""

from __future__ import annotations

import pyoxigraph as ox

from tidings.rdf.terms import Term, Triple, iri

PREFIXES = {
    "ex": "http://example.org/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "daml": "http://www.daml.org/2001/03/daml+oil#",
    "daml0": "http://www.daml.org/2000/12/daml+oil#",
    "schema": "http://schema.org/",
    "schemas": "https://schema.org/",
}
HEADER = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in PREFIXES.items())


def triples(text: str) -> list[Triple]:
    quads = ox.parse(HEADER + text, ox.RdfFormat.TURTLE)
    return [(Term(str(q.subject)), Term(str(q.predicate)), Term(str(q.object))) for q in quads]


def ex(name: str) -> Term:
    return iri(PREFIXES["ex"] + name)


def term(name: str) -> Term:
    """`prefix:local` as a term."""
    prefix, local = name.split(":")
    return iri(PREFIXES[prefix] + local)
