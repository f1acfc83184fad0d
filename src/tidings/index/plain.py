"""The events of N-Quads that come as the package itself would write them: nothing of them has to be parsed."""

from __future__ import annotations

import numpy as np

from tidings.index.kernels.plain import plain_graphs
from tidings.index.scanner import padded
from tidings.rdf.event import Event
from tidings.rdf.terms import XSD_STRING, iri

_STRING = padded(iri(XSD_STRING).encode())
_LEAST = 16
"""Bytes that a line has at least."""


def plain_events(data: bytes, most: int = 1_000) -> list[Event] | None:
    """The events of a document, in order; None where it has to be read as any other: where a line is not canonical, a
    graph has no name or comes apart, there is a blank node, or there are more than `most` events.
    """
    bounds = np.empty((min(most, len(data) // _LEAST + 1), 4), np.int64)
    triples = np.empty(len(data), np.uint8)
    count = plain_graphs(padded(data), len(data), _STRING, triples, bounds)
    if count < 0:
        return None
    events: dict[str, Event] = {}
    text, begin = triples.tobytes(), 0
    for name, behind, end, in_order in bounds[:count].tolist():
        id = data[name + 1 : behind - 1].decode()
        if id in events:
            return None
        body = text[begin:end].decode()
        if not in_order:
            # A newline ends a line, and is in no term.
            body = "\n".join((*sorted(set(body.split("\n")[:-1])), ""))
        events[id] = Event(id, body)
        begin = end
    return list(events.values())
