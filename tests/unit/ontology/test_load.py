"""Files: formats, merging, errors; and the ontology as an object."""

from __future__ import annotations

import gzip
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.ontology.turtle import HEADER, ex, term, triples

from tidings.errors import OntologyError, UsageError
from tidings.ontology import Ontology

RDF_XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [<!ENTITY ex "http://example.org/">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
         xmlns:daml="http://www.daml.org/2001/03/daml+oil#" xml:base="http://example.org/onto">
  <daml:Class rdf:about="&ex;Computer"><rdfs:subClassOf rdf:resource="&ex;Product"/></daml:Class>
  <daml:Class rdf:ID="Selling">
    <rdfs:subClassOf>
      <daml:Restriction>
        <daml:onProperty rdf:resource="&ex;target"/><daml:toClass rdf:resource="&ex;Product"/>
      </daml:Restriction>
    </rdfs:subClassOf>
  </daml:Class>
  <daml:ObjectProperty rdf:about="&ex;seller">
    <daml:domain>
      <daml:Class>
        <daml:unionOf rdf:parseType="daml:collection">
          <daml:Class rdf:about="#Selling"/><daml:Class rdf:about="&ex;Auction"/>
        </daml:unionOf>
      </daml:Class>
    </daml:domain>
  </daml:ObjectProperty>
</rdf:RDF>
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["onto.rdf", "onto.owl", "onto.daml", "onto.xml"])
def test_daml_in_rdf_xml(tmp_path: Path, name: str) -> None:
    o = Ontology.load(write(tmp_path / name, RDF_XML))
    selling = term("ex:onto#Selling")
    assert o.is_subclass(ex("Computer"), ex("Product"))
    assert {(m.subject_class, m.property, m.object_class) for m in o.meta_statements} == {
        (selling, ex("target"), ex("Product")),
        (selling, ex("seller"), None),
        (ex("Auction"), ex("seller"), None),
    }


def test_turtle_under_the_name_owl(tmp_path: Path) -> None:
    text = f"{HEADER} ex:A rdfs:subClassOf ex:B ."
    assert Ontology.load(write(tmp_path / "onto.owl", text)).is_subclass(ex("A"), ex("B"))
    (tmp_path / "onto.owl.gz").write_bytes(gzip.compress(text.encode()))
    assert Ontology.load(str(tmp_path / "onto.owl.gz")).is_subclass(ex("A"), ex("B"))


def test_json_ld_and_trig(tmp_path: Path) -> None:
    json = '{"@id": "http://example.org/A", "http://www.w3.org/2000/01/rdf-schema#subClassOf": {"@id": "http://example.org/B"}}'
    graph = f"{HEADER} ex:g {{ ex:B rdfs:subClassOf ex:C . }}"
    o = Ontology.load(write(tmp_path / "a.jsonld", json), write(tmp_path / "b.trig", graph))
    assert o.superclasses(ex("A")) == {ex("A"), ex("B"), ex("C")}


def test_the_blank_nodes_of_different_files_are_different(tmp_path: Path) -> None:
    one = write(
        tmp_path / "one.ttl", f"{HEADER} ex:A rdfs:subClassOf _:x . _:x owl:onProperty ex:p ; owl:someValuesFrom ex:B ."
    )
    two = write(
        tmp_path / "two.ttl", f"{HEADER} _:x rdfs:subClassOf ex:C ; owl:unionOf (ex:D) . ex:q rdfs:domain _:x ."
    )
    o = Ontology.load(one, two)
    assert o.superclasses(ex("A")) == {ex("A")}
    assert {(m.subject_class, m.property, m.object_class) for m in o.meta_statements} == {
        (ex("A"), ex("p"), ex("B")),
        (ex("D"), ex("q"), None),
    }


