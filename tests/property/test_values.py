"""Every pair of literals, resources included, under every comparison: nothing here is left to chance."""

from __future__ import annotations

from itertools import product

from tests.property import check
from tests.property import model as m
from tests.property.brute_expr import holds
from tests.property.brute_gtopss import satisfied
from tests.property.brute_rdf import Knowledge
from tests.property.render import nt, text
from tests.property.strategies import CANONICAL, MORE_TIMES, NUMBERS, ODD, OPERATORS, RESOURCES, TIMES, ex

from tidings.lang import Query, parse
from tidings.ontology import Ontology
from tidings.rdf.event import Event

ZONELESS = [t for t in MORE_TIMES if t.datatype in (m.XSD + "dateTime", m.XSD + "date")]
LITERALS = list(dict.fromkeys([*CANONICAL, *NUMBERS, *ODD, *TIMES, *ZONELESS]))
EXTRA = list(dict.fromkeys([m.Lit("5", m.EX + "other"), m.tagged("x", "EN"), m.Lit("10"), m.Lit("Z")]))
NODES: list[m.RdfTerm] = [*LITERALS, *EXTRA, RESOURCES[0], m.Blank("b")]
X = m.V("x")


def _queries(subscriptions: dict[str, m.Subscription]) -> dict[str, Query]:
    return {id: parse(text(s), "sparql" if isinstance(s, m.Select) else "gtopss") for id, s in subscriptions.items()}


def _agree(queries: dict[str, Query], expected: dict[m.RdfTerm, set[str]]) -> None:
    """What each node is expected to match, as the one object of an event."""
    events = {
        f"urn:event:{number}": Event.of(f"urn:event:{number}", check.triples([(ex("s"), ex("v"), node)]))
        for number, node in enumerate(expected)
    }
    wanted = dict(zip(events, expected.items(), strict=True))
    for result in check.matched(queries, Ontology.empty(), events.values()):
        node, ids = wanted[result.event.id]
        assert result.found == ids & result.taken, f"{result.matcher} on {nt(node)}"


def test_sparql_comparisons() -> None:
    """Each comparison and its negation: both fail where it is an error."""
    expressions: dict[str, m.Expression] = {}
    for op, value in product(OPERATORS, [*LITERALS, *EXTRA, RESOURCES[0]]):
        expressions[f"{op} {nt(value)}"] = (op, X, value)
        expressions[f"not {op} {nt(value)}"] = ("!", (op, X, value))
    where = m.Bgp(((ex("s"), ex("v"), X),))
    queries = _queries({id: m.Select(m.Group((where, m.Filter(e))), form="ASK") for id, e in expressions.items()})

    def holding(node: m.RdfTerm) -> set[str]:
        return {id for id, e in expressions.items() if holds(e, {"x": node}, lambda *_: False)}

    _agree(queries, {node: holding(node) for node in NODES})


def test_gtopss_constraints() -> None:
    knowledge = Knowledge(m.World())
    checks = {
        f"{op} {nt(value)}": m.Check(X, op, value)
        for op, value in product(OPERATORS, [*LITERALS, *EXTRA, *MORE_TIMES, RESOURCES[0]])
    }
    edges = {id: m.GtopssEdge(ex("s"), ex("v"), X, (), (c,)) for id, c in checks.items()}
    queries = _queries({id: m.GtopssSubscription((edge,)) for id, edge in edges.items()})

    def holding(node: m.RdfTerm) -> set[str]:
        return {id for id, c in checks.items() if satisfied(c, node, knowledge)}

    _agree(queries, {node: holding(node) for node in dict.fromkeys([*NODES, *MORE_TIMES])})


def test_numbers_of_thousands_of_digits() -> None:
    """More digits than Python turns into an integer by default."""
    huge, next_one = "1" + "0" * 6000, "1" + "0" * 5999 + "1"
    fine = "0." + "0" * 6000 + "1"
    event = Event.of("urn:event:1", check.triples([(ex("s"), ex("v"), m.Lit(huge, m.XSD + "integer"))]))
    conditions = {
        "equal": (f"?v = {huge}.0", True),
        "less": (f"?v < {next_one}", True),
        "greater": (f"?v > {next_one}", False),
        "plus one": (f"?v + 1 = {next_one}", True),
        "plus a little": (f"?v + {fine} > ?v", True),
        "twice": (f"?v * ?v > {next_one}", True),
    }
    queries = {id: parse(f"ASK {{ ?s ?p ?v FILTER ({condition}) }}") for id, (condition, _) in conditions.items()}
    queries["constraint"] = parse(f"(?s, ?p, ?v, {{}}, {{?v < {next_one}}})", "gtopss")
    expected = {"constraint"} | {id for id, (_, holds) in conditions.items() if holds}
    for result in check.matched(queries, Ontology.empty(), [event]):
        assert result.found == expected & result.taken, result.matcher
