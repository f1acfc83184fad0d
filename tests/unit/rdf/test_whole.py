"""Turtle, TriG, RDF/XML, JSON-LD: all or nothing, with blank nodes called the same every time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.rdf.helpers import RDF_NS, bodies, good, ids, read, refused

from tidings.rdf import whole
from tidings.rdf.limits import Limits
from tidings.rdf.quads import Item

BROKEN = {
    "ttl": b"<e:a> <e:p> 1 .\n<e:a> <e:p> ; .\n<e:a> <e:p> 2 .",
    "trig": b"<e:g> { <e:a> <e:p> 1 }\n<e:h> { <e:a> <e:p> }\n<e:i> { <e:a> <e:p> 2 }",
    "rdf": f'<rdf:RDF {RDF_NS} xmlns:e="e:">\n<rdf:Description rdf:about="e:a"><e:p>1</e:q></rdf:Description>'.encode(),
    "jsonld": b'[{"@id": "e:a", "e:p": 1},\n{"@id": "e:b", "e:p": }]',
}


@pytest.mark.parametrize("format", BROKEN)
def test_a_broken_document_costs_the_document_alone(format: str) -> None:
    events, errors = read(BROKEN[format], format=format)
    assert events == []
    assert [error.line for error in errors] == [2]
    assert errors[0].column is not None


def test_no_event_before_all_of_a_large_document_is_known_to_be_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "_KEPT", 1000)
    data = b"".join(b"<e:g%d> { <e:s> <e:p> %d , [] }\n" % (i, i) for i in range(2000))
    assert len(good(data, format="trig")) == 2000
    assert refused(data + b"<e:x> {", format="trig").line == 2001


def test_a_large_document_is_the_same_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"".join(b"<e:g%d> { <e:s%d> <e:p> [ <e:q> _:b0 ] }\n" % (i // 3 % 50, i) for i in range(600))
    small = good(data, format="trig")
    monkeypatch.setattr(whole, "_KEPT", 1000)
    assert good(data, format="trig", limits=Limits(spill=500)) == small


def test_a_document_that_changes_while_it_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(whole, "_KEPT", 10)
    path = tmp_path / "a.trig"
    path.write_bytes(b"<e:g> { <e:s> <e:p> <e:o> }\n" + b"<e:h> { <e:s> <e:p> 1 , 2 } <e:i> { <e:s> <e:p> 3 }")
    items = whole.Whole.items

    def changed(self: whole.Whole) -> Iterator[Item]:
        path.write_bytes(b"<e:g> { <e:s> <e:p> <e:o> }\n" + b"<e:h> { <e:s> <e:p> 1 } <e:i> { <e:s> <e:p> 1 , broken")
        return items(self)

    monkeypatch.setattr(whole.Whole, "items", changed)
    events, errors = read(path)
    assert ids(events) == ["e:g"]
    assert [error.line for error in errors] == [2]


def test_graphs_that_come_apart_are_one_event() -> None:
    """The document is at hand as a whole, so nothing need be asked of the user."""
    trig = b"<e:g> { <e:s> <e:p> 1 } <e:h> { <e:s> <e:p> 2 } <e:s> <e:p> 3 . <e:g> { <e:s> <e:p> 4 }"
    events = good(trig, format="trig")
    assert ids(events) == ["e:g", "e:h", "*"]
    assert bodies(events)["e:g"].count("\n") == 2


def test_labels_are_kept_and_the_rest_numbered_in_document_order() -> None:
    data = b"<e:g> { _:H <e:p> [ <e:q> (1) ] , _:b0 , _:x . }"
    expected = good(data, format="trig")[0].body
    assert {line for line in expected.splitlines() if "_:H" in line} == {
        f"_:H <e:p> _:{x} ." for x in ("b0", "b2", "x")
    }
    assert "_:b2 <e:q> _:b1 ." in expected
    assert all(good(data, format="trig")[0].body == expected for _ in range(5))


def test_every_event_numbers_its_own() -> None:
    events = good(b"<e:g> { <e:s> <e:p> [] } <e:h> { <e:s> <e:p> [] } <e:s> <e:q> [] .", format="trig")
    assert [event.body for event in events] == ["<e:s> <e:p> _:b0 .\n"] * 2 + ["<e:s> <e:q> _:b0 .\n"]


LABEL = "abcdef0123456789abcdef0123456789"
GIVEN = {
    "ttl": f"_:{LABEL} <e:p> [] .",
    "rdf": f'<rdf:RDF {RDF_NS} xmlns:e="e:"><rdf:Description rdf:nodeID="{LABEL}">'
    "<e:p><rdf:Description/></e:p></rdf:Description></rdf:RDF>",
    "jsonld": f'{{"@id": "_:{LABEL}", "e:p": {{}} }}',
}


@pytest.mark.parametrize("format", GIVEN)
def test_a_label_that_looks_like_the_parsers_own_is_kept(format: str) -> None:
    assert good(GIVEN[format].encode(), format=format)[0].body == f"_:{LABEL} <e:p> _:b0 .\n"


def test_such_a_label_inside_a_string_is_text() -> None:
    body = good(f'<e:s> <e:p> "_:{LABEL}" , [] .'.encode(), format="ttl")[0].body
    assert f'"_:{LABEL}"' in body
    assert "_:b0" in body


@given(st.lists(st.sampled_from(["[]", "[ <e:q> [] ]", "(1 [])", "_:b0", "_:b1", "_:x", '"_:b0"', "3"]), max_size=8))
def test_the_same_bytes_give_the_same_events(objects: list[str]) -> None:
    data = "".join(f"<e:s> <e:p{i}> {o} .\n" for i, o in enumerate(objects)).encode()
    for by in ("graph", "subject"):
        first, second = good(data, format="ttl", by=by), good(data, format="ttl", by=by)
        assert first == second
        labels = {t for event in first for triple in event.triples() for t in triple if t.startswith("_:")}
        assert all(len(label) < 6 for label in labels)


@pytest.mark.parametrize("text", ["<e:s> <e:p> <<( <e:a> <e:b> <e:c> )>> .", "<< <e:a> <e:b> <e:c> >> <e:p> 1 ."])
def test_triple_terms_are_refused(text: str) -> None:
    error = refused(text.encode(), format="ttl")
    assert "RDF 1.2" in error.reason
    assert error.line == 1


def test_annotations_and_directions_are_refused() -> None:
    assert "RDF 1.2" in refused(b"<e:s> <e:p> <e:o> {| <e:q> 1 |} .", format="ttl").reason
    assert "RDF 1.2" in refused(b'<e:s> <e:p> "x"@en--ltr .', format="ttl").reason


def test_terms_that_look_like_rdf_1_2_are_fine() -> None:
    data = b'<e:s> <e:p> "<<( a )>>" , "x--ltr" , _:a--ltr .'
    assert good(data, format="ttl")[0].body.count("\n") == 3


def test_a_graph_of_nothing_is_no_event() -> None:
    assert good(b"<e:g> {} <e:h> { }", format="trig") == []


def test_text_that_is_not_utf8() -> None:
    error = refused('<e:s> <e:p> 1 .\n<e:s> <e:p> "é" .'.encode("latin-1"), format="ttl")
    assert error.reason == "the text is not UTF-8"
    assert (error.line, error.column) == (2, 14)


def test_messages_are_our_own() -> None:
    assert refused(b"<e:s> <e:p> <e:o> <e:p>", format="ttl").reason == "a statement does not end with a dot"
    assert refused(b"<e:s> <e:p> ", format="ttl").reason.startswith("the document ends")
    assert "\n" not in refused(b"<e:s> <e:p> <e:\\u000A> .", format="ttl").reason


def test_a_document_that_grows_beyond_measure() -> None:
    data = f"@prefix e: <e:{'x' * 1000}> .\n".encode() + b"e:s e:p e:o .\n" * 1000
    assert len(good(data, format="ttl")) == 1
    assert "names are expanded" in refused(data, format="ttl", limits=Limits(max_document=20_000)).reason
