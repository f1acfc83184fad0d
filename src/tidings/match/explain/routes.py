"""The triples along a property path, to show how it leads from one end to the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TypeAlias

from tidings.lang.pattern import Alternative, Inverse, Link, Negated, Path, Repeat, Sequence
from tidings.match.meaning import Meaning
from tidings.rdf.terms import Term, Triple

Route: TypeAlias = tuple[Triple, ...]

_MOST_NODES = 5_000


def route(meaning: Meaning, path: Path, start: Term, goal: Term) -> Route | None:
    """A way along the path, the shortest one where a step repeats; None where none is found with little work."""
    return next((way for end, way in _Walk(meaning).ways(path, start) if end == goal), None)


class _Walk:
    """Walks paths until it has looked at `_MOST_NODES` nodes."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._left = _MOST_NODES

    def ways(self, path: Path, start: Term) -> Iterator[tuple[Term, Route]]:
        """Every end that the path reaches from `start`, with a way to it."""
        match path:
            case Link(iri=property):
                yield from ((t[2], (t,)) for t in self._match(start, property, None))
            case Inverse(path=Link(iri=property)):
                yield from ((t[0], (t,)) for t in self._match(None, property, start))
            case Inverse(path=inner):
                yield from self.ways(_turned(inner), start)
            case Sequence(steps=steps):
                yield from self._in_a_row(steps, start)
            case Alternative(choices=choices):
                for choice in choices:
                    yield from self.ways(choice, start)
            case Repeat():
                yield from self._repeated(path, start)
            case Negated(forward=forward, inverse=inverse):
                if forward or not inverse:
                    yield from ((t[2], (t,)) for t in self._match(start, None, None) if t[1] not in forward)
                if inverse:
                    yield from ((t[0], (t,)) for t in self._match(None, None, start) if t[1] not in inverse)

    def _match(self, s: Term | None, p: Term | None, o: Term | None) -> list[Triple]:
        self._left -= 1
        return sorted(self._meaning.match(s, p, o)) if self._left >= 0 else []

    def _in_a_row(self, steps: tuple[Path, ...], start: Term) -> Iterator[tuple[Term, Route]]:
        if not steps:
            yield start, ()
            return
        seen: set[Term] = set()
        for middle, way in self.ways(steps[0], start):
            if middle not in seen:
                seen.add(middle)
                yield from ((end, way + rest) for end, rest in self._in_a_row(steps[1:], middle))

    def _repeated(self, path: Repeat, start: Term) -> Iterator[tuple[Term, Route]]:
        if path.least == 0:
            yield start, ()
        seen: set[Term] = set()
        queue: deque[tuple[Term, Route]] = deque([(start, ())])
        while queue:
            node, way = queue.popleft()
            for end, more in self.ways(path.path, node):
                if end not in seen:
                    seen.add(end)
                    yield end, way + more
                    if path.most is None:
                        queue.append((end, way + more))


def _turned(path: Path) -> Path:
    """The same path walked from its other end."""
    match path:
        case Inverse(path=inner):
            return inner
        case Sequence(steps=steps):
            return Sequence(tuple(_turned(step) for step in reversed(steps)))
        case Alternative(choices=choices):
            return Alternative(tuple(map(_turned, choices)))
        case Repeat(path=inner, least=least, most=most):
            return Repeat(_turned(inner), least, most)
        case Negated(forward=forward, inverse=inverse):
            return Negated(inverse, forward)
        case Link():
            return Inverse(path)
