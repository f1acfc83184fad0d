"""RDFC-1.0: the same labels for the same graph, whatever its blank nodes were called. One graph at a time.

The algorithm tries orders of blank nodes that look alike, which for some graphs (a clique) takes time without bound; so
its steps are counted, and `WorkLimit` ends it. Names in comments are those of the W3C recommendation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable
from hashlib import sha256
from itertools import permutations
from typing import TypeAlias

from tidings.rdf.terms import Term, Triple, format_triple


class WorkLimit(Exception):
    """The graph needs more steps than allowed."""


def canonical(triples: Iterable[Triple], max_steps: int) -> str:
    """The canonical N-Quads of the graph: sorted lines, blank nodes called `_:c14n0`, `_:c14n1`, …"""
    unique = set(triples)
    names = _Canonicalizer(unique, max_steps).names()
    return "".join(sorted(format_triple((names.get(s, s), p, names.get(o, o))) for s, p, o in unique))


class _Issuer:
    """Identifier issuer: labels in the order of asking."""

    __slots__ = ("issued", "prefix")

    def __init__(self, prefix: str, issued: dict[Term, Term] | None = None) -> None:
        self.prefix = prefix
        self.issued = {} if issued is None else issued

    def issue(self, node: Term) -> Term:
        if node not in self.issued:
            self.issued[node] = Term(f"_:{self.prefix}{len(self.issued)}")
        return self.issued[node]

    def copy(self) -> _Issuer:
        return _Issuer(self.prefix, self.issued.copy())


_Result: TypeAlias = tuple[str, _Issuer]
_Task: TypeAlias = Generator["_Task", _Result, _Result]


class _Canonicalizer:
    def __init__(self, triples: set[Triple], max_steps: int) -> None:
        self._steps = max_steps
        self._of: dict[Term, list[Triple]] = defaultdict(list)
        for triple in sorted(triples):
            for node in {triple[0], triple[2]}:
                if node.startswith("_:"):
                    self._of[node].append(triple)
        self._first: dict[Term, str] = {}
        self._canonical = _Issuer("c14n")

    def names(self) -> dict[Term, Term]:
        alike: dict[str, list[Term]] = defaultdict(list)
        for node in self._of:
            self._first[node] = self._first_degree(node)
            alike[self._first[node]].append(node)
        several: list[list[Term]] = []
        for _, nodes in sorted(alike.items()):
            if len(nodes) == 1:
                self._canonical.issue(nodes[0])
            else:
                several.append(nodes)
        for nodes in several:
            self._name_alike(nodes)
        return self._canonical.issued

    def _name_alike(self, nodes: list[Term]) -> None:
        paths: list[_Result] = []
        for node in nodes:
            if node not in self._canonical.issued:
                issuer = _Issuer("b")
                issuer.issue(node)
                paths.append(_run(self._n_degree(node, issuer)))
        for _, issuer in sorted(paths, key=lambda result: result[0]):
            for node in issuer.issued:
                self._canonical.issue(node)

    def _work(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise WorkLimit

    def _first_degree(self, node: Term) -> str:
        """Hash First Degree Quads."""
        lines = [format_triple((_seen_from(node, s), p, _seen_from(node, o))) for s, p, o in self._of[node]]
        return _hash("".join(sorted(lines)))

    def _related(self, node: Term, predicate: Term, issuer: _Issuer, position: str) -> str:
        """Hash Related Blank Node."""
        name = self._canonical.issued.get(node) or issuer.issued.get(node) or self._first[node]
        return _hash(f"{position}{predicate}{name}")

    def _n_degree(self, node: Term, issuer: _Issuer) -> _Task:
        """Hash N-Degree Quads. A generator, since it calls itself as deep as the graph is long."""
        groups: dict[str, list[Term]] = defaultdict(list)
        for s, p, o in self._of[node]:
            for other, position in ((s, "s"), (o, "o")):
                if other.startswith("_:") and other != node:
                    groups[self._related(other, p, issuer, position)].append(other)
        self._work(1 + len(self._of[node]))
        data = []
        for related, nodes in sorted(groups.items()):
            chosen: _Result | None = None
            for order in permutations(nodes):
                self._work(1 + len(order) + len(issuer.issued) // 16)
                found = yield from self._path(order, issuer, chosen)
                if found is not None and (chosen is None or found[0] < chosen[0]):
                    chosen = found
            assert chosen is not None
            data.append(related + chosen[0])
            issuer = chosen[1]
        return _hash("".join(data)), issuer

    def _path(
        self, order: tuple[Term, ...], issuer: _Issuer, chosen: _Result | None
    ) -> Generator[_Task, _Result, _Result | None]:
        """The path for one order of the related nodes, or None as soon as it cannot be the least."""
        issuer = issuer.copy()
        path = ""
        inner: list[Term] = []
        for node in order:
            if node in self._canonical.issued:
                path += self._canonical.issued[node]
            else:
                if node not in issuer.issued:
                    inner.append(node)
                path += issuer.issue(node)
            if _is_worse(path, chosen):
                return None
        for node in inner:
            result, deeper = yield self._n_degree(node, issuer)
            path += f"{issuer.issue(node)}<{result}>"
            issuer = deeper
            if _is_worse(path, chosen):
                return None
        return path, issuer


def _is_worse(path: str, chosen: _Result | None) -> bool:
    return chosen is not None and len(path) >= len(chosen[0]) and path > chosen[0]


def _run(task: _Task) -> _Result:
    """Run a task and those it waits for, on a stack of our own."""
    stack = [task]
    result: _Result | None = None
    while stack:
        try:
            stack.append(stack[-1].send(result) if result else next(stack[-1]))
            result = None
        except StopIteration as end:
            stack.pop()
            result = end.value
    assert result
    return result


def _seen_from(node: Term, other: Term) -> Term:
    if not other.startswith("_:"):
        return other
    return Term("_:a" if other == node else "_:z")


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
