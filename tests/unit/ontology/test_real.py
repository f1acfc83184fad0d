"""Published ontologies: what their makers count, and a closure worked out another way."""

from __future__ import annotations

import functools
import gzip
from pathlib import Path

import pytest
import rdflib
from rdflib.namespace import OWL as R_OWL
from rdflib.namespace import RDF as R_RDF
from rdflib.namespace import RDFS as R_RDFS
from tests.support import data_dir
from tests.unit.ontology.turtle import term

from tidings.ontology import Ontology
from tidings.rdf.terms import OWL, Term, iri

DBPEDIA = "dbpedia-ontology/dbpedia-ontology-2015-04-10.nt.gz"
DBPEDIA_2013 = "dbpedia-ontology/dbpedia-ontology-2013-07-02.nt.gz"
SCHEMA_ORG = "schema-org/schemaorg-30.0-current-https.nt.gz"
SMALL = [
    "activitystreams2/activitystreams2.owl",
    "dbpedia-music/music_schema.ttl",
    "iswc-conference-metadata/conference-ontology.owl.gz",
    "iswc-conference-metadata/swc_2009-05-09.rdf.gz",
    "lubm/univ-bench.ttl",
    "sosa-ssn/sosa.ttl",
    "sosa-ssn/ssn-dul.ttl",
    "sosa-ssn/ssn-system.ttl",
    "sosa-ssn/ssn.ttl",
    "sosa-ssn/ssnx.ttl",
]
DBO = "http://dbpedia.org/ontology/"


@functools.cache
def load(path: Path) -> Ontology:
    return Ontology.load(path)


def dataset(name: str) -> Path:
    return data_dir(*name.split("/"))


def declared(graph: rdflib.Graph, *types: rdflib.URIRef) -> set[Term]:
    return {Term(s.n3()) for type in types for s in graph.subjects(R_RDF.type, type) if isinstance(s, rdflib.URIRef)}


@functools.cache
def parsed(path: Path) -> rdflib.Graph:
    graph = rdflib.Graph()
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    turtle = path.suffix == ".ttl" or b"@prefix" in data[:1000]
    xml = path.name.endswith((".rdf.gz", ".owl.gz"))
    graph.parse(data=data, format="turtle" if turtle else "xml" if xml else "nt")
    return graph


def closures(graph: rdflib.Graph, below: rdflib.URIRef, same: rdflib.URIRef) -> dict[str, set[str]]:
    """Everything above each name, by rdflib's own path search."""
    step = below | same | ~same
    nodes = {n for p in (below, same) for pair in graph.subject_objects(p) for n in pair}
    return {
        node.n3(): {up.n3() for up in graph.objects(node, step * "*") if isinstance(up, rdflib.URIRef)}
        for node in nodes
        if isinstance(node, rdflib.URIRef)
    }


@pytest.mark.parametrize("name", [DBPEDIA, DBPEDIA_2013, SCHEMA_ORG, *SMALL])
def test_the_closure_is_rdflibs(name: str) -> None:
    path = dataset(name)
    o, graph = load(path), parsed(path)
    classes = closures(graph, R_RDFS.subClassOf, R_OWL.equivalentClass)
    assert {c: set(o.superclasses(Term(c))) for c in classes} == classes
    properties = closures(graph, R_RDFS.subPropertyOf, R_OWL.equivalentProperty)
    assert {p: set(o.superproperties(Term(p))) for p in properties} == properties
    below: dict[str, set[str]] = {c: set() for c in classes}
    for c, ups in classes.items():
        for up in ups:
            below[up].add(c)
    assert {c: set(o.subclasses(Term(c))) for c in classes} == below


@pytest.mark.parametrize("name", [DBPEDIA, DBPEDIA_2013, SCHEMA_ORG, *SMALL])
def test_what_is_declared_is_known(name: str) -> None:
    path = dataset(name)
    o, graph = load(path), parsed(path)
    assert declared(graph, R_OWL.Class, R_RDFS.Class) <= set(o.classes)
    assert declared(graph, R_RDF.Property, R_OWL.ObjectProperty, R_OWL.DatatypeProperty) <= set(o.properties)


def test_dbpedia_2015() -> None:
    o = load(dataset(DBPEDIA))
    graph = parsed(dataset(DBPEDIA))
    assert len(declared(graph, R_OWL.Class) & set(o.classes)) == 735
    assert len(declared(graph, R_OWL.ObjectProperty, R_OWL.DatatypeProperty) & set(o.properties)) == 2_819
    assert sum(len(o.property_parents(p)) for p in o.properties) == 970
    assert sum(len(o.parents(c)) for c in o.classes) == 746
    assert o.is_subclass(iri(f"{DBO}Actor"), iri(f"{DBO}Agent"))
    assert iri("http://schema.org/Person") in o.equivalent_classes(iri(f"{DBO}Person"))
    # This release says that dbo:Event and owl:Thing are one, and so everything is an event.
    assert iri(f"{OWL}Thing") in o.equivalent_classes(iri(f"{DBO}Event"))


