"""A hierarchy, closed: names with many parents and synonyms, asked "is a below b" by integer.

Names that are equivalent share one integer. The integers are the pre-order ranks of a spanning forest, so what is
below `a` in the forest is `range(a, end[a])`; what is below `a` only by way of further parents is kept as a few more
ranges (the tree cover of Agrawal, Borgida and Jagadish, SIGMOD 1989). So a question costs two comparisons, or a
binary search among the ranges, and a chain of 100,000 classes costs no more memory than its names. A hierarchy so
tangled that the ranges outgrow their bound has its upper part answered by search instead.

Blank nodes (class expressions) carry the relation from a name below them to a name above, but are no names themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from tidings.ontology.graph import Graph, adjacency, components, reach
from tidings.rdf.terms import Term, is_blank

Pair: TypeAlias = tuple[Term, Term]
Ranges: TypeAlias = list[tuple[int, int]]

MAX_RANGES: Final = 4_000_000
MAX_CACHED: Final = 2_000_000


class Hierarchy:
    """Immutable. Everything is reflexive: a name is above and below itself and its equivalents."""

    __slots__ = ("_above", "_below", "_cached", "_down", "_end", "_ids", "_members", "_more", "_searched", "_up")

    def __init__(
        self,
        names: Iterable[Term],
        below: Iterable[Pair] = (),
        same: Iterable[Pair] = (),
        *,
        max_ranges: int = MAX_RANGES,
    ) -> None:
        """`below` are (lower, upper) pairs, `same` equivalences; a cycle of either makes its members equivalent."""
        below, same = tuple(below), tuple(same)
        nodes = sorted({*names, *(t for pair in below for t in pair), *(t for pair in same for t in pair)})
        index = {term: i for i, term in enumerate(nodes)}
        edges = [(index[a], index[b]) for a, b in below]
        edges += [edge for a, b in same for edge in ((index[a], index[b]), (index[b], index[a]))]
        upward = adjacency(len(nodes), edges)

        groups = components(upward)
        ids, self._end, tree_parent = _number(groups, upward)
        id_of_term = {nodes[node]: ids[g] for g, group in enumerate(groups) for node in group}
        # A blank node of somewhere else is another one, whatever its label, so none is known by name.
        self._ids = {term: id for term, id in id_of_term.items() if not is_blank(term)}
        self._members: list[tuple[Term, ...]] = [()] * len(groups)
        for g, group in enumerate(groups):
            self._members[ids[g]] = tuple(nodes[node] for node in sorted(group) if not is_blank(nodes[node]))
        id_of = [id_of_term[term] for term in nodes]
        links = [(id_of[a], id_of[b]) for a, successors in enumerate(upward) for b in successors]
        self._up: Graph = adjacency(len(groups), links)
        self._down: Graph = adjacency(len(groups), [(b, a) for a, b in links])
        # Groups come with those above them first, so the reverse order has everything below a group before it.
        bottom_up = ids[::-1]
        self._more, self._searched = _further_ranges(bottom_up, self._down, self._end, tree_parent, max_ranges)

        self._above: dict[int, frozenset[Term]] = {}
        self._below: dict[int, frozenset[Term]] = {}
        self._cached = 0

    # ------------------------------------------------------------------------------------------------- by integer

    def id_of(self, name: Term) -> int | None:
        """The integer of the name and its equivalents; None for an unknown one."""
        return self._ids.get(name)

    def ids_of(self, names: Iterable[Term]) -> frozenset[int]:
        """The integers of those names that are known."""
        return frozenset(self._ids[name] for name in names if name in self._ids)

    def members(self, id: int) -> tuple[Term, ...]:
        """The equivalent names behind the integer, sorted; none where only an unnamed expression is."""
        return self._members[id]

    @property
    def ids(self) -> range:
        return range(len(self._members))

    def is_below(self, a: int, b: int) -> bool:
        """Whether a is b or below it."""
        if b <= a < self._end[b]:
            return True
        more = self._more.get(b)
        if more is not None:
            at = bisect_right(more, (a, len(self._end))) - 1
            return at >= 0 and more[at][0] <= a < more[at][1]
        return b in self._searched and b in reach(self._up, a)

    def overlap(self, a: int, b: int) -> bool:
        """Whether something is below both."""
        if self.is_below(a, b) or self.is_below(b, a):
            return True
        if a in self._searched or b in self._searched:
            return not self.below(a).isdisjoint(self.below(b))
        if a not in self._more and b not in self._more:
            return False
        return _intersect(self._ranges(a), self._ranges(b))

    def parents(self, id: int) -> Sequence[int]:
        """What is directly above; some of it may be above other parents too."""
        return self._up[id]

    def above(self, id: int) -> frozenset[int]:
        return reach(self._up, id)

    def below(self, id: int) -> frozenset[int]:
        return reach(self._down, id)

    # ---------------------------------------------------------------------------------------------------- by name

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def __iter__(self) -> Iterator[Term]:
        """The names, sorted."""
        return iter(sorted(name for members in self._members for name in members))

    def __len__(self) -> int:
        return sum(map(len, self._members))

    def ancestors(self, name: Term) -> frozenset[Term]:
        """What is above the name, with itself and its equivalents; an unknown name has itself alone."""
        return self._names(name, self._above, self._up)

    def descendants(self, name: Term) -> frozenset[Term]:
        return self._names(name, self._below, self._down)

    def equivalents(self, name: Term) -> frozenset[Term]:
        id = self._ids.get(name)
        return frozenset((name,)) if id is None else frozenset(self._members[id])

    def is_a(self, name: Term, upper: Term) -> bool:
        """Whether `name` is `upper`, an equivalent of it, or below it."""
        if name == upper:
            return True
        a, b = self._ids.get(name), self._ids.get(upper)
        return a is not None and b is not None and self.is_below(a, b)

    def _names(self, name: Term, cache: dict[int, frozenset[Term]], graph: Graph) -> frozenset[Term]:
        id = self._ids.get(name)
        if id is None:
            return frozenset((name,))
        found = cache.get(id)
        if found is None:
            found = frozenset(member for i in reach(graph, id) for member in self._members[i])
            # Two threads may both get here: they store equal sets, and the count is only a bound.
            if self._cached + len(found) > MAX_CACHED:
                self._above.clear()
                self._below.clear()
                self._cached = 0
            cache[id] = found
            self._cached += len(found)
        return found

    def _ranges(self, id: int) -> Ranges:
        return _merge([(id, self._end[id]), *self._more.get(id, ())])


def _number(groups: list[list[int]], upward: Graph) -> tuple[list[int], list[int], dict[int, int]]:
    """Pre-order ranks for the groups (listed from above to below), the ends of their ranges, the parents chosen."""
    group_of = {node: g for g, group in enumerate(groups) for node in group}
    depth = [0] * len(groups)
    parent = [-1] * len(groups)
    for g, group in enumerate(groups):
        uppers = {group_of[upper] for node in group for upper in upward[node]} - {g}
        if uppers:
            # The deepest parent leaves the fewest ranges to be kept besides the forest.
            parent[g] = max(uppers, key=lambda u: (depth[u], -u))
            depth[g] = depth[parent[g]] + 1
    size = [1] * len(groups)
    for g in reversed(range(len(groups))):
        if parent[g] >= 0:
            size[parent[g]] += size[g]
    ids: list[int] = []
    free: list[int] = []
    next_root = 0
    for g in range(len(groups)):
        if parent[g] < 0:
            ids.append(next_root)
            next_root += size[g]
        else:
            ids.append(free[parent[g]])
            free[parent[g]] += size[g]
        free.append(ids[g] + 1)
    end = [0] * len(groups)
    for g, id in enumerate(ids):
        end[id] = id + size[g]
    return ids, end, {id: ids[parent[g]] for g, id in enumerate(ids) if parent[g] >= 0}


def _further_ranges(
    bottom_up: list[int], down: Graph, end: list[int], tree_parent: dict[int, int], max_ranges: int
) -> tuple[dict[int, Ranges], frozenset[int]]:
    """What is below each id outside its own range; and the ids for which that was not worked out."""
    more: dict[int, Ranges] = {}
    searched: set[int] = set()
    total = 0
    for id in bottom_up:
        if total > max_ranges or not searched.isdisjoint(down[id]):
            searched.add(id)
            continue
        inherited = [more[child] for child in down[id] if child in more]
        direct = [(child, end[child]) for child in down[id] if tree_parent.get(child) != id]
        ranges = _outside(id, end[id], [*direct, *chain.from_iterable(inherited)])
        if len(inherited) == 1 and ranges == inherited[0]:
            more[id] = inherited[0]
        elif ranges:
            more[id] = ranges
            total += len(ranges)
    return more, frozenset(searched)


def _outside(start: int, stop: int, ranges: Ranges) -> Ranges:
    """The ranges merged, without what lies in `start` … `stop`. None of them holds `start`, since none is above it."""
    return _merge([(a if a < start else max(a, stop), b) for a, b in ranges if a < start or b > stop])


def _merge(ranges: Ranges) -> Ranges:
    merged: Ranges = []
    for start, stop in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _intersect(left: Ranges, right: Ranges) -> bool:
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i][1] <= right[j][0]:
            i += 1
        elif right[j][1] <= left[i][0]:
            j += 1
        else:
            return True
    return False
