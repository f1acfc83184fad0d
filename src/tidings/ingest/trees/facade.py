"""The direct mapping of trees, Facade-X: https://sparql-anything.readthedocs.io (Daga, Asprino, Mulholland, Gangemi).

A record is a container: its root is an fx:root. Members of an object and attributes of an element are properties below
the base (an attribute or element with a namespace keeps it), members of an array and what is in an element are rdf:_1,
rdf:_2 … in their order. A container in another one is a blank node. An element is of the class that it is called by.

Where this departs from SPARQL Anything:
- `xyz:` is the user's base. The root is the record's IRI, or `_:H`, and not a blank node.
- JSON numbers keep their text: xsd:integer without fraction and exponent, xsd:decimal with a fraction, xsd:double with
  an exponent; there it is xsd:int and xsd:float.
- An array is an rdf:Seq, so that `[]` is not `{}`. Where the root is the home vertex, other containers of JSON are
  rdfs:Resource: every vertex of a well-formed event has a class.
- A member that is null is left out there too; in an array its place stays free.
- Text in the scope of xml:lang has that language; values of attributes, often codes, have none.
- Text of white space alone, between elements, is left out; other text is kept as it is, in one piece between elements.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from tidings.errors import EventError
from tidings.ingest.base import How
from tidings.ingest.trees.json_records import Number
from tidings.ingest.trees.naming import Names
from tidings.ingest.trees.xml_records import XML_LANG, Element
from tidings.rdf.limits import Limits
from tidings.rdf.quads import too_large
from tidings.rdf.terms import (
    RDF,
    RDF_TYPE,
    RDFS,
    XSD_BOOLEAN,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_INTEGER,
    Term,
    Triple,
    iri,
    literal,
)

ROOT = iri("http://sparql.xyz/facade-x/ns/root")
SEQ = iri(f"{RDF}Seq")
RESOURCE = iri(f"{RDFS}Resource")
_BOOLEANS = {True: literal("true", XSD_BOOLEAN), False: literal("false", XSD_BOOLEAN)}
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


@lru_cache(maxsize=4096)
def slot(number: int) -> Term:
    """rdf:_1, rdf:_2 …"""
    return iri(f"{RDF}_{number}")


def scalar(value: Any, limits: Limits) -> Term:
    """A JSON value that is no container, and not null."""
    if isinstance(value, Number):
        exponent = "e" in value or "E" in value
        datatype = XSD_DOUBLE if exponent else XSD_DECIMAL if "." in value else XSD_INTEGER
        return _bounded(literal(value, datatype), limits)
    if isinstance(value, str):
        return _bounded(literal(value), limits)
    return _BOOLEANS[value]


def _bounded(term: Term, limits: Limits) -> Term:
    if len(term) > limits.max_term:
        raise EventError(too_large(limits))
    return term


def json_triples(root: Term, record: Any, names: Names, how: How) -> list[Triple]:
    """The triples of a JSON record, whose root is `root`; an `EventError` where it is no sound record."""
    limits = how.limits
    triples: list[Triple] = [(root, RDF_TYPE, ROOT)]
    if not isinstance(record, tuple | list):
        return triples if record is None else [*triples, (root, slot(1), scalar(record, limits))]
    todo = [(root, record, 1)]
    blanks = 0
    while todo:
        node, container, depth = todo.pop()
        if depth > limits.max_depth:
            raise EventError(f"nested more than {limits.max_depth} deep")
        for property, value in _members(node, container, names, triples, how.home and node != root):
            if isinstance(value, tuple | list):
                inner = Term(f"_:b{blanks}")
                blanks += 1
                triples.append((node, property, inner))
                todo.append((inner, value, depth + 1))
            elif value is not None:
                triples.append((node, property, scalar(value, limits)))
        if len(triples) > limits.max_triples:
            raise EventError(f"an event may have {limits.max_triples:,} triples, and this has more")
    return triples


def _members(node: Term, container: Any, names: Names, triples: list[Triple], typed: bool) -> list[tuple[Term, Any]]:
    """The properties of a container and their values; its class, if it has one, goes to `triples`."""
    if isinstance(container, list):
        triples.append((node, RDF_TYPE, SEQ))
        return [(slot(number), value) for number, value in enumerate(container, 1)]
    if typed:
        triples.append((node, RDF_TYPE, RESOURCE))
    refuse_twice(container)
    return [(names.of(key), value) for key, value in container]


def refuse_twice(pairs: tuple[tuple[str, Any], ...]) -> None:
    """An `EventError` where an object of JSON has a member of one name twice."""
    if len(pairs) > 1 and len(dict(pairs)) != len(pairs):
        keys = [key for key, _ in pairs]
        raise EventError(f'the key "{next(key for key in keys if keys.count(key) > 1)}" is there twice in one object')


def xml_triples(root: Term, record: Element, names: Names, how: How) -> list[Triple]:
    """The triples of an XML record, whose root is `root`."""
    limits = how.limits
    triples: list[Triple] = [(root, RDF_TYPE, ROOT)]
    todo: list[tuple[Term, Element, str | None]] = [(root, record, _language(record.language or ""))]
    blanks = 0
    while todo:
        node, element, language = todo.pop()
        triples.append((node, RDF_TYPE, names.of_xml(element.name)))
        attributes = element.attributes
        if XML_LANG in attributes:
            language = _language(attributes[XML_LANG])
        for name, value in attributes.items():
            triples.append((node, names.of_xml(name), _bounded(literal(value), limits)))
        for number, child in enumerate(element.children, 1):
            if isinstance(child, str):
                triples.append((node, slot(number), _bounded(literal(child, language=language), limits)))
            else:
                inner = Term(f"_:b{blanks}")
                blanks += 1
                triples.append((node, slot(number), inner))
                todo.append((inner, child, language))
        if len(triples) > limits.max_triples:
            raise EventError(f"an event may have {limits.max_triples:,} triples, and this has more")
    return triples


def _language(tag: str) -> str | None:
    return tag if _LANGUAGE.fullmatch(tag) else None
