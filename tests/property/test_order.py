"""ORDER BY: the rows come in an order that SPARQL's own never contradicts, and always in the same one."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import model as m
from tests.property.brute_rdf import Knowledge
from tests.property.brute_sparql import before
from tests.property.render import nt
from tests.property.strategies import worlds

from tidings.lang import parse
from tidings.match import registry
from tidings.match.base import Solution
from tidings.ontology import Ontology
from tidings.rdf.event import Event

TEXT = "SELECT ?s ?o ?u { ?s ?p ?o OPTIONAL { ?o ?q ?u } } ORDER BY "


def _rows(world: m.World, statements: list[m.Statement], text: str) -> tuple[Solution, ...]:
    engine = registry.create("naive", Ontology.of(check.triples(world.ontology)))
    engine.add("ordered", parse(text))
    (match,) = engine.match(Event.of(world.event_id.value, check.triples(statements)), lambda _: None)
    return match.bindings


@check.examples(150)
@given(worlds(), st.sampled_from(["o", "u"]), st.booleans(), st.randoms(use_true_random=False))
def test_never_against_the_order(world: m.World, key: str, descending: bool, random: Random) -> None:
    text = TEXT + (f"DESC(?{key})" if descending else f"?{key}")
    rows = _rows(world, list(world.event), text)
    terms = {nt(t): t for statement in Knowledge(world).star for t in statement}
    column = [terms[row[key]] if key in row else None for row in rows]
    for i, earlier in enumerate(column):
        for later in column[i + 1 :]:
            assert not (_before(earlier, later) if descending else _before(later, earlier)), (earlier, later)
    shuffled = list(world.event)
    random.shuffle(shuffled)
    assert _rows(world, shuffled, text) == rows


def _before(a: m.RdfTerm | None, b: m.RdfTerm | None) -> bool:
    """Unbound comes first of all."""
    return (b is not None and a is None) or (a is not None and b is not None and before(a, b))
