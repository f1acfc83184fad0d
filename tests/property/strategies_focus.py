"""Small dense worlds, each with subscriptions that use little but use it hard: what broad random cases seldom reach."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from hypothesis import strategies as st
from tests.property import model as m
from tests.property.brute_rdf import Knowledge
from tests.property.strategies import CLASSES, RESOURCES, any_literal, ex, ontologies
from tests.property.strategies_sparql import FOREIGN, FULL, Composer

NODES = RESOURCES[:3]
LINKS = [ex("p"), ex("q")]
THREE = [m.V(n) for n in ("x", "y", "z")]


@st.composite
def dense_events(draw: st.DrawFn, most: int = 6) -> tuple[m.Statement, ...]:
    """Few nodes, the event itself among them, two properties: nearly everything is connected."""
    node = st.sampled_from([*NODES, *NODES, m.Blank("b"), m.World().event_id])
    triple = st.tuples(node, st.sampled_from(LINKS), node)
    return tuple(draw(st.lists(triple, min_size=1, max_size=most, unique=True)))


# ---------------------------------------------------------------------------------------------------------- E* and is-a


@st.composite
def entailments(draw: st.DrawFn) -> m.World:
    """Types and properties under rich ontologies."""
    rare = st.sampled_from([(ex("s"), m.SUBPROPERTY, m.TYPE), (m.TYPE, m.SUBPROPERTY, ex("t"))])
    ontology = (*draw(ontologies()), *draw(st.lists(rare, max_size=2)))
    subject = st.sampled_from([*NODES, CLASSES[1], m.HOME])
    typed = st.tuples(subject, st.sampled_from([m.TYPE, m.TYPE, ex("s")]), st.sampled_from(CLASSES[:4]))
    linked = st.tuples(subject, st.sampled_from([ex("p"), ex("q"), ex("r")]), subject)
    event = draw(st.lists(st.one_of(typed, linked), min_size=1, max_size=4, unique=True))
    return m.World(tuple(dict.fromkeys(ontology)), tuple(event))


@st.composite
def is_a_worlds(draw: st.DrawFn) -> m.World:
    """One edge to a class, an instance or a blank node, with statements on it of the event's and the ontology's own."""
    target = draw(st.sampled_from([*CLASSES[:4], *NODES, m.Blank("b")]))
    subject = st.sampled_from([target, target, *CLASSES[:4]])
    edge = st.tuples(subject, st.sampled_from([m.TYPE, m.SUBCLASS]), st.sampled_from(CLASSES[:5]))
    event = ((ex("s"), ex("about"), target), *draw(st.lists(edge, max_size=3)))
    return m.World(draw(ontologies()), tuple(dict.fromkeys(event)))


# ----------------------------------------------------------------------------------------------------------- OPS shapes


@st.composite
def ops_shapes(draw: st.DrawFn) -> tuple[m.OpsSubscription, m.World]:
    """Arcs between few vertices, loops and ways back included: the mapping is what matters, not the classes."""
    target = st.sampled_from([m.HOME, m.Blank("b"), *NODES[:2], m.integer(5), m.Lit("05", m.XSD + "integer")])
    above_type = draw(st.sampled_from([(), ((m.TYPE, m.SUBPROPERTY, ex("q")),)]))
    event: list[m.Statement] = []
    nodes: list[m.RdfTerm] = [m.HOME]
    for _ in range(draw(st.integers(1, 6))):
        subject = draw(st.sampled_from([n for n in nodes if not isinstance(n, m.Lit)]))
        if draw(st.integers(0, 5)) == 0:
            event.append((subject, m.TYPE, draw(st.sampled_from(NODES))))
        else:
            event.append((subject, draw(st.sampled_from(LINKS)), draw(target)))
            nodes.append(event[-1][2])
    arcs = []
    reached: list[m.RdfTerm | m.V] = [m.HOME]
    for _ in range(draw(st.integers(1, 4))):
        subject = draw(st.sampled_from([n for n in reached if not isinstance(n, m.Lit)]))
        end = draw(st.sampled_from([*THREE, *THREE, m.HOME, NODES[0], m.integer(5)]))
        top = m.Iri(m.RDFS + "Literal") if isinstance(end, m.Lit) else m.Iri(m.OWL + "Thing")
        if isinstance(end, m.V) and end not in reached and draw(st.booleans()):
            top = m.Iri(m.RDFS + "Literal")
        arcs.append(m.OpsArc(subject, end, m.Iri(m.OWL + "Thing"), draw(st.sampled_from(LINKS)), top))
        reached.append(end)
    return m.OpsSubscription(tuple(arcs)), m.World(above_type, tuple(dict.fromkeys(event)))


# --------------------------------------------------------------------------------------------------------------- SPARQL


class Algebra(Composer):
    """OPTIONAL, UNION, MINUS, EXISTS, VALUES and sub-selects over single triples, nested deep."""

    def bgp(self, most: int = 3) -> m.Bgp:
        def node() -> m.Place:
            return self.draw(st.sampled_from([*THREE, *THREE, NODES[0]]))

        return m.Bgp(((node(), self.draw(st.sampled_from(LINKS)), node()),))

    def condition(self, depth: int) -> m.Expression:
        x, y = self.draw(st.sampled_from(THREE)), self.draw(st.sampled_from([*THREE, NODES[0]]))
        choices: list[Callable[[], m.Expression]] = [
            lambda: ("BOUND", x),
            lambda: ("!", ("BOUND", x)),
            lambda: ("=", x, y),
            lambda: ("!=", x, y),
        ]
        if depth:
            choices.append(lambda: ("exists", self.group(depth - 1, inside_exists=True)))
            choices.append(lambda: ("not exists", self.group(depth - 1, inside_exists=True)))
        return self.draw(st.sampled_from(choices))()

    def group(self, depth: int, *, inside_exists: bool = False) -> m.Group:
        """Often one that leaves a variable unbound in some of its solutions."""
        if depth < 2 and self.chance(3):
            return m.Group((self.bgp(), m.Optional(m.Group((self.bgp(),)))))
        return super().group(depth, inside_exists=inside_exists)

    def element(self, depth: int, inside_exists: bool) -> m.Element:
        if depth and self.chance(4):
            return m.Minus(self.group(depth - 1, inside_exists=inside_exists))
        return super().element(depth, inside_exists)

    def value(self, depth: int) -> m.Expression:
        return self.draw(st.sampled_from([*THREE, NODES[0]]))

    def query(self) -> m.Select:
        return m.Select(self.group(3))


class Joins(Algebra):
    """Tables with holes, joined in every way: a variable may be bound on both sides, on one, or on neither."""

    def part(self) -> m.Group:
        shared = [m.Bgp(((x, self.draw(st.sampled_from(LINKS)), y),)) for x, y in [self._pair(), self._pair()]]
        match self.draw(st.integers(0, 4)):
            case 0 | 1:
                return m.Group((shared[0], m.Optional(m.Group((shared[1],)))))
            case 2:
                return m.Group((m.Union((m.Group((shared[0],)), m.Group((shared[1],)))),))
            case 3:
                cell = st.sampled_from([*NODES, *NODES, None])
                rows = self.draw(st.lists(st.tuples(cell, cell), min_size=1, max_size=3))
                return m.Group((m.Inline(self._pair(), tuple(rows)),))
        return m.Group((m.InGraph(self.draw(st.sampled_from(THREE)), m.Group((m.Optional(m.Group((shared[0],))),))),))

    def _pair(self) -> tuple[m.V, m.V]:
        return self.draw(st.sampled_from([(x, y) for x in THREE for y in THREE if x != y]))

    def query(self) -> m.Select:
        elements: list[m.Element] = [m.Nested(self.part())]
        for _ in range(self.draw(st.integers(1, 2))):
            kind = self.draw(st.sampled_from([m.Nested, m.Nested, m.Optional, m.Minus]))
            elements.append(kind(self.part()))
        if self.chance(4):
            elements.append(m.Filter(self.condition(1)))
        return m.Select(m.Group(tuple(elements)))


class Paths(Composer):
    """One or two paths of some depth, their ends variables, constants, strangers, or bound by VALUES."""

    def path(self, depth: int) -> m.PathTree:
        """More repetitions and sequences than elsewhere: what has length zero is where paths go wrong."""
        kind = self.draw(st.integers(0, 7)) if depth else 7
        if kind < 3:
            return (self.draw(st.sampled_from(["*", "+", "?"])), self.path(depth - 1))
        if kind < 5:
            return ("seq", self.path(depth - 1), self.path(depth - 1))
        return super().path(depth) if kind == 5 else ("iri", self.draw(st.sampled_from(LINKS)))

    def query(self) -> m.Select:
        def node() -> m.Place:
            wildcard = m.Star(int(self.fresh("")))
            return self.draw(st.sampled_from([*THREE[:2], *THREE[:2], NODES[0], FOREIGN, FOREIGN, wildcard]))

        triples = [(node(), self.path(2), node()) for _ in range(self.draw(st.sampled_from([1, 1, 2])))]
        elements: list[m.Element] = [m.Bgp(tuple(triples))]
        if self.chance(2):
            bound = self.draw(st.sampled_from([*NODES, FOREIGN, FOREIGN]))
            elements.insert(0, m.Inline((THREE[0],), ((bound,),)))
        return m.Select(m.Group(tuple(elements)))


class Aggregates(Composer):
    """Aggregates over the objects of the event, over what may be unbound, and over what is hidden."""

    def query(self) -> m.Select:
        last: m.Place = m.Star(1) if self.chance(4) else m.V("z")
        where: list[m.Element] = [m.Bgp(((m.V("x"), m.V("y"), last),))]
        if self.chance(2):
            where.append(m.Optional(m.Group((m.Bgp(((m.V("x"), ex("q"), m.V("w")),)),))))
        if self.chance(3):
            where.append(m.Filter(("isNumeric", m.V("z"))))
        query = self.aggregation(m.Group(tuple(where)), ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE"])
        perhaps = m.Agg(self.draw(st.sampled_from(["COUNT", "SUM", "AVG"])), self.chance(2), m.V("w"))
        return dataclasses.replace(query, columns=(*(query.columns or ()), (m.V("n"), perhaps)))


class Filters(Composer):
    """One statement's object under a deep condition."""

    def query(self) -> m.Select:
        where = m.Bgp(((m.V("x"), ex("p"), m.V("y")),))
        more = m.Optional(m.Group((m.Bgp(((m.V("x"), ex("q"), m.V("z")),)),)))
        last = self.draw(st.sampled_from(["filter", "bind"]))
        tail = m.Filter(self.condition(2)) if last == "filter" else m.Bind(self.value(2), m.V("k"))
        return m.Select(m.Group((where, more, tail)))


def _cases(
    composer: type[Composer], events: st.SearchStrategy[tuple[m.Statement, ...]]
) -> st.SearchStrategy[tuple[m.Select, m.World]]:
    @st.composite
    def case(draw: st.DrawFn) -> tuple[m.Select, m.World]:
        world = m.World((), draw(events))
        return composer(draw, world, FULL, sorted(Knowledge(world).star, key=repr)).query(), world

    return case()


@st.composite
def literal_events(draw: st.DrawFn, most: int = 5) -> tuple[m.Statement, ...]:
    subject = st.sampled_from([*NODES[:2], m.Blank("b")])
    target = st.one_of(any_literal, any_literal, st.sampled_from(NODES[:2]))
    triple = st.tuples(subject, st.sampled_from(LINKS), target)
    return tuple(draw(st.lists(triple, min_size=1, max_size=most, unique=True)))


algebra_cases = _cases(Algebra, dense_events(5))
join_cases = _cases(Joins, dense_events(7))
path_cases = _cases(Paths, dense_events(7))
aggregate_cases = _cases(Aggregates, literal_events(6))
filter_cases = _cases(Filters, literal_events(3))
