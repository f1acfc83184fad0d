"""Mappings and ontologies to start from, and events as Turtle."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from tests.unit.ingest.support import BASE, events

from tidings.errors import EventError
from tidings.ingest.preview import preview
from tidings.ingest.suggest import Suggestion, suggest
from tidings.ontology import Ontology
from tidings.rdf.terms import iri

CSV = """order id,First Name,price,when,site,Straße,code
1,Ann,1.5,2020-01-02,http://a.b/,x y,007
2,Bob,2,2020-01-03,http://a.c/,x y,008
"""


def parsed(text: str) -> set[str]:
    return {str(triple) for triple in ox.parse(text.encode(), format=ox.RdfFormat.TURTLE)}


def suggested(data: str, format: str, name: str = "order_items") -> Suggestion:
    made = suggest(data.encode(), format, name=name, base=BASE)
    parsed(made.mapping)
    parsed(made.ontology)
    assert made == suggest(data.encode(), format, name=name, base=BASE)
    return made


def test_a_mapping_for_a_table() -> None:
    made = suggested(CSV, "csv")
    assert made.key == "order id"
    for part in (
        'rml:source "order_items.csv" ; rml:referenceFormulation ql:CSV',
        'rr:template "http://e.x/{order id}" ; rr:class :OrderItem',
        'rr:predicate :orderId ; rr:objectMap [ rml:reference "order id" ; rr:datatype xsd:integer ]',
        'rr:predicate :firstName ; rr:objectMap [ rml:reference "First Name" ]',
        'rml:reference "price" ; rr:datatype xsd:decimal',
        'rml:reference "when" ; rr:datatype xsd:date',
        'rml:reference "site" ; rr:termType rr:IRI',
        "rr:predicate <http://e.x/straße>",
        'rml:reference "code" ]',
    ):
        assert part in made.mapping


def test_an_ontology_for_a_table() -> None:
    ontology = Ontology.load(suggested(CSV, "csv").ontology.encode(), format="ttl")
    item, price, site = iri("http://e.x/OrderItem"), iri("http://e.x/price"), iri("http://e.x/site")
    decimal = iri("http://www.w3.org/2001/XMLSchema#decimal")
    assert ontology.is_class(item)
    assert ontology.allows(item, price, decimal)
    assert not ontology.allows(item, price, iri("http://www.w3.org/2001/XMLSchema#boolean"))
    assert ontology.is_property(site)


def test_trees_have_an_iterator() -> None:
    made = suggested(
        '{"next": 1, "items": [{"id": "a", "n": 1, "t": ["x"], "a": {"c": "M"}}, {"id": "b", "n": 1.5}]}', "json"
    )
    assert (made.record, made.key) == ("$.items[*]", "id")
    assert 'rml:iterator "$.items[*]"' in made.mapping
    assert 'rr:predicate :aC ; rr:objectMap [ rml:reference "a.c" ]' in made.mapping
    assert 'rml:reference "t[*]"' in made.mapping
    xml = suggested('<c><i id="1"><t>x</t></i><i id="2"/><i id="', "xml")
    assert (xml.record, xml.key) == ("/*/i", "@id")
    assert suggested('{"id": 1}\n{"id": 2}\n{"id', "jsonl").key == "id"


def test_records_that_nothing_tells_apart_have_no_names() -> None:
    assert 'rr:template "{a}/{b}" ; rr:termType rr:BlankNode' in suggested("a,b\n1,x\n1,x\n", "csv").mapping


def test_a_format_with_a_vocabulary_needs_no_mapping() -> None:
    made = suggested("<html lang=en><title>x</title>", "html")
    assert made.mapping == ""
    assert "<http://purl.org/dc/terms/title> a owl:DatatypeProperty" in made.ontology


@pytest.mark.parametrize(
    ("data", "format"), [("", "csv"), ("{", "json"), ("<a", "xml"), ("[]", "json"), ("x", "jsonl")]
)
def test_nothing_to_look_at(data: str, format: str) -> None:
    with pytest.raises(EventError):
        suggested(data, format)


@for_all(
    st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5, unique=True),
    st.text(max_size=6),
    st.text(max_size=8),
)
@settings(max_examples=100, deadline=None)
def test_whatever_columns_are_called_it_is_turtle(names: list[str], value: str, file: str) -> None:
    import csv
    import io

    text = io.StringIO()
    csv.writer(text).writerows([names, [value] * len(names), ["x"] * len(names)])
    data = text.getvalue().encode("utf-8", "replace")
    try:
        made = suggest(data, "csv", name=file, base=BASE)
    except EventError:
        return
    parsed(made.mapping)
    parsed(made.ontology)
    properties = [line for line in made.ontology.splitlines() if "Property" in line]
    assert len({line.split()[0] for line in properties}) == len(properties)


def test_events_as_turtle() -> None:
    found = events(b'[{"a": 1, "b": {}}, {"a": "x"}]', "json")
    text = preview(found, BASE)
    assert text.startswith("@prefix : <http://e.x/> .\n")
    assert text.count("# event <urn:tidings:sha256:") == 2
    assert len(parsed(text)) == sum(len(event.triples()) for event in found)
    assert preview([]) == ""
