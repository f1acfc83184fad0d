"""What is missing in events: for the OPS model, for a concept model, for SHACL shapes."""

from __future__ import annotations

import re
from importlib import import_module
from time import monotonic

import pytest

from tidings.errors import EventError, UsageError
from tidings.ingest.shapes import Shapes
from tidings.ingest.validate import findings, valid
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Triple, parse_triple

ONTOLOGY = Ontology.load(
    b"""@prefix : <http://e.x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    :Item a owl:Class . :Maker a owl:Class ; owl:disjointWith :Item .
    :price a owl:DatatypeProperty ; rdfs:domain :Item ; rdfs:range xsd:decimal .
    :maker a owl:ObjectProperty ; rdfs:domain :Item ; rdfs:range :Maker .""",
    format="ttl",
)
SHAPES = b"""@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://e.x/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:ItemShape a sh:NodeShape ; sh:targetClass :Item ;
    sh:property [ sh:path :price ; sh:minCount 1 ; sh:datatype xsd:decimal ; sh:message "an item has a price" ] ."""


def graph(text: str) -> list[Triple]:
    """Triples with `:x` for names, `a` for rdf:type."""
    lines = []
    for line in text.strip().splitlines():
        s, p, o = (term for term in line.split())
        full = [
            "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
            if t == "a"
            else f"<http://e.x/{t[1:]}>"
            if t[0] == ":"
            else t
            for t in (s, p, o)
        ]
        lines.append(parse_triple(f"{' '.join(full)} ."))
    return lines


GOOD = graph('_:H a :Item\n_:H :price "1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>\n_:H :maker _:m\n_:m a :Maker')


def kinds(triples: list[Triple], ontology: Ontology | None = None) -> list[str]:
    return [f"{each.kind} {each.term}" for each in findings(triples, ontology)]


def test_a_sound_event_has_no_findings() -> None:
    assert findings(GOOD, ONTOLOGY) == []


def test_the_form_of_events() -> None:
    assert kinds(graph(":x :p _:y")) == ["no-home _:H", "untyped <http://e.x/x>", "untyped _:y"]
    assert kinds(graph('_:H a :Item\n:x :p "1"\n:x a :Item')) == ["unreachable <http://e.x/x>", 'unreachable "1"']


def test_what_the_ontology_does_not_know() -> None:
    event = graph('_:H a :Itm\n_:H :prise "1"')
    assert kinds(event, ONTOLOGY) == ["undeclared-class <http://e.x/Itm>", "undeclared-property <http://e.x/prise>"]
    assert "(is it <http://e.x/price>?)" in findings(event, ONTOLOGY)[1].reason


def test_what_the_concept_model_rules_out() -> None:
    event = graph('_:H a :Item\n_:H :price "cheap"\n_:H :maker _:m\n_:m a :Maker')
    assert kinds(event, ONTOLOGY) == ["ruled-out _:H"]


def test_events_with_findings_are_reported_once() -> None:
    told: list[EventError] = []
    events = [Event.of("urn:good", GOOD, "f"), Event.of("urn:bad", graph(":x :p _:y"), "f")]
    assert list(valid(events, told.append, ONTOLOGY)) == events[:1]
    assert len(told) == 1
    assert str(told[0]).startswith("f: there is no home vertex _:H; ")


def test_shapes_tell_the_node_the_path_and_the_message() -> None:
    pytest.importorskip("pyshacl")
    shapes = Shapes(SHAPES)
    told: list[EventError] = []
    good, bad = Event.of("urn:good", GOOD, "f"), Event.of("urn:bad", graph('_:H a :Item\n_:H :price "x"'), "f")
    assert list(shapes.valid([good, bad], told.append)) == [good]
    assert [str(error) for error in told] == ["f: _:H <http://e.x/price>: an item has a price (event urn:bad)"]


def test_literals_are_not_rewritten_for_shapes() -> None:
    pytest.importorskip("pyshacl")
    shapes = Shapes(SHAPES.replace(b"sh:minCount 1", b'sh:hasValue "01.50"^^xsd:decimal'))
    decimal = "http://www.w3.org/2001/XMLSchema#decimal"
    assert shapes.violations(Event.of("urn:a", graph(f':x a :Item\n:x :price "01.50"^^<{decimal}>'))) == []


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        (b"nonsense", "the shapes cannot be read"),
        (
            b'@prefix sh: <http://www.w3.org/ns/shacl#> . <u:s> sh:select "SELECT $this { SERVICE <http://x> { } }" .',
            "SERVICE",
        ),
        (b'@prefix sh: <http://www.w3.org/ns/shacl#> . <u:s> sh:jsFunctionName "f" .', "JavaScript"),
        (
            b'@prefix sh: <http://www.w3.org/ns/shacl#> . <u:s> sh:pattern "(a)\\\\1" .',
            "back-references are not supported",
        ),
        (b'@prefix sh: <http://www.w3.org/ns/shacl#> . <u:s> sh:pattern "(?=a)" .', "look-around is not supported"),
        (b'@prefix sh: <http://www.w3.org/ns/shacl#> . <u:s> sh:pattern "a" ; sh:flags "x" .', "the flags 'x'"),
    ],
)
def test_shapes_that_are_not_used(shapes: bytes, said: str) -> None:
    pytest.importorskip("pyshacl")
    with pytest.raises(UsageError, match=said):
        Shapes(shapes)


def test_patterns_of_shapes_take_no_time() -> None:
    pytest.importorskip("pyshacl")
    shapes = Shapes(
        b"""@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://e.x/> .
        :s a sh:NodeShape ; sh:targetClass :Item ;
            sh:property [ sh:path :price ; sh:pattern "^(a+)+$" ; sh:flags "i" ] ."""
    )
    good, bad = (Event.of("urn:a", graph(f':x a :Item\n:x :price "{text}"')) for text in ("aA" * 30, "a" * 60 + "b"))
    started = monotonic()
    assert shapes.violations(good) == []
    assert len(shapes.violations(bad)) == 1
    assert monotonic() - started < 5
    constraints = import_module("pyshacl.constraints.core.string_based_constraints")
    assert vars(constraints)["re"] is re


def test_imports_of_shapes_are_not_followed() -> None:
    pytest.importorskip("pyshacl")
    imports = b"<u:o> <http://www.w3.org/2002/07/owl#imports> <http://127.0.0.1:1/x.ttl> ."
    assert Shapes(SHAPES + imports).violations(Event.of("urn:good", GOOD)) == []
