"""RDF that a Python program holds already: pyoxigraph quads, triples, stores and data sets, rdflib graphs.

rdflib is never imported: its graphs and terms are known by what they have and are called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyoxigraph as ox

from tidings.errors import EventError, UsageError

_RDFLIB_DEFAULT = "urn:x-rdflib:default"


def quads_of(data: object) -> Iterator[ox.Quad]:
    """The quads of an object; a `UsageError` where it holds none of the kinds above."""
    if hasattr(data, "serialize") and hasattr(data, "triples"):
        return _of_rdflib(data)
    if not isinstance(data, Iterable):
        raise UsageError(f"no RDF can be read from {type(data).__name__}")
    return map(_quad, data)


def _quad(item: object) -> ox.Quad:
    if isinstance(item, ox.Quad):
        return item
    if isinstance(item, ox.Triple):
        return ox.Quad(item.subject, item.predicate, item.object)
    raise UsageError(f"{type(item).__name__} is no quad or triple of pyoxigraph")


def _of_rdflib(graph: Any) -> Iterator[ox.Quad]:
    try:
        if not hasattr(graph, "quads"):
            name = _graph_name(graph, None)
            for s, p, o in graph:
                yield ox.Quad(_term(s), _term(p), _term(o), name)
            return
        default = getattr(graph, "default_graph", None) or getattr(graph, "default_context", None)
        for s, p, o, context in graph.quads((None, None, None, None)):
            yield ox.Quad(_term(s), _term(p), _term(o), _graph_name(context, default))
    except (ValueError, TypeError) as error:
        raise EventError(f"the rdflib graph holds what is not RDF 1.1: {error}", source="rdflib graph") from error


def _graph_name(context: Any, default: Any) -> Any:
    """The name of an rdflib graph, given as the graph or as its name. One that only rdflib gave it is none."""
    identifier = getattr(context, "identifier", context)
    if identifier is None or str(identifier) in (_RDFLIB_DEFAULT, str(getattr(default, "identifier", None))):
        return ox.DefaultGraph()
    if default is None and _kind(identifier) == "BNode":
        return ox.DefaultGraph()
    return _term(identifier)


def _term(term: Any) -> Any:
    kind = _kind(term)
    if kind == "BNode":
        return ox.BlankNode(str(term))
    if kind == "URIRef":
        return ox.NamedNode(str(term))
    if kind != "Literal":
        raise ValueError(f"{term!r} is no RDF term")
    if term.language is not None:
        return ox.Literal(str(term), language=term.language)
    return ox.Literal(str(term), datatype=ox.NamedNode(str(term.datatype)) if term.datatype is not None else None)


def _kind(term: object) -> str | None:
    names = {base.__name__ for base in type(term).__mro__}
    return next((kind for kind in ("URIRef", "BNode", "Literal") if kind in names), None)
