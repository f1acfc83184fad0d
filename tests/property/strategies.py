"""Random ontologies, events and subscriptions in the `ops` and `gtopss` dialects, drawn from small pools.

Half of every subscription is drawn from what the event means, so that matches are as common as misses.
"""

from __future__ import annotations

from hypothesis import strategies as st
from tests.property import model as m
from tests.property.brute_rdf import XSD_EDGES, Knowledge

Draw = st.DrawFn


def ex(name: str) -> m.Iri:
    return m.Iri(m.EX + name)


def xsd(lexical: str, datatype: str) -> m.Lit:
    return m.Lit(lexical, m.XSD + datatype)


CLASSES = [ex(c) for c in "ABCDEF"]
PROPERTIES = [ex(p) for p in "pqrs"]
RESOURCES = [ex(r) for r in "abcd"]
BLANKS = [m.HOME, m.Blank("b"), m.Blank("c1")]
OPERATORS = ["=", "!=", "<", "<=", ">", ">="]

CANONICAL = [m.integer(n) for n in (-1, 0, 4, 5, 6)] + [m.Lit("x"), m.Lit("y z"), m.tagged("x", "en"), m.boolean(True)]
HUGE = 10**40
NUMBERS = [
    xsd("05", "int"),
    xsd("+5", "integer"),
    xsd("5.0", "decimal"),
    xsd("5.00", "decimal"),
    xsd("5", "byte"),
    xsd("5", "double"),
    xsd("5.0E0", "double"),
    xsd("5", "float"),
    xsd("0.1", "decimal"),
    xsd("1e-1", "double"),
    xsd("0.1", "float"),
    xsd("-0", "integer"),
    xsd("NaN", "double"),
    xsd("-INF", "double"),
    m.integer(HUGE),
    m.integer(HUGE + 1),
    xsd(f"{HUGE}.0", "decimal"),
    xsd(f"{HUGE}.00000000000000000000000001", "decimal"),
    xsd("1e40", "double"),
    m.integer(2**63),
]
ODD = [
    xsd("abc", "integer"),
    xsd("300", "byte"),
    xsd("-1", "unsignedByte"),
    xsd("maybe", "boolean"),
    xsd("1", "boolean"),
    xsd("0", "boolean"),
    m.Lit("5"),
    m.Lit(""),
    m.Lit("5", m.EX + "dt"),
    m.Lit("x", m.EX + "dt"),
    m.tagged("x", "fr"),
    m.tagged("5", "en-gb"),
    m.Lit('q"\\\n\t'),
    m.Lit("Straße é"),
]
TIMES = [
    xsd("2004-01-01T00:00:00Z", "dateTime"),
    xsd("2004-01-01T01:00:00+01:00", "dateTime"),
    xsd("2004-01-01T00:00:00.5Z", "dateTime"),
    xsd("2003-12-31T23:59:59Z", "dateTimeStamp"),
    xsd("2004-01-01Z", "date"),
    xsd("2004-02-29Z", "date"),
    xsd("2003-02-29Z", "date"),
]
MORE_TIMES = [
    xsd("2004Z", "gYear"),
    xsd("2004", "gYear"),
    xsd("2004-02", "gYearMonth"),
    xsd("2004-01-01T00:00:00", "dateTime"),
    xsd("2004-01-01T00:00:00.50", "dateTime"),
    xsd("2004-01-01", "date"),
    xsd("2004-01-02", "date"),
    xsd("10:00:00", "time"),
    xsd("11:00:00+01:00", "time"),
    xsd("--02", "gMonth"),
    xsd("P1D", "duration"),
]

any_literal = st.one_of(*(st.sampled_from(pool) for pool in (CANONICAL, NUMBERS, ODD, TIMES)))


# ----------------------------------------------------------------------------------------------------------- ontologies


Relation = st.SearchStrategy[m.Iri]


def _downward(names: list[m.Iri], relation: Relation, most: int) -> st.SearchStrategy[list[m.Statement]]:
    """Edges of a DAG with many parents: a name is only ever below later ones."""
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return st.lists(st.tuples(st.sampled_from(pairs), relation).map(lambda x: (x[0][0], x[1], x[0][1])), max_size=most)


def _pairs(names: list[m.Iri], relation: Relation, most: int) -> st.SearchStrategy[list[m.Statement]]:
    return st.lists(st.tuples(st.sampled_from(names), relation, st.sampled_from(names)), max_size=most)


