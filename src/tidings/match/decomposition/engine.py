"""The assembly: from the vertices of an event to instances of whole patterns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TypeAlias

from tidings.errors import EvaluationError
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Failure, Match, Report, Solution
from tidings.match.decomposition.network import Assembled, Network, SubPattern, Upward, Vertex
from tidings.match.decomposition.patterns import NAME, VERTEX, Arc, PatternGraph
from tidings.match.meaning import Meaning
from tidings.match.run import DEFAULT_BUDGET, Budget, Run
from tidings.match.verify import current_time
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term

Instance: TypeAlias = tuple[Term, ...]
"""Event vertices, all different, in the order of a sub-pattern's vertices."""


class Decomposition:
    """An `Engine` that takes the `ops` dialect. `budget` are the steps that one subscription may take on one event."""

    name = NAME

    def __init__(
        self, ontology: Ontology, *, budget: int = DEFAULT_BUDGET, now: Term | None = None, published: bool = False
    ) -> None:
        self._ontology = ontology
        self._budget = budget
        self._now = now or current_time()
        self._published = published
        self._network = Network(plain=published)
        names = ("events", "vertex_tests", "joins", "pairs", "instances", "candidates", "matches", "failures")
        self._counts = dict.fromkeys(names, 0)

    def __len__(self) -> int:
        return len(self._network.subscriptions)

    def __contains__(self, id: object) -> bool:
        return id in self._network.subscriptions

    def add(self, id: str, query: Query) -> None:
        """Take a subscription; one of the same id is replaced."""
        pattern = PatternGraph(query)
        if id in self._network.subscriptions:
            self._network.remove(id)
        self._network.insert(id, pattern)

    def remove(self, id: str) -> None:
        self._network.remove(id)

    def match(self, event: Event, report: Report) -> list[Match]:
        """The subscriptions that match, by id; those that fail are reported. Instances are the bindings."""
        assembly = self._assembly(Meaning(event, self._ontology))
        assembly.run()
        found = [
            Match(event.id, id, event.source, partial(_answer, positions, instances))
            for node, instances in assembly.instances.items()
            for id, positions in node.subscriptions.items()
        ]
        found.sort(key=lambda match: match.subscription)
        failures = sorted((id, reason) for node, reason in assembly.failed.items() for id in node.subscriptions)
        for id, reason in failures:
            report(Failure(event.id, id, reason))
        for name, count in assembly.counts.items():
            self._counts[name] += count
        self._counts["events"] += 1
        self._counts["matches"] += len(found)
        self._counts["failures"] += len(failures)
        return found

    def _assembly(self, meaning: Meaning) -> Assembly:
        return Assembly(self._network, meaning, self._budget, self._now, self._published)

    def stats(self) -> Mapping[str, int | float]:
        """The work of all events so far; the network as it is now; its bytes, estimated."""
        return {
            **self._counts,
            "network_nodes": len(self._network),
            "vertex_nodes": self._network.vertex_count,
            "bytes_held": self._network.bytes(),
        }


def _answer(positions: Sequence[tuple[str, int]], instances: Iterable[Instance]) -> Answer:
    names = [name for name, _ in positions]
    rows = sorted(tuple([instance[position] for _, position in positions]) for instance in instances)
    solutions: list[Solution] = [dict(zip(names, row, strict=True)) for row in rows]
    return Answer(tuple(solutions))


