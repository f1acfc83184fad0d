"""Meta-statements: declared, allowed, extended."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.ontology.turtle import ex, term, triples

from tidings.ontology import MetaStatement, Ontology
from tidings.rdf.terms import SUBCLASS_OF, Term, Triple

AUCTION = """
ex:Computer rdfs:subClassOf ex:Product . ex:DesktopPC rdfs:subClassOf ex:Computer .
ex:DigitalProduct rdfs:subClassOf ex:Product . ex:Book rdfs:subClassOf ex:Product .
ex:EBook rdfs:subClassOf ex:Book , ex:DigitalProduct .
ex:Selling a rdfs:Class . ex:Customer a rdfs:Class .
ex:cellPhone rdfs:subPropertyOf ex:phone .
ex:target rdfs:domain ex:Selling ; rdfs:range ex:Product .
ex:price rdfs:domain ex:Product ; rdfs:range xsd:decimal .
ex:isbn rdfs:domain ex:Book .
ex:cellPhone rdfs:domain ex:Customer ; rdfs:range xsd:string .
ex:free a rdf:Property .
"""


def ontology(text: str) -> Ontology:
    return Ontology.of(triples(text))


def declared(text: str) -> list[str]:
    """The declared meta-statements as local names; `-` for what is not stated."""
    statements = ontology(text).meta_statements
    return [f"{local(m.subject_class)} {local(m.property)} {local(m.object_class)}" for m in statements]


def local(name: Term | None) -> str:
    return "-" if name is None else name[1:-1].replace("#", "/").rsplit("/", 1)[1]


# ------------------------------------------------------------------------------------------------------------ declared


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ex:p rdfs:domain ex:A ; rdfs:range ex:B .", ["A p B"]),
        ("ex:p daml:domain ex:A ; daml0:range ex:B .", ["A p B"]),
        ("ex:p rdfs:domain ex:A .", ["A p -"]),
        ("ex:p rdfs:range xsd:int .", ["- p int"]),
        (
            "ex:p schema:domainIncludes ex:A , ex:B ; schemas:rangeIncludes ex:C , ex:D .",
            ["A p C", "A p D", "B p C", "B p D"],
        ),
        ("ex:p rdfs:domain [ owl:unionOf (ex:A ex:B) ] ; rdfs:range ex:C .", ["A p C", "B p C"]),
        ("ex:p rdfs:domain [ daml:unionOf (ex:A [ owl:unionOf (ex:B ex:C) ]) ] .", ["A p -", "B p -", "C p -"]),
        ("ex:p rdfs:domain [ owl:unionOf (ex:A [ owl:complementOf ex:B ]) ] ; rdfs:range ex:C .", ["- p C"]),
        ("ex:p rdfs:range [ owl:intersectionOf (ex:A [ owl:complementOf ex:B ]) ] .", ["- p A"]),
        ("ex:p rdfs:range [ a rdfs:Datatype ; owl:onDatatype xsd:int ; owl:withRestrictions () ] .", ["- p int"]),
        ("ex:p rdfs:domain [ owl:oneOf (ex:x ex:y) ] .", []),
        ("ex:p a rdf:Property .", []),
    ],
)
def test_from_domain_and_range(text: str, expected: list[str]) -> None:
    assert declared(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ex:A rdfs:subClassOf [ owl:onProperty ex:p ; owl:someValuesFrom ex:B ] .", ["A p B"]),
        ("ex:A rdfs:subClassOf [ owl:onProperty ex:p ; owl:allValuesFrom ex:B ] .", ["A p B"]),
        (
            "ex:A owl:equivalentClass [ owl:onProperty ex:p ; owl:onClass ex:B ; owl:qualifiedCardinality 1 ] .",
            ["A p B"],
        ),
        ("[ owl:onProperty ex:p ; owl:onDataRange xsd:int ] owl:equivalentClass ex:A .", ["A p int"]),
        ("ex:A rdfs:subClassOf [ daml:onProperty ex:p ; daml:toClass ex:B ] .", ["A p B"]),
        ("ex:A daml:sameClassAs [ daml0:onProperty ex:p ; daml0:hasClass ex:B ] .", ["A p B"]),
        ("ex:A rdfs:subClassOf [ owl:onProperty ex:p ; owl:hasValue 5 ] .", ["A p integer"]),
        ("ex:A rdfs:subClassOf [ daml:onProperty ex:p ; daml:hasValue ex:x ] . ex:x a ex:B .", ["A p B"]),
        ("ex:A rdfs:subClassOf [ owl:onProperty ex:p ; owl:hasValue ex:x ] .", ["A p -"]),
        ("ex:A rdfs:subClassOf [ owl:onProperty ex:p ; owl:minCardinality 1 ] .", ["A p -"]),
        ("ex:A owl:intersectionOf (ex:C [ owl:onProperty ex:p ; owl:someValuesFrom ex:B ]) .", ["A p B"]),
        (
            "ex:A rdfs:subClassOf [ owl:intersectionOf (ex:C [ owl:onProperty ex:p ; owl:someValuesFrom ex:B ]) ] .",
            ["A p B"],
        ),
        (
            "ex:A rdfs:subClassOf [ owl:onProperty ex:p ; owl:allValuesFrom [ owl:unionOf (ex:B ex:C) ] ] .",
            ["A p B", "A p C"],
        ),
        ("ex:A rdfs:subClassOf [ owl:onProperty [ owl:inverseOf ex:p ] ; owl:allValuesFrom ex:B ] .", ["B p A"]),
        (
            "ex:R a owl:Restriction ; owl:onProperty ex:p ; owl:someValuesFrom ex:B . ex:A rdfs:subClassOf ex:R .",
            ["R p B"],
        ),
    ],
)
def test_from_restrictions(text: str, expected: list[str]) -> None:
    assert declared(text) == expected


def test_a_cardinality_does_not_widen_what_is_said_elsewhere() -> None:
    text = "ex:A rdfs:subClassOf [ owl:onProperty ex:p ; owl:minCardinality 1 ] , {} . ex:p rdfs:range ex:C ."
    assert declared(text.format("[ owl:onProperty ex:p ; owl:allValuesFrom ex:B ]")) == ["- p C", "A p B"]
    assert declared(text.format("ex:D")) == ["- p C", "A p C"]


def test_hostile_expressions_are_bounded() -> None:
    doubling = "".join(f"_:u{i} owl:unionOf (_:u{i + 1} _:u{i + 1}) . " for i in range(200))
    assert declared(f"{doubling} ex:p rdfs:domain _:u0 .") == []
    assert declared(f"{doubling} ex:p rdfs:domain _:u180 . _:u200 owl:unionOf (ex:A) .") == ["A p -"]
    assert declared("_:u owl:unionOf (_:u ex:A) . ex:p rdfs:domain _:u .") == []
    assert declared("_:u owl:unionOf _:l . _:l rdf:first ex:A ; rdf:rest _:l . ex:p rdfs:domain _:u .") == ["A p -"]


# ------------------------------------------------------------------------------------------------------------- allowed


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("ex:Selling ex:target ex:Product", True),  # declared
        ("ex:Selling ex:target ex:Computer", True),  # below it
        ("owl:Thing ex:target daml:Thing", True),  # above it
        ("rdfs:Resource ex:target ex:DesktopPC", True),
        ("ex:Customer ex:target ex:Product", False),
        ("ex:Selling ex:target ex:Customer", False),
        ("ex:Selling ex:target xsd:string", False),
        ("ex:DigitalProduct ex:isbn xsd:string", True),  # an e-book is both
        ("ex:Computer ex:isbn xsd:string", False),
        ("ex:Book ex:isbn ex:Customer", True),  # the range is not stated
        ("ex:Product ex:price xsd:decimal", True),
        ("ex:Product ex:price xsd:integer", True),
        ("ex:Product ex:price xsd:anyAtomicType", True),
        ("ex:Product ex:price rdfs:Literal", True),
        ("ex:Product ex:price rdf:Literal", True),
        ("ex:Product ex:price xsd:string", False),
        ("ex:Product ex:price xsd:double", False),
        ("ex:Product ex:price owl:Thing", False),  # a decimal is no resource
        ("ex:Customer ex:cellPhone xsd:token", True),
        ("ex:Customer ex:phone xsd:string", True),  # nothing is said of phone itself
        ("ex:Selling ex:free ex:Selling", True),
        ("ex:Selling ex:unheard ex:Selling", True),
        ("ex:Unheard ex:target ex:Product", True),  # an unknown class rules nothing out
        ("ex:Selling ex:target ex:Unheard", True),
        ("ex:Unheard ex:target xsd:string", False),
        ("xsd:string ex:free ex:Selling", False),  # a literal is never a subject
        ("ex:Selling rdf:type ex:Selling", True),
    ],
)
def test_what_is_allowed(question: str, answer: bool) -> None:
    subject, property, object = map(term, question.split())
    assert ontology(AUCTION).allows(subject, property, object) is answer


def test_a_property_inherits_and_a_general_one_asks_for_any_of_its_parts() -> None:
    o = ontology(
        """
        ex:p rdfs:subPropertyOf ex:q . ex:r rdfs:subPropertyOf ex:q .
        ex:q rdfs:domain ex:A . ex:r rdfs:domain ex:B . ex:C a owl:Class .
        """
    )
    assert o.allows(ex("A"), ex("p"), ex("A"))
    assert not o.allows(ex("B"), ex("p"), ex("A"))
    assert o.allows(ex("B"), ex("q"), ex("A"))
    assert not o.allows(ex("C"), ex("q"), ex("A"))
    assert o.allows(ex("B"), ex("r"), ex("A"))


def test_equivalents_are_allowed_alike() -> None:
    o = ontology(
        "ex:p rdfs:domain ex:A . ex:A owl:equivalentClass ex:B . ex:p owl:equivalentProperty ex:q . ex:C a owl:Class ."
    )
    assert o.allows(ex("B"), ex("q"), ex("C"))
    assert not o.allows(ex("C"), ex("q"), ex("C"))


def test_datatypes_of_the_ontology() -> None:
    o = ontology(
        """
        ex:celsius a rdfs:Datatype ; rdfs:subClassOf xsd:decimal . ex:p rdfs:range ex:celsius .
        ex:q a owl:DatatypeProperty ; rdfs:range ex:kilometre . ex:A a owl:Class .
        """
    )
    assert o.allows(ex("A"), ex("p"), term("xsd:decimal"))
    assert o.allows(ex("A"), ex("p"), term("rdfs:Literal"))
    assert not o.allows(ex("A"), ex("p"), term("xsd:string"))
    assert o.allows(ex("A"), ex("q"), term("rdfs:Literal"))
    assert not o.allows(ex("A"), ex("q"), term("owl:Thing"))


@pytest.mark.parametrize(
    "range",
    [
        "schema:Text . schema:Text a schema:DataType",
        "schemas:URL . schemas:Text a schemas:DataType . schemas:URL rdfs:subClassOf schemas:Text",
        "daml:Literal",
        "<http://www.w3.org/2000/10/XMLSchema#string>",
    ],
)
def test_datatypes_that_any_literal_may_stand_for(range: str) -> None:
    o = ontology(f"ex:p rdfs:range {range} . ex:A a owl:Class .")
    assert o.allows(ex("A"), ex("p"), term("xsd:string"))
    assert o.allows(ex("A"), ex("p"), term("xsd:anyURI"))
    assert not o.allows(ex("A"), ex("p"), ex("A"))


# ------------------------------------------------------------------------------------------------------------ extended


def test_a_row_with_its_ancestors() -> None:
    row = ontology(AUCTION).extended(ex("Selling"), ex("target"), ex("DesktopPC"))
    assert row is not None
    assert row.statement == MetaStatement(ex("Selling"), ex("target"), ex("DesktopPC"))
    assert row.declared == (MetaStatement(ex("Selling"), ex("target"), ex("Product")),)
    assert row.ancestors == (
        MetaStatement(ex("Selling"), ex("target"), ex("Computer")),
        MetaStatement(ex("Selling"), ex("target"), ex("Product")),
    )


def test_what_is_not_below_a_declared_one_has_no_row() -> None:
    o = ontology(AUCTION)
    assert o.extended(ex("Selling"), ex("target"), term("owl:Thing")) is None
    assert o.extended(ex("Customer"), ex("target"), ex("Product")) is None
    assert o.extended(ex("Unheard"), ex("target"), ex("Product")) is None
    assert o.extended(ex("Selling"), ex("free"), ex("Product")) is None
    assert o.extended(ex("Selling"), ex("unheard"), ex("Product")) is None


def test_where_a_class_is_not_stated_everything_is_below_it() -> None:
    row = ontology(AUCTION).extended(ex("EBook"), ex("isbn"), ex("Unheard"))
    assert row is not None
    assert row.declared == (MetaStatement(ex("Book"), ex("isbn"), None),)
    assert {(m.subject_class, m.object_class) for m in row.ancestors} == {
        (ex("EBook"), first_thing()),
        (ex("Book"), ex("Unheard")),
        (ex("Book"), first_thing()),
    }


def test_rows_go_up_the_property_hierarchy_and_the_datatypes() -> None:
    o = ontology("ex:p rdfs:subPropertyOf ex:q . ex:q rdfs:domain ex:A ; rdfs:range xsd:integer .")
    row = o.extended(ex("A"), ex("p"), term("xsd:int"))
    assert row is not None
    assert [(m.property, m.object_class) for m in row.ancestors] == [
        (ex("p"), term("xsd:integer")),
        (ex("p"), term("xsd:long")),
        (ex("q"), term("xsd:int")),
        (ex("q"), term("xsd:integer")),
        (ex("q"), term("xsd:long")),
    ]


def test_equivalent_names_have_one_row() -> None:
    o = ontology("ex:A owl:equivalentClass ex:B . ex:p rdfs:domain ex:B . ex:p owl:equivalentProperty ex:q .")
    one, other = (o.extended(ex(c), ex(p), ex("X")) for c, p in (("A", "p"), ("B", "q")))
    assert one is not None
    assert one == other
    assert one.statement == MetaStatement(ex("A"), ex("p"), ex("X"))


def first_thing() -> Term:
    return min(term("owl:Thing"), term("daml:Thing"), term("daml0:Thing"), term("rdfs:Resource"))


NAMES = [ex(c) for c in "ABCDE"]
PROPERTIES = [ex(p) for p in "pqr"]
classes = st.sampled_from(NAMES)
properties = st.sampled_from(PROPERTIES)


def rising(names: list[Term]) -> st.SearchStrategy[list[tuple[Term, Term]]]:
    pairs = [(a, b) for a, b in product(names, names) if a < b]
    return st.lists(st.sampled_from(pairs), max_size=5)


@settings(deadline=None)
@given(
    rising(NAMES),
    rising(PROPERTIES),
    st.lists(st.tuples(properties, st.sets(classes, max_size=2), st.sets(classes, max_size=2)), max_size=4),
)
def test_extended_rows_are_what_the_definition_says(
    below: list[tuple[Term, Term]], below_p: list[tuple[Term, Term]], stated: list[tuple[Term, set[Term], set[Term]]]
) -> None:
    statements: list[Triple] = [(c, term("rdf:type"), term("owl:Class")) for c in NAMES]
    statements += [(a, SUBCLASS_OF, b) for a, b in below]
    statements += [(a, term("rdfs:subPropertyOf"), b) for a, b in below_p]
    for p, domains, ranges in stated:
        statements += [(p, term("rdfs:domain"), c) for c in domains] + [(p, term("rdfs:range"), c) for c in ranges]
    o = Ontology.of(statements)

    def follows(subject: Term, property: Term, object: Term) -> bool:
        return any(
            (m.subject_class is None or o.is_subclass(subject, m.subject_class))
            and o.is_subproperty(property, m.property)
            and (m.object_class is None or o.is_subclass(object, m.object_class))
            for m in o.meta_statements
        )

    rows = {q for q in product(NAMES, PROPERTIES, NAMES) if follows(*q)}
    for s, p, c in product(NAMES, PROPERTIES, NAMES):
        row = o.extended(s, p, c)
        assert (row is not None) == ((s, p, c) in rows)
        if row is not None:
            assert o.allows(s, p, c)
            above = {q for q in rows if o.is_subclass(s, q[0]) and o.is_subproperty(p, q[1]) and o.is_subclass(c, q[2])}
            found = {(m.subject_class, m.property, m.object_class) for m in row.ancestors}
            assert {q for q in found if first_thing() not in q} == above - {(s, p, c)}


@pytest.mark.parametrize(
    "student",
    [
        "ex:Student owl:intersectionOf (ex:Person [ owl:onProperty ex:takes ; owl:someValuesFrom ex:Course ]) .",
        "ex:Student owl:equivalentClass [ daml:intersectionOf (ex:Person ex:Enrolled) ] .",
        "ex:Student rdfs:subClassOf [ owl:intersectionOf (ex:Pupil) ] . ex:Pupil owl:intersectionOf (ex:Person) .",
    ],
)
def test_an_intersection_is_allowed_what_its_members_are_yet_not_below_them(student: str) -> None:
    model = ontology(f"""{student} ex:Fresher rdfs:subClassOf ex:Student . ex:Stone a rdfs:Class .
        ex:email rdfs:domain ex:Person ; rdfs:range xsd:string . ex:of rdfs:range ex:Fresher .""")
    email, string = ex("email"), term("xsd:string")
    assert model.allows(ex("Student"), email, string)
    assert model.allows(ex("Fresher"), email, string)
    assert model.allows(ex("Stone"), ex("of"), ex("Person"))
    assert not model.allows(ex("Stone"), email, string)
    assert not model.is_subclass(ex("Student"), ex("Person"))
    assert model.extended(ex("Student"), email, string) is None