_subclass = st.sampled_from([m.SUBCLASS, m.SUBCLASS, m.Iri(m.DAML + "subClassOf")])
_subproperty = st.sampled_from([m.SUBPROPERTY, m.SUBPROPERTY, m.Iri(m.DAML + "subPropertyOf")])
_same_class = st.sampled_from([m.EQUIVALENT_CLASS, m.Iri(m.DAML + "sameClassAs")])
_same_property = st.sampled_from([m.EQUIVALENT_PROPERTY, m.Iri(m.DAML + "samePropertyAs")])
_rare = st.sampled_from(
    [
        (CLASSES[0], m.SUBCLASS, CLASSES[0]),
        (ex("dt"), m.SUBCLASS, m.Iri(m.XSD + "integer")),
        (m.Iri(m.XSD + "decimal"), m.SUBCLASS, CLASSES[5]),
        (m.Iri(m.XSD + "int"), m.SUBCLASS, CLASSES[4]),
        (ex("s"), m.SUBPROPERTY, m.TYPE),
        (m.TYPE, m.SUBPROPERTY, ex("t")),
        (ex("a"), m.TYPE, m.Iri(m.OWL + "Thing")),
        (ex("a"), m.TYPE, m.Iri(m.RDFS + "Resource")),
        (CLASSES[0], m.TYPE, m.Iri(m.OWL + "Class")),
        (CLASSES[0], m.TYPE, CLASSES[3]),
        (ex("p"), m.Iri(m.RDFS + "range"), CLASSES[1]),
        (ex("p"), m.Iri(m.RDFS + "domain"), CLASSES[1]),
    ]
)


@st.composite
def ontologies(draw: Draw) -> tuple[m.Statement, ...]:
    if draw(st.integers(0, 4)) == 0:
        return ()
    statements = draw(_downward(CLASSES, _subclass, 7))
    statements += draw(_pairs(CLASSES, _same_class, 2))
    statements += draw(_downward(PROPERTIES, _subproperty, 3))
    statements += draw(_pairs(PROPERTIES, _same_property, 1))
    instance = st.tuples(st.sampled_from(RESOURCES), st.just(m.TYPE), st.sampled_from(CLASSES))
    statements += draw(st.lists(instance, max_size=2))
    statements += draw(st.lists(_rare, max_size=2))
    return tuple(dict.fromkeys(statements))


# --------------------------------------------------------------------------------------------------------------- events


@st.composite
def statements(draw: Draw, literals: st.SearchStrategy[m.Lit] = any_literal) -> m.Statement:
    kind = draw(st.integers(0, 9))
    if kind < 2:
        subject = draw(st.sampled_from([*RESOURCES[:3], *BLANKS, CLASSES[1]]))
        return subject, m.TYPE, draw(st.sampled_from(CLASSES))
    if kind == 2:
        return draw(st.sampled_from(CLASSES[:3])), m.SUBCLASS, draw(st.sampled_from(CLASSES[1:]))
    subject = draw(st.sampled_from([*RESOURCES[:3], *BLANKS, CLASSES[1]]))
    resource = st.sampled_from([*RESOURCES, *BLANKS, CLASSES[2]])
    return subject, draw(st.sampled_from(PROPERTIES)), draw(st.one_of(resource, literals))


@st.composite
def worlds(draw: Draw, literals: st.SearchStrategy[m.Lit] = any_literal, most: int = 7) -> m.World:
    event = draw(st.lists(statements(literals), min_size=1, max_size=most))
    return m.World(draw(ontologies()), tuple(dict.fromkeys(event)))


@st.composite
def ops_worlds(draw: Draw) -> m.World:
    """An event that grows from the home vertex, most vertices typed."""
    nodes: list[m.RdfTerm] = [m.HOME]
    event: list[m.Statement] = []
    resource = st.sampled_from([m.Blank("b"), m.Blank("c1"), *RESOURCES[:2], CLASSES[2]])
    for _ in range(draw(st.integers(1, 6))):
        subject = draw(st.sampled_from([n for n in nodes if not isinstance(n, m.Lit)]))
        target = draw(st.one_of(resource, st.sampled_from(nodes), any_literal))
        event.append((subject, draw(st.sampled_from(PROPERTIES)), target))
        nodes.append(target)
    for node in dict.fromkeys(n for n in nodes if not isinstance(n, m.Lit)):
        event += [(node, m.TYPE, c) for c in draw(st.lists(st.sampled_from(CLASSES), max_size=2))]
    return m.World(draw(ontologies()), tuple(dict.fromkeys(event)))


# ------------------------------------------------------------------------------------------------------------------ ops

_TOP = [m.Iri(m.OWL + "Thing"), m.Iri(m.DAML + "Thing"), m.Iri(m.RDFS + "Resource")]
_DATATYPES = sorted({c for edge in XSD_EDGES for c in edge} | {ex("dt")} | {m.Iri(m.RDF + "langString")})
_LITERAL_TOPS = [m.Iri(m.RDFS + "Literal"), m.Iri(m.RDF + "Literal")]


