"""Batches of events: where each begins, and where the kernels leave off for others to go on."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.index.folding import shared_folder
from tidings.index.kernels.join import YES
from tidings.index.scanner import Found, Scanner, padded
from tidings.index.store import Store
from tidings.lang import parse
from tidings.ontology import Ontology

QUERIES = [
    "SELECT * { ?s <http://e.x/p> ?o }",
    'SELECT * { ?s <http://e.x/p> ?o FILTER ftcontains(?o, "word") }',
    "SELECT * { ?s <http://e.x/p> ?o ; <http://e.x/q> ?o }",
    "SELECT * { { ?s <http://e.x/p> ?o } UNION { ?s <http://e.x/q> ?o } }",
]


@pytest.fixture(scope="module")
def store() -> Store:
    made = Store(Ontology.empty())
    for number, text in enumerate(QUERIES):
        made.add(number, parse(text, "sparql"))
    return made


def quad(p: str, o: str, event: int) -> bytes:
    return f"<http://e.x/s> <http://e.x/{p}> {o} <http://e.x/event{event}> .\n".encode()


def run(store: Store, data: bytes, start: int = 0, scanner: Scanner | None = None) -> Found:
    used = scanner or Scanner(shared_folder())
    stops = np.array([len(data)], np.int64)
    return used.run(padded(data), stops, store.index(), trusted=False, quads=True, start=start)


def answers(found: Found) -> list[tuple[int, int]]:
    assert (found.answers[:, 2] == YES).all()
    return sorted((int(event), int(subscription)) for event, subscription, _ in found.answers)


def test_events_and_where_they_begin(store: Store) -> None:
    events = [quad("p", '"a word"', 1) + quad("q", '"a word"', 1), quad("q", "<a:b>", 2), quad("p", "_:b", 3)]
    found = run(store, b"".join(events))
    assert answers(found) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3), (2, 0), (2, 3)]
    assert found.begins.tolist() == [0, len(events[0]), len(events[0] + events[1])]
    assert (found.odd, found.at) == (False, len(b"".join(events)))


ODD = [
    b"# a comment\n",
    b"\n",
    quad("p", '"x"', 2).replace(b"\n", b"\r\n"),
    quad("p", '"x"', 2).replace(b" ", b"\t"),
    quad("p", r'"\u0041"', 2),
    quad("p", '"x"@EN', 2),
    quad("p", '"x"', 2).replace(b"http://e.x/s", b"s"),
    quad("p", '"x"', 2).replace(b"<http://e.x/event2>", b"_:g"),
    quad("p", '"x"', 2).replace(b" <http://e.x/event2>", b""),
    quad("p", '"X"', 2).replace(b"X", b"\xff"),
    quad("p", '"X"', 2).replace(b"X", b"\xed\xa0\x80"),
]


@pytest.mark.parametrize("odd", ODD)
def test_it_leaves_off_at_the_first_line_of_an_event_with_an_odd_one(store: Store, odd: bytes) -> None:
    before, same = quad("p", '"one"', 0) + quad("p", '"word"', 1), quad("q", '"two"', 2)
    found = run(store, before + same + odd + quad("p", '"word"', 3))
    assert (found.odd, found.at) == (True, len(before))
    assert found.begins.tolist() == [0, len(quad("p", '"one"', 0))]
    assert answers(found) == [(0, 0), (0, 3), (1, 0), (1, 1), (1, 3)]
    # Whoever reads the odd event otherwise comes back at the next one.
    rest = before + same + odd
    found = run(store, rest + quad("p", '"word"', 3), start=len(rest))
    assert (found.odd, found.begins.tolist(), answers(found)) == (False, [len(rest)], [(0, 0), (0, 1), (0, 3)])


def test_the_last_line_has_no_end(store: Store) -> None:
    found = run(store, quad("p", '"one"', 0) + quad("p", '"word"', 1)[:-1])
    assert (found.odd, found.at, found.begins.tolist()) == (True, len(quad("p", '"one"', 0)), [0])


def test_one_scanner_for_indices_of_any_size(store: Store) -> None:
    """What an event left behind is not there for the next one, whichever index that meets."""
    scanner = Scanner(shared_folder())
    small = Store(Ontology.empty())
    small.add(0, parse("SELECT * { ?s <http://e.x/q> ?o }", "sparql"))
    larger = Store(Ontology.empty())
    for number in range(300):
        larger.add(number, parse(f'SELECT * {{ ?s <http://e.x/p> ?o FILTER ftcontains(?o, "w{number}") }}', "sparql"))
    text = " ".join(f"w{number}" for number in range(0, 300, 3))
    data = quad("p", f'"{text}"', 1) + quad("q", '"w1"', 2) + quad("p", '"w2"', 3)
    expected = [(0, number) for number in range(0, 300, 3)] + [(2, 2)]
    for _ in range(3):
        assert answers(run(small, data, scanner=scanner)) == [(1, 0)]
        assert answers(run(larger, data, scanner=scanner)) == expected
        assert answers(run(store, data, scanner=scanner)) == [(0, 0), (0, 3), (1, 3), (2, 0), (2, 3)]


def test_nothing_to_read(store: Store) -> None:
    found = run(store, b"")
    assert (found.odd, found.at, found.begins.size, len(found.answers)) == (False, 0, 0, 0)
