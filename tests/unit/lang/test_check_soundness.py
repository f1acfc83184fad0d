"""What `check` claims, held against the verifier: a cover, a duplicate or a contradiction must never be a mistake.

Subscriptions come in pairs, one made from the other by small changes, so that many are related. Events are instances
of a subscription, with values that lie near its constants, or of other kinds altogether.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.lang import parse
from tidings.lang.check import Problem, check
from tidings.lang.check.facts import Facts
from tidings.lang.check.mapping import Core, Covering
from tidings.lang.files import Subscription
from tidings.lang.pattern import Dialect, Node, Query, Var, core
from tidings.match.meaning import Meaning
from tidings.match.verify import matches
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, RDF_TYPE, RDFS, SUBCLASS_OF, XSD, Term, Triple, blank, iri, literal

EX = "http://e.x/"
HEAD = f"PREFIX : <{EX}> PREFIX xsd: <{XSD}>\n"


def ex(name: str) -> Term:
    return iri(EX + name)


CLASSES = ["A", "B", "C", "D"]
PROPERTIES = ["p", "q", "r", "kind"]
ONTOLOGY = Ontology.of(
    [
        (ex("B"), SUBCLASS_OF, ex("A")),
        (ex("C"), SUBCLASS_OF, ex("B")),
        (ex("D"), iri("http://www.w3.org/2002/07/owl#equivalentClass"), ex("C")),
        (ex("q"), iri(f"{RDFS}subPropertyOf"), ex("p")),
        (ex("kind"), iri(f"{RDFS}subPropertyOf"), RDF_TYPE),
        (ex("n"), RDF_TYPE, ex("C")),
        (ex("D"), RDF_TYPE, ex("B")),
    ]
)

CONSTANTS = ["1", "1.0", "1e0", "1.00000000001", "2", "10", "-1", '"1"', '"2"', '"a"', '"a"@en', "true"]
CONSTANTS += ["1e300", "1e200", '"INF"^^xsd:float', "1.0000001", "0.99999999e0"]
CONSTANTS += ['"1"^^xsd:float', '"NaN"^^xsd:double', '"x"^^xsd:int', '"2024"^^xsd:gYear', '"2024-01-01"^^xsd:date']
CONSTANTS += ['"2024-01-01T00:00:00Z"^^xsd:dateTime', '"2024-01-01T00:00:00"^^xsd:dateTime', ":m", ":n", ":C"]
OPERATORS = ["=", "!=", "<", "<=", ">", ">="]
VARS = ["?x", "?y", "?z"]
VALUES = [
    *(literal(text, f"{XSD}{kind}") for text in ("1", "2", "0", "10", "3") for kind in ("integer", "float", "double")),
    *(literal(text, f"{XSD}{kind}") for text in ("INF", "-INF", "1e300") for kind in ("float", "double")),
    *(literal(text, f"{XSD}{kind}") for text in ("1.0000001", "0.99999999") for kind in ("float", "double", "decimal")),
    *(literal(text, f"{XSD}decimal") for text in ("1.0", "1.00000000001", "1.5")),
    *(literal(text) for text in ("1", "15", "2", "a", "b", "a b", "")),
    literal("a", language="en"),
    literal("NaN", f"{XSD}double"),
    literal("x", f"{XSD}int"),
    literal("true", f"{XSD}boolean"),
    literal("2024", f"{XSD}gYear"),
    literal("2024-01-01", f"{XSD}date"),
    literal("2024-01-01T00:00:00+01:00", f"{XSD}dateTime"),
    *(ex(name) for name in ("m", "n", "A", "B", "C", "D")),
    blank("b"),
    HOME,
]
WORDS = ["a", "b", "a b", "b a"]

pick = st.sampled_from


# ------------------------------------------------------------------------------------------------------- subscriptions


@st.composite
def comparisons(draw: st.DrawFn, var: str) -> str:
    if draw(st.integers(0, 5)) == 0:
        a, b = draw(pick(WORDS)), draw(pick(WORDS))
        joined = draw(
            pick([f'"{a}"', f'"{a}" ftAND "{b}"', f'"{a}" ftOR "{b}"', f'ftNOT "{a}"', f'"{a}" ftNEAR[0,1] "b"'])
        )
        return f"ftcontains({var}, {joined})"
    if draw(st.integers(0, 7)) == 0:
        return f"{var} IN ({draw(pick(CONSTANTS))}, {draw(pick(CONSTANTS))})"
    return f"{var} {draw(pick(OPERATORS))} {draw(pick(CONSTANTS))}"


@st.composite
def sparql(draw: st.DrawFn) -> list[str]:
    """The parts of a group: triples and filters."""
    nodes = [*VARS, "?x", "?y", ":m", ":n"]
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            parts.append(f"{draw(pick(nodes))} a {draw(pick([':' + c for c in CLASSES] + ['?y']))} .")
        else:
            predicate = draw(pick([":" + p for p in PROPERTIES] + ["?p"]))
            parts.append(f"{draw(pick(nodes))} {predicate} {draw(pick([*nodes, ':C', '1']))} .")
    for _ in range(draw(st.integers(0, 2))):
        one = draw(comparisons(draw(pick(VARS))))
        two = draw(comparisons(draw(pick(VARS))))
        parts.append(draw(pick([f"FILTER({one})", f"FILTER({one} || {two})", f"FILTER({one} && {two})"])))
    return parts


@st.composite
def sparql_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two groups: the second has some parts of the first, some of them changed."""
    first = draw(sparql())
    second = [_varied(draw, part, VARS) for part in first if draw(st.integers(0, 3))] or draw(sparql())
    return f"ASK {{ {' '.join(first)} }}", f"ASK {{ {' '.join(second)} }}"