def _class_for(knowledge: Knowledge, node: m.RdfTerm) -> st.SearchStrategy[m.Iri]:
    """Mostly a class the vertex has, else any."""
    pool = [*CLASSES, *_TOP, *_DATATYPES, *_LITERAL_TOPS]
    fitting = [c for c in pool if knowledge.has_class(node, c)]
    return st.one_of(
        st.sampled_from(fitting), st.sampled_from(fitting), st.sampled_from(fitting), st.sampled_from(pool)
    )


def _property_for(knowledge: Knowledge, p: m.RdfTerm) -> st.SearchStrategy[m.Iri]:
    above = [q for q in PROPERTIES if knowledge.is_subproperty(p, q)]
    return st.one_of(st.sampled_from(above), st.sampled_from(above), st.sampled_from(PROPERTIES))


@st.composite
def value_filters(draw: Draw, var: m.V, depth: int = 1) -> m.Expression:
    """A filter as the `ops` dialect has them: comparisons, regex, and, or, not."""
    kind = draw(st.integers(0, 6 if depth else 2))
    if kind == 6:
        return "regex", var, m.Lit(draw(st.sampled_from(["^x", "5", "y z$", "."])))
    if kind <= 2:
        return draw(st.sampled_from(OPERATORS)), var, draw(st.one_of(any_literal, st.sampled_from(RESOURCES[:2])))
    if kind == 3:
        return "!", draw(value_filters(var, depth - 1))
    op = "&&" if kind == 4 else "||"
    return op, draw(value_filters(var, depth - 1)), draw(value_filters(var, depth - 1))


@st.composite
def ops_cases(draw: Draw) -> tuple[m.OpsSubscription, m.World]:
    """A walk through the event from its home vertex, with some vertices made variables and some arcs made up."""
    world = draw(ops_worlds())
    knowledge = Knowledge(world)
    arcs = [t for t in world.event if t[1] != m.TYPE]
    image: dict[m.RdfTerm, m.RdfTerm | m.V] = {m.HOME: m.HOME}
    reached: list[m.RdfTerm] = [m.HOME]
    made: list[m.OpsArc] = []
    for _ in range(draw(st.integers(1, 4))):
        choices = [t for t in arcs if t[0] in reached]
        if not choices:
            break
        s, p, o = draw(st.sampled_from(choices))
        if o not in image:
            image[o] = draw(_vertex(o, len(image)))
        target: m.RdfTerm | m.V = image[o]
        if draw(st.integers(0, 7)) == 0:
            # A second variable for the same event vertex: only injectivity rules it out.
            target = m.V(f"w{len(made)}")
        else:
            reached.append(o)
        condition = draw(value_filters(target)) if isinstance(target, m.V) and draw(st.booleans()) else None
        classes = draw(_class_for(knowledge, s)), draw(_class_for(knowledge, o))
        made.append(m.OpsArc(image[s], target, classes[0], draw(_property_for(knowledge, p)), classes[1], condition))
    if not made:
        made = [m.OpsArc(m.HOME, m.V("v"), CLASSES[0], PROPERTIES[0], _TOP[0])]
    return m.OpsSubscription(tuple(made)), world


def _vertex(node: m.RdfTerm, number: int) -> st.SearchStrategy[m.RdfTerm | m.V]:
    variable = st.just(m.V(f"v{number}"))
    return variable if isinstance(node, m.Blank) else st.one_of(variable, variable, st.just(node))


# --------------------------------------------------------------------------------------------------------------- gtopss

_VARIABLES = [m.V(n) for n in ("x", "y", "z")]


@st.composite
def _checks(draw: Draw, var: m.V) -> tuple[m.Check, ...]:
    def one() -> m.Check:
        value = draw(st.one_of(st.sampled_from([*CLASSES, ex("a"), ex("b")]), any_literal, st.sampled_from(MORE_TIMES)))
        return m.Check(var, draw(st.sampled_from(OPERATORS)), value)

    return tuple(one() for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))))


@st.composite
def gtopss_cases(draw: Draw) -> tuple[m.GtopssSubscription, m.World]:
    """Edges taken from what the event means, some of their places made variables, with constraints of both kinds."""
    literals = st.one_of(any_literal, st.sampled_from(MORE_TIMES))
    world = draw(worlds(literals, most=6))
    star = sorted(Knowledge(world).star, key=repr)
    edges = []
    for _ in range(draw(st.integers(1, 3 if len(star) < 14 else 2))):
        s, p, o = draw(st.sampled_from(star))
        places: list[m.RdfTerm | m.V] = []
        for term, odds in ((s, 3), (p, 1), (o, 3)):
            variable = draw(st.integers(0, 4)) < odds or isinstance(term, m.Blank)
            places.append(draw(st.sampled_from(_VARIABLES)) if variable else term)
        checks = [draw(_checks(n)) if isinstance(n, m.V) else () for n in (places[0], places[2])]
        edges.append(m.GtopssEdge(places[0], places[1], places[2], checks[0], checks[1]))
    return m.GtopssSubscription(tuple(edges)), world