def test_dbpedia_2013_has_the_numbers_of_the_papers() -> None:
    o, graph = load(dataset(DBPEDIA_2013)), parsed(dataset(DBPEDIA_2013))
    assert len(declared(graph, R_OWL.Class) & set(o.classes)) == 529
    assert len(declared(graph, R_OWL.ObjectProperty, R_OWL.DatatypeProperty) & set(o.properties)) == 2_333


def test_the_core_of_dbpedia_says_the_same() -> None:
    whole, core = load(dataset(DBPEDIA)), load(dataset(DBPEDIA.replace(".nt", ".core.nt")))
    assert whole.meta_statements == core.meta_statements
    assert {c: whole.superclasses(c) for c in whole.classes} == {c: core.superclasses(c) for c in core.classes}


def test_dbpedia_meta_statements() -> None:
    o = load(dataset(DBPEDIA))
    person, place = iri(f"{DBO}Person"), iri(f"{DBO}Place")
    assert any((m.subject_class, m.object_class) == (person, place) for m in o.meta_statements)
    row = o.extended(iri(f"{DBO}Actor"), iri(f"{DBO}birthPlace"), iri(f"{DBO}City"))
    assert row is not None
    assert [m.object_class for m in row.declared] == [place]
    assert o.allows(person, iri(f"{DBO}birthPlace"), place)
    assert not o.allows(place, iri(f"{DBO}birthPlace"), place)
    assert not o.allows(person, iri(f"{DBO}birthPlace"), term("xsd:string"))
    assert o.allows(person, iri(f"{DBO}birthDate"), term("xsd:date"))


def test_what_dbpedia_says_of_its_entities_is_allowed() -> None:
    """Checking real data against the ontology gives hardly a false alarm."""
    o = load(dataset(DBPEDIA))
    sample = dataset("dbpedia-2015-10-sample/dbpedia-2015-10-sample.nt.gz")
    graph = parsed(sample)
    asked = refused = 0
    for s, p, value in graph:
        classes = [Term(c.n3()) for c in graph.objects(s, R_RDF.type) if o.is_class(Term(c.n3()))]
        if not str(p).startswith(DBO) or not classes:
            continue
        if isinstance(value, rdflib.Literal):
            targets = [
                iri(str(value.datatype or (f"{R_RDF.langString}" if value.language else term("xsd:string")[1:-1])))
            ]
        else:
            targets = [Term(c.n3()) for c in graph.objects(value, R_RDF.type)] or [iri(f"{OWL}Thing")]
        asked += 1
        refused += not any(o.allows(c, Term(p.n3()), d) for c in classes for d in targets)
    assert asked > 1_000
    assert refused <= asked // 100


def test_schema_org() -> None:
    o = load(dataset(SCHEMA_ORG))
    s = "https://schema.org/"
    graph = parsed(dataset(SCHEMA_ORG))
    assert len(declared(graph, R_RDFS.Class) & set(o.classes)) == 1_010
    assert len(declared(graph, R_RDF.Property) & set(o.properties)) == 1_676
    assert sum(len(o.parents(c)) for c in o.classes) == 1_007
    assert sum(len(o.property_parents(p)) for p in o.properties) == 210
    assert o.is_subclass(iri(f"{s}Hospital"), iri(f"{s}Place"))
    assert o.is_subclass(iri(f"{s}Hospital"), iri(f"{s}Organization"))
    assert o.types_of(iri(f"{s}InStock")) == {iri(f"{s}ItemAvailability")}
    assert o.allows(iri(f"{s}Offer"), iri(f"{s}price"), term("xsd:decimal"))
    assert o.allows(iri(f"{s}Person"), iri(f"{s}birthPlace"), iri(f"{s}City"))
    assert not o.allows(iri(f"{s}Offer"), iri(f"{s}birthPlace"), iri(f"{s}City"))
    assert o.near(iri("http://schema.org/Person"), "class") == iri(f"{s}Person")


def test_restrictions_of_ssn_and_lubm() -> None:
    ub = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
    o = load(dataset("lubm/univ-bench.ttl"))
    stated = {(m.subject_class, m.property, m.object_class) for m in o.meta_statements}
    assert (iri(f"{ub}Chair"), iri(f"{ub}headOf"), iri(f"{ub}Department")) in stated
    assert (iri(f"{ub}Student"), iri(f"{ub}takesCourse"), iri(f"{ub}Course")) in stated
    sosa = "http://www.w3.org/ns/sosa/"
    both = Ontology.load(dataset("sosa-ssn/sosa.ttl"), dataset("sosa-ssn/ssn.ttl"))
    assert both.allows(iri(f"{sosa}Observation"), iri(f"{sosa}madeBySensor"), iri(f"{sosa}Sensor"))
    assert not both.allows(iri(f"{sosa}Observation"), iri(f"{sosa}madeBySensor"), iri(f"{sosa}Result"))


def test_every_small_ontology_together() -> None:
    o = Ontology.load(*(dataset(name) for name in SMALL))
    for name in SMALL:
        alone = load(dataset(name))
        assert all(alone.superclasses(c) <= o.superclasses(c) for c in alone.classes)
        assert all(alone.subproperties(p) <= o.subproperties(p) for p in alone.properties)
