"""The workload of the OPS paper (Wang, Jin, Li: Middleware 2004, section 6; the journal version, section 5).

As described there: C classes and 10 properties without hierarchies, each class with exactly two properties;
subscriptions of 10 vertices and 11 arcs, all ids variables but that of the home vertex, no filters; events of 50
blank nodes and 55 arcs; the class of every vertex drawn from all classes. Both kinds of graph must be reachable from
the home vertex. Neither paper says how an arc is drawn. Here vertices come one by one, each at the end of an arc from
one of those before it, and the arcs that are left over go between any two; the property is one of the two that the
class of the arc's start has, the object may be of any class.

**The matching rate.** The papers report about 3 % at C=10, and 1.3 to 23.8 % for C from 20 down to 2. Independent
draws cannot give that. The home class alone agrees once in C times, and each further arc asks for a property (1 of 2)
and a class (1 of C) that the few arcs of one event vertex seldom have: none of thousands of such subscriptions
matches, not even at C=2. So the rate is a parameter here, and it is brought about openly:

- Events come in kinds. Those of a kind have a core of 30 vertices and 33 arcs in common (the paper's proportion of
  vertices to arcs); what each adds to it is its own.
- A subscription is, with the probability that gives the rate, a part of the core of one kind: two of the arcs that
  close a cycle or join two paths, the ways to them from the home vertex, and further vertices up to ten. It then
  matches the events of that kind, and others by chance. The other subscriptions are drawn independently.

`published_rate` is the rate for a number of classes: a power law through the two ends that the paper gives. At C=10 it
has 3.1 %, as the paper does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import log10, pow
from typing import TypeAlias

from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, OWL, RDF_TYPE, Term, Triple, blank, iri

PROPERTIES = 10
PROPERTIES_OF_A_CLASS = 2
SUBSCRIPTION = (10, 11)
CORE = (30, 33)
EVENT = (50, 55)
"""Vertices and arcs."""

_NAMES = "http://ops.example/"
_DOMAIN = iri("https://schema.org/domainIncludes")

Arc: TypeAlias = tuple[int, int, int]
"""From a vertex, with a property, to a vertex. Vertex 0 is the home vertex."""


@dataclass(frozen=True, slots=True)
class Graph:
    """`classes` are those of the vertices. `tree` has, for each vertex but the first, an arc to it from an earlier one;
    `others` are the arcs besides."""

    classes: tuple[int, ...]
    tree: tuple[Arc, ...]
    others: tuple[Arc, ...]

    @property
    def arcs(self) -> tuple[Arc, ...]:
        return self.tree + self.others


@dataclass(frozen=True, slots=True)
class Kind:
    """What the events of a kind have in common. `seeds` are what subscriptions can be grown from: the arcs beyond a
    tree, as many as one has, and the vertices on the ways to them."""

    core: Graph
    seeds: tuple[tuple[tuple[Arc, ...], frozenset[int]], ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions are texts in the `ops` dialect, by id. Any number of the first ones is such a workload too."""

    ontology: Ontology
    subscriptions: tuple[tuple[str, str], ...]
    events: tuple[Event, ...]


def published_rate(classes: int) -> float:
    """The matching rate at this number of classes, between the paper's 23.8 % at 2 and its 1.3 % at 20."""
    return 0.238 * pow(0.013 / 0.238, log10(classes / 2))


def workload(classes: int, subscriptions: int, rate: float, *, events: int, seed: int) -> Workload:
    """The same for the same arguments. With a rate of 0, everything is drawn independently."""
    return _Generator(classes, f"{seed} {classes} {rate} {events}").workload(subscriptions, rate, events)


