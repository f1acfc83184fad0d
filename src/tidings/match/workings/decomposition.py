"""`decomposition` under watch: the sub-patterns of the network, and their instances from single vertices upwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tidings.match.decomposition.engine import Assembly, Decomposition, Instance
from tidings.match.decomposition.network import Assembled, SubPattern, Vertex
from tidings.match.decomposition.patterns import Arc, Label
from tidings.match.explain.names import Names
from tidings.match.explain.text import MARKS
from tidings.match.meaning import Meaning
from tidings.match.run import Run
from tidings.match.workings.model import Kept, Section, counted, listed, section, table
from tidings.rdf.terms import Term


class WatchedAssembly(Assembly):
    """`tested` are the event vertices compared with each single vertex, `tried` the pairs that each join looked at."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.tested: dict[Vertex, dict[Term | None, bool]] = {}
        self.tried: Counter[Assembled] = Counter()

    def _fits(self, node: Vertex, vertex: Term, run: Run) -> bool:
        fits = super()._fits(node, vertex, run)
        self.tested.setdefault(node, {})[vertex] = fits
        return fits

    def _pairs(self, node: Assembled) -> Iterator[tuple[Instance, Instance, Sequence[Arc]]]:
        self.tried[node] = 0
        for pair in super()._pairs(node):
            self.tried[node] += 1
            yield pair


class WatchedDecomposition(Decomposition):
    def _assembly(self, meaning: Meaning) -> Assembly:
        self._seen = WatchedAssembly(self._network, meaning, self._budget, self._now, self._published)
        return self._seen

    def sections(self, names: Names) -> Iterator[Section]:
        for top in self._network.subscriptions.values():
            told = _Told(top, self._seen, names)
            yield told.network()
            yield told.vertices()
            yield from told.assembled()


class _Told:
    """A whole pattern and its parts, every part before what it is part of."""

    def __init__(self, top: SubPattern, seen: WatchedAssembly, names: Names) -> None:
        self._seen = seen
        self._names = names
        parts: dict[SubPattern, None] = {}
        todo = [top]
        while todo:
            node = todo.pop()
            if node not in parts:
                parts[node] = None
                todo += [node.left, node.right] if isinstance(node, Assembled) else []
        self._parts = sorted(parts, key=lambda node: node.number)
        self._top = top
        self._columns = self._vertex_names()

    def _vertex_names(self) -> dict[SubPattern, list[str]]:
        """What the vertices of each part are called: by all the variables that they stand for where it is shared."""
        called: dict[SubPattern, list[dict[str, None]]] = {node: [{} for _ in range(node.size)] for node in self._parts}
        for positions in self._top.subscriptions.values():
            for name, position in positions:
                called[self._top][position][f"?{name}"] = None
        for node in reversed(self._parts):
            if isinstance(node, Assembled):
                for mine, theirs in zip(called[node], called[node.left] + called[node.right], strict=True):
                    theirs |= mine
        for node in self._parts:
            if isinstance(node, Vertex) and node.label.term is not None:
                called[node][0] = {self._names.term(node.label.term): None}
            elif isinstance(node, Assembled):
                parts = called[node.left] + called[node.right]
                called[node] = [mine or theirs for mine, theirs in zip(called[node], parts, strict=True)]
        return {node: ["/".join(sorted(names)) for names in found] for node, found in called.items()}

    def network(self) -> Section:
        vertices = sum(isinstance(node, Vertex) for node in self._parts)
        assembled = len(self._parts) - vertices
        return section(
            f"The network: {counted(vertices, 'single vertex', 'single vertices')} and "
            f"{counted(assembled, 'larger sub-pattern')}; instances assembled bottom up",
            table=table(("", "sub-pattern", "made of", "instances"), self._parts, self._part_row),
            outcome=f"{_name(self._top)} is the whole pattern",
        )

    def _part_row(self, node: SubPattern) -> tuple[str, ...]:
        found = len(self._seen.instances.get(node, ()))
        made = f"{_name(node.left)} + {_name(node.right)}" if isinstance(node, Assembled) else "a vertex"
        return _name(node), " ".join(self._columns[node]), made, f"{MARKS[found > 0]} {found}"

    def vertices(self) -> Section:
        singles = [node for node in self._parts if isinstance(node, Vertex)]
        none: dict[Term | None, bool] = {None: False}
        rows = [(node, vertex) for node in singles for vertex in self._seen.tested.get(node, none).items()]

        def row(compared: tuple[Vertex, tuple[Term | None, bool]]) -> tuple[str, ...]:
            node, (vertex, fits) = compared
            name = "none to compare" if vertex is None else self._names.term(vertex)
            return _name(node), self._columns[node][0], self._label(node.label), name, MARKS[fits]

        return section(
            "Event vertices compared with single vertices",
            table=table(("", "vertex", "asks for", "event vertex", ""), rows, row),
        )

    def _label(self, label: Label) -> str:
        asked = [f"a {self._names.term(cls)}" for cls in sorted(label.classes)]
        asked += sorted(map(self._names.expression, label.conditions))
        asked += [f"a loop of {self._names.term(loop)}" for loop in sorted(label.loops)]
        return ", ".join(asked)

    def assembled(self) -> Iterator[Section]:
        for node in self._parts:
            if isinstance(node, Assembled):
                columns = self._columns[node]
                arcs = [f"{columns[s]} {self._names.term(p)} {columns[o]}" for s, p, o in node.arcs]
                kept = Kept(columns, self._seen.instances.get(node, []))
                yield section(
                    f"{_name(node)} = {_name(node.left)} + {_name(node.right)} with {listed(arcs)}",
                    table=kept.table(self._names),
                    outcome=self._outcome(node),
                )

    def _outcome(self, node: Assembled) -> str:
        """What came of a join."""
        if node in self._seen.failed:
            return f"given up: {self._seen.failed[node]}"
        if node not in self._seen.tried:
            empty = [part for part in dict.fromkeys((node.left, node.right)) if part not in self._seen.instances]
            return f"not assembled: {' and '.join(map(_name, empty))} without an instance"
        found = counted(len(self._seen.instances.get(node, ())), "instance")
        return f"{counted(self._seen.tried[node], 'pair')} of instances compared: {found}"


def _name(node: SubPattern) -> str:
    return f"N{node.number}"
