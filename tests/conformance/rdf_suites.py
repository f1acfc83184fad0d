"""What the RDF conformance tests share: test suites from archives, and data sets seen as events."""

from __future__ import annotations

import io
import tarfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyoxigraph as ox

from tidings.errors import EventError
from tidings.rdf.event import Event
from tidings.rdf.jsonld import Contexts
from tidings.rdf.read import read_events

Graphs = set[tuple[str | None, frozenset[str]]]
"""Every graph of a data set: its name, if it is an IRI, and its triples with canonical blank nodes."""


def archive(path: Path) -> dict[str, bytes]:
    """The files of a .tar.zst, by path."""
    with pa.input_stream(str(path), compression="zstd") as stream:
        data = io.BytesIO(stream.read())
    with tarfile.open(fileobj=data) as tar:
        files = [(member.name, tar.extractfile(member)) for member in tar.getmembers() if member.isfile()]
        return {name: file.read() for name, file in files if file is not None}


def read(
    data: bytes, format: str, base: str | None = None, contexts: Contexts | None = None
) -> tuple[list[Event], list[EventError]]:
    """The events of a document and what was reported."""
    errors: list[EventError] = []
    events = read_events([data], format=format, base=base, contexts=contexts, report=errors.append)
    return list(events), errors


def graphs_of_events(events: Iterable[Event]) -> Graphs:
    found: Graphs = set()
    for event in events:
        name = None if event.id.startswith("urn:tidings:sha256:") else event.id
        found.add((name, _canonical(ox.parse(event.body.encode(), ox.RdfFormat.N_TRIPLES))))
    return found


def graphs_of_quads(quads: Iterable[ox.Quad]) -> Graphs:
    graphs: dict[ox.NamedNode | ox.BlankNode | ox.DefaultGraph, list[ox.Quad]] = defaultdict(list)
    for quad in quads:
        graphs[quad.graph_name].append(ox.Quad(quad.subject, quad.predicate, quad.object))
    return {
        (name.value if isinstance(name, ox.NamedNode) else None, _canonical(triples))
        for name, triples in graphs.items()
    }


def _canonical(quads: Iterable[ox.Quad]) -> frozenset[str]:
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return frozenset(str(quad.triple) for quad in dataset)
