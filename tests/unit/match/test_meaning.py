"""E*, OPS arcs and classes, is-a."""

from __future__ import annotations

import pytest
from tests.unit.match.worlds import meaning, rows, term, triples

from tidings.match.constraints import satisfies
from tidings.rdf.terms import RDF_TYPE, Term

ONTOLOGY = """
:Cat rdfs:subClassOf :Animal, :Pet . :Kitty owl:equivalentClass :Cat .
:cheap rdfs:subPropertyOf :price . :price rdfs:subPropertyOf :value . :isA rdfs:subPropertyOf rdf:type .
rdf:type rdfs:subPropertyOf :about .
:tom a :Cat . :Cat a owl:Class .
"""


def test_entailed_to_the_fixpoint() -> None:
    over = meaning(":felix :isA :Kitty ; :cheap 5 . :x :likes :tom .", ONTOLOGY)
    upper = [":Kitty", ":Cat", ":Animal", ":Pet"]
    expected = {
        *triples(":felix :isA :Kitty ; :cheap 5 ; :price 5 ; :value 5 . :x :likes :tom ."),
        *(t for cls in upper for t in triples(f":felix a {cls} ; :about {cls} .")),
        *(t for cls in upper for t in triples(f":tom a {cls} ; :about {cls} .")),
    }
    assert set(over.triples) == expected
    assert list(over.triples) == sorted(over.triples)


def test_without_ontology_it_is_the_event() -> None:
    over = meaning(":a :p :b . :b :p :a .")
    assert list(over.triples) == list(over.asserted.triples)


def test_derived_nodes_get_no_types_from_the_ontology() -> None:
    over = meaning(":a :p 1 .", ":A rdfs:subClassOf :B . :a a :A . :B a :Meta .")
    assert not over.match(term(":B"), RDF_TYPE, None)
    assert over.match(term(":a"), RDF_TYPE, term(":B"))


def test_index() -> None:
    over = meaning(":a :p :b . :a :q :b . :b :p :a .")
    assert len(over.match(None, None, None)) == 3
    assert len(over.match(term(":a"), None, None)) == 2
    assert len(over.match(None, term(":p"), None)) == 2
    assert len(over.match(term(":a"), None, term(":b"))) == 2
    assert len(over.match(term(":a"), term(":p"), term(":b"))) == 1
    assert not over.match(term(":c"), None, None)


def test_arcs_are_asserted_and_no_types() -> None:
    over = meaning(":a a :Cat ; :cheap 5 .", ONTOLOGY)
    assert [t[1] for t in over.arcs(term(":a"), None, None)] == sorted(map(term, (":cheap", ":price", ":value")))


@pytest.mark.parametrize(
    ("node", "cls", "expected"),
    [
        (":felix", ":Pet", True),
        (":felix", "owl:Thing", True),
        (":felix", "rdfs:Resource", True),
        (":felix", "rdfs:Literal", False),
        (":nobody", "owl:Thing", True),
        ('"5"^^xsd:byte', "xsd:decimal", True),
        ('"5"^^xsd:byte', "xsd:anyAtomicType", True),
        ('"5"^^xsd:byte', "xsd:double", False),
        ('"5"^^:own', "rdfs:Literal", True),
        ('"a"@en', "rdf:langString", True),
        ('"a"@en', "rdf:Literal", True),
        ('"a"', "owl:Thing", False),
    ],
)
def test_classes(node: str, cls: str, expected: bool) -> None:
    over = meaning(":felix a :Kitty .", ONTOLOGY)
    assert (term(cls) in over.classes(term(node))) is expected


# ---------------------------------------------------------------------------------------------------------------- is-a

TAXONOMY = """
:A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :B owl:equivalentClass :B2 . :i a :A . :A a owl:Class .
"""
IS_A = {
    # node: {operator: the classes for which it holds}
    ":A": {"=": "B B2", "<": "B B2 C D", "<=": "A B B2 C D", ">": "i", ">=": "A i"},
    ":B": {"=": "C", "<": "C D", "<=": "B B2 C D", ">": "A i e", ">=": "A B B2 i e"},
    ":B2": {"=": "C", "<": "C D", "<=": "B B2 C D", ">": "A i e", ">=": "A B B2 i e"},
    ":i": {"=": "A", "<": "A B B2 C D", "<=": "A B B2 C D i", ">": "", ">=": "i"},
    ":e": {"=": "B B2", "<": "B B2 C D", "<=": "B B2 C D e", ">": "", ">=": "e"},
    ":D": {"=": "", "<": "", "<=": "D", ">": "A B B2 C i e", ">=": "A B B2 C D i e"},
}


