"""What is read out of the triples, vocabulary by vocabulary."""

from __future__ import annotations

import pytest
from tests.unit.ontology.turtle import ex, term, triples

from tidings.ontology import Ontology
from tidings.rdf.terms import DAML, OWL, RDFS, blank, iri

OLD_DAML = "http://www.daml.org/2000/12/daml+oil#"


def ontology(text: str) -> Ontology:
    return Ontology.of(triples(text))


@pytest.mark.parametrize(
    "type", ["rdfs:Class", "owl:Class", "owl:DeprecatedClass", "rdfs:Datatype", "daml:Class", "daml0:Class"]
)
def test_declared_classes(type: str) -> None:
    o = ontology(f"ex:A a {type} .")
    assert o.is_class(ex("A"))
    assert not o.is_property(ex("A"))
    assert not o.types_of(ex("A"))


@pytest.mark.parametrize(
    "type",
    [
        *("rdf:Property", "owl:ObjectProperty", "owl:DatatypeProperty", "owl:AnnotationProperty"),
        *("owl:FunctionalProperty", "owl:TransitiveProperty", "owl:DeprecatedProperty"),
        *("daml:Property", "daml:ObjectProperty", "daml:UniqueProperty", "daml0:DatatypeProperty"),
    ],
)
def test_declared_properties(type: str) -> None:
    o = ontology(f"ex:p a {type} .")
    assert o.is_property(ex("p"))
    assert not o.is_class(ex("p"))


@pytest.mark.parametrize(
    ("text", "classes", "properties"),
    [
        ("ex:A rdfs:subClassOf ex:B .", "AB", ""),
        ("ex:A owl:equivalentClass ex:B .", "AB", ""),
        ("ex:p rdfs:subPropertyOf ex:q .", "", "pq"),
        ("ex:p owl:equivalentProperty ex:q .", "", "pq"),
        ("ex:p rdfs:domain ex:A ; rdfs:range ex:B .", "AB", "p"),
        ("ex:p schema:domainIncludes ex:A ; schema:rangeIncludes ex:B .", "AB", "p"),
        ("ex:p schemas:domainIncludes ex:A ; schemas:rangeIncludes ex:B .", "AB", "p"),
        ("ex:p owl:inverseOf ex:q .", "", "pq"),
        ("ex:A rdfs:subClassOf [ owl:onProperty ex:p ; owl:someValuesFrom ex:B ] .", "AB", "p"),
        ("ex:p rdfs:domain [ owl:unionOf (ex:A ex:B) ] .", "AB", "p"),
        ("ex:x a ex:A .", "A", ""),
        ("ex:x ex:p ex:y .", "", "p"),
    ],
)
def test_names_that_are_used_are_known(text: str, classes: str, properties: str) -> None:
    o = ontology(text)
    assert set(o.classes) == {ex(c) for c in classes}
    assert set(o.properties) == {ex(p) for p in properties}


@pytest.mark.parametrize("word", ["rdfs:subClassOf", "daml:subClassOf", "daml0:subClassOf"])
def test_subclass_words(word: str) -> None:
    o = ontology(f"ex:A {word} ex:B . ex:B {word} ex:C .")
    assert o.superclasses(ex("A")) == {ex("A"), ex("B"), ex("C")}
    assert o.subclasses(ex("C")) == {ex("A"), ex("B"), ex("C")}
    assert o.parents(ex("A")) == {ex("B")}
    assert o.is_subclass(ex("A"), ex("C"))
    assert not o.is_subclass(ex("C"), ex("A"))


@pytest.mark.parametrize("word", ["rdfs:subPropertyOf", "daml:subPropertyOf", "daml0:subPropertyOf"])
def test_subproperty_words(word: str) -> None:
    o = ontology(f"ex:p {word} ex:q , ex:r .")
    assert o.superproperties(ex("p")) == {ex("p"), ex("q"), ex("r")}
    assert o.subproperties(ex("r")) == {ex("p"), ex("r")}
    assert o.property_parents(ex("p")) == {ex("q"), ex("r")}
    assert o.is_subproperty(ex("p"), ex("r"))


@pytest.mark.parametrize("word", ["owl:equivalentClass", "daml:sameClassAs", "daml0:sameClassAs"])
def test_equivalent_classes_are_synonyms_in_both_directions(word: str) -> None:
    o = ontology(f"ex:A {word} ex:B . ex:B rdfs:subClassOf ex:C . ex:D rdfs:subClassOf ex:A .")
    assert o.equivalent_classes(ex("B")) == {ex("A"), ex("B")}
    assert o.superclasses(ex("D")) == {ex("A"), ex("B"), ex("C"), ex("D")}
    assert o.is_subclass(ex("A"), ex("B"))
    assert o.is_subclass(ex("B"), ex("A"))
    assert o.parents(ex("A")) == frozenset()