def test_a_cycle_over_several_files_names_them(tmp_path: Path) -> None:
    one = write(tmp_path / "one.ttl", f"{HEADER} ex:A rdfs:subClassOf ex:B .")
    two = write(tmp_path / "two.ttl", f"{HEADER} ex:B rdfs:subClassOf ex:A .")
    with pytest.raises(
        OntologyError, match=r"one\.ttl, .*two\.ttl: a cycle of sub-class statements: ex:A ⊑ ex:B ⊑ ex:A"
    ):
        Ontology.load(one, two)
    assert Ontology.load(one, two, cycles="equivalence").equivalent_classes(ex("A")) == {ex("A"), ex("B")}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("broken.ttl", b"@prefix ex: <http://example.org/> .\nex:A ex:b ex:C ;; oops", r"broken\.ttl:2"),
        ("broken.nt", b"<http://example.org/A> <http://example.org/p>\n", r"broken\.nt:1"),
        ("broken.rdf", b"<rdf:RDF", r"broken\.rdf"),
        ("cut.ttl.gz", gzip.compress(b"x" * 1000, mtime=0)[:-20], r"cut\.ttl\.gz"),
        ("unknown.docx", b"", r"unknown\.docx"),
        ("latin.ttl", "<http://example.org/é> a <http://example.org/A> .".encode("latin-1"), r"latin\.ttl"),
    ],
)
def test_what_cannot_be_read_says_where(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(OntologyError, match=expected):
        Ontology.load(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match=r"nowhere\.ttl"):
        Ontology.load(tmp_path / "nowhere.ttl")


def test_a_folder_of_files(tmp_path: Path) -> None:
    write(tmp_path / "one.ttl", f"{HEADER} ex:A rdfs:subClassOf _:x .")
    write(tmp_path / "two.ttl", f"{HEADER} _:x rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:C .")
    o = Ontology.load(tmp_path)
    assert o.superclasses(ex("A")) == {ex("A")}
    assert o.superclasses(ex("B")) == {ex("B"), ex("C")}


def test_nothing_loaded_is_the_empty_ontology() -> None:
    for o in (Ontology.load(), Ontology.empty(), Ontology.of([])):
        assert o.is_empty
        assert o.meta_statements == ()
        assert o.superclasses(ex("A")) == {ex("A")}
        assert o.allows(ex("A"), ex("p"), ex("B"))
        assert o.near(ex("A"), "class") is None


def test_a_wrong_word_for_cycles() -> None:
    with pytest.raises(UsageError, match="equivalence"):
        Ontology.of([], cycles=cast(Any, "ignore"))


TEXT = """
ex:A rdfs:subClassOf ex:B . ex:B owl:equivalentClass ex:C . ex:p rdfs:domain ex:B ; rdfs:subPropertyOf ex:q .
ex:x a ex:A .
"""


def test_it_pickles_as_its_axioms() -> None:
    o = Ontology.of(triples(TEXT))
    assert o.allows(ex("A"), ex("p"), ex("x"))
    again = pickle.loads(pickle.dumps(o))
    assert [again.classes.id_of(c) for c in o.classes] == [o.classes.id_of(c) for c in o.classes]
    assert again.meta_statements == o.meta_statements
    assert again.superclasses(ex("A")) == {ex("A"), ex("B"), ex("C")}
    assert again.types_of(ex("x")) == {ex("A")}
    assert not again.is_empty
    assert repr(again) == repr(o) == "<Ontology: 3 classes, 2 properties>"


def test_a_cyclic_one_pickles_too() -> None:
    o = Ontology.of(triples("ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:A ."), cycles="equivalence")
    assert pickle.loads(pickle.dumps(o)).equivalent_classes(ex("A")) == {ex("A"), ex("B")}


def test_many_threads_may_ask() -> None:
    o = Ontology.of(triples("".join(f"ex:C{i} rdfs:subClassOf ex:C{i // 2} . " for i in range(2, 400))))

    def ask(i: int) -> tuple[int, bool, object]:
        c = ex(f"C{i}")
        return len(o.superclasses(c)), o.allows(c, ex("p"), c), o.near(ex(f"c{i}"), "class")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, [*range(1, 400)] * 4))
    assert answers == [(i.bit_length(), True, ex(f"C{i}")) for i in [*range(1, 400)] * 4]
