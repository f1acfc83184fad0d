"""The id of an event without a name."""

from __future__ import annotations

from hashlib import sha256

import pytest
from tests.unit.rdf.helpers import good, ids, refused

from tidings.errors import EventError
from tidings.rdf.event import Event, to_nquads
from tidings.rdf.identity import event_id
from tidings.rdf.terms import Term, Triple

P = Term("<e:p>")


def test_it_is_the_hash_of_the_canonical_n_quads() -> None:
    triples: list[Triple] = [(Term("<e:b>"), P, Term('"x"')), (Term("<e:a>"), P, Term("_:x"))]
    text = '<e:a> <e:p> _:c14n0 .\n<e:b> <e:p> "x" .\n'
    assert event_id(triples) == "urn:tidings:sha256:" + sha256(text.encode()).hexdigest()


def test_home_is_hashed_as_its_reserved_iri() -> None:
    text = "<e:a> <e:p> <urn:tidings:home> .\n<urn:tidings:home> <e:p> _:c14n0 .\n"
    triples: list[Triple] = [(Term("<e:a>"), P, Term("_:H")), (Term("_:H"), P, Term("_:z"))]
    assert event_id(triples) == "urn:tidings:sha256:" + sha256(text.encode()).hexdigest()


def test_order_repeats_and_labels_make_no_difference() -> None:
    a: list[Triple] = [(Term("_:x"), P, Term("<e:a>")), (Term("_:y"), P, Term("<e:b>"))]
    b: list[Triple] = [(Term("_:y"), P, Term("<e:a>")), (Term("_:x"), P, Term("<e:b>"))]
    assert event_id(a) == event_id([*b[::-1], *b])
    assert event_id(a) != event_id(a[:1])


@pytest.mark.parametrize("format", ["ttl", "nt", "jsonld", "rdf"])
def test_the_same_in_every_format(format: str) -> None:
    documents = {
        "ttl": b"<e:a> <e:p> [ <e:p> 'x'@EN ] .",
        "nt": b'<e:a> <e:p> _:q .\n_:q <e:p> "x"@en .\n',
        "jsonld": b'{"@id": "e:a", "e:p": {"e:p": {"@value": "x", "@language": "en"}}}',
        "rdf": b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="e:"><rdf:Description '
        b'rdf:about="e:a"><e:p rdf:parseType="Resource"><e:p xml:lang="en">x</e:p></e:p></rdf:Description></rdf:RDF>',
    }
    triples: list[Triple] = [(Term("<e:a>"), P, Term("_:x")), (Term("_:x"), P, Term('"x"@en'))]
    assert good(documents[format], format=format)[0].id == event_id(triples)


def clique(size: int) -> list[Triple]:
    return [(Term(f"_:{a}"), P, Term(f"_:{b}")) for a in range(size) for b in range(size) if a != b]


def test_a_clique_must_be_given_a_name() -> None:
    with pytest.raises(EventError, match="give it a name"):
        event_id(clique(12))
    text = "".join(f"{s} {p} {o} .\n" for s, p, o in clique(12))
    assert "give it a name" in str(refused(text.encode(), format="nt"))
    assert ids(good(f"<e:g> {{ {text} }}".encode(), format="trig")) == ["e:g"]


def test_n_quads_and_back() -> None:
    data = b"<e:a> { <e:s> <e:p> '''x\n''' , _:H } <e:s> <e:p> <e:o> ."
    events = good(data, format="trig")
    again = good(b"".join(map(to_nquads, events)), format="nq")
    assert [(e.id, e.body) for e in again] == [(e.id, e.body) for e in events]
    assert to_nquads(Event.of("e:g", [(Term("<e:s>"), P, Term('"a b ."'))])) == b'<e:s> <e:p> "a b ." <e:g> .\n'
