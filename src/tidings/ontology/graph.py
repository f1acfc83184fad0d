"""Directed graphs over the integers 0 … n-1, as lists of successors. Nothing here recurses: a chain may be long."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

Graph: TypeAlias = Sequence[Sequence[int]]

_MAX_STEPS = 200_000


def components(graph: Graph) -> list[list[int]]:
    """The strongly connected components (Tarjan), each after those it leads to."""
    order: dict[int, int] = {}
    low = [0] * len(graph)
    stack: list[int] = []
    closed = [False] * len(graph)
    found: list[list[int]] = []
    for root in range(len(graph)):
        path: list[tuple[int, Iterator[int]]] = []
        enter = root if root not in order else None
        while path or enter is not None:
            if enter is not None:
                order[enter] = low[enter] = len(order)
                stack.append(enter)
                path.append((enter, iter(graph[enter])))
            node, successors = path[-1]
            enter = None
            for successor in successors:
                if successor not in order:
                    enter = successor
                    break
                if not closed[successor]:
                    low[node] = min(low[node], order[successor])
            if enter is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    found.append(_close(stack, closed, node))
    return found


def _close(stack: list[int], closed: list[bool], root: int) -> list[int]:
    component: list[int] = []
    while not component or component[-1] != root:
        component.append(stack.pop())
        closed[component[-1]] = True
    return component


def cycles(graph: Graph) -> list[list[int]]:
    """One cycle of each component that has any, as its nodes from the least one on, the cycles in order."""
    return sorted(_shortest_cycle(graph, sorted(c)) for c in components(graph) if len(c) > 1)


def _shortest_cycle(graph: Graph, component: list[int]) -> list[int]:
    """The shortest cycle of a component; in a large one the shortest through one of its first nodes."""
    inside = set(component)
    best: list[int] = []
    for start in component[: _MAX_STEPS // len(component) + 1]:
        cycle = _cycle_through(graph, inside, start)
        if not best or len(cycle) < len(best):
            best = cycle
    return best


def _cycle_through(graph: Graph, inside: set[int], start: int) -> list[int]:
    came_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for successor in graph[node]:
            if successor == start:
                return _back(came_from, start, node)
            if successor in inside and successor not in came_from:
                came_from[successor] = node
                queue.append(successor)
    raise AssertionError("a strongly connected component has a cycle through each of its nodes")


def _back(came_from: dict[int, int], start: int, node: int) -> list[int]:
    path = [node]
    while node != start:
        node = came_from[node]
        path.append(node)
    return path[::-1]


def reach(graph: Graph, start: int) -> frozenset[int]:
    """The nodes to which `start` leads, itself included."""
    seen = {start}
    todo = [start]
    while todo:
        for successor in graph[todo.pop()]:
            if successor not in seen:
                seen.add(successor)
                todo.append(successor)
    return frozenset(seen)


def adjacency(size: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Successors of each node, ascending, without repeats and loops."""
    successors: list[set[int]] = [set() for _ in range(size)]
    for source, target in edges:
        if source != target:
            successors[source].add(target)
    return [sorted(targets) for targets in successors]
