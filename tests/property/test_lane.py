"""The fast lane and the ordinary way read the same: events, their order, their matches, every word of the errors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from io import BytesIO

import pytest

from tidings.errors import EventError
from tidings.match import matcher as facade
from tidings.match.fast import lane
from tidings.match.fast.engine import Fast
from tidings.match.fast.stream import match_document
from tidings.match.matcher import Matcher
from tidings.rdf.formats import Format
from tidings.rdf.limits import DEFAULT_LIMITS
from tidings.rdf.read import read_events
from tidings.rdf.seen import SeenEvents
from tidings.rdf.sources import Document

QUERIES = {
    "p": "SELECT * WHERE { ?s <e:p> ?o }",
    "both": "SELECT * WHERE { ?s <e:p> ?o . ?s <e:q> ?z }",
    "é": 'SELECT * WHERE { ?s <e:p> "\u00e9t\u00e9" }',
    "word": 'SELECT * WHERE { ?s ?p ?o FILTER ftcontains(?o, "two" ftAND "words") }',
    "asked": "SELECT * WHERE { ?s <e:q> ?o FILTER NOT EXISTS { ?s <e:p> ?o } }",
    "regex": "SELECT * WHERE { ?s ?p ?o FILTER regex(str(?o), '^o[12]$') }",
    "blank": "SELECT * WHERE { ?s ?p ?o FILTER isBlank(?o) }",
}
Answer = tuple[list[tuple[str, list[str]]], list[str]]
"""The events that match, with their subscriptions; and the errors."""


@pytest.fixture(scope="module")
def matchers() -> tuple[Matcher, Matcher]:
    fast, naive = Matcher("fast"), Matcher("naive")
    for matcher in (fast, naive):
        matcher.add_many(QUERIES.items())
    return fast, naive


# ------------------------------------------------------------------------------------------------------------ documents

_PLAIN = ["<e:s{n}>", "_:b{n}"]
_OBJECTS = ["<e:o{n}>", "_:b{n}", '"two words"', '"été"', '"line\\nbreak"', '"{n}"', '"{n}"^^<e:type>', '"o{n}"@en']
_ODD_OBJECTS = [
    '"\ufffe"',
    '"\x7f"',
    '"\x01\\u0001"',
    '"\\u00e9t\\u00e9"',
    '"two\\u0020words"',
    '"o1"^^<http://www.w3.org/2001/XMLSchema#string>',
    '"x"@EN',
]
_GRAPHS = ["<e:g{n}>", "<e:g{n}>", "<e:g{n}>", "<http://e.x/a/long/name/of/a/graph#{n}>"]
_ODD_GRAPHS = ["<e:\\u0067{n}>", "_:g{n}", "", "<e:g{n}>"]
_BROKEN = [
    "<e:s> <e:p> .",
    "<e:s> <e:p> <e:o> {g} <e:more> .",
    "<e:s> <e:p> <e:o> {g}",
    '<e:s> <e:p> "no end {g} .',
    "<e:s> <e:p> <relative> {g} .",
    "nonsense",
    "<e:s> <e:p> <<( <e:a> <e:b> <e:c> )>> {g} .",
    "\udcff",
]
_NOTHING = ["", "  ", "# a comment", "\t# another <e:s> <e:p> <e:o> <e:g1> ."]


def _graph(dice: random.Random, odd: float) -> str:
    return dice.choice(_ODD_GRAPHS if dice.random() < odd else _GRAPHS).format(n=dice.randrange(6))


def _line(dice: random.Random, graph: str, odd: float) -> str:
    n = dice.randrange(3)
    strange = dice.random() < odd
    terms = [
        dice.choice(_PLAIN).format(n=n),
        dice.choice(["<e:p>", "<e:q>", "<e:\\u0070>" if strange else "<e:p>"]),
        dice.choice(_ODD_OBJECTS if strange else _OBJECTS).format(n=dice.randrange(3)),
        graph,
        ".",
    ]
    gap = dice.choice(["  ", "\t", " "]) if strange else " "
    end = dice.choice([" ", "", " # so far", "\r"]) if strange else ""
    return gap.join(term for term in terms if term) + end


def document(dice: random.Random) -> bytes:
    """Some graphs, of lines that are plain, odd or broken."""
    odd, broken, nothing = (dice.choice([0, 0, 0.05, 0.4]) for _ in range(3))
    out: list[str] = []
    for _ in range(dice.randrange(12)):
        graph = _graph(dice, odd)
        if out and dice.random() < 0.15:
            # A stretch from before, once more: the same event again, or a graph that goes on.
            first = dice.randrange(len(out))
            out += out[first : first + dice.randrange(1, 8)]
        for _ in range(dice.randrange(1, 6)):
            if dice.random() < broken:
                out.append(dice.choice(_BROKEN).format(g=_graph(dice, odd)))
            if dice.random() < nothing:
                out.append(dice.choice(_NOTHING))
            if dice.random() < odd / 4:
                out.append(_line(dice, "", 0))
            out.append(_line(dice, graph, odd))
    end = "" if dice.random() < 0.3 else "\n"
    start = "\ufeff" if dice.random() < 0.1 else ""
    return (start + "\n".join(out) + end).encode("utf-8", "surrogateescape")


# -------------------------------------------------------------------------------------------------------------- answers


def _expected(naive: Matcher, data: bytes) -> Answer:
    errors: list[EventError] = []
    events = read_events([data], format="nq", report=errors.append)
    found = [(event.id, [match.subscription for match in naive.match(event)]) for event in events]
    return [(event, ids) for event, ids in found if ids], [str(error) for error in errors]


def _table(fast: Matcher, data: bytes) -> Answer:
    errors: list[EventError] = []
    table = fast.match_nquads(data, on_error=errors.append)
    found: list[tuple[str, list[str]]] = []
    for event, id in zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True):
        if not found or found[-1][0] != event:
            found.append((event, []))
        found[-1][1].append(id)
    return [(event, sorted(ids)) for event, ids in found], [str(error) for error in errors]


class _Pieces(BytesIO):
    """Gives a few bytes at a time, as a pipe does."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._size = size

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(self._size)


