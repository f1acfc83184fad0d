"""Triples to a document in any format."""

from __future__ import annotations

import pyoxigraph as ox

from tidings.rdf.formats import Format


def written(body: str, format: Format, graph: str | None = None) -> bytes:
    """N-Triples in another format: in a graph of this name, where the format has graphs."""
    if format is Format.NT:
        return body.encode()
    triples = ox.parse(body.encode(), format=ox.RdfFormat.N_TRIPLES)
    name = ox.NamedNode(graph) if graph is not None and format.has_graphs else ox.DefaultGraph()
    quads = (ox.Quad(each.subject, each.predicate, each.object, name) for each in triples)
    found = ox.serialize(quads if format.has_graphs else (quad.triple for quad in quads), format=format.oxigraph)
    assert found is not None
    return found
