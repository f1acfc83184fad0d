"""The words of RDFS, OWL, DAML+OIL and schema.org that say something about a hierarchy or a meta-statement."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from tidings.ontology.datatypes import is_datatype
from tidings.rdf.terms import DAML, OWL, RDF, RDF_TYPE, RDFS, XSD, Term, iri

DAMLS = (DAML, "http://www.daml.org/2000/12/daml+oil#")
_SCHEMAS = ("http://schema.org/", "https://schema.org/")
_DCAM = "http://purl.org/dc/dcam/"
_BUILT_IN = (RDF, RDFS, OWL, *DAMLS)

NIL = frozenset(iri(f"{ns}nil") for ns in (RDF, *DAMLS))
THINGS = tuple(iri(name) for name in (f"{OWL}Thing", f"{RDFS}Resource", *(f"{ns}Thing" for ns in DAMLS)))
"""The classes of every resource that is not a literal."""
SCHEMA_DATATYPE = frozenset(iri(f"{ns}DataType") for ns in _SCHEMAS)
"""schema.org's datatypes are instances of this class."""


class Role(Enum):
    """What a statement tells, whichever vocabulary it is written in."""

    TYPE = auto()
    SUBCLASS = auto()
    SUBPROPERTY = auto()
    SAME_CLASS = auto()
    SAME_PROPERTY = auto()
    SAME_EITHER = auto()  # of two classes or of two properties
    DOMAIN = auto()
    RANGE = auto()
    UNION = auto()
    INTERSECTION = auto()
    ON_PROPERTY = auto()
    VALUES_FROM = auto()
    HAS_VALUE = auto()
    ON_DATATYPE = auto()
    INVERSE = auto()
    FIRST = auto()
    REST = auto()


_NAMES = {
    Role.SUBCLASS: ("rdfs:subClassOf", "daml:subClassOf"),
    Role.SUBPROPERTY: ("rdfs:subPropertyOf", "daml:subPropertyOf"),
    Role.SAME_CLASS: ("owl:equivalentClass", "daml:sameClassAs"),
    Role.SAME_PROPERTY: ("owl:equivalentProperty", "daml:samePropertyAs"),
    Role.SAME_EITHER: ("daml:equivalentTo",),
    Role.DOMAIN: ("rdfs:domain", "daml:domain", "schema:domainIncludes", "dcam:domainIncludes"),
    Role.RANGE: ("rdfs:range", "daml:range", "schema:rangeIncludes", "dcam:rangeIncludes"),
    Role.UNION: ("owl:unionOf", "daml:unionOf", "daml:disjointUnionOf", "owl:disjointUnionOf"),
    Role.INTERSECTION: ("owl:intersectionOf", "daml:intersectionOf"),
    Role.ON_PROPERTY: ("owl:onProperty", "daml:onProperty"),
    Role.VALUES_FROM: (
        *("owl:someValuesFrom", "owl:allValuesFrom", "owl:onClass", "owl:onDataRange"),
        *("daml:toClass", "daml:hasClass", "daml:hasClassQ"),
    ),
    Role.HAS_VALUE: ("owl:hasValue", "daml:hasValue"),
    Role.ON_DATATYPE: ("owl:onDatatype",),
    Role.INVERSE: ("owl:inverseOf", "daml:inverseOf", "schema:inverseOf"),
    Role.FIRST: ("rdf:first", "daml:first"),
    Role.REST: ("rdf:rest", "daml:rest"),
}
_NAMESPACES = {"rdf": (RDF,), "rdfs": (RDFS,), "owl": (OWL,), "daml": DAMLS, "schema": _SCHEMAS, "dcam": (_DCAM,)}


def _expand(name: str) -> Iterator[Term]:
    prefix, local = name.split(":")
    return (iri(ns + local) for ns in _NAMESPACES[prefix])


ROLES = {term: role for role, names in _NAMES.items() for name in names for term in _expand(name)}
ROLES[RDF_TYPE] = Role.TYPE

DATATYPE_TYPES = frozenset(t for name in ("rdfs:Datatype", "daml:Datatype", "owl:DataRange") for t in _expand(name))
DATATYPE_PROPERTIES = frozenset(t for name in ("owl:DatatypeProperty", "daml:DatatypeProperty") for t in _expand(name))
CLASS_TYPES = DATATYPE_TYPES | {
    t for name in ("rdfs:Class", "owl:Class", "owl:DeprecatedClass", "daml:Class") for t in _expand(name)
}


def is_loose_datatype(term: Term) -> bool:
    """Whether the term, of an older vocabulary, says no more of a literal in today's data than that it is one."""
    return term in _DAML_LITERALS or term.startswith(_OLD_XSDS, 1)


_DAML_LITERALS = frozenset(_expand("daml:Literal"))
_OLD_XSDS = (
    "http://www.w3.org/1999/XMLSchema#",
    "http://www.w3.org/2000/08/XMLSchema#",
    "http://www.w3.org/2000/10/XMLSchema#",
)


def is_property_type(type: Term) -> bool:
    """Whether an instance of `type` is a property: rdf:Property, owl:TransitiveProperty, daml:UniqueProperty, …"""
    return type.endswith("Property>") and is_vocabulary(type)


def is_vocabulary(term: Term) -> bool:
    """Whether the term is of the RDF, RDFS, OWL or DAML+OIL vocabulary."""
    return term.startswith(_BUILT_IN, 1)


def is_built_in_class(term: Term) -> bool:
    """Whether the term is a class or datatype that needs no declaration."""
    return is_datatype(term) or (is_vocabulary(term) and _local(term)[:1].isupper())


def is_built_in_property(term: Term) -> bool:
    """Whether the term is a property that needs no declaration; these vocabularies write classes in capitals."""
    return is_vocabulary(term) and not is_datatype(term) and not _local(term)[:1].isupper()


def is_built_in(term: Term) -> bool:
    return is_vocabulary(term) or term.startswith(XSD, 1)


def _local(term: Term) -> str:
    return term[term.rindex("#") + 1 : -1]
