"""Whether an event keeps to the concept model."""

from __future__ import annotations

import pytest

from tidings.ontology import Ontology
from tidings.ontology.validate import departure
from tidings.rdf.read import read_triples

PREFIX = """
PREFIX ex: <http://e.x/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
KNOWN = """
ex:Computer a owl:Class . ex:Notebook rdfs:subClassOf ex:Computer . ex:Person a owl:Class .
ex:price rdfs:domain ex:Computer ; rdfs:range xsd:decimal .
ex:seller rdfs:domain ex:Computer ; rdfs:range ex:Person .
ex:ann a ex:Person .
"""


def said(event: str) -> str | None:
    ontology = Ontology.of(read_triples((PREFIX + KNOWN).encode(), format="ttl"))
    return departure(read_triples((PREFIX + event).encode(), format="ttl"), ontology)


@pytest.mark.parametrize(
    "event",
    [
        "ex:a a ex:Notebook ; ex:price 3.5 ; ex:seller ex:ann .",
        "ex:a a ex:Person, ex:Notebook ; ex:price 3 .",
        "ex:a ex:price 3.5 .",
        "ex:a a ex:Unheard ; ex:unheard ex:b .",
        "ex:a a ex:Notebook ; ex:seller [ a ex:Person ] .",
    ],
)
def test_what_keeps_to_it(event: str) -> None:
    assert said(event) is None


@pytest.mark.parametrize(
    ("event", "property"),
    [
        ("ex:a a ex:Notebook ; ex:price 'cheap' .", "price"),
        ("ex:a a ex:Notebook ; ex:seller 'Ann' .", "seller"),
    ],
)
def test_what_does_not(event: str, property: str) -> None:
    reason = said(event)
    assert reason is not None
    assert f"<http://e.x/{property}>" in reason
    assert "as <http://e.x/a> has it" in reason
