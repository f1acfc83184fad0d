"""The network: sub-patterns of all subscriptions, each there once, and the decomposition that grows it."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable
from itertools import product
from sys import getsizeof
from typing import TypeAlias

from tidings.match.decomposition.patterns import Arc, Label, PatternGraph
from tidings.match.expressions import compile_test, size
from tidings.match.run import Test
from tidings.rdf.terms import Term

# How many pairs of known sub-patterns are tried to find S_max: about 20 ms' worth.
_MOST_PAIRS = 5_000


class SubPattern:
    """A node of the network; `size` is its number of vertices. Whatever it is part of has a higher number."""

    __slots__ = ("number", "parents", "size", "subscriptions")

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size
        self.parents: dict[Assembled, None] = {}
        self.subscriptions: dict[str, tuple[tuple[str, int], ...]] = {}
        """Of each subscription whose whole pattern this is: its variables, and the positions of their vertices."""


class Vertex(SubPattern):
    """A single vertex."""

    __slots__ = ("cost", "label", "tests")

    def __init__(self, number: int, label: Label) -> None:
        super().__init__(number, 1)
        self.label = label
        self.tests: list[Test] = [compile_test(condition, _no_exists) for condition in label.conditions]
        self.cost = 1 + len(label.loops) + sum(map(size, label.conditions))


class Assembled(SubPattern):
    """Two sub-patterns and the arcs that connect them; its vertices are those of `left`, then those of `right`."""

    __slots__ = ("arcs", "left", "right")

    def __init__(self, number: int, left: SubPattern, right: SubPattern, arcs: tuple[Arc, ...]) -> None:
        super().__init__(number, left.size + right.size)
        self.left = left
        self.right = right
        self.arcs = arcs


Found: TypeAlias = tuple[SubPattern, tuple[int, ...]]
"""A sub-pattern and the vertices of a pattern, by position, that it is found at."""

_Key: TypeAlias = tuple[int, int, tuple[Arc, ...]]


class Network:
    """`plain` is without care for what is connected: where no part is known, S_max is any half, and what it leaves of a
    pattern stays one part."""

    def __init__(self, *, plain: bool = False) -> None:
        self._plain = plain
        self._dice = random.Random(1)
        self._made = 0
        self._vertices: dict[Label, Vertex] = {}
        self._assembled: dict[_Key, Assembled] = {}
        self.subscriptions: dict[str, SubPattern] = {}
        self.by_term: dict[Term, dict[Vertex, None]] = {}
        self.by_class: dict[Term, dict[Vertex, None]] = {}
        """Vertices without a term, each under one of its classes."""

    def __len__(self) -> int:
        return len(self._vertices) + len(self._assembled)

    @property
    def vertex_count(self) -> int:
        return len(self._vertices)

    def insert(self, id: str, pattern: PatternGraph) -> None:
        node, image = self._decompose(pattern)
        position = {vertex: i for i, vertex in enumerate(image)}
        node.subscriptions[id] = tuple((name, position[vertex]) for name, vertex in pattern.variables)
        self.subscriptions[id] = node

    def remove(self, id: str) -> None:
        top = self.subscriptions.pop(id)
        del top.subscriptions[id]
        todo: list[SubPattern] = [top]
        while todo:
            node = todo.pop()
            if node.parents or node.subscriptions:
                continue
            if isinstance(node, Assembled):
                self._assembled.pop(_key(node), None)
                for part in (node.left, node.right):
                    part.parents.pop(node, None)
                    todo.append(part)
            elif isinstance(node, Vertex) and self._vertices.pop(node.label, None) is not None:
                table, name = self._table(node.label)
                del table[name][node]
                if not table[name]:
                    del table[name]

    # --------------------------------------------------------------------------------------------- decomposition

    def _decompose(self, pattern: PatternGraph) -> Found:
        """Cuts the pattern until its parts are known or single vertices, and puts them together again as nodes."""
        todo: list[tuple[frozenset[int], list[Found]] | None] = [(frozenset(range(len(pattern))), self._known(pattern))]
        done: list[Found] = []
        while todo:
            task = todo.pop()
            if task is None:
                right, left = done.pop(), done.pop()
                done.append(self._join(pattern, left, right))
                continue
            vertices, known = task
            if known and len(known[0][1]) == len(vertices):
                done.append(known[0])
            elif len(vertices) == 1:
                (vertex,) = vertices
                done.append((self._vertex(pattern.labels[vertex]), (vertex,)))
            else:
                s_max, *rest = self._cut(pattern, vertices, known)
                todo += [step for part in reversed(rest) for step in (None, (part, _within(part, known)))]
                todo.append((s_max, _within(s_max, known)))
        return done[0]

    def _cut(self, pattern: PatternGraph, vertices: frozenset[int], known: list[Found]) -> list[frozenset[int]]:
        """S_max, the largest known part or else a half, and the rest, or the parts that it falls into."""
        half = (len(vertices) + 1) // 2
        if known:
            s_max = frozenset(known[0][1])
        elif self._plain:
            s_max = frozenset(self._dice.sample(sorted(vertices), half))
        else:
            s_max = frozenset(pattern.reached(min(vertices), vertices, half))
        rest = vertices - s_max
        return [s_max, rest] if self._plain else [s_max, *pattern.components(rest)]

    def _known(self, pattern: PatternGraph) -> list[Found]:
        """Where sub-patterns of the network, larger than a vertex, are found in the pattern; the largest first."""
        images: dict[SubPattern, list[tuple[int, ...]]] = {}
        for vertex, label in enumerate(pattern.labels):
            if label in self._vertices:
                images.setdefault(self._vertices[label], []).append((vertex,))
        todo = Upward(images)
        left_to_try = _MOST_PAIRS
        while left_to_try > 0 and (node := todo.next()) is not None:
            found = []
            for left, right in product(images.get(node.left, ()), images.get(node.right, ())):
                left_to_try -= 1
                if left_to_try < 0:
                    break
                if set(left).isdisjoint(right) and pattern.connecting(left, right) == node.arcs:
                    found.append(left + right)
            if found:
                images[node] = found
                todo.push(node)
        everything = [(node, image) for node, found in images.items() if node.size > 1 for image in found]
        return sorted(everything, key=lambda item: (-item[0].size, item[0].number))

    def _vertex(self, label: Label) -> Vertex:
        node = self._vertices.get(label)
        if node is None:
            node = self._vertices[label] = Vertex(self._next(), label)
            table, name = self._table(label)
            table.setdefault(name, {})[node] = None
        return node

    def _table(self, label: Label) -> tuple[dict[Term, dict[Vertex, None]], Term]:
        return (self.by_class, min(label.classes)) if label.term is None else (self.by_term, label.term)

    def _join(self, pattern: PatternGraph, left: Found, right: Found) -> Found:
        """The node of the two parts, the older one to the left, so that the same parts always make the same node."""
        if right[0].number < left[0].number:
            left, right = right, left
        arcs = pattern.connecting(left[1], right[1])
        if left[0] is right[0] and (turned := pattern.connecting(right[1], left[1])) < arcs:
            left, right, arcs = right, left, turned
        key = left[0].number, right[0].number, arcs
        node = self._assembled.get(key)
        if node is None:
            node = self._assembled[key] = Assembled(self._next(), left[0], right[0], arcs)
            left[0].parents[node] = right[0].parents[node] = None
        return node, left[1] + right[1]

    def _next(self) -> int:
        self._made += 1
        return self._made

    def bytes(self) -> int:
        """About what the network holds."""
        tables = (self._vertices, self._assembled, self.subscriptions, self.by_term, self.by_class)
        total = sum(map(getsizeof, tables))
        for by in (self.by_term, self.by_class):
            total += sum(map(getsizeof, by.values()))
        for node in (*self._vertices.values(), *self._assembled.values()):
            total += getsizeof(node) + getsizeof(node.parents) + getsizeof(node.subscriptions)
            for id, positions in node.subscriptions.items():
                total += getsizeof(id) + getsizeof(positions) + len(positions) * getsizeof(("", 0))
        for vertex in self._vertices.values():
            label = vertex.label
            total += sum(map(getsizeof, (label, label.classes, label.conditions, label.loops, vertex.tests)))
        for key, node in self._assembled.items():
            total += getsizeof(key) + getsizeof(node.arcs) + len(node.arcs) * getsizeof((0, "", 0))
        return total


class Upward:
    """Goes through the network from given nodes to what they are part of, every part before its whole."""

    def __init__(self, nodes: Iterable[SubPattern]) -> None:
        self._waiting: list[tuple[int, Assembled]] = []
        self._seen: set[Assembled] = set()
        for node in nodes:
            self.push(node)

    def push(self, node: SubPattern) -> None:
        """The node is done: what it is part of comes up."""
        for parent in node.parents:
            if parent not in self._seen:
                self._seen.add(parent)
                heapq.heappush(self._waiting, (parent.number, parent))

    def next(self) -> Assembled | None:
        return heapq.heappop(self._waiting)[1] if self._waiting else None


def _key(node: Assembled) -> _Key:
    return node.left.number, node.right.number, node.arcs


def _within(vertices: frozenset[int], known: list[Found]) -> list[Found]:
    return [found for found in known if vertices.issuperset(found[1])]


def _no_exists(pattern: object) -> Test:
    raise AssertionError("a condition holds no EXISTS")
