"""Events by nanopublication: its head names its other graphs, and all of them make one event, called by its IRI.

The graphs of one nanopublication may come in any order, with others between them. It is given out as soon as all of its
graphs have ended, so only the unfinished ones are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidings.rdf.draft import Draft, Part, Problems
from tidings.rdf.limits import human
from tidings.rdf.quads import DEFAULT, Broken, Item, Run
from tidings.rdf.seen import Numbering
from tidings.rdf.terms import RDF_TYPE

NP = "http://www.nanopub.org/nschema#"

_IS_NANOPUB = f" {RDF_TYPE} <{NP}Nanopublication> .\n"
_PARTS = (f"<{NP}hasAssertion>", f"<{NP}hasProvenance>", f"<{NP}hasPublicationInfo>")


@dataclass(frozen=True, slots=True)
class _Head:
    """A nanopublication that has been announced: the graphs it consists of, its head among them."""

    nanopub: str
    graphs: tuple[str, ...]


def by_nanopub(items: Iterable[Item], problems: Problems) -> Iterator[Draft]:
    return _ByNanopub(problems).drafts(items)


class _ByNanopub:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._parts: dict[str, Part] = {}
        self._ended: set[str] = set()
        self._heads: dict[str, _Head] = {}
        self._wanted: dict[str, set[str]] = {}
        self._used = Numbering()
        self._late: set[str] = set()
        self._size = 0
        self._spoil_next = False
        self._cut_off = False

    def drafts(self, items: Iterable[Item]) -> Iterator[Draft]:
        last = DEFAULT
        for item in items:
            if isinstance(item, Broken):
                self._broken(item)
                continue
            if item.graph != last:
                yield from self._end(last)
                last = item.graph
            self._take(item)
            if self._size > self._problems.limits.max_pending:
                self._give_up(item)
                return
        yield from self._end(last)
        if not self._cut_off:
            self._tell_rest()

    def _take(self, run: Run) -> None:
        if run.graph in self._used:
            if run.graph not in self._late:
                self._late.add(run.graph)
                reason = f"the graph {run.graph} goes on after its nanopublication was complete"
                self._problems.tell(reason, run.line, "use --group, which brings the graphs together first")
            return
        part = self._parts.setdefault(run.graph, Part(run.line))
        self._ended.discard(run.graph)
        if self._spoil_next:
            part.spoil()
            self._spoil_next = False
        self._size -= part.size
        part.take(run, f"the graph {run.graph}", self._problems)
        self._size += part.size

    def _end(self, graph: str) -> Iterator[Draft]:
        """The graph has ended, for now: it may be a head, or the last part that a head waits for."""
        if graph not in self._parts or graph == DEFAULT:
            return
        self._ended.add(graph)
        head = self._head(graph)
        if head is not None:
            self._heads[graph] = head
            for name in head.graphs:
                self._wanted.setdefault(name, set()).add(graph)
        for waiting in sorted(self._wanted.get(graph, ())):
            announced = self._heads.get(waiting)
            if announced and self._ended.issuperset(announced.graphs):
                yield from self._complete(announced)

    def _head(self, graph: str) -> _Head | None:
        triples = self._parts[graph].triples
        for triple in triples:
            if triple.endswith(_IS_NANOPUB):
                nanopub = triple.partition(" ")[0]
                named = [t[len(nanopub) + 1 : -3].split(" ") for t in triples if t.startswith(f"{nanopub} ")]
                parts = [pair[1] for pair in named if pair[0] in _PARTS]
                if parts and nanopub.startswith("<"):
                    return _Head(nanopub, tuple(dict.fromkeys([graph, *parts])))
        return None

    def _complete(self, head: _Head) -> Iterator[Draft]:
        found = [(name, part) for name, part in self._parts.items() if name in head.graphs]
        for name, part in found:
            del self._parts[name]
            self._ended.discard(name)
            self._heads.pop(name, None)
            self._wanted.pop(name, None)
            self._used.number(name)
            self._size -= part.size
        if any(part.spoilt for _, part in found):
            return
        whole = Part()
        for name, part in found:
            whole.take(Run(name, part.triples, part.size, part.line), f"the event {head.nanopub}", self._problems)
        if whole.triples:
            yield Draft(head.nanopub[1:-1], whole.triples, whole.line)

    def _broken(self, broken: Broken) -> None:
        self._cut_off = self._cut_off or broken.rest
        if broken.graph is None:
            told, self._spoil_next = self._spoil_next, True
        else:
            part = self._parts.setdefault(broken.graph, Part())
            told = part.spoilt
            self._size -= part.size
            part.spoil()
        if broken.rest or not told:
            self._problems.report(broken.error)

    def _tell_rest(self) -> None:
        """What belongs to no nanopublication, or to one that is not complete."""
        for head in self._heads.values():
            missing = [name for name in head.graphs if name not in self._ended]
            spoilt = any(part.spoilt for name, part in self._parts.items() if name in head.graphs)
            line = self._parts[head.graphs[0]].line
            for name in head.graphs:
                self._parts.pop(name, None)
            if not spoilt:
                self._problems.tell(f"the nanopublication {head.nanopub} lacks its graph {missing[0]}", line)
        for name, part in self._parts.items():
            if part.triples:
                what = f"the graph {name} belongs" if name else "triples outside any graph belong"
                self._problems.tell(f"{what} to no nanopublication", part.line)

    def _give_up(self, run: Run) -> None:
        limit = human(self._problems.limits.max_pending)
        reason = f"more than {limit} of graphs wait for the rest of their nanopublication; the document is left here"
        self._problems.tell(reason, run.line)