def _streamed(fast: Matcher, data: bytes, size: int) -> Answer:
    errors: list[EventError] = []
    engine = fast._engine
    assert isinstance(engine, Fast)
    document = Document("bytes", Format.NQ, None, lambda: _Pieces(data, size))
    hits = match_document(engine, document, DEFAULT_LIMITS, SeenEvents(), errors.append, pytest.fail)
    return [(h.event, h.subscriptions) for h in hits if h.subscriptions], [str(error) for error in errors]


def _sizes(dice: random.Random) -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lane, "_BATCH", dice.choice([64, 300, 1000, 1 << 20]))
        patch.setattr(lane, "_STRETCH", dice.choice([1, 100, 1 << 16]))
        patch.setattr(lane, "_LONGEST_STRETCH", dice.choice([1, 500, 1 << 18]))
        patch.setattr(lane, "_ROWS", dice.choice([2, 1 << 20]))
        patch.setattr(lane, "_LEAST_BATCH", 32)
        yield patch


@pytest.mark.parametrize("seed", range(40))
def test_the_same_events_matches_and_errors(matchers: tuple[Matcher, Matcher], seed: int) -> None:
    fast, naive = matchers
    dice = random.Random(seed)
    for _ in range(20):
        data = document(dice)
        expected = _expected(naive, data)
        for _ in _sizes(dice):
            assert _table(fast, data) == expected, data
            assert _streamed(fast, data, dice.choice([7, 50, 500, 1 << 18])) == expected, data


def test_the_first_error_is_raised_where_nobody_takes_it(matchers: tuple[Matcher, Matcher]) -> None:
    fast, naive = matchers
    dice = random.Random(1)
    raised = 0
    for _ in range(200):
        data = document(dice)
        errors = _expected(naive, data)[1]
        if errors:
            raised += 1
            with pytest.raises(EventError) as caught:
                fast.match_nquads(data)
            assert str(caught.value) == errors[0]
        else:
            fast.match_nquads(data)
    assert raised > 10
    assert facade.DEFAULT == "fast"
