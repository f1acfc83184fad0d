"""Events by subject, against a plain reading of the definition."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.rdf.helpers import bodies, good, ids, read

from tidings.rdf.limits import Limits


def test_a_subject_with_what_its_blank_nodes_lead_to() -> None:
    data = b"""
        <e:a> <e:p> [ <e:q> [ <e:r> <e:b> ] ] ; <e:p> <e:b> .
        <e:b> <e:p> 1 .
        <e:g> { <e:a> <e:s> 2 . <e:c> <e:p> 3 }
    """
    events = good(data, format="trig", by="subject")
    assert ids(events) == ["e:a", "e:b", "e:c"]
    text = bodies(events)
    assert text["e:a"].count("\n") == 5
    assert "<e:r> <e:b>" in text["e:a"]
    assert text["e:b"].count("\n") == 1


def test_a_shared_blank_node_is_in_the_event_of_each() -> None:
    events = good(b"<e:a> <e:p> _:x . <e:b> <e:p> _:x . _:x <e:q> 1 .", format="ttl", by="subject")
    assert [event.body.count("\n") for event in events] == [2, 2]


def test_blank_nodes_that_no_subject_leads_to() -> None:
    data = b"""
        <e:a> <e:p> _:a . _:a <e:p> 1 .
        _:root <e:p> _:leaf . _:leaf <e:p> 2 .
        _:self <e:p> _:self .
        _:r1 <e:p> _:r2 . _:r2 <e:p> _:r1 , _:tail . _:tail <e:p> 3 .
        _:s1 <e:p> _:s2 . _:s2 <e:p> _:s1 .
    """
    events = good(data, format="ttl", by="subject")
    assert ids(events) == ["e:a", "*", "*", "*", "*"]
    assert [event.body.count("\n") for event in events] == [2, 2, 1, 4, 2]


def test_subjects_need_not_be_together_and_nothing_is_asked_for() -> None:
    data = b"".join(b"<e:s%d> <e:p> <e:o%d> .\n" % (i % 10, i) for i in range(100))
    events = good(data, format="nt", by="subject", limits=Limits(spill=500))
    assert ids(events) == [f"e:s{i}" for i in range(10)]
    assert all(event.body.count("\n") == 10 for event in events)


def test_too_many_blank_nodes() -> None:
    data = b"".join(b"_:b%d <e:p> <e:o> .\n" % i for i in range(100))
    events, errors = read(data, format="nt", by="subject", limits=Limits(max_pending=500))
    assert not events
    assert "blank nodes" in errors[0].reason


def test_blank_nodes_shared_beyond_measure() -> None:
    data = b"".join(b"<e:s%d> <e:p> _:x .\n" % i for i in range(1000))
    data += b"".join(b"_:x <e:p> <e:o%d> .\n" % i for i in range(1000))
    events, errors = read(data, format="nt", by="subject", limits=Limits(max_document=1_000_000))
    assert 10 < len(events) < 100
    assert "share" in errors[0].reason


def test_an_event_that_is_too_large() -> None:
    data = b"<e:a> <e:p> _:x .\n<e:b> <e:p> <e:o> .\n" + b"".join(b"_:x <e:p> <e:o%d> .\n" % i for i in range(100))
    events, errors = read(data, format="nt", by="subject", limits=Limits(max_event=1000))
    assert ids(events) == ["e:b"]
    assert errors


NODES = ["<e:a>", "<e:b>", "<e:c>", "_:x", "_:y", "_:z", "_:w"]


def definition(triples: list[tuple[str, str]]) -> set[frozenset[str]]:
    """Events as sets of lines, written down directly: subjects, then roots, then rings."""
    of: dict[str, set[str]] = defaultdict(set)
    next_to: dict[str, set[str]] = defaultdict(set)
    for s, o in triples:
        of[s].add(f"{s} <e:p> {o} .")
        if o.startswith("_:"):
            next_to[s].add(o)

    def reach(starts: set[str]) -> set[str]:
        found = set(starts)
        while more := {o for s in found for o in next_to[s]} - found:
            found |= more
        return found

    def event(starts: set[str]) -> frozenset[str]:
        return frozenset(line for node in reach(starts) for line in of[node])

    named = [s for s in of if s.startswith("<")]
    events = {event({s}) for s in named}
    reached = {node for s in named for node in reach({s})}
    rest = {s for s in of if s.startswith("_:")} - reached
    roots = {s for s in rest if not any(s in next_to[t] for t in rest - {s})}
    events |= {event({s}) for s in roots}
    rest -= reach(roots)
    while rest:
        ring = {min(rest)}
        while more := {t for t in rest - ring if next_to[t] & ring or any(t in next_to[s] for s in ring)}:
            ring |= more
        events.add(event(ring))
        rest -= ring
    return events


@given(st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=10), st.sampled_from([0, 1 << 20]))
def test_against_the_definition(triples: list[tuple[str, str]], spill: int) -> None:
    data = "".join(f"{s} <e:p> {o} .\n" for s, o in triples).encode()
    events = good(data, format="nt", by="subject", limits=Limits(spill=spill))
    found = {frozenset(event.body.splitlines()) for event in events}
    expected = definition(triples)
    # Two unnamed events that differ in labels alone are the same event.
    assert found <= expected
    assert {e for e in expected if any(line.startswith("<") for line in e)} <= found
    assert (not expected) == (not found)


@pytest.mark.parametrize("format", ["nt", "nq", "ttl"])
def test_every_format(format: str) -> None:
    data = b"<e:a> <e:p> _:x .\n_:x <e:p> <e:b> .\n<e:b> <e:p> <e:a> .\n"
    assert ids(good(data, format=format, by="subject")) == ["e:a", "e:b"]
