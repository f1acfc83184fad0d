"""Hierarchies against the plain closure of their edges: many parents, synonyms, and cycles in both readings."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import model as m
from tests.property.brute_rdf import Knowledge, closure
from tests.property.render import nt
from tests.property.strategies import CLASSES, PROPERTIES, ontologies

from tidings.errors import OntologyError
from tidings.ontology import Ontology
from tidings.rdf.terms import Term

Below = Callable[[m.RdfTerm, m.RdfTerm], bool]


def _term(name: m.RdfTerm) -> Term:
    return Term(nt(name))


@check.examples(200)
@given(ontologies())
def test_closed_hierarchies(statements: tuple[m.Statement, ...]) -> None:
    ontology = Ontology.of(check.triples(statements))
    known = Knowledge(m.World(statements))
    _compare(CLASSES, known.is_subclass, ontology.is_subclass, ontology.superclasses, ontology.subclasses)
    _compare(
        PROPERTIES, known.is_subproperty, ontology.is_subproperty, ontology.superproperties, ontology.subproperties
    )
    for a in CLASSES:
        same = {_term(b) for b in CLASSES if known.equivalent(a, b)}
        assert {t for t in ontology.equivalent_classes(_term(a)) if t in map(_term, CLASSES)} == same


def _compare(
    names: Iterable[m.Iri],
    below: Below,
    is_below: Callable[[Term, Term], bool],
    above: Callable[[Term], frozenset[Term]],
    under: Callable[[Term], frozenset[Term]],
) -> None:
    for a in names:
        for b in names:
            expected = below(a, b)
            assert is_below(_term(a), _term(b)) == expected, (a, b)
            assert (_term(b) in above(_term(a))) == expected, (a, b)
            assert (_term(a) in under(_term(b))) == expected, (a, b)


_edges = st.lists(
    st.tuples(st.sampled_from(CLASSES), st.sampled_from([m.SUBCLASS, m.EQUIVALENT_CLASS]), st.sampled_from(CLASSES)),
    max_size=8,
    unique=True,
)


@check.examples(400)
@given(_edges)
def test_cycles(statements: list[m.Statement]) -> None:
    """A cycle of sub-class statements alone is refused, or read as equivalence; one through a synonym is neither."""
    downward = closure((s, o) for s, p, o in statements if p == m.SUBCLASS and s != o)
    if any(a == b for a, b in downward):
        with pytest.raises(OntologyError):
            Ontology.of(check.triples(statements))
    else:
        Ontology.of(check.triples(statements))
    ontology = Ontology.of(check.triples(statements), cycles="equivalence")
    known = Knowledge(m.World(tuple(statements)))
    _compare(CLASSES, known.is_subclass, ontology.is_subclass, ontology.superclasses, ontology.subclasses)
