"""Events from Python objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pyoxigraph as ox
import pytest
import rdflib

from tidings.errors import EventError, UsageError
from tidings.rdf.event import Event
from tidings.rdf.read import event_from, events_of
from tidings.rdf.terms import Term

S, P, G = ox.NamedNode("e:s"), ox.NamedNode("e:p"), ox.NamedNode("e:g")


def test_quads_in_any_order() -> None:
    quads = [
        ox.Quad(S, P, ox.Literal("1"), G),
        ox.Quad(S, P, ox.Literal("x", language="EN")),
        ox.Quad(S, P, ox.BlankNode("H"), G),
    ]
    events = events_of([quads[0], quads[1], quads[2]])
    assert [event.body for event in events] == [
        '<e:s> <e:p> "1" .\n<e:s> <e:p> _:H .\n',
        '<e:s> <e:p> "x"@en .\n',
    ]
    assert events[0].id == "e:g"
    assert events_of(ox.Dataset(quads)) == events


def test_triples() -> None:
    assert events_of([ox.Triple(S, P, S)])[0].body == "<e:s> <e:p> <e:s> .\n"


def test_what_is_no_rdf_1_1() -> None:
    with pytest.raises(EventError, match=r"RDF 1\.2"):
        events_of([ox.Triple(S, P, ox.Triple(S, P, S))])
    for data in (3, [3], None):
        with pytest.raises(UsageError):
            events_of(data)


def test_an_event_is_itself() -> None:
    event = Event.of("e:g", [(Term("<e:s>"), Term("<e:p>"), Term("<e:o>"))])
    assert events_of(event) == [event]
    assert event_from(event) is event


def test_paths_bytes_and_options(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_bytes(b"<e:s> <e:p> 1 . <e:t> <e:p> 2 .")
    assert len(events_of(path, by="subject")) == 2
    assert len(events_of(str(path))) == 1
    assert events_of(path.read_bytes(), format="ttl")[0].body == events_of(path)[0].body
    with pytest.raises(EventError, match="no home vertex"):
        events_of(path, strict=True)
    with pytest.raises(EventError, match="no such file"):
        events_of(tmp_path / "none.ttl")
    with pytest.raises(EventError, match="format="):
        events_of(b"")
    with pytest.raises(UsageError, match="graph, document"):
        events_of(path, by=cast(Any, "quad"))


def test_the_first_problem_is_raised() -> None:
    data = b"<e:s> <e:p> <e:o> <e:g> .\nx\ny\n"
    with pytest.raises(EventError, match="bytes:2:1"):
        events_of(data, format="nq")


def test_one_event_is_wanted() -> None:
    assert event_from(b"<e:s> <e:p> <e:o> .", format="ttl").body == "<e:s> <e:p> <e:o> .\n"
    with pytest.raises(EventError, match="there are 2"):
        event_from(b"<e:g> { <e:s> <e:p> 1 } <e:h> { <e:s> <e:p> 1 }", format="trig")
    with pytest.raises(EventError, match="there are none"):
        event_from(b"", format="ttl")


TURTLE = '<e:s> <e:p> "x\\n\\"y\\""@en , 5 , "05"^^<e:t> , _:H , <e:o> .'


def test_rdflib_graphs() -> None:
    graph = rdflib.Graph().parse(data=TURTLE.replace("_:H", "<e:h>"), format="turtle")
    expected = events_of(TURTLE.replace("_:H", "<e:h>").encode(), format="ttl")
    assert [(e.id, e.body) for e in events_of(graph)] == [(e.id, e.body) for e in expected]


def test_rdflib_names_and_blank_nodes() -> None:
    graph = rdflib.Graph(identifier=rdflib.URIRef("e:g"))
    graph.add((rdflib.BNode("H"), rdflib.URIRef("e:p"), rdflib.Literal("1")))
    assert [(e.id, e.body) for e in events_of(graph)] == [("e:g", '_:H <e:p> "1" .\n')]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", [rdflib.Dataset, rdflib.ConjunctiveGraph])
def test_rdflib_data_sets(kind: type[rdflib.Graph]) -> None:
    trig = "<e:g> { <e:s> <e:p> 1 } <e:h> { <e:s> <e:p> 2 } <e:s> <e:p> 3 ."
    dataset = kind()
    dataset.parse(data=trig, format="trig")
    expected = events_of(trig.encode(), format="trig")
    assert {(e.id, e.body) for e in events_of(dataset)} == {(e.id, e.body) for e in expected}


def test_rdflib_terms_that_are_none() -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("not an IRI"), rdflib.URIRef("e:p"), rdflib.Literal("1")))
    with pytest.raises(EventError, match="not RDF"):
        events_of(graph)
