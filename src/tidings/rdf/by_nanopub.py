"""Events by nanopublication: its head names its other graphs, and all of them make one event, called by its IRI.

The graphs of one nanopublication may come in any order, with others between them. It is given out as soon as all of its
graphs have ended, so only the unfinished ones are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidings.rdf.draft import Draft, Part, Problems
from tidings.rdf.limits import human
from tidings.rdf.quads import DEFAULT, Broken, Item, Run, subject_of
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
        self._arrived: dict[str, int] = {}
        self._ended: set[str] = set()
        self._lost: set[str] = set()
        self._heads: dict[str, _Head] = {}
        self._wanted: dict[str, set[str]] = {}
        self._used = Numbering()
        self._late: set[str] = set()
        self._size = 0
        self._lose_next = False
        self._cut_off = False

    def drafts(self, items: Iterable[Item]) -> Iterator[Draft]:
        last = DEFAULT
        for item in items:
            if isinstance(item, Broken):
                self._broken(item)
                continue
            if item.graph not in (last, DEFAULT):
                yield from self._end(last)
                last = item.graph
            self._take(item)
            if self._size > self._problems.limits.max_pending:
                self._give_up(item)
                return
        if not self._cut_off:
            yield from self._end(last)
            self._tell_rest()

    def _take(self, run: Run) -> None:
        name = run.graph
        if name in self._used:
            if name not in self._late:
                self._late.add(name)
                reason = f"the graph {name} goes on after its nanopublication was complete"
                self._problems.tell(reason, run.line, "use --group, which brings the graphs together first")
            return
        if self._lose_next:
            self._lost.add(name)
            self._lose_next = False
        self._arrived.setdefault(name, len(self._used) + len(self._arrived))
        self._ended.discard(name)
        part = self._parts.setdefault(name, Part(run.line))
        self._size -= part.size
        part.take(run, f"the graph {name}", self._problems)
        self._size += part.size

    def _end(self, graph: str) -> Iterator[Draft]:
        """The graph has ended, for now: it may be a head, or the last part that a head waits for."""
        if graph not in self._parts:
            return
        self._ended.add(graph)
        head = _head(graph, self._parts[graph].triples)
        if head is not None:
            self._heads[graph] = head
            for name in head.graphs:
                self._wanted.setdefault(name, set()).add(graph)
        for waiting in sorted(self._wanted.get(graph, ())):
            announced = self._heads.get(waiting)
            if announced and self._ended.issuperset(announced.graphs):
                yield from self._complete(announced)

    def _complete(self, head: _Head) -> Iterator[Draft]:
        whole = Part()
        lost = False
        for name in sorted(head.graphs, key=self._arrived.__getitem__):
            part = self._parts[name]
            lost = lost or part.spoilt or name in self._lost
            whole.take(Run(name, part.triples, part.size, part.line), f"the event {head.nanopub}", self._problems)
            self._forget(name)
            self._used.number(name)
        if whole.triples and not lost:
            yield Draft(head.nanopub[1:-1], whole.triples, whole.line)

    def _forget(self, name: str) -> None:
        part = self._parts.pop(name, None)
        self._size -= part.size if part else 0
        self._arrived.pop(name, None)
        self._ended.discard(name)
        self._heads.pop(name, None)
        self._wanted.pop(name, None)

    def _broken(self, broken: Broken) -> None:
        self._cut_off = self._cut_off or broken.rest
        if broken.graph is None:
            told, self._lose_next = self._lose_next, True
        else:
            told = broken.graph in self._lost
            self._lost.add(broken.graph)
        if broken.rest or not told:
            self._problems.report(broken.error)

    def _tell_rest(self) -> None:
        """What belongs to no nanopublication, or to one that is not complete."""
        for head in list(self._heads.values()):
            missing = [name for name in head.graphs if name not in self._ended]
            lost = any(name in self._lost for name in head.graphs)
            line = self._parts[head.graphs[0]].line if head.graphs[0] in self._parts else None
            for name in head.graphs:
                self._forget(name)
            if missing and not lost:
                self._problems.tell(f"the nanopublication {head.nanopub} lacks its graph {missing[0]}", line)
        for name, part in self._parts.items():
            if part.triples and name not in self._lost:
                what = f"the graph {name} belongs" if name else "triples outside any graph belong"
                self._problems.tell(f"{what} to no nanopublication", part.line)

    def _give_up(self, run: Run) -> None:
        limit = human(self._problems.limits.max_pending)
        reason = f"more than {limit} of graphs wait for the rest of their nanopublication; the document is left here"
        self._problems.tell(reason, run.line)


def _head(graph: str, triples: list[str]) -> _Head | None:
    """The nanopublication that the graph announces, if it is a head."""
    for triple in triples:
        if triple.endswith(_IS_NANOPUB) and triple.startswith("<"):
            nanopub = subject_of(triple)
            named = [t[:-3].split(" ", 2)[1:] for t in triples if subject_of(t) == nanopub]
            parts = [part for predicate, part in named if predicate in _PARTS]
            if parts:
                return _Head(nanopub, tuple(dict.fromkeys([graph, *parts])))
    return None
