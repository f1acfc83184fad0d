"""Whether lines are N-Quads that need no reading: canonical, in named graphs, without blank nodes."""

from __future__ import annotations

from tidings.index.arrays import Bytes, Longs
from tidings.index.kernels.jit import brief, inlined
from tidings.index.kernels.raw import equal
from tidings.index.kernels.scan import _iri_end, _suffix_end, _text_end

_LT, _QUOTE, _SPACE, _DOT, _NEWLINE = 60, 34, 32, 46, 10


NAME, BEHIND, END, IN_ORDER = range(4)
"""Of a graph: where its name begins and ends, where its triples end, and whether each of them is behind the last."""


@brief
def plain_graphs(data: Bytes, stop: int, string: Bytes, triples: Bytes, bounds: Longs) -> int:
    """How many graphs there are up to `stop`, one after the other; -1 where a line is not surely what it should be, or
    there are more than `bounds` has room for. Their lines, without their names, are put into `triples`. `data` goes on
    for some bytes behind `stop`.
    """
    count = 0
    at = 0
    end = 0
    before = 0
    while at < stop:
        line = at
        for _ in range(2):
            if data[at] != _LT:
                return -1
            at = _iri_end(data, at, stop, False)
            if at < 0 or data[at] != _SPACE:
                return -1
            at += 1
        if data[at] == _LT:
            at = _iri_end(data, at, stop, False)
        elif data[at] == _QUOTE:
            at = _text_end(data, at, stop, False)
            if at >= 0:
                at = _suffix_end(data, at + 1, stop, False, string)
        else:
            return -1
        if at < 0 or data[at] != _SPACE or data[at + 1] != _LT:
            return -1
        graph = at + 1
        at = _iri_end(data, graph, stop, False)
        if at < 0 or data[at] != _SPACE or data[at + 1] != _DOT or data[at + 2] != _NEWLINE:
            return -1
        name = at
        at += 3
        here = end
        for i in range(line, graph):
            triples[end] = data[i]
            end += 1
        triples[end] = _DOT
        triples[end + 1] = _NEWLINE
        end += 2
        if count == 0 or not equal(data, graph, name, data, bounds[count - 1, NAME], bounds[count - 1, BEHIND]):
            if count == bounds.shape[0]:
                return -1
            bounds[count, NAME] = graph
            bounds[count, BEHIND] = name
            bounds[count, IN_ORDER] = 1
            count += 1
        elif not _is_before(triples, before, here):
            bounds[count - 1, IN_ORDER] = 0
        bounds[count - 1, END] = end
        before = here
    return count if at == stop else -1


@inlined
def _is_before(lines: Bytes, one: int, other: int) -> bool:
    """Of two lines, whether the one stands before the other where they are in order."""
    while lines[one] == lines[other]:
        if lines[one] == _NEWLINE:
            return False
        one += 1
        other += 1
    return lines[one] < lines[other]