@pytest.mark.parametrize("node", IS_A)
def test_is_a(node: str) -> None:
    over = meaning(":e a :B . :C rdfs:subClassOf :D . :A :x :i .", TAXONOMY)
    names = ["A", "B", "B2", "C", "D", "e", "i"]
    for op, expected in IS_A[node].items():
        found = [name for name in names if satisfies(term(node), op, term(f":{name}"), over)]
        assert found == sorted(expected.split()), op
    equal = [name for name in names if not satisfies(term(node), "!=", term(f":{name}"), over)]
    assert equal == sorted(IS_A[node]["="].split())


def test_is_a_is_false_on_literals() -> None:
    over = meaning(":a :p 1 .")
    assert not any(satisfies(term("5"), op, term(":A"), over) for op in ("=", "!=", "<", "<=", ">", ">="))


@pytest.mark.parametrize(
    ("node", "op", "value", "expected"),
    [
        ("5", "<", "10", True),
        ('"5"', "<", '"10"', False),
        ("5", "=", '"05"^^xsd:byte', True),
        ("5", "=", "5.0e0", True),
        ('"5"', "=", "5", True),
        ('"abc"^^xsd:integer', "<", "5", False),
        ('"NaN"^^xsd:double', "!=", '"NaN"^^xsd:double', True),
        ('"NaN"^^xsd:double', "=", '"NaN"^^xsd:double', False),
        ('"2000"^^xsd:gYear', "<", '"2000-06-01"^^xsd:date', True),
        ('"2000-01-01"^^xsd:date', "=", '"2000-01-01T00:00:00Z"^^xsd:dateTime', True),
        ('"12:00:00"^^xsd:time', ">", '"2000-01-01"^^xsd:date', False),
        ('"--01"^^xsd:gMonth', "<", '"--02"^^xsd:gMonth', True),
        ('"a"@en', "=", '"a"', True),
        ('"b"@en', ">", '"a"@fr', True),
        (":a", "!=", '"a"', False),
        ("[]", "=", '"a"', False),
    ],
)
def test_value_constraints(node: str, op: str, value: str, expected: bool) -> None:
    assert satisfies(term(node), op, term(value), meaning("")) is expected


# -------------------------------------------------------------------------------------------------------- the dialects


def test_ops_is_injective() -> None:
    two = "_:H :disk :a, :b ."
    one = "_:H :disk :a ."
    query = "(_:H, ?x, (owl:Thing, :disk, owl:Thing)) (_:H, ?y, (owl:Thing, :disk, owl:Thing))"
    assert rows(query, two, "ops") == [{"x": "a", "y": "b"}, {"x": "b", "y": "a"}]
    assert rows(query, one, "ops") == []


def test_ops_constants_are_vertices_too() -> None:
    query = "(_:H, :a, (owl:Thing, :p, owl:Thing)) (_:H, ?x, (owl:Thing, :p, owl:Thing))"
    assert rows(query, "_:H :p :a, :b .", "ops") == [{"x": "b"}]
    assert rows(query, "_:H :p :a .", "ops") == []


def test_ops_filters() -> None:
    query = "(_:H, ?x, (owl:Thing, :p, rdfs:Literal), ?x < 10 || regex(?x, '^a'))"
    assert rows(query, '_:H :p 5, 15, "abc", "b" .', "ops") == [{"x": '"5"^^integer'}, {"x": '"abc"'}]


def test_gtopss_joins_without_injectivity() -> None:
    query = "(?a, :p, ?b, {}, {?b <= :C}) (?b, ?q, ?c, {}, {})"
    found = rows(query, ":x :p :x . :x a :C .", "gtopss")
    assert found == [
        {"a": "x", "b": "x", "q": "p", "c": "x"},
        {"a": "x", "b": "x", "q": RDF_TYPE.removesuffix(">"), "c": "C"},
    ]


def test_no_label_of_the_event_is_used_again() -> None:
    over = meaning("_:c0 :p _:cx1 .")
    assert over.unused_label("c") == "cxx"
    assert over.unused_label("new") == "new"


def test_words_are_made_once() -> None:
    over = meaning("")
    node = Term('"a b"')
    assert over.words(node) is over.words(node)