@pytest.mark.parametrize("word", ["owl:equivalentProperty", "daml:samePropertyAs", "daml0:samePropertyAs"])
def test_equivalent_properties(word: str) -> None:
    o = ontology(f"ex:p {word} ex:q .")
    assert o.equivalent_properties(ex("p")) == {ex("p"), ex("q")}
    assert o.is_subproperty(ex("p"), ex("q"))
    assert o.is_subproperty(ex("q"), ex("p"))


def test_equivalent_to_joins_two_classes_or_two_properties() -> None:
    o = ontology(
        """
        ex:A a daml:Class ; daml:equivalentTo ex:B . ex:B a daml:Class ; daml:equivalentTo ex:Unknown .
        ex:p a daml:Property ; daml:equivalentTo ex:q . ex:q a daml:Property .
        ex:x a ex:A ; daml:equivalentTo ex:y . ex:C a daml:Class ; daml:equivalentTo ex:x .
        """
    )
    assert o.equivalent_classes(ex("A")) == {ex("A"), ex("B"), ex("Unknown")}
    assert o.equivalent_properties(ex("p")) == {ex("p"), ex("q")}
    assert o.equivalent_classes(ex("x")) == {ex("x")}
    assert o.equivalent_classes(ex("C")) == {ex("C")}


def test_instances_keep_the_types_that_are_not_of_the_vocabularies() -> None:
    o = ontology(
        """
        ex:x a ex:A , ex:B , owl:Thing , owl:NamedIndividual , rdfs:Resource , daml:Thing , daml0:Thing .
        ex:A a owl:Class , ex:Metaclass . _:b a ex:A . ex:y a [ owl:unionOf (ex:A ex:B) ] .
        """
    )
    assert o.types_of(ex("x")) == {ex("A"), ex("B")}
    assert o.types_of(ex("A")) == {ex("Metaclass")}
    assert o.types_of(ex("y")) == frozenset()
    assert o.types_of(blank("b")) == frozenset()
    assert o.types_of(ex("unheard")) == frozenset()


def test_same_as_says_nothing() -> None:
    o = ontology("ex:A a owl:Class ; owl:sameAs ex:B . ex:B a owl:Class ; daml:sameIndividualAs ex:A .")
    assert o.superclasses(ex("A")) == {ex("A")}


def test_class_expressions_do_not_enter_the_hierarchy() -> None:
    o = ontology(
        """
        ex:A rdfs:subClassOf ex:B , [ a owl:Restriction ; owl:onProperty ex:p ; owl:allValuesFrom ex:C ] ;
             owl:equivalentClass [ owl:intersectionOf (ex:D [ owl:onProperty ex:q ; owl:hasValue 5 ]) ] ;
             rdfs:subClassOf [ owl:unionOf (ex:E ex:F) ] .
        """
    )
    assert o.superclasses(ex("A")) == {ex("A"), ex("B")}
    assert o.parents(ex("A")) == {ex("B")}
    assert o.subclasses(ex("B")) == {ex("A"), ex("B")}
    assert all(name.startswith("<") for name in (*o.classes, *o.properties))


def test_an_unnamed_class_between_two_names_carries_the_relation() -> None:
    o = ontology("ex:A rdfs:subClassOf [ a owl:Class ; rdfs:subClassOf ex:B ] .")
    assert o.superclasses(ex("A")) == {ex("A"), ex("B")}
    assert o.parents(ex("A")) == frozenset()


def test_the_vocabularies_themselves_may_be_part_of_a_hierarchy() -> None:
    o = ontology(
        "ex:A rdfs:subClassOf owl:Thing . ex:Klass rdfs:subClassOf rdfs:Class . ex:isA rdfs:subPropertyOf rdf:type ."
    )
    assert o.superclasses(ex("A")) == {ex("A"), iri(f"{OWL}Thing")}
    assert o.superclasses(ex("Klass")) == {ex("Klass"), iri(f"{RDFS}Class")}
    assert len(o.superproperties(ex("isA"))) == 2


def test_nonsense_is_passed_over() -> None:
    o = ontology('ex:A rdfs:subClassOf "B" , ex:A ; a "C" . ex:p rdfs:domain 5 ; rdfs:range "x" .')
    assert o.superclasses(ex("A")) == {ex("A")}
    assert o.parents(ex("A")) == frozenset()
    assert o.meta_statements == ()


def test_known_names() -> None:
    o = ontology("ex:A a owl:Class . ex:p a rdf:Property . ex:x a ex:A .")
    for known in (ex("A"), ex("p"), ex("x"), iri(f"{OWL}Thing"), iri(f"{DAML}Thing"), iri(f"{OLD_DAML}Thing")):
        assert o.is_known(known)
    for built_in in ("owl:Thing", "rdfs:Literal", "rdf:Literal", "xsd:decimal", "rdf:langString", "rdfs:Class"):
        assert o.is_class(term(built_in))
        assert not o.is_property(term(built_in))
    for built_in in ("rdf:type", "rdf:value", "rdfs:label", "owl:sameAs", "rdf:_1"):
        assert o.is_property(term(built_in))
        assert not o.is_class(term(built_in))
    assert not o.is_known(ex("B"))
    assert not o.is_class(ex("x"))
