"""Random SPARQL subscriptions: every construct of the dialect, over the worlds of `strategies`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st
from tests.property import model as m
from tests.property.brute_rdf import Knowledge
from tests.property.strategies import CANONICAL, CLASSES, OPERATORS, PROPERTIES, RESOURCES, any_literal, ex, worlds

VARIABLES = [m.V(n) for n in ("x", "y", "z", "w")]
FOREIGN = ex("nowhere")
TEXTS = [
    m.Lit("the Olympic Games in Rio"),
    m.tagged("Games, games: Rio 2016!", "en"),
    m.Lit("olympic"),
    m.Lit("東京オリンピック Tokyo"),
]
WORDS = ("olympic", "games", "Rio", "in", "the olympic", "games in rio", "tokyo", "東京", "2016")


@dataclass(frozen=True)
class Features:
    """What a generated query may use. `portable` keeps to what other engines answer by the letter of the standard.

    pyoxigraph drops repeats from alternatives of paths, keeps some from negated sets, looks for a path's constant ends
    in the graph, sees blank nodes of the query in COUNT(DISTINCT *), and lets MINUS inside EXISTS share variables with
    what is outside.
    """

    portable: bool = False
    literals: st.SearchStrategy[m.Lit] = field(default=any_literal)


@dataclass
class Composer:
    """Draws one query. Fresh names are counted, so that BIND and blank nodes never clash."""

    draw: st.DrawFn
    world: m.World
    features: Features
    star: list[m.Statement]
    names: dict[m.RdfTerm, m.V] = field(default_factory=dict)
    count: int = 0

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(0, one_in - 1)) == one_in - 1

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def variable(self) -> m.V:
        return self.draw(st.sampled_from(VARIABLES))

    def literal(self) -> m.Lit:
        return self.draw(self.features.literals)

    # ------------------------------------------------------------------------------------------------------- patterns

    def bgp(self, most: int = 3) -> m.Bgp:
        """Statements of E* with some places made variables: likely to match, and to join."""
        label = self.fresh("b")
        triples = []
        for _ in range(self.draw(st.integers(1, most if len(self.star) < 14 else 2))):
            s, p, o = self.draw(st.sampled_from(self.star)) if not self.chance(6) else self._made_up()
            if self.chance(4):
                triples.append(self._path_pattern(s, o, label))
            else:
                triples.append((self._node(s, label), self._verb(p), self._node(o, label)))
        return m.Bgp(tuple(triples))

    def _path_pattern(self, s: m.RdfTerm, o: m.RdfTerm, label: str) -> tuple[m.Place, m.PathTree, m.Place]:
        if self.features.portable:
            return self.variable(), self.path(1), self.variable()
        return self._node(s, label), self.path(2), self._node(o, label)

    def _made_up(self) -> m.Statement:
        subject = self.draw(st.sampled_from([*RESOURCES, FOREIGN]))
        target = self.draw(st.sampled_from([*RESOURCES, *CANONICAL, FOREIGN]))
        return subject, self.draw(st.sampled_from(PROPERTIES)), target

    def _node(self, term: m.RdfTerm, label: str) -> m.Place:
        kind = self.draw(st.integers(0, 9))
        if kind < 4:
            # The same variable for the same term keeps the pattern satisfiable.
            return self.names.setdefault(term, self.variable())
        if kind < 6:
            return self.variable()
        if kind == 6 and not self.features.portable:
            return m.Star(int(self.fresh("")))
        if kind == 7:
            return m.Anon(label if self.chance(2) else self.fresh("anon"))
        return self.variable() if isinstance(term, m.Blank) else term

    def _verb(self, p: m.Iri) -> m.Place:
        kind = self.draw(st.integers(0, 7))
        if kind == 0:
            return self.variable()
        if kind == 1 and not self.features.portable:
            return m.Star(int(self.fresh("")))
        return p

    def path(self, depth: int) -> m.PathTree:
        iri = self.draw(st.sampled_from([*PROPERTIES[:2], *PROPERTIES, m.TYPE]))
        if depth == 0:
            return ("iri", iri)
        match self.draw(st.integers(0, 7)):
            case 0 | 1:
                return ("seq", self.path(depth - 1), self.path(depth - 1))
            case 2 if not self.features.portable:
                return ("alt", self.path(depth - 1), self.path(depth - 1))
            case 3:
                return ("inv", self.path(depth - 1))
            case 4 | 5 | 6:
                return (self.draw(st.sampled_from(["*", "+", "?"])), self.path(depth - 1))
        if self.features.portable:
            return ("iri", iri)
        forward = self.draw(st.lists(st.sampled_from(PROPERTIES), max_size=2, unique=True))
        inverse = self.draw(st.lists(st.sampled_from(PROPERTIES), max_size=1))
        return ("not", tuple(forward or ([] if inverse else [iri])), tuple(inverse))

    def group(self, depth: int, *, inside_exists: bool = False) -> m.Group:
        """A group starts with a basic pattern more often than not, so that filters have something to look at."""
        elements: list[m.Element] = [self.bgp()] if not self.chance(8) else []
        more = self.draw(st.integers(0, 2 if depth else 1))
        elements += [self.element(depth, inside_exists) for _ in range(more)]
        return m.Group(tuple(_without_clashes(elements)))

    def element(self, depth: int, inside_exists: bool) -> m.Element:
        if depth == 0 or self.chance(3):
            return m.Filter(self.condition(depth))
        deeper = depth - 1
        choices: list[Callable[[], m.Element]] = [
            lambda: m.Optional(self.group(deeper, inside_exists=inside_exists)),
            lambda: m.Optional(self.group(deeper, inside_exists=inside_exists)),
            lambda: m.Union(tuple(self.group(deeper, inside_exists=inside_exists) for _ in range(2))),
            lambda: m.Nested(self.group(deeper, inside_exists=inside_exists)),
            lambda: m.InGraph(self._graph_name(), self.group(deeper, inside_exists=inside_exists)),
            self.bgp,
        ]
        if not (inside_exists and self.features.portable):
            choices.append(lambda: m.Minus(self.group(deeper, inside_exists=inside_exists)))
        if not inside_exists:
            choices += [
                lambda: m.Bind(self.value(1), m.V(self.fresh("k"))),
                self.inline,
                lambda: m.SubSelect(self.sub_select(deeper)),
            ]
        return self.draw(st.sampled_from(choices))()

    def _graph_name(self) -> m.Iri | m.V:
        return self.draw(st.sampled_from([self.world.event_id, FOREIGN, m.V("g"), m.V("g"), *VARIABLES[:1]]))

    def inline(self) -> m.Inline:
        names = self.draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=2, unique=True))
        objects = sorted({t for s, _, o in self.star for t in (s, o) if not isinstance(t, m.Blank)}, key=repr)
        cell = st.one_of(st.sampled_from([*objects, FOREIGN]), st.sampled_from(objects or [FOREIGN]), st.none())
        row = st.tuples(*(cell for _ in names))
        return m.Inline(tuple(names), tuple(self.draw(st.lists(row, min_size=1, max_size=3))))

    def sub_select(self, depth: int) -> m.Select:
        where = self.group(depth)
        if self.chance(2):
            names = self.draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=2, unique=True))
            return m.Select(where, tuple((v, None) for v in names), distinct=self.chance(2))
        return self.aggregation(where, ["COUNT", "SUM"])

    # ---------------------------------------------------------------------------------------------------- expressions

    def condition(self, depth: int) -> m.Expression:
        """A boolean expression."""
        x = self.variable()
        # pyoxigraph takes any term as <= itself; by the standard there is no order on IRIs, and comparing them fails.
        operators = ["=", "!="] if self.features.portable else OPERATORS
        leaves: list[Callable[[], m.Expression]] = [
            lambda: (self.draw(st.sampled_from(operators)), self.value(depth), self.value(depth)),
            lambda: (self.draw(st.sampled_from(OPERATORS)), x, self.literal()),
            lambda: ("BOUND", x),
            lambda: ("sameTerm", self.value(0), self.value(0)),
            lambda: (self.draw(st.sampled_from(["isIRI", "isBlank", "isLiteral", "isNumeric"])), x),
            lambda: (self.draw(st.sampled_from(["in", "not in"])), x, self.value(0), self.value(0)),
        ]
        if not self.features.portable:
            leaves.append(lambda: x)
            leaves.append(lambda: ("ft", x, self.draw(fulltexts())))
        if depth == 0:
            return self.draw(st.sampled_from(leaves))()
        deeper = depth - 1
        branches: list[Callable[[], m.Expression]] = [
            lambda: ("&&", self.condition(deeper), self.condition(deeper)),
            lambda: ("||", self.condition(deeper), self.condition(deeper)),
            lambda: ("!", self.condition(deeper)),
            lambda: ("exists", self.group(deeper, inside_exists=True)),
            lambda: ("not exists", self.group(deeper, inside_exists=True)),
        ]
        return self.draw(st.sampled_from(leaves + branches))()

    def value(self, depth: int) -> m.Expression:
        """An expression of any type."""
        x = self.variable()
        leaves: list[Callable[[], m.Expression]] = [
            lambda: x,
            lambda: x,
            self.literal,
            lambda: self.draw(st.sampled_from([*RESOURCES[:2], CLASSES[0]])),
        ]
        if depth == 0:
            return self.draw(st.sampled_from(leaves))()
        branches: list[Callable[[], m.Expression]] = [
            lambda: (self.draw(st.sampled_from(["STR", "LANG", "DATATYPE", "STRLEN"])), x),
            lambda: ("COALESCE", self.value(depth - 1), self.value(depth - 1)),
            lambda: ("IF", self.condition(depth - 1), self.value(depth - 1), self.value(depth - 1)),
            lambda: (self.draw(st.sampled_from(["+", "-", "*"])), self.value(depth - 1), self.value(depth - 1)),
        ]
        return self.draw(st.sampled_from(leaves + branches))()

    # -------------------------------------------------------------------------------------------------------- queries

    def aggregation(self, where: m.Group, ops: list[str]) -> m.Select:
        """Aggregates over a variable that the first basic pattern binds, so that no group has unbound ones."""
        bound = [n for n in _always_bound(where) if isinstance(n, m.V)]
        keys = self.draw(st.lists(st.sampled_from(VARIABLES), max_size=2, unique=True)) if self.chance(2) else None
        columns: list[tuple[m.V, m.Agg | None]] = [(k, None) for k in keys or ()]
        more = self.draw(st.integers(1, 2))
        columns += [(m.V(self.fresh("n")), self._aggregate(bound, ops)) for _ in range(more)]
        having = None
        if self.chance(3):
            threshold = m.integer(self.draw(st.integers(0, 3)))
            having = (self.draw(st.sampled_from(OPERATORS)), self._aggregate(bound, ["COUNT", "SUM"]), threshold)
        return m.Select(where, tuple(columns), group_by=tuple(keys) if keys else None, having=having)

    def _aggregate(self, bound: list[m.V], ops: list[str]) -> m.Agg:
        distinct = self.chance(2)
        if not bound or self.chance(4):
            every = self.chance(2) and not (distinct and self.features.portable)
            return m.Agg("COUNT", distinct, None if every else self.variable())
        return m.Agg(self.draw(st.sampled_from(ops)), distinct, self.draw(st.sampled_from(bound)))

    def query(self) -> m.Select:
        where = self.group(2)
        match self.draw(st.integers(0, 9)):
            case 0:
                return m.Select(where, form="ASK")
            case 1:
                template = tuple((self.variable(), self._template_verb(), self._template_object()) for _ in range(2))
                return m.Select(where, form="CONSTRUCT", template=template)
            case 2 | 3:
                return self.aggregation(where, ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE"])
            case 4:
                column = (m.V(self.fresh("k")), self.value(2))
                return m.Select(where, ((self.variable(), None), column), distinct=self.chance(3))
            case 5 | 6:
                names = self.draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=3, unique=True))
                return m.Select(where, tuple((v, None) for v in names), distinct=self.chance(2))
            case 7:
                return m.Select(where, limit=self.draw(st.integers(1, 3)))
            case 8:
                return m.Select(where, values=self.inline())
        return m.Select(where)

    def _template_verb(self) -> m.Place:
        return self.variable() if self.chance(4) else self.draw(st.sampled_from(PROPERTIES))

    def _template_object(self) -> m.Place:
        return self.variable() if not self.chance(4) else self.draw(st.sampled_from([*RESOURCES, *CANONICAL]))


def _always_bound(where: m.Group) -> list[m.Place]:
    """Variables of the basic patterns directly in a group: every one of its solutions binds them."""
    triples = [t for e in where.elements if isinstance(e, m.Bgp) for t in e.triples]
    return list(dict.fromkeys(n for t in triples for n in t if isinstance(n, m.V)))


def _without_clashes(elements: list[m.Element]) -> list[m.Element]:
    """Neighbouring basic patterns are one: blank-node labels may not span two, and a path needs no other care."""
    merged: list[m.Element] = []
    for element in elements:
        if isinstance(element, m.Bgp) and merged and isinstance(merged[-1], m.Bgp):
            merged[-1] = m.Bgp(merged[-1].triples + element.triples)
        else:
            merged.append(element)
    return merged


# --------------------------------------------------------------------------------------------------------- full text


@st.composite
def nears(draw: st.DrawFn, depth: int = 2, words: tuple[str, ...] = WORDS) -> m.FtTree:
    """Operands of ftNEAR: strings, ftNEARs and ftORs of these."""
    kind = draw(st.integers(0, 3)) if depth else 0
    if kind < 2:
        return ("phrase", draw(st.sampled_from(words)))
    left, right = draw(nears(depth - 1, words)), draw(nears(depth - 1, words))
    if kind == 2:
        return ("or", left, right)
    least = draw(st.integers(0, 2))
    return ("near", left, least, least + draw(st.integers(0, 2)), right)


@st.composite
def fulltexts(draw: st.DrawFn, depth: int = 2) -> m.FtTree:
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return draw(nears())
    op = draw(st.sampled_from(["and", "or", "not"]))
    if op == "not":
        return ("not", draw(fulltexts(depth - 1)))
    return (op, *(draw(fulltexts(depth - 1)) for _ in range(draw(st.integers(2, 3)))))


# ------------------------------------------------------------------------------------------------------------- cases

any_or_text = st.one_of(any_literal, any_literal, st.sampled_from(TEXTS))
FULL = Features(literals=any_or_text)
PORTABLE = Features(portable=True, literals=st.sampled_from(CANONICAL))


@st.composite
def sparql_cases(draw: st.DrawFn, features: Features = FULL) -> tuple[m.Select, m.World]:
    world = draw(worlds(features.literals, most=6))
    star = sorted(Knowledge(world).star, key=repr)
    return Composer(draw, world, features, star).query(), world