class Assembly:
    """One event. A node is in `instances` where it has some, in `failed` where the budget did not do."""

    def __init__(self, network: Network, meaning: Meaning, budget: int, now: Term, published: bool) -> None:
        self._network = network
        self._meaning = meaning
        self._arcs = meaning.arc_index
        self._budget = budget
        self._now = now
        self._every_pair = published
        self.instances: dict[SubPattern, list[Instance]] = {}
        self.failed: dict[SubPattern, str] = {}
        self.counts = dict.fromkeys(("vertex_tests", "joins", "pairs", "instances", "candidates"), 0)
        self._steps: dict[SubPattern, int] = {}
        self._indexes: dict[tuple[SubPattern, int], dict[Term, list[Instance]]] = {}

    def run(self) -> None:
        self._match_vertices()
        todo = Upward([*self.instances, *self.failed])
        while (node := todo.next()) is not None:
            self._join(node)
            if node in self.instances or node in self.failed:
                todo.push(node)
        self.counts["instances"] = sum(map(len, self.instances.values()))

    # -------------------------------------------------------------------------------------------- single vertices

    def _match_vertices(self) -> None:
        runs: dict[Vertex, Run] = {}
        for vertex in self._arcs.nodes:
            for node in self._candidates(vertex):
                if node in self.failed:
                    continue
                run = runs.get(node)
                if run is None:
                    run = runs[node] = Run(self._meaning, self._budget, self._now)
                try:
                    if self._fits(node, vertex, run):
                        run.budget.keep_row()
                        self.instances.setdefault(node, []).append((vertex,))
                except EvaluationError as error:
                    self._fail(node, str(error))
        self._steps = {node: run.budget.limit - run.budget.left for node, run in runs.items()}

    def _candidates(self, vertex: Term) -> Iterator[Vertex]:
        yield from self._network.by_term.get(vertex, ())
        for cls in self._meaning.classes(vertex):
            yield from self._network.by_class.get(cls, ())

    def _fits(self, node: Vertex, vertex: Term, run: Run) -> bool:
        self.counts["vertex_tests"] += 1
        run.budget.spend(node.cost)
        label = node.label
        return (
            label.classes <= self._meaning.classes(vertex)
            and all(self._arcs.find((0, 1, 2), (vertex, p, vertex)) for p in label.loops)
            and all(test(run, {VERTEX.name: vertex}) for test in node.tests)
        )

    # ------------------------------------------------------------------------------------------------- assembling

    def _join(self, node: Assembled) -> None:
        """Instances of both parts that have no vertex in common and all connecting arcs between them."""
        parts = dict.fromkeys((node.left, node.right))
        if not all(part in self.instances or part in self.failed for part in parts):
            return
        reason = next((self.failed[part] for part in parts if part in self.failed), None)
        if reason is not None:
            self._fail(node, reason)
            return
        self.counts["joins"] += 1
        self.counts["candidates"] += len(node.subscriptions)
        budget = Budget(self._budget)
        found: list[Instance] = []
        try:
            budget.spend(sum(self._steps[part] for part in parts))
            for left, right, arcs in self._pairs(node):
                self.counts["pairs"] += 1
                budget.spend(1)
                if set(left).isdisjoint(right) and self._connected(left + right, arcs):
                    budget.keep_row()
                    found.append(left + right)
        except EvaluationError as error:
            self._fail(node, str(error))
            return
        self._steps[node] = budget.limit - budget.left
        if found:
            self.instances[node] = found

    def _pairs(self, node: Assembled) -> Iterator[tuple[Instance, Instance, Sequence[Arc]]]:
        """Pairs of instances, and the arcs that are yet to be looked for between them."""
        lefts, rights = self.instances[node.left], self.instances[node.right]
        if self._every_pair or not node.arcs:
            for left, right in product(lefts, rights):
                yield left, right, node.arcs
            return
        (s, p, o), *others = node.arcs
        size = node.left.size
        index = self._index(node.right, (o if s < size else s) - size)
        for left in lefts:
            if s < size:
                ends = [arc[2] for arc in self._arcs.find((0, 1), (left[s], p))]
            else:
                ends = [arc[0] for arc in self._arcs.find((1, 2), (p, left[o]))]
            for end in ends:
                for right in index.get(end, ()):
                    yield left, right, others

    def _index(self, node: SubPattern, position: int) -> dict[Term, list[Instance]]:
        """The instances of the node by their vertex at a position."""
        index = self._indexes.get((node, position))
        if index is None:
            index = self._indexes[node, position] = {}
            for instance in self.instances[node]:
                index.setdefault(instance[position], []).append(instance)
        return index

    def _connected(self, vertices: Instance, arcs: Sequence[Arc]) -> bool:
        return all(self._arcs.find((0, 1, 2), (vertices[s], p, vertices[o])) for s, p, o in arcs)

    def _fail(self, node: SubPattern, reason: str) -> None:
        self.failed[node] = reason
        self.instances.pop(node, None)
