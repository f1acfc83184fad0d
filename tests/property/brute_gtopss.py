"""The natural join of all edges' tables, then every constraint: the brute-force check of the `gtopss` dialect."""

from __future__ import annotations

from itertools import product

from tests.property import model as m
from tests.property.brute_rdf import Knowledge
from tests.property.brute_sparql import bind
from tests.property.brute_values import Value, compare, promote, value_of

Row = dict[str, m.RdfTerm]


def answer(subscription: m.GtopssSubscription, world: m.World) -> list[Row] | None:
    """The set of solutions over all variables, or None where there is no match."""
    knowledge = Knowledge(world)
    edges = subscription.edges
    checks = [c for edge in edges for c in edge.on_s + edge.on_o]
    found: dict[frozenset[tuple[str, m.RdfTerm]], Row] = {}
    for choice in product(knowledge.star, repeat=len(edges)):
        row: Row | None = {}
        for edge, triple in zip(edges, choice, strict=True):
            row = bind((edge.s, edge.p, edge.o), triple, row)
            if row is None:
                break
        if row is not None and all(satisfied(c, row[c.var.name], knowledge) for c in checks):
            found[frozenset(row.items())] = row
    return list(found.values()) or None


def satisfied(check: m.Check, node: m.RdfTerm, knowledge: Knowledge) -> bool:
    if isinstance(check.value, m.Iri):
        return not isinstance(node, m.Lit) and _is_a(node, check.op, check.value, knowledge)
    return isinstance(node, m.Lit) and _by_value(node, check.op, check.value)


def _is_a(x: m.RdfTerm, op: str, cls: m.Iri, knowledge: Knowledge) -> bool:
    match op:
        case "<=":
            return knowledge.below(x, cls)
        case "<":
            return knowledge.below(x, cls) and not knowledge.equivalent(x, cls)
        case ">=":
            return knowledge.below(cls, x)
        case ">":
            return knowledge.below(cls, x) and not knowledge.equivalent(x, cls)
        case "=":
            return knowledge.edge(x, cls)
        case "!=":
            return not knowledge.edge(x, cls)
    raise ValueError(op)


_ON_THE_TIME_LINE = {"date", "dateTime", "gYear", "gYearMonth"}


def _by_value(node: m.Lit, op: str, value: m.Lit) -> bool:
    a, b = value_of(node), value_of(value)
    if a and b and a.space == b.space == "number":
        x, y, _ = promote(a, b)
        return compare(x, y, op)
    if a and b and _both_temporal(a, b):
        return compare(a.value, b.value, op)
    return compare(node.lexical, value.lexical, op)


def _both_temporal(a: Value, b: Value) -> bool:
    return {a.space, b.space} <= _ON_THE_TIME_LINE or a.space == b.space == "time"
