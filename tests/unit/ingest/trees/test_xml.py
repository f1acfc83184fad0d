"""XML to events by the direct mapping, and what of XML is refused."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from tests.unit.ingest.support import converted, events, problem, triples

from tidings.ingest.trees import xml_records
from tidings.rdf.event import Event
from tidings.rdf.limits import Limits
from tidings.rdf.strict import flaw
from tidings.rdf.terms import RDF, RDF_TYPE, Term, is_blank, parts

CATALOG = b"""<?xml version="1.0"?>
<c xmlns:x="http://n.s/a" xml:lang="en">
  <item id="3"><t>Hi <b>you</b> there</t><x:p x:q="5"/></item>
  <item id="4"/>
</c>"""


def test_a_record_is_an_element() -> None:
    first = events(CATALOG, "xml", record="/c/item", key=("id",))[0]
    assert first.body.splitlines() == [
        '<http://e.x/3> <http://e.x/id> "3" .',
        f"<http://e.x/3> <{RDF}_1> _:b0 .",
        f"<http://e.x/3> <{RDF}_2> _:b1 .",
        f"<http://e.x/3> <{RDF}type> <http://e.x/item> .",
        f"<http://e.x/3> <{RDF}type> <http://sparql.xyz/facade-x/ns/root> .",
        f'_:b0 <{RDF}_1> "Hi "@en .',
        f"_:b0 <{RDF}_2> _:b2 .",
        f'_:b0 <{RDF}_3> " there"@en .',
        f"_:b0 <{RDF}type> <http://e.x/t> .",
        '_:b1 <http://n.s/a#q> "5" .',
        f"_:b1 <{RDF}type> <http://n.s/a#p> .",
        f'_:b2 <{RDF}_1> "you"@en .',
        f"_:b2 <{RDF}type> <http://e.x/b> .",
    ]


@pytest.mark.parametrize(
    ("path", "count"), [(None, 1), ("/c/item", 2), ("//item", 2), ("//b", 1), ("/c/*", 2), ("/x", 0)]
)
def test_the_path_says_what_is_a_record(path: str | None, count: int) -> None:
    assert len(events(CATALOG, "xml", record=path)) == count


def test_a_record_in_a_record_is_part_of_it() -> None:
    assert len(events(b"<a><i><i/></i><i/></a>", "xml", record="//i")) == 2


def test_keys_are_attributes_or_elements() -> None:
    found = events(b'<a><i id="1"><n> x </n></i></a>', "xml", record="//i", key=("id", "n"))
    assert found[0].body.startswith("<http://e.x/1/x> ")


def test_events_are_well_formed_with_home() -> None:
    assert flaw(triples(CATALOG, "xml", home=True)) is None


def test_a_namespace_that_is_no_iri_is_below_the_base() -> None:
    [event] = events(b'<x:a xmlns:x="not an iri"/>', "xml")
    assert "<http://e.x/not%20an%20iri:a>" in event.body


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings(encoding: str) -> None:
    [event] = events(f'<?xml version="1.0" encoding="{encoding}"?><a>é</a>'.encode(encoding), "xml")
    assert '"é"' in event.body


def test_the_same_events_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = events(CATALOG, "xml", record="/c/item")
    for size in (1, 2, 3, 7, 50):
        monkeypatch.setattr(xml_records, "_CHUNK", size)
        assert events(CATALOG, "xml", record="/c/item") == whole


def test_what_came_before_a_fault_stays() -> None:
    found, [error] = converted(b"<a>\n<i/>\n<i>\n</a>", "xml", record="//i")
    assert len(found) == 1
    assert str(error) == "doc:4:3: XML that is not well-formed: mismatched tag"


def test_a_record_that_is_too_large_costs_no_other() -> None:
    data = b"<a><i/><i>" + b"x" * 2000 + b"<b>y</b></i>\n<i>z</i></a>"
    found, [error] = converted(data, "xml", record="//i", limits=Limits(max_event=4000))
    assert ['"z"' in event.body for event in found] == [False, True]
    assert "doc:1: a record of more than 1000 bytes" in str(error)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "declares the entity x"),
        (b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "declares the entity x"),
        (b'<!DOCTYPE a [<!ENTITY % x "y"> %x;]><a/>', "declares the entity x"),
        (b'<!DOCTYPE a SYSTEM "http://127.0.0.1:1/x.dtd"><a>&x;</a>', "the entity &x; is not declared"),
        (b"<a>&x;</a>", "undefined entity"),
    ],
)
def test_entities_are_refused(data: bytes, said: str) -> None:
    assert said in problem(data, "xml")


def test_an_external_document_type_is_not_read() -> None:
    assert len(events(b'<!DOCTYPE a SYSTEM "http://127.0.0.1:1/x.dtd"><a>x</a>', "xml")) == 1


def test_defaults_of_attributes_are_not_taken() -> None:
    [event] = events(b'<!DOCTYPE a [<!ATTLIST a x CDATA "y">]><a/>', "xml")
    assert "<http://e.x/x>" not in event.body


# ----------------------------------------------------------------------------------------------------------- and back

NAMES = st.sampled_from(["a", "b", "c-d", "é"])
TEXT = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x2FF, exclude_categories=("Cs", "Cc")), min_size=1
).filter(str.strip)


def elements(inner: Any) -> Any:
    content = st.lists(inner | TEXT, max_size=3).map(_no_neighbours)
    return st.tuples(NAMES, st.dictionaries(NAMES, TEXT, max_size=2), content)


def _no_neighbours(children: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for child in children:
        if not (isinstance(child, str) and kept and isinstance(kept[-1], str)):
            kept.append(child)
    return kept


ELEMENTS = st.recursive(elements(st.nothing()), elements, max_leaves=6)


def written(element: Any) -> str:
    name, attributes, children = element
    start = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    inner = "".join(escape(child) if isinstance(child, str) else written(child) for child in children)
    return f"<{name}{start}>{inner}</{name}>"


def element_of(event: Event) -> Any:
    arcs: dict[Term, list[tuple[Term, Term]]] = {}
    for s, p, o in event.triples():
        arcs.setdefault(s, []).append((p, o))

    def element(node: Term) -> Any:
        [name] = [o[len("<http://e.x/") : -1] for p, o in arcs[node] if p == RDF_TYPE and "facade" not in o]
        slots = {int(p[len(RDF) + 2 : -1]): o for p, o in arcs[node] if p.startswith(f"<{RDF}_")}
        given = {p[len("<http://e.x/") : -1]: parts(o).lexical for p, o in arcs[node] if p.startswith("<http://e.x/")}
        return name, given, [element(o) if is_blank(o) else parts(o).lexical for _, o in sorted(slots.items())]

    return element(Term("<http://e.x/#record=1>"))


@for_all(ELEMENTS)
@settings(max_examples=100, deadline=None)
def test_an_event_has_all_that_the_element_has(element: Any) -> None:
    [event] = events(written(element).encode(), "xml")
    assert element_of(event) == element
