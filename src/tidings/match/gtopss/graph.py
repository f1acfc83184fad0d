"""G_M, the graph of all subscriptions: two levels of hash tables, binding tables, and Algorithm Insert."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice, permutations
from operator import itemgetter
from sys import getsizeof, intern
from typing import TypeAlias

from tidings.lang.pattern import Block, Constraint, Node, Var
from tidings.rdf.terms import Term, Triple

Name: TypeAlias = str
"""A vertex or a label of G_M: a term, or a star. No term begins as a star does."""

Row: TypeAlias = tuple[Term, ...]
Column: TypeAlias = tuple[Name, int]
"""A column of a binding table: its name, and the place of its value in a triple."""

Index: TypeAlias = dict[object, list[Row]]
"""Rows by what `picker` picks."""

# Rows of one binding table, where they outlive their event.
_MOST_KEPT = 100_000
_MOST_COLUMNS = 4096


def picker(places: tuple[int, ...]) -> Callable[[Row], object]:
    """What takes the values in these places from a row: one value, or a tuple of none or several."""
    return itemgetter(*places) if places else _nothing


def _nothing(row: Row) -> tuple[()]:
    return ()


class BindingTable:
    """The publication edges that met one edge of G_M, in order."""

    __slots__ = ("_indexes", "rows")

    def __init__(self) -> None:
        self.rows: dict[Triple, None] = {}
        self._indexes: dict[tuple[tuple[int, ...], tuple[int, ...]], Index] = {}

    def add(self, edge: Triple) -> None:
        self.rows[edge] = None
        self._indexes.clear()

    def by(self, key: tuple[int, ...], rest: tuple[int, ...]) -> Index:
        """The values in the places `rest` by those in the places `key`; all subscriptions share it."""
        index = self._indexes.get((key, rest))
        if index is None:
            index = self._indexes[key, rest] = {}
            pick = picker(key)
            for row in self.rows:
                index.setdefault(pick(row), []).append(tuple([row[n] for n in rest]))
        return index

    def clear(self) -> None:
        self.rows.clear()
        self._indexes.clear()

    def bytes(self) -> int:
        return getsizeof(self) + getsizeof(self.rows) + getsizeof(self._indexes)

    def drop_oldest(self) -> None:
        """Keep this side of `_MOST_KEPT` what `published` never clears."""
        excess = len(self.rows) - _MOST_KEPT
        for row in list(islice(self.rows, max(excess, 0))):
            del self.rows[row]


class MergedEdge:
    """An edge of G_M, shared by all subscriptions that have it."""

    __slots__ = ("columns", "label", "same", "stars", "subs", "table", "v", "w")

    def __init__(self, v: Name, label: Name, w: Name, constants: bool) -> None:
        """With `constants`, a vertex that is a constant has a column as well."""
        self.v, self.label, self.w = v, label, w
        self.subs: dict[SubscriptionGraph, None] = {}
        self.table = BindingTable()
        places = ((v, 0), (w, 2), (label, 1))
        wanted = [(name, place) for name, place in places if is_star(name) or (constants and place != 1)]
        self.columns, self.stars, self.same = _columns(tuple(wanted))

    def fits(self, edge: Triple) -> bool:
        """Whether a star that stands in two places would have one value."""
        return not self.same or all(edge[a] == edge[b] for a, b in self.same)


@lru_cache(_MOST_COLUMNS)
def _columns(places: tuple[Column, ...]) -> tuple[tuple[Column, ...], frozenset[Name], tuple[tuple[int, int], ...]]:
    """The first place of each name, the names, and the places of stars that have two; one object for all edges."""
    first: dict[Name, int] = {}
    for name, place in places:
        first.setdefault(name, place)
    same = tuple((first[name], place) for name, place in places if is_star(name) and first[name] != place)
    return tuple(first.items()), frozenset(first), same


class SubscriptionGraph:
    """G_S, with its variables as stars."""

    __slots__ = ("constraints", "edges", "groups", "id", "label_stars", "size", "stars", "triples", "variables")

    def __init__(self, id: str, block: Block, scope: Sequence[Var]) -> None:
        """`scope` are the variables of the block."""
        self.id = id
        on_vertices = dict.fromkeys([n for t in block.triples for n in (t.s, t.o) if isinstance(n, Var)])
        named = on_vertices if len(on_vertices) == len(scope) else dict.fromkeys([*on_vertices, *scope])
        star = {var: intern(f"*{i}") for i, var in enumerate(named, 1)}

        def name(node: Node) -> Name:
            return star[node] if isinstance(node, Var) else node

        self.stars = len(on_vertices)
        self.variables = tuple([(var.name, star[var]) for var in scope if not var.hidden])
        self.triples = tuple(dict.fromkeys((name(t.s), name(t.p), name(t.o)) for t in block.triples))
        self.size = len(self.triples)
        self.label_stars = frozenset(label for _, label, _ in self.triples if is_star(label))
        self.constraints = tuple((star[c.var], c.op, c.value) for c in block.filters if isinstance(c, Constraint))
        self.edges: list[MergedEdge] = []
        self.groups: list[list[MergedEdge]] = []


class MergedGraph:
    """G_M."""

    def __init__(self, published: bool) -> None:
        self._published = published
        self.t1: dict[tuple[Name, Name], dict[Name, MergedEdge]] = {}
        self.subs: dict[str, SubscriptionGraph] = {}
        self._star_counts: Counter[int] = Counter()
        self._label_counts: Counter[Name] = Counter()
        self.label_stars: tuple[Name, ...] = ()
        self._set_stars(0)

    def insert(self, graph: SubscriptionGraph) -> None:
        """Algorithm Insert."""
        for v, label, w in graph.triples:
            t2 = self.t1.get((v, w))
            if t2 is None:
                t2 = self.t1[v, w] = {}
            edge = t2.get(label)
            if edge is None:
                edge = t2[label] = MergedEdge(v, label, w, constants=self._published)
            edge.subs[graph] = None
            graph.edges.append(edge)
        self.subs[graph.id] = graph
        graph.groups = [graph.edges] if self._published else _groups(graph.edges)
        self._star_counts[graph.stars] += 1
        self._label_counts.update(graph.label_stars)
        self._count_stars()

    def remove(self, id: str) -> SubscriptionGraph:
        graph = self.subs.pop(id)
        for edge in graph.edges:
            del edge.subs[graph]
            if not edge.subs:
                t2 = self.t1[edge.v, edge.w]
                del t2[edge.label]
                if not t2:
                    del self.t1[edge.v, edge.w]
        self._star_counts -= Counter([graph.stars])
        self._label_counts -= Counter(graph.label_stars)
        self._count_stars()
        return graph

    def _count_stars(self) -> None:
        most = max(self._star_counts, default=0)
        if most != len(self.stars):
            self._set_stars(most)
        if len(self._label_counts) != len(self.label_stars):
            self.label_stars = tuple(sorted(self._label_counts))

    def _set_stars(self, most: int) -> None:
        self.stars: tuple[Name, ...] = tuple(f"*{i}" for i in range(1, most + 1))
        self._star_pairs = list(permutations(self.stars, 2))
        self._star_loops = [(star, star) for star in self.stars]

    def completed(self, v: Term, w: Term) -> Iterable[tuple[Name, Name]]:
        """The pairs of vertices under which a publication edge from v to w is looked up."""
        if self._published:
            return permutations(dict.fromkeys((v, w, *self.stars)), 2)
        pairs: list[tuple[Name, Name]] = [(v, w)]
        for star in self.stars:
            pairs += ((v, star), (star, w))
        pairs += self._star_pairs
        if v == w:
            pairs += self._star_loops
        return pairs

    def edges(self) -> Iterable[MergedEdge]:
        return (edge for t2 in self.t1.values() for edge in t2.values())

    def bytes(self) -> tuple[int, int]:
        """About what G_M holds, and what the subscriptions hold beside it."""
        names = {name for edge in self.edges() for name in (edge.v, edge.label, edge.w)}
        matrix = getsizeof(self.t1) + sum(map(getsizeof, names))
        for pair, t2 in self.t1.items():
            matrix += getsizeof(pair) + getsizeof(t2)
        for edge in self.edges():
            matrix += getsizeof(edge) + getsizeof(edge.subs) + edge.table.bytes()
        own = getsizeof(self.subs)
        for graph in self.subs.values():
            own += getsizeof(graph) + getsizeof(graph.id) + getsizeof(graph.triples) + getsizeof(graph.edges)
            own += len(graph.triples) * getsizeof(("", "", ""))
            own += getsizeof(graph.variables) + len(graph.variables) * getsizeof(("", ""))
            own += getsizeof(graph.constraints) + len(graph.constraints) * getsizeof(("", "", ""))
            own += getsizeof(graph.groups) + sum(map(getsizeof, graph.groups))
        return matrix, own


def is_star(name: Name) -> bool:
    return name[0] == "*"


def _groups(edges: Sequence[MergedEdge]) -> list[list[MergedEdge]]:
    """The edges with stars, those that stars tie together in one group."""
    groups: list[tuple[set[Name], list[MergedEdge]]] = []
    for edge in edges:
        if not edge.columns:
            continue
        names = set(edge.stars)
        apart = []
        members: list[MergedEdge] = []
        for group in groups:
            if names.isdisjoint(group[0]):
                apart.append(group)
            else:
                names |= group[0]
                members += group[1]
        groups = [*apart, (names, [*members, edge])]
    return [members for _, members in groups]
