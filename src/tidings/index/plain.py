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
    bounds = np.empty((min(most, len(data) // _LEAST + 1), 3), np.int64)
    count = plain_graphs(padded(data), len(data), _STRING, bounds)
    if count < 0:
        return None
    events: dict[str, Event] = {}
    ends = [*bounds[1:count, 0].tolist(), len(data)]
    for (begin, name, behind), end in zip(bounds[:count].tolist(), ends, strict=False):
        id = data[name + 1 : behind - 1].decode()
        if id in events:
            return None
        # A newline ends a line, and is in no term: so this is what ends each, and nothing else.
        lines = data[begin:end].replace(b" %b .\n" % data[name:behind], b" .\n").decode().split("\n")
        events[id] = Event(id, "\n".join((*sorted(set(lines[:-1])), "")))
    return list(events.values())
