"""A cycle of sub-class or sub-property statements alone is an error; one through an equivalence is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.ontology.turtle import ex, term, triples

from tidings.errors import OntologyError
from tidings.ontology import Ontology
from tidings.ontology.model import Cycles
from tidings.rdf.terms import SUBCLASS_OF, Term, Triple


def message(text: str) -> str:
    with pytest.raises(OntologyError) as caught:
        Ontology.of(triples(text))
    return str(caught.value)


def test_the_chain_of_names_is_printed_with_a_way_out() -> None:
    text = message("ex:B rdfs:subClassOf ex:C . ex:C rdfs:subClassOf ex:A . ex:A rdfs:subClassOf ex:B .")
    assert text.splitlines()[0] == "a cycle of sub-class statements: ex:A ⊑ ex:B ⊑ ex:C ⊑ ex:A"
    assert 'cycles="equivalence"' in text


def test_the_shortest_cycle_of_a_tangle() -> None:
    text = message("ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:C . ex:C rdfs:subClassOf ex:A , ex:B .")
    assert "ex:B ⊑ ex:C ⊑ ex:B" in text
    assert "ex:A" not in text


def test_every_independent_cycle_is_told() -> None:
    text = message(
        """
        ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:A . ex:C daml:subClassOf ex:D . ex:D rdfs:subClassOf ex:C .
        ex:p rdfs:subPropertyOf ex:q . ex:q rdfs:subPropertyOf ex:p .
        """
    )
    assert text.splitlines()[:3] == [
        "a cycle of sub-class statements: ex:A ⊑ ex:B ⊑ ex:A",
        "a cycle of sub-class statements: ex:C ⊑ ex:D ⊑ ex:C",
        "a cycle of sub-property statements: ex:p ⊑ ex:q ⊑ ex:p",
    ]


def test_many_and_long_cycles_stay_readable() -> None:
    many = message("".join(f"ex:A{i} rdfs:subClassOf ex:B{i} . ex:B{i} rdfs:subClassOf ex:A{i} . " for i in range(20)))
    assert "… and 15 more cycles" in many
    ring = message("".join(f"ex:A{i:03d} rdfs:subClassOf ex:A{(i + 1) % 500:03d} . " for i in range(500)))
    assert "ex:A000 ⊑ ex:A001 ⊑" in ring
    assert "… 489 more …" in ring
    assert len(ring) < 500


@pytest.mark.parametrize(
    "text",
    [
        "ex:A rdfs:subClassOf ex:A .",
        "ex:A rdfs:subClassOf ex:B . ex:B owl:equivalentClass ex:A .",
        "ex:A rdfs:subClassOf ex:B . ex:B daml:sameClassAs ex:C . ex:C rdfs:subClassOf ex:A .",
        "ex:p rdfs:subPropertyOf ex:q , ex:p . ex:q owl:equivalentProperty ex:p .",
    ],
)
def test_what_is_no_error(text: str) -> None:
    o = Ontology.of(triples(text))
    members = {ex("A"), ex("B"), ex("C")} & set(o.classes)
    assert all(o.equivalent_classes(c) == members for c in members)
    assert all(o.equivalent_properties(p) == set(o.properties) for p in o.properties)


def test_an_equivalence_beside_a_cycle_does_not_excuse_it() -> None:
    text = message("ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:A ; owl:equivalentClass ex:A .")
    assert "ex:A ⊑ ex:B ⊑ ex:A" in text


def test_a_cycle_through_an_unnamed_class() -> None:
    assert "ex:A ⊑ [unnamed] ⊑ ex:A" in message("ex:A rdfs:subClassOf _:b . _:b rdfs:subClassOf ex:A .")


def test_cycles_read_as_equivalence() -> None:
    text = "ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:A . ex:B rdfs:subClassOf ex:C ."
    o = Ontology.of(triples(text), cycles="equivalence")
    assert o.equivalent_classes(ex("A")) == {ex("A"), ex("B")}
    assert o.superclasses(ex("A")) == {ex("A"), ex("B"), ex("C")}
    assert o.parents(ex("A")) == {ex("B")}
    assert not o.is_subclass(ex("C"), ex("A"))


NAMES = [ex(c) for c in "ABCDE"]
pairs = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=7)
modes: st.SearchStrategy[Cycles] = st.sampled_from(["error", "equivalence"])


def has_cycle(edges: list[tuple[Term, Term]]) -> bool:
    """Brute force: peel off whatever has nothing above it."""
    left = {(a, b) for a, b in edges if a != b}
    while peeled := {(a, b) for a, b in left if not any(b == c for c, _ in left)}:
        left -= peeled
    return bool(left)


@settings(deadline=None)
@given(pairs, pairs, modes)
def test_only_the_sub_class_statements_decide(
    below: list[tuple[Term, Term]], same: list[tuple[Term, Term]], cycles: Cycles
) -> None:
    statements: list[Triple] = [(a, SUBCLASS_OF, b) for a, b in below]
    statements += [(a, term("owl:equivalentClass"), b) for a, b in same]
    if cycles == "error" and has_cycle(below):
        with pytest.raises(OntologyError, match="⊑"):
            Ontology.of(statements)
        return
    o = Ontology.of(statements, cycles=cycles)
    for a, b in below:
        assert o.is_subclass(a, b)
    for a, b in same:
        assert o.superclasses(a) == o.superclasses(b)
