"""The workload of the G-ToPSS paper (section 5, table 1): graphs without a home vertex and without classes.

A publication of (k, m) is a path through k vertices and m - k + 1 further edges between random pairs of them. Of the
subscriptions, in this order: the share `ratio`, one at least, for each publication are sub-graphs of it, and match; the
share `overlap` are sub-graphs of one graph more, which is never published, so that they have all their edges in common;
the others are drawn as publications are, with vertices of their own. Then `stars` vertices become variables in the
share `starred` of each kind.

Table 1 gives subscriptions the size (5, 35), which no five vertices of a publication of (35, 90) hold: (5, 8) is
the likely reading. Even that is dense, so graphs to take sub-graphs from are drawn until one has such places. How many
names there are for properties, the paper does not say: `labels`, from which every edge draws. With `isa`, every
variable has a constraint `?x <= class`, which holds in the subscriptions that are to match.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from tidings.lang.pattern import Block, ClassOf, Constraint, Node, Query, TriplePattern, Var
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, RDF_TYPE, SUBCLASS_OF, Term, Triple, iri

Size: TypeAlias = tuple[int, int]
"""Vertices, edges."""

VERTEX = iri("http://e.x/Vertex")
HOLDS = iri("http://e.x/holds")

# A graph to take sub-graphs from has so many places for them at least; so many starts are made to find them.
_PLACES = 5
_STARTS = 60
_DEPTH = 5
_SECOND_PARENT = 0.1


@dataclass(frozen=True, slots=True)
class Parameters:
    """Table 1, and what it leaves open."""

    publication: Size = (35, 90)
    subscription: Size = (5, 8)
    subscriptions: int = 30_000
    ratio: float = 0.001
    stars: int = 2
    starred: float = 0.9
    overlap: float = 0.5
    labels: int = 100
    publications: int = 3
    isa: bool = False


@dataclass(frozen=True, slots=True)
class Subscription:
    """A graph pattern. `matches` is the number of the publication that it was taken from, if from any."""

    id: str
    edges: tuple[TriplePattern, ...]
    constraints: tuple[Constraint, ...]
    matches: int | None


@dataclass(frozen=True)
class Workload:
    publications: tuple[tuple[Triple, ...], ...]
    subscriptions: tuple[Subscription, ...]
    taxonomy: tuple[Triple, ...]
    """Classes, and the class of each vertex that a subscription was taken from. Only `isa` needs it."""

    @cached_property
    def ontology(self) -> Ontology:
        return Ontology.of(self.taxonomy)

    def events(self) -> list[Event]:
        return [Event.of(f"urn:publication:{n}", triples) for n, triples in enumerate(self.publications)]

    def forms(self) -> list[tuple[str, Query]]:
        """The subscriptions in the `gtopss` dialect."""
        return [(each.id, _gtopss(each)) for each in self.subscriptions]

    # The same as input of OPS, which wants a home vertex that reaches all others, and a class for every vertex. _:H
    # stands beside the graph: it `holds` each vertex of the event; in a subscription as few as reach the others. Every
    # vertex is a Vertex. OPS maps no two vertices to one, which G-ToPSS may.

    def ops_events(self) -> list[Event]:
        return [
            Event.of(f"urn:publication:{n}", [*triples, *_home(triples)]) for n, triples in enumerate(self.publications)
        ]

    def ops_forms(self, *, names: bool = True) -> list[tuple[str, Query]]:
        """The subscriptions in the `ops` dialect; without `names`, all their vertices are variables."""
        return [(each.id, _ops(each.edges if names else _nameless(each.edges))) for each in self.subscriptions]


# ----------------------------------------------------------------------------------------------------------- generation


def generate(parameters: Parameters, seed: int) -> Workload:
    """The workload of these parameters; the same for the same seed."""
    p = parameters
    dice = random.Random(seed)
    labels = [iri(f"http://e.x/p{n}") for n in range(p.labels)]
    sources = [_Source.draw(dice, p, labels, f"g{number}") for number in range(p.publications + 1)]
    matching = max(1, round(p.ratio * p.subscriptions))
    kinds: list[int | None] = [number for number in range(p.publications) for _ in range(matching)]
    kinds = kinds[: p.subscriptions]
    overlapping = min(round(p.overlap * p.subscriptions), p.subscriptions - len(kinds))
    kinds += [p.publications] * overlapping
    kinds += [None] * (p.subscriptions - len(kinds))
    taxonomy = _Taxonomy(dice, [vertex for source in sources for vertex in source.vertices])
    made = [_subscription(dice, p, labels, sources, taxonomy, number, kind) for number, kind in enumerate(kinds)]
    dice.shuffle(made)
    return Workload(tuple(tuple(source.edges) for source in sources[:-1]), tuple(made), tuple(taxonomy.triples))


def _subscription(
    dice: random.Random,
    p: Parameters,
    labels: Sequence[Term],
    sources: Sequence[_Source],
    taxonomy: _Taxonomy,
    number: int,
    kind: int | None,
) -> Subscription:
    edges = _graph(dice, p.subscription, labels, f"s{number}") if kind is None else sources[kind].subgraph(dice, p)
    variables: dict[Term, Var] = {}
    if dice.random() < p.starred:
        chosen = dice.sample(_vertices(edges), min(p.stars, p.subscription[0]))
        variables = {vertex: Var(f"x{n}") for n, vertex in enumerate(chosen)}
    patterns = tuple(TriplePattern(variables.get(s, s), label, variables.get(o, o)) for s, label, o in edges)
    constraints = tuple(Constraint(var, "<=", taxonomy.above(dice, vertex)) for vertex, var in variables.items())
    published = kind if kind is not None and kind < p.publications else None
    return Subscription(f"s{number}", patterns, constraints if p.isa else (), published)


def _graph(dice: random.Random, size: Size, labels: Sequence[Term], name: str) -> list[Triple]:
    """A path through all vertices, then edges between random pairs; no edge twice."""
    count, edges = size
    vertices = [iri(f"http://e.x/{name}v{n}") for n in range(count)]
    made = {(v, dice.choice(labels), w): None for v, w in pairwise(vertices)}
    while len(made) < edges:
        v, w = dice.sample(vertices, 2)
        made[v, dice.choice(labels), w] = None
    return list(made)


def _vertices(edges: Sequence[Triple]) -> list[Term]:
    return list(dict.fromkeys(vertex for v, _, w in edges for vertex in (v, w)))


class _Source:
    """A graph that subscriptions are taken from, with the places where it is dense enough for them."""

    def __init__(self, edges: list[Triple], dice: random.Random, size: Size) -> None:
        self.edges = edges
        self.vertices = _vertices(edges)
        self._beside: dict[Term, list[Term]] = {vertex: [] for vertex in self.vertices}
        for v, _, w in edges:
            self._beside[v].append(w)
            self._beside[w].append(v)
        grown = (self._grow(dice, size[0]) for _ in range(_STARTS))
        induced = (tuple(edge for edge in edges if edge[0] in place and edge[2] in place) for place in grown)
        self.places = list(dict.fromkeys(place for place in induced if len(place) >= size[1]))

    @staticmethod
    def draw(dice: random.Random, p: Parameters, labels: Sequence[Term], name: str) -> _Source:
        while True:
            source = _Source(_graph(dice, p.publication, labels, name), dice, p.subscription)
            if len(source.places) >= _PLACES:
                return source

    def _grow(self, dice: random.Random, count: int) -> set[Term]:
        """So many vertices around a random one, each the best connected with those before it."""
        place = {dice.choice(self.vertices)}
        while len(place) < count:
            ties: dict[Term, int] = {}
            for vertex in sorted(place):
                for other in self._beside[vertex]:
                    if other not in place:
                        ties[other] = ties.get(other, 0) + 1
            most = max(ties.values())
            place.add(dice.choice([vertex for vertex, count in ties.items() if count == most]))
        return place

    def subgraph(self, dice: random.Random, p: Parameters) -> list[Triple]:
        """Of the edges of one place as many as asked for, such that they hold together."""
        place = dice.choice(self.places)
        shuffled = dice.sample(place, len(place))
        together = {shuffled[0][0]}
        tree: list[Triple] = []
        while len(tree) < p.subscription[0] - 1:
            edge = next(edge for edge in shuffled if (edge[0] in together) != (edge[2] in together))
            together.update((edge[0], edge[2]))
            tree.append(edge)
        others = [edge for edge in shuffled if edge not in tree]
        return tree + others[: p.subscription[1] - len(tree)]


class _Taxonomy:
    """Classes in a few layers, some with two parents; every vertex is an instance of one in the lowest."""

    def __init__(self, dice: random.Random, vertices: Sequence[Term]) -> None:
        layers = [[iri(f"http://e.x/C{layer}n{n}") for n in range(4**layer)] for layer in range(_DEPTH)]
        self.classes = [cls for layer in layers for cls in layer]
        self._parents: dict[Term, list[Term]] = {}
        for above, layer in pairwise(layers):
            for n, cls in enumerate(layer):
                others = [dice.choice(above)] if dice.random() < _SECOND_PARENT else []
                self._parents[cls] = list(dict.fromkeys([above[n // 4], *others]))
        self._class_of = {vertex: dice.choice(layers[-1]) for vertex in vertices}
        self.triples = [(cls, SUBCLASS_OF, upper) for cls, parents in self._parents.items() for upper in parents]
        self.triples += [(vertex, RDF_TYPE, cls) for vertex, cls in self._class_of.items()]

    def above(self, dice: random.Random, vertex: Term) -> Term:
        """A class that the vertex is below, some steps up; any class where it has none."""
        cls = self._class_of.get(vertex)
        if cls is None:
            return dice.choice(self.classes)
        for _ in range(dice.randrange(_DEPTH)):
            cls = dice.choice(self._parents[cls])
        return cls


# ---------------------------------------------------------------------------------------------------------------- forms


def _gtopss(subscription: Subscription) -> Query:
    block = Block(subscription.edges, filters=subscription.constraints)
    return Query("gtopss", "SELECT", block, distinct=True)


def _home(triples: Sequence[Triple]) -> list[Triple]:
    vertices = _vertices(triples)
    held = [(HOME, HOLDS, vertex) for vertex in vertices]
    return held + [(vertex, RDF_TYPE, VERTEX) for vertex in (HOME, *vertices)]


def _ops(edges: Sequence[TriplePattern]) -> Query:
    arcs = (*(TriplePattern(HOME, HOLDS, root) for root in _roots(edges)), *edges)
    classes = tuple(ClassOf(node, VERTEX) for arc in arcs for node in (arc.s, arc.o))
    return Query("ops", "SELECT", Block(arcs, classes=classes, injective=True), distinct=True)


def _roots(edges: Sequence[TriplePattern]) -> list[Node]:
    """Few vertices from which all others can be reached: always the one that leads to the most; a name before a
    variable, since OPS can tell at once whether an event has it."""
    ahead: dict[Node, list[Node]] = {}
    for edge in edges:
        ahead.setdefault(edge.s, []).append(edge.o)
        ahead.setdefault(edge.o, [])
    left = dict.fromkeys(ahead)
    roots: list[Node] = []
    while left:
        reached = {node: _reached(node, ahead, left) for node in left}
        root = max(reached, key=lambda node: (len(reached[node]), not isinstance(node, Var)))
        roots.append(root)
        for node in reached[root]:
            del left[node]
    return roots


def _reached(start: Node, ahead: dict[Node, list[Node]], among: dict[Node, None]) -> set[Node]:
    found = {start}
    todo = [start]
    while todo:
        for node in ahead[todo.pop()]:
            if node in among and node not in found:
                found.add(node)
                todo.append(node)
    return found


def _nameless(edges: Sequence[TriplePattern]) -> list[TriplePattern]:
    variables: dict[Node, Var] = {}

    def variable(node: Node) -> Var:
        return variables.setdefault(node, Var(f"v{len(variables)}"))

    return [TriplePattern(variable(edge.s), edge.p, variable(edge.o)) for edge in edges]
