from __future__ import annotations

import doctest

import pytest

from tidings.ontology import datatypes
from tidings.ontology.datatypes import is_datatype, xsd_ancestors
from tidings.rdf.terms import OWL, RDF, RDFS, XSD, iri


def names(datatype: str) -> list[str]:
    return [a.removeprefix(XSD) for a in xsd_ancestors(XSD + datatype)]


def test_the_docstring() -> None:
    assert doctest.testmod(datatypes).failed == 0


@pytest.mark.parametrize(
    ("datatype", "ancestors"),
    [
        ("anyType", []),
        ("anySimpleType", ["anyType"]),
        ("decimal", ["anyAtomicType", "anySimpleType", "anyType"]),
        ("double", ["anyAtomicType", "anySimpleType", "anyType"]),
        ("dateTimeStamp", ["dateTime", "anyAtomicType", "anySimpleType", "anyType"]),
        ("ID", ["NCName", "Name", "token", "normalizedString", "string", "anyAtomicType", "anySimpleType", "anyType"]),
        ("NMTOKENS", ["anySimpleType", "anyType"]),
    ],
)
def test_ancestors_nearest_first(datatype: str, ancestors: list[str]) -> None:
    assert names(datatype) == ancestors


def test_the_longest_line() -> None:
    line = ["unsignedShort", "unsignedInt", "unsignedLong", "nonNegativeInteger", "integer", "decimal"]
    assert names("unsignedByte")[:6] == line


def test_other_datatypes_have_none() -> None:
    assert xsd_ancestors(f"{RDF}langString") == ()
    assert xsd_ancestors("http://e.x/celsius") == ()
    assert xsd_ancestors(f"{XSD}nosuch") == ()


def test_which_terms_are_datatypes() -> None:
    assert is_datatype(iri(f"{XSD}int"))
    assert is_datatype(iri(f"{RDF}langString"))
    assert is_datatype(iri(f"{RDFS}Literal"))
    assert not is_datatype(iri(f"{OWL}Thing"))
    assert not is_datatype(iri("http://e.x/celsius"))
