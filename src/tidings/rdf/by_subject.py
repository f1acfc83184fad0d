"""Events by subject: every IRI subject with its triples and what its blank nodes lead to, from all graphs together.

The triples of IRI subjects are grouped, on disk where they are many; those of blank nodes are held, since any subject
may lead to them. Blank nodes to which no IRI subject leads are events without a name: one for each that no other of
them points to, and one for each ring of them with what hangs on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby

from tidings.rdf.draft import Draft, Part, Problems
from tidings.rdf.group import Grouper
from tidings.rdf.limits import human
from tidings.rdf.quads import Broken, Item, Run, object_of, subject_of


def by_subject(items: Iterable[Item], problems: Problems) -> Iterator[Draft]:
    with Grouper(problems.limits) as grouper:
        subjects = _Subjects(problems)
        if subjects.read(items, grouper):
            for draft in subjects.drafts(grouper):
                if subjects.shared_too_often():
                    return
                yield draft


class _Subjects:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._blank: dict[str, Part] = {}
        self._spoilt: set[str] = set()
        self._spoil_next = False
        self._reached: set[str] = set()
        self._copied = 0

    def read(self, items: Iterable[Item], grouper: Grouper) -> bool:
        """Sort all triples by subject; False where the document has to be given up."""
        held = 0
        limit = self._problems.limits.max_pending
        for item in items:
            if isinstance(item, Broken):
                self._broken(item)
                if item.rest:
                    return False
                continue
            for run in _by_subject(item):
                if self._spoil_next:
                    self._spoilt.add(run.graph)
                    self._spoil_next = False
                if not run.graph.startswith("_:"):
                    grouper.add(run)
                    continue
                self._blank.setdefault(run.graph, Part()).take(run, f"the blank node {run.graph}", self._problems)
                held += run.size
                if held > limit:
                    self._problems.tell(f"more than {human(limit)} of triples about blank nodes in one document")
                    return False
        return True

    def _broken(self, broken: Broken) -> None:
        told = self._spoil_next if broken.subject is None else broken.subject in self._spoilt
        if broken.subject is None:
            self._spoil_next = True
        else:
            self._spoilt.add(broken.subject)
        if broken.rest or not told:
            self._problems.report(broken.error)

    def drafts(self, grouper: Grouper) -> Iterator[Draft]:
        yield from self._named(grouper)
        yield from self._unnamed()

    def shared_too_often(self) -> bool:
        """Blank nodes go into the event of every subject that leads to them, which may not grow without bound."""
        limit = self._problems.limits.max_document
        if self._copied > limit:
            self._problems.tell(f"the triples of blank nodes that subjects share come to more than {human(limit)}")
        return self._copied > limit

    def _named(self, grouper: Grouper) -> Iterator[Draft]:
        for subject, runs in groupby(grouper.runs(), key=lambda run: run.graph):
            part = Part()
            for run in runs:
                part.take(run, f"the event {subject}", self._problems)
            yield from self._draft(part, subject)

    def _unnamed(self) -> Iterator[Draft]:
        rest = [node for node in self._blank if node not in self._reached]
        pointed_at = {o for node in rest for o in self._objects(node) if o != node}
        for node in rest:
            if node not in pointed_at:
                yield from self._draft(self._blank[node], node)
        for ring in self._rings([node for node in rest if node not in self._reached]):
            part = Part()
            for node in ring:
                found = self._blank[node]
                part.take(Run(node, found.triples, found.size, found.line), f"the event of {node}", self._problems)
            yield from self._draft(part, *ring)

    def _draft(self, part: Part, *subjects: str) -> Iterator[Draft]:
        """The event of `part`, which has the triples of `subjects`, with those of the blank nodes it leads to."""
        first = subjects[0]
        whole = Part()
        if part.triples:
            whole.take(Run(first, part.triples, part.size, part.line), f"the event of {first}", self._problems)
        found = dict.fromkeys(subjects)
        waiting = deque(self._objects_in(part))
        while waiting and self._copied <= self._problems.limits.max_document:
            node = waiting.popleft()
            if node in found or node not in self._blank:
                continue
            found[node] = None
            inner = self._blank[node]
            whole.take(Run(node, inner.triples, inner.size), f"the event of {first}", self._problems)
            waiting += self._objects_in(inner)
            self._copied += inner.size
        self._reached.update(node for node in found if node.startswith("_:"))
        spoilt = part.spoilt or any(node in self._spoilt or self._is_spoilt(node) for node in found)
        if whole.triples and not spoilt:
            yield Draft(first[1:-1] if first.startswith("<") else None, whole.triples, whole.line)

    def _is_spoilt(self, node: str) -> bool:
        return node in self._blank and self._blank[node].spoilt

    def _objects(self, node: str) -> Iterator[str]:
        return self._objects_in(self._blank[node])

    def _objects_in(self, part: Part) -> Iterator[str]:
        """The blank nodes that the triples point to, in their order."""
        for triple in part.triples:
            if " _:" in triple and (node := object_of(triple)).startswith("_:") and node in self._blank:
                yield node

    def _rings(self, nodes: list[str]) -> Iterator[list[str]]:
        """The connected parts of what is left, each in document order."""
        place = {node: number for number, node in enumerate(nodes)}
        near: dict[str, list[str]] = {node: [] for node in nodes}
        for node in nodes:
            for other in self._objects(node):
                if other in near:
                    near[node].append(other)
                    near[other].append(node)
        done: set[str] = set()
        for node in nodes:
            if node in done:
                continue
            ring, front = {node}, [node]
            while front:
                for other in near[front.pop()]:
                    if other not in ring:
                        ring.add(other)
                        front.append(other)
            done |= ring
            yield sorted(ring, key=place.__getitem__)


def _by_subject(run: Run) -> Iterator[Run]:
    """The run in pieces of one subject each, named by it."""
    line = run.line
    for subject, group in groupby(run.triples, key=subject_of):
        triples = list(group)
        yield Run(subject, triples, sum(map(len, triples)), line)
        line = None
