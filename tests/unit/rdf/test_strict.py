"""Strict mode: well-formed OPS events."""

from __future__ import annotations

import pytest
from tests.unit.rdf.helpers import good, read, refused

GOOD = """
_:H a <e:Auction> ; <e:item> <e:x> ; <e:price> 5 .
<e:x> a <e:Computer> ; <e:part> _:y .
_:y a <e:Part> ; <e:weight> "3"^^<e:Kilogram> , "three"@en .
"""


def test_a_well_formed_event() -> None:
    assert len(good(GOOD.encode(), format="ttl", strict=True)) == 1
    assert len(good(b"_:H a <e:Auction> .", format="ttl", strict=True)) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("_:H", "_:h"), "no home vertex _:H"),
        (GOOD + "<e:z> a <e:Part> .", "<e:z> is not reached"),
        (GOOD + "<e:z> <e:part> <e:x> .", "<e:z> is not reached"),
        (GOOD.replace("<e:x> a <e:Computer> ;", "<e:x>"), "<e:x> has no rdf:type"),
        (GOOD.replace("_:y a <e:Part> ;", "_:y"), "_:y has no rdf:type"),
        (GOOD.replace("_:H a <e:Auction> ;", "_:H"), "_:H has no rdf:type"),
        (GOOD + "<e:x> <e:kind> <e:Computer> .", "<e:Computer> has no rdf:type"),
    ],
)
def test_the_vertex_is_named(text: str, says: str) -> None:
    assert says in refused(text.encode(), format="ttl", strict=True).reason
    assert len(good(text.encode(), format="ttl")) == 1


def test_objects_of_type_are_no_vertices_where_no_other_arc_reaches_them() -> None:
    assert len(good(b"_:H a <e:A> , _:B .", format="ttl", strict=True)) == 1


def test_one_event_costs_no_other() -> None:
    data = b"<e:g> { _:H a <e:A> } <e:h> { <e:s> <e:p> 1 }"
    events, errors = read(data, format="trig", strict=True)
    assert [event.id for event in events] == ["e:g"]
    assert ["e:h" in error.reason for error in errors] == [True]
