"""Whether lines are N-Quads that need no reading: canonical, in named graphs, without blank nodes."""

from __future__ import annotations

from tidings.index.arrays import Bytes, Longs
from tidings.index.kernels.jit import brief
from tidings.index.kernels.raw import equal
from tidings.index.kernels.scan import _iri_end, _suffix_end, _text_end

_LT, _QUOTE, _SPACE, _DOT, _NEWLINE = 60, 34, 32, 46, 10


@brief
def plain_graphs(data: Bytes, stop: int, string: Bytes, bounds: Longs) -> int:
    """How many graphs there are up to `stop`, one after the other; -1 where a line is not surely what it should be, or
    there are more than `bounds` has room for. Of graph n, `bounds[n]` is where its lines begin, and where the last name
    of it begins and ends. `data` goes on for some bytes behind `stop`.
    """
    count = 0
    at = 0
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
        if count == 0 or not equal(data, graph, at, data, bounds[count - 1, 1], bounds[count - 1, 2]):
            if count == bounds.shape[0]:
                return -1
            bounds[count, 0] = line
            count += 1
        bounds[count - 1, 1] = graph
        bounds[count - 1, 2] = at
        at += 3
    return count if at == stop else -1
