"""Events by graph: every named graph is one, and the triples outside any graph are one more. And by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from tidings.rdf.draft import Draft, Part, Problems
from tidings.rdf.quads import DEFAULT, Broken, Item
from tidings.rdf.seen import Numbering


def by_document(items: Iterable[Item], problems: Problems) -> Iterator[Draft]:
    """All graphs of the document merged into one event."""
    return by_graph((replace(item, graph=DEFAULT) for item in items), problems)


def by_graph(items: Iterable[Item], problems: Problems) -> Iterator[Draft]:
    """A graph ends where another begins; the default graph ends with the document."""
    graphs = ByGraph(problems)
    for item in items:
        yield from graphs.take(item)
    yield from graphs.end()


class ByGraph:
    """One document, item by item."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._default = Part()
        self._open = Part()
        self._graph = DEFAULT
        self._spoilt: set[str] = set()
        self._spoil_next = False
        self._unnamed = Numbering()

    @property
    def open_graph(self) -> str:
        """The graph that the next triples may still belong to."""
        return self._graph

    @property
    def spoilt(self) -> Set[str]:
        """The graphs of which no event comes."""
        return self._spoilt

    @property
    def waiting(self) -> bool:
        """Whether the next triples, of whatever graph, are lost."""
        return self._spoil_next

    def take(self, item: Item) -> Iterator[Draft]:
        if isinstance(item, Broken):
            self._broken(item)
            return
        if item.graph not in (self._graph, DEFAULT):
            yield from self._closed()
            self._graph, self._open = item.graph, Part(spoilt=item.graph in self._spoilt)
        part = self._default if item.graph == DEFAULT else self._open
        if self._spoil_next:
            part.spoil()
            self._spoil_next = False
        part.take(item, _what(item.graph), self._problems)
        if part.spoilt:
            self._spoilt.add(item.graph)

    def part(self) -> Iterator[Draft]:
        """Close the open graph: others came after it, which somebody else read."""
        yield from self._closed()
        self._graph, self._open = DEFAULT, Part()

    def end(self) -> Iterator[Draft]:
        yield from self._closed()
        if self._default.triples:
            yield Draft(None, self._default.triples, self._default.line)

    def _closed(self) -> Iterator[Draft]:
        part = self._open
        if not part.triples:
            return
        if self._graph.startswith("_:"):
            again = not self._unnamed.number(self._graph)[1]
            yield Draft(None, part.triples, part.line, again)
        else:
            yield Draft(self._graph[1:-1], part.triples, part.line)

    def _broken(self, broken: Broken) -> None:
        """The event is lost; it is told once, however many of its lines are broken."""
        if broken.graph is None:
            told, self._spoil_next = self._spoil_next, True
        elif broken.graph == DEFAULT:
            told = self._default.spoilt
            self._default.spoil()
        else:
            told = broken.graph in self._spoilt
            self._spoilt.add(broken.graph)
            if broken.graph == self._graph:
                self._open.spoil()
        if broken.rest:
            self._default.spoil()
            self._open.spoil()
        if broken.rest or not told:
            self._problems.report(broken.error)


def _what(graph: str) -> str:
    return "the event of the triples outside any graph" if graph == DEFAULT else f"the event {graph}"
