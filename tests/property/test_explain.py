"""Explanations of random subscriptions on random events: the verdict is the verifier's, with a reason always."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import model as m
from tests.property.render import dialect, text
from tests.property.strategies import gtopss_cases, ops_cases
from tests.property.strategies_sparql import sparql_cases

from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match.explain import Finding, Names, Origin, explain, explanation_text
from tidings.match.meaning import Meaning
from tidings.match.verify import matches
from tidings.ontology import Ontology
from tidings.ontology.datatypes import xsd_ancestors
from tidings.rdf.event import Event
from tidings.rdf.terms import iri, iri_text, parts


@check.examples(300)
@given(st.one_of(sparql_cases(), ops_cases(), gtopss_cases()))
def test_an_explanation_agrees_with_the_verifier(case: tuple[m.Subscription, m.World]) -> None:
    subscription, world = case
    query = parse(text(subscription), cast(Dialect, dialect(subscription)))
    ontology = Ontology.of(check.triples(world.ontology))
    event = Event.of(world.event_id.value, check.triples(world.event))
    meaning = Meaning(event, ontology)

    explanation = explain(query, event, ontology)

    assert explanation.matches == matches(query, meaning)
    assert (explanation.missing is None) == explanation.matches
    assert all(finding.holds for finding in explanation.findings) or not explanation.matches
    for origin in _origins(explanation.findings):
        _check_origin(origin, meaning)
    assert explanation_text(explanation, "it", Names(ontology)).startswith("it ")


def _origins(findings: Iterable[Finding]) -> Iterator[Origin]:
    for finding in findings:
        if finding.origin:
            yield finding.origin
        yield from _origins(finding.parts)


def _check_origin(origin: Origin, meaning: Meaning) -> None:
    """Stated where it says, and every step is one of the ontology's, or of XML Schema's where it is about a literal."""
    match origin.source:
        case "event":
            assert meaning.asserted.match(*origin.stated)
        case "ontology":
            assert origin.stated[2] in meaning.ontology.types_of(origin.stated[0])
        case "datatype":
            assert origin.stated[2] == iri(parts(origin.stated[0]).datatype)
    for step in origin.steps:
        is_class = meaning.ontology.is_subclass(step.lower, step.upper)
        is_derived = origin.source == "datatype" and iri_text(step.upper) in xsd_ancestors(iri_text(step.lower))
        assert is_class or is_derived or meaning.ontology.is_subproperty(step.lower, step.upper)
