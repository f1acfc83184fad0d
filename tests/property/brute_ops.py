"""The OPS paper's Definition 1, tried on every mapping: the brute-force check of the `ops` dialect."""

from __future__ import annotations

from itertools import product

from tests.property import model as m
from tests.property.brute_expr import holds
from tests.property.brute_rdf import Knowledge

Row = dict[str, m.RdfTerm]


def answer(subscription: m.OpsSubscription, world: m.World) -> list[Row] | None:
    """The set of solutions over all variables, or None where there is no match."""
    knowledge = Knowledge(world)
    arcs = [(s, p, o) for s, p, o in world.event if p != m.TYPE]
    vertices = sorted({n for s, _, o in arcs for n in (s, o)}, key=repr)
    nodes = list(dict.fromkeys(n for arc in subscription.arcs for n in (arc.s, arc.o)))
    variables = [n for n in nodes if isinstance(n, m.V)]
    found = []
    for choice in product(vertices, repeat=len(variables)):
        mapping = dict(zip(variables, choice, strict=True))
        if _matches(subscription, mapping, nodes, arcs, knowledge):
            found.append({v.name: t for v, t in mapping.items()})
    return found or None


def _matches(
    subscription: m.OpsSubscription,
    mapping: dict[m.V, m.RdfTerm],
    nodes: list[m.RdfTerm | m.V],
    arcs: list[m.Statement],
    knowledge: Knowledge,
) -> bool:
    def image(node: m.RdfTerm | m.V) -> m.RdfTerm:
        return mapping[node] if isinstance(node, m.V) else node

    if len({image(n) for n in nodes}) < len(nodes):
        return False
    for arc in subscription.arcs:
        s, o = image(arc.s), image(arc.o)
        if not any(s == s2 and o == o2 and knowledge.is_subproperty(p, arc.property) for s2, p, o2 in arcs):
            return False
        if not (knowledge.has_class(s, arc.subject_class) and knowledge.has_class(o, arc.object_class)):
            return False
        row = {v.name: t for v, t in mapping.items()}
        if arc.filter is not None and not holds(arc.filter, row, _no_exists):
            return False
    return True


def _no_exists(*_: object) -> bool:
    raise AssertionError("EXISTS is not part of the ops dialect")