class _Generator:
    def __init__(self, classes: int, seed: str) -> None:
        self._dice = random.Random(seed)
        self._classes = classes
        self._properties = [
            tuple(self._dice.sample(range(PROPERTIES), PROPERTIES_OF_A_CLASS)) for _ in range(self._classes)
        ]
        """Of each class."""

    def workload(self, subscriptions: int, rate: float, events: int) -> Workload:
        # With more kinds than 1 / rate, there would be more subscriptions to plant than there are.
        kinds = min(events, int(1 / rate)) if rate else 0
        known = [self._kind() for _ in range(kinds)]
        graphs = [self._grow(EVENT, known[n % kinds].core if kinds else None) for n in range(events)]
        return Workload(
            Ontology.of(self._concepts()),
            tuple((f"s{n:06}", _text(self._subscription(known, rate * kinds))) for n in range(subscriptions)),
            tuple(_event(f"{_NAMES}event/{n}", graph) for n, graph in enumerate(graphs)),
        )

    def _concepts(self) -> Iterator[Triple]:
        """The concept model: the properties of each class. Their values are of any class."""
        for cls, properties in enumerate(self._properties):
            yield _class(cls), RDF_TYPE, iri(f"{OWL}Class")
            for property in properties:
                yield _property(property), _DOMAIN, _class(cls)

    def _grow(self, size: tuple[int, int], base: Graph | None = None) -> Graph:
        """A random graph, or the one given and what is random beyond it."""
        vertices, arcs = size
        classes = list(base.classes if base else (self._dice.randrange(self._classes),))
        tree = list(base.tree if base else ())
        while len(classes) < vertices:
            tree.append(self._arc(classes, self._dice.randrange(len(classes)), len(classes)))
            classes.append(self._dice.randrange(self._classes))
        others = dict.fromkeys(base.others if base else ())
        while len(tree) + len(others) < arcs:
            arc = self._arc(classes, *self._dice.sample(range(vertices), 2))
            if arc not in tree:
                others[arc] = None
        return Graph(tuple(classes), tuple(tree), tuple(others))

    def _arc(self, classes: list[int], start: int, end: int) -> Arc:
        return start, self._dice.choice(self._properties[classes[start]]), end

    def _kind(self) -> Kind:
        while True:
            core = self._grow(CORE)
            seeds = tuple(_seeds(core))
            if seeds:
                return Kind(core, seeds)

    def _subscription(self, kinds: list[Kind], planted: float) -> Graph:
        if self._dice.random() < planted:
            return self._part(self._dice.choice(kinds))
        return self._grow(SUBSCRIPTION)

    def _part(self, kind: Kind) -> Graph:
        """A part of the core that has the home vertex and the size of a subscription."""
        core = kind.core
        others, seed = self._dice.choice(kind.seeds)
        vertices = set(seed)
        while len(vertices) < SUBSCRIPTION[0]:
            vertices.add(self._dice.choice([o for s, _, o in core.tree if s in vertices and o not in vertices]))
        number = {vertex: n for n, vertex in enumerate(sorted(vertices))}
        return Graph(
            tuple(core.classes[vertex] for vertex in number),
            tuple((number[s], p, number[o]) for s, p, o in core.tree if o in number),
            tuple((number[s], p, number[o]) for s, p, o in others),
        )


def _seeds(core: Graph) -> Iterator[tuple[tuple[Arc, ...], frozenset[int]]]:
    vertices, arcs = SUBSCRIPTION
    for others in combinations(core.others, arcs - (vertices - 1)):
        found = {0}
        for vertex in (end for s, _, o in others for end in (s, o)):
            while vertex not in found:
                found.add(vertex)
                vertex = core.tree[vertex - 1][0]
        if len(found) <= vertices:
            yield others, frozenset(found)


# --------------------------------------------------------------------------------------------------------------- as RDF


def _text(graph: Graph) -> str:
    def id(vertex: int) -> str:
        return f"?{vertex}" if vertex else HOME

    lines = [
        f"({id(s)}, {id(o)}, (:C{graph.classes[s]}, :p{p}, :C{graph.classes[o]}))" for s, p, o in sorted(graph.arcs)
    ]
    return "\n".join((f"PREFIX : <{_NAMES}>", *lines, ""))


def _event(id: str, graph: Graph) -> Event:
    vertices = [blank(f"b{n}") if n else HOME for n in range(len(graph.classes))]
    types = [(vertex, RDF_TYPE, _class(cls)) for vertex, cls in zip(vertices, graph.classes, strict=True)]
    return Event.of(id, [*types, *((vertices[s], _property(p), vertices[o]) for s, p, o in graph.arcs)])


def _class(number: int) -> Term:
    return iri(f"{_NAMES}C{number}")


def _property(number: int) -> Term:
    return iri(f"{_NAMES}p{number}")