def _varied(draw: st.DrawFn, part: str, vars: list[str]) -> str:
    """The part with a class, property, constant or operator replaced, more often not."""
    words = part.split(" ")
    if draw(st.booleans()):
        return part
    if "ftcontains" in part:
        return part.replace('"a"', f'"{draw(pick(WORDS))}"', 1)
    at = draw(st.integers(0, len(words) - 1))
    for pool in ([":" + c for c in CLASSES], [":" + p for p in PROPERTIES], OPERATORS, CONSTANTS, vars):
        if words[at] in pool:
            words[at] = draw(pick(pool))
            break
    return " ".join(words)


@st.composite
def gtopss_pairs(draw: st.DrawFn) -> tuple[str, str]:
    def constraint(var: str) -> str:
        return f"{var} {draw(pick(OPERATORS))} {draw(pick([*CONSTANTS, ':A', ':B', ':C', ':D']))}"

    def edge() -> str:
        property = draw(pick([":" + p for p in PROPERTIES] + ["?p", "rdf:type"]))
        on_subject = ", ".join(constraint("?x") for _ in range(draw(st.integers(0, 2))))
        on_object = ", ".join(constraint("?y") for _ in range(draw(st.integers(0, 2))))
        return f"(?x, {property}, ?y, {{ {on_subject} }}, {{ {on_object} }})"

    first = [edge() for _ in range(draw(st.integers(1, 2)))]
    second = [_varied(draw, part, []) for part in first if draw(st.integers(0, 4))] or [edge()]
    return "\n".join(first), "\n".join(second)


