"""Events in a column give what they give one by one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tidings.errors import EventError
from tidings.lang import parse
from tidings.match.base import Failure
from tidings.match.fast import Fast
from tidings.match.fast.bodies import match_bodies
from tidings.ontology import Ontology
from tidings.rdf.event import Event

X = "http://x/"
QUERIES = {
    "p": f"SELECT ?s {{ ?s <{X}p> ?o }}",
    "word": f'SELECT ?s {{ ?s <{X}p> ?o FILTER ftcontains(?o, "w3") }}',
    "unless": f"SELECT ?s {{ ?s <{X}p> ?o FILTER NOT EXISTS {{ ?o <{X}p>* <{X}end> . ?s <{X}q> ?z }} }}",
    "regex": f'SELECT ?s {{ ?s <{X}p> ?o FILTER REGEX(?o, "^w[0-4]") }}',
}
EVENTS = [Event(f"{X}e{n}", f'<{X}s> <{X}{"pq"[n % 3 == 2]}> "w{n % 7} more" .\n') for n in range(50)]


@pytest.fixture
def engine() -> Fast:
    engine = Fast(Ontology.empty())
    for id, text in QUERIES.items():
        engine.add(id, parse(text))
    return engine


def refuse(row: int, error: EventError) -> None:
    raise AssertionError((row, error))


def fail(failure: Failure) -> None:
    raise AssertionError(failure)


def found(engine: Fast, events: list[Event], kind: pa.DataType) -> list[tuple[str, str]]:
    ids, bodies = pa.array([each.id for each in events]), pa.array([each.body for each in events], kind)
    matched = match_bodies(engine, ids, bodies, refuse, fail)
    rows, subscriptions = matched.rows.tolist(), matched.subscriptions.to_pylist()
    assert rows == sorted(rows)
    return sorted((events[row].id, subscription) for row, subscription in zip(rows, subscriptions, strict=True))


def one_by_one(engine: Fast, events: list[Event]) -> list[tuple[str, str]]:
    return sorted((match.event, match.subscription) for event in events for match in engine.match(event, fail))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_a_column_is_as_its_events(engine: Fast, kind: pa.DataType) -> None:
    expected = one_by_one(engine, EVENTS)
    assert found(engine, EVENTS, kind) == expected
    assert {subscription for _, subscription in expected} == set(QUERIES)
    engine.merge()
    assert found(engine, EVENTS, kind) == expected
    assert found(engine, [], kind) == []


def test_a_slice_is_as_its_events(engine: Fast) -> None:
    ids, bodies = pa.array([each.id for each in EVENTS]), pa.array([each.body for each in EVENTS])
    matched = match_bodies(engine, ids[7:20], bodies[7:20], refuse, fail)
    pairs = zip(matched.rows.tolist(), matched.subscriptions.to_pylist(), strict=True)
    assert sorted((EVENTS[7 + row].id, id) for row, id in pairs) == one_by_one(engine, EVENTS[7:20])


def test_texts_that_are_not_canonical_are_read_and_what_is_no_text_is_refused(engine: Fast) -> None:
    bodies = [
        EVENTS[0].body,
        f'<{X}s>   <{X}p>\t"w3"   . # a remark\n',
        "",
        f'<{X}s> <{X}p> "w3" .\n<{X}s> <{X}p> oops .\n',
        f'<{X}s> <{X}p> "\\u0077\\u0033" .\n<{X}s> <{X}r> "x" .',
        EVENTS[3].body,
    ]
    refused: list[tuple[int, EventError]] = []
    ids = pa.array([f"{X}{n}" for n in range(len(bodies))])
    matched = match_bodies(engine, ids, pa.array(bodies), lambda row, error: refused.append((row, error)), fail)
    pairs = sorted(zip(matched.rows.tolist(), matched.subscriptions.to_pylist(), strict=True))
    every = ["p", "regex", "unless"]
    assert pairs == [
        *((0, id) for id in every),
        *((1, id) for id in ("p", "regex", "unless", "word")),
        *((4, id) for id in ("p", "regex", "unless", "word")),
        *((5, id) for id in ("p", "regex", "unless", "word")),
    ]
    assert [(row, error.span.line if error.span else None) for row, error in refused] == [(3, 2)]