@st.composite
def ops_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Arcs from the home vertex; the second subscription has some of the first, with one place of each changed."""
    classes = [":A", ":B", ":C", "owl:Thing", "xsd:integer", "xsd:decimal", "rdfs:Literal"]
    comparisons = ["", "", *(f"{op} {constant}" for op in OPERATORS for constant in CONSTANTS)]
    pools = [["?x", "?y", "?x", "?y", ":m", "1", "_:H"], classes, [":p", ":q"], classes, comparisons]
    arc = st.tuples(*map(pick, pools))

    def shown(arcs: list[tuple[str, ...]]) -> str:
        lines = []
        for object, subject_class, property, object_class, compared in arcs:
            condition = f", {object} {compared}" if compared and object[0] == "?" else ""
            lines.append(f"(_:H, {object}, ({subject_class}, {property}, {object_class}){condition})")
        return "\n".join(lines)

    first = draw(st.lists(arc, min_size=1, max_size=3))
    second = []
    for places in first:
        if draw(st.integers(0, 4)):
            at = draw(st.integers(0, 2 * len(pools)))
            second.append(tuple(draw(pick(pool)) if i == at else places[i] for i, pool in enumerate(pools)))
    return shown(first), shown(second or [draw(arc)])


# -------------------------------------------------------------------------------------------------------------- events


@st.composite
def events(draw: st.DrawFn) -> list[Triple]:
    resources = [ex("m"), ex("n"), ex("o"), blank("b"), HOME, ex("C"), ex("D")]
    triples: list[Triple] = []
    for _ in range(draw(st.integers(1, 6))):
        subject = draw(pick(resources))
        choice = draw(st.integers(0, 5))
        if choice == 0:
            triples.append((subject, SUBCLASS_OF, draw(pick([ex(c) for c in CLASSES]))))
        elif choice == 1:
            kind = draw(pick([*(ex(c) for c in CLASSES), iri(f"{XSD}integer"), iri(f"{XSD}decimal")]))
            triples.append((subject, RDF_TYPE, kind))
        elif choice == 2:
            triples.append((HOME, ex(draw(pick(["p", "q", "r"]))), draw(pick([*resources, *VALUES]))))
        else:
            triples.append((subject, ex(draw(pick(PROPERTIES))), draw(pick([*resources, *VALUES, *VALUES]))))
    return triples


@st.composite
def instances(draw: st.DrawFn, query: Query) -> list[Triple]:
    """An event made after a subscription: its variables bound to anything, its names to what is below them."""
    block = core(query)
    assert block is not None
    bound: dict[Node, Term] = {}

    def term(node: Node, pool: list[Term]) -> Term:
        if not isinstance(node, Var):
            return node
        return bound.setdefault(node, draw(pick(pool)))

    triples: list[Triple] = []
    for pattern in block.triples:
        subject = term(pattern.s, _RESOURCES)
        property = term(pattern.p, [ex(p) for p in PROPERTIES])
        object = term(pattern.o, [*VALUES, *_RESOURCES])
        if property in (RDF_TYPE, ex("p")) and draw(st.booleans()):
            property = ex("q") if property == ex("p") else ex("kind")
        if subject[0] != '"':
            triples.append((subject, property, object))
    for required in block.classes:
        node = bound.get(required.node, required.node)
        if not isinstance(node, Var) and node[0] != '"':
            triples.append((node, RDF_TYPE, draw(pick([required.cls, ex("C")]))))
    return triples


_RESOURCES = [ex("m"), ex("n"), ex("o"), blank("b"), HOME]


def meanings(documents: list[list[Triple]]) -> list[Meaning]:
    return [Meaning(Event.of(f"urn:e:{i}", triples), ONTOLOGY) for i, triples in enumerate(documents)]


def hold(data: st.DataObject, pair: tuple[str, str], dialect: Dialect) -> None:
    """Every claim about the pair holds for every event."""
    texts = [HEAD + text for text in pair]
    queries = [parse(text, dialect) for text in texts]
    subscriptions = [Subscription(id, q, t, dialect) for id, q, t in zip("ab", queries, texts, strict=True)]
    claims = [p for p in check(subscriptions, ONTOLOGY) if p.code in _CLAIMS]
    if claims:
        made = st.lists(instances(queries[0]), min_size=4, max_size=8)
        documents = data.draw(made) + data.draw(st.lists(events(), min_size=2, max_size=4))
        documents += [a + b for a, b in itertools.pairwise(documents)]
        asked = meanings(documents)
        answers = {s.id: [matches(s.query, meaning) for meaning in asked] for s in subscriptions}
        for claim in claims:
            _hold(claim, answers)


_CLAIMS = {"covered", "duplicate", "contradictory-filter", "matches-everything", "never-matches"}


def _hold(claim: Problem, answers: dict[str, list[bool]]) -> None:
    own = answers[str(claim.subscription)]
    other = answers["b" if claim.subscription == "a" else "a"]
    match claim.code:
        case "covered":
            assert all(broad for narrow, broad in zip(own, other, strict=True) if narrow), claim
        case "duplicate":
            assert own == other, claim
        case "contradictory-filter":
            assert not any(own), claim
        case "matches-everything":
            assert all(own), claim


EXAMPLES = 150


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data(), sparql_pairs())
def test_sparql(data: st.DataObject, pair: tuple[str, str]) -> None:
    hold(data, pair, "sparql")


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data(), gtopss_pairs())
def test_gtopss(data: st.DataObject, pair: tuple[str, str]) -> None:
    hold(data, pair, "gtopss")


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data(), ops_pairs())
def test_ops(data: st.DataObject, pair: tuple[str, str]) -> None:
    hold(data, pair, "ops")


# ------------------------------------------------------------------------------------------- comparisons, exhaustively


def hold_pairwise(queries: dict[str, Query], events: list[Meaning]) -> int:
    """Hold what is claimed for any two of the subscriptions against the events; the number of claims."""
    covering = Covering(ONTOLOGY, max_steps=1000)
    known = []
    for order, (condition, query) in enumerate(queries.items()):
        block = core(query)
        assert block is not None
        found = Core(block, order)
        matched = {i for i, event in enumerate(events) if matches(query, event)}
        known.append((condition, found, covering.facts(found), matched))
    claims = 0
    for a, narrow, facts, few in known:
        for b, broad, _, many in known:
            if covering.covers(broad, narrow, facts):
                claims += 1
                assert few <= many, (a, b)
            both = Facts([*narrow.filters, *broad.filters], ONTOLOGY.is_subclass)
            if both.contradiction():
                claims += 1
                assert not few & many, (a, b)
    return claims


@pytest.mark.parametrize("dialect", ["sparql", "gtopss"])
def test_every_pair_of_comparisons(dialect: Dialect) -> None:
    queries = {}
    for condition in [f"?y {op} {constant}" for constant in CONSTANTS for op in OPERATORS]:
        tuples = f"{HEAD}(?x, :p, ?y, {{}}, {{{condition}}})"
        group = f"{HEAD}ASK {{ ?x :p ?y FILTER({condition}) }}"
        queries[condition] = parse(tuples if dialect == "gtopss" else group, dialect)
    assert hold_pairwise(queries, meanings([[(ex("m"), ex("p"), value)] for value in VALUES])) > 1000


def test_every_pair_of_class_constraints() -> None:
    """Is-a, on nodes that are classes or instances, where the event has type and sub-class statements of its own."""
    queries = {}
    for condition in [f"?x {op} :{name}" for name in (*CLASSES, "n") for op in OPERATORS]:
        queries[condition] = parse(f"{HEAD}(?x, :r, 1, {{{condition}}})", "gtopss")
    documents: list[list[Triple]] = []
    for node in (ex("m"), ex("n"), *map(ex, CLASSES)):
        about = [(node, p, ex(c)) for p in (RDF_TYPE, SUBCLASS_OF) for c in ("A", "C", "n")]
        about += [(ex(a), SUBCLASS_OF, ex(b)) for a, b in (("A", "C"), ("C", "n"), ("n", "B"), ("D", "A"))]
        about += [(ex("C"), RDF_TYPE, ex("n"))]
        asked = (node, ex("r"), literal("1", f"{XSD}integer"))
        documents += [[asked, *extra] for count in range(3) for extra in itertools.combinations(about, count)]
    assert hold_pairwise(queries, meanings(documents)) > 50
