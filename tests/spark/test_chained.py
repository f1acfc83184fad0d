"""The operator of chained by itself: whatever the parts, their order and batches, it finds what one step finds."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from tests.spark.chained_worlds import END, Part, everything, generated, pairs, split, version
from tests.spark.worlds import World, solutions

from tidings.lang import parse
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.limits import Limits
from tidings.spark.chained.choosing import Always
from tidings.spark.chained.following import Follow, Following
from tidings.spark.versions import Version

SECOND = 1_000
MOMENT = 1_790_000_000_000_000


class Stream:
    """Batches of parts through the operator, and all that it told."""

    def __init__(self, those: Version, how: Following) -> None:
        self.version = those
        self._how = how
        self._tester = TwsTester(Follow(Always(those), how), timeMode="ProcessingTime")
        self.told: list[Row] = []

    def _begin(self) -> None:
        """Another task, with the same state."""
        self._tester.processor = Follow(Always(self.version), self._how)
        self._tester.processor.init(self._tester.handle)

    def batch(self, parts: Sequence[Part], published: int | None = None) -> None:
        self._begin()
        by_event: defaultdict[str, list[Row]] = defaultdict(list)
        for event, body in parts:
            row = Row(published=published, body=body, source="here", line=None, column=None, reason=None)
            by_event[event].append(row)
        for event, rows in by_event.items():
            self.told += self._tester.test(event, rows)

    def at(self, seconds: float) -> None:
        self._begin()
        self.told += self._tester.setProcessingTime(round(seconds * SECOND))

    def of(self, kind: str) -> list[Any]:
        return [row for row in self.told if row.kind == kind]

    def fired(self) -> list[tuple[str, str]]:
        return [(row.subscription, row.event) for row in self.of("fired")]

    def closed(self) -> dict[str, str]:
        return {row.event: row.body for row in self.of("closed")}


def assert_equal(world: World, stream: Stream) -> None:
    expected, undecided = pairs(world.answers())
    fired = stream.fired()
    assert len(fired) == len(set(fired)), "a subscription fires once"
    assert set(fired) - undecided == expected
    assert not stream.of("late")
    assert stream.closed() == {event.id: event.body for event in world.events}
    assert sum(row.opened or 0 for row in stream.told) == 0, "all that was opened is closed"


def in_batches(world: World, stream: Stream, dice: random.Random) -> None:
    """All parts, in batches; then the ends of some events, and the time-out of the others."""
    parts = split(world, dice)
    now = 0.0
    while parts:
        size = dice.randint(1, max(1, len(parts) // 2))
        stream.batch(parts[:size])
        parts = parts[size:]
        now += dice.choice([0.001, 1, 5])
        stream.at(now)
    ended = [event.id for event in world.events if dice.random() < 0.5]
    stream.batch([(id, END.format(id)) for id in ended if not id.startswith("urn:tidings:sha256")])
    stream.at(now + 3600)


@pytest.mark.parametrize("bindings", [False, True])
def test_every_case(tmp_path: Path, bindings: bool) -> None:
    world = everything()
    assert len(world.queries) > 150
    stream = Stream(version(world, tmp_path), Following(timedelta(minutes=10), bindings))
    in_batches(world, stream, random.Random(1))
    assert_equal(world, stream)
    if bindings:
        answers = world.answers()
        for row in stream.of("fired"):
            assert solutions(row.bindings) == answers[row.subscription, row.event]


@pytest.mark.parametrize("seed", range(6))
def test_generated_worlds(tmp_path: Path, seed: int) -> None:
    world, dice = generated(seed), random.Random(seed)
    stream = Stream(version(world, tmp_path), Following(timedelta(minutes=10), bindings=seed % 3 == 2))
    in_batches(world, stream, dice)
    assert_equal(world, stream)


# ------------------------------------------------------------------------------------------------ one event, in detail

P, Q, R = (f"<http://e/{name}> <http://e/{name}> <http://e/x> .\n" for name in "pqr")
BOTH = "SELECT * { ?a <http://e/p> ?x . ?b <http://e/q> ?x }"
E = "http://e/1"


@pytest.fixture
def those(tmp_path: Path) -> Version:
    queries = {"both": parse(BOTH), "p": parse("ASK { ?a <http://e/p> ?x }")}
    return version(World(Ontology.empty(), queries, [Event(E, P + Q)]), tmp_path)


@pytest.fixture
def stream(those: Version) -> Stream:
    return Stream(those, Following(timedelta(seconds=60)))


def test_it_fires_when_the_quads_so_far_are_enough(stream: Stream) -> None:
    stream.batch([(E, Q)])
    assert stream.fired() == []
    stream.batch([(E, P)])
    assert stream.fired() == [("both", E), ("p", E)]
    stream.batch([(E, R), (E, P)])
    assert len(stream.fired()) == 2
    assert [(row.body, row.opened) for row in stream.of("part")] == [(Q, 1), (P, 0), (R, 0), (P, 0)]


def test_the_end_counts_with_all_parts_of_its_batch(stream: Stream) -> None:
    stream.batch([(E, END.format(E)), (E, Q), (E, P)])
    assert stream.fired() == [("both", E), ("p", E)]
    (closed,) = stream.of("closed")
    assert (closed.body, closed.reason, closed.triples, closed.opened) == (P + Q, "end", 2, 0)
    assert stream.of("part") == [], "it is told of as a whole"


@pytest.mark.parametrize("true", ["true", "1"])
def test_the_mark_of_the_end(stream: Stream, true: str) -> None:
    stream.batch([(E, P)])
    stream.batch([(E, END.format(E).replace('"true"', f'"{true}"'))])
    stream.batch([(E, END.format(E)), (E, "")])
    assert stream.closed() == {E: P}
    assert [row.kind for row in stream.told] == ["part", "fired", "closed"], (
        "it is no quad of the event, nor a late one"
    )


@pytest.mark.parametrize("other", [END.format("http://e/2"), END.format(E).replace('"true"', '"false"')])
def test_what_looks_like_it_is_a_quad_as_any_other(stream: Stream, other: str) -> None:
    stream.batch([(E, other)])
    stream.at(60)
    assert stream.closed() == {E: other}
    assert [row.reason for row in stream.of("closed")] == ["timeout"]


def test_the_time_counts_from_the_first_part(stream: Stream) -> None:
    stream.at(100)
    stream.batch([(E, P)])
    stream.at(150)
    stream.batch([(E, Q)])
    assert stream.closed() == {}
    stream.at(160)
    assert stream.closed() == {E: P + Q}
    stream.at(1_000)
    assert len(stream.of("closed")) == 1


@pytest.mark.parametrize("how", ["end", "timeout"])
def test_what_is_late_does_not_fire(stream: Stream, how: str) -> None:
    stream.batch([(E, Q)])
    if how == "end":
        stream.batch([(E, END.format(E))])
    stream.at(60)
    stream.batch([(E, P + R)])
    assert stream.fired() == []
    (late,) = stream.of("late")
    assert (late.event, late.body, late.reason, late.triples) == (E, P + R, how, 2)


def test_the_earliest_of_its_parts_is_when_an_event_was_published(stream: Stream) -> None:
    stream.batch([(E, P)], MOMENT)
    stream.batch([(E, Q)], MOMENT - 5)
    stream.batch([(E, R)])
    stream.at(60)
    assert [(row.subscription, row.published) for row in stream.of("fired")] == [("p", MOMENT), ("both", MOMENT - 5)]
    assert [row.published for row in stream.of("closed")] == [MOMENT - 5]


def test_an_event_without_a_name_is_its_only_part(stream: Stream) -> None:
    id = f"urn:tidings:sha256:{'0' * 64}"
    stream.batch([(id, P + Q), (id, P + Q)])
    stream.batch([(id, P + Q)])
    assert stream.fired() == [("both", id), ("p", id)]
    assert stream.closed() == {id: P + Q}
    assert stream.of("late") == [], "it is the same event again"


def test_a_part_that_cannot_be_read_costs_itself(stream: Stream) -> None:
    stream.batch([(E, "nonsense\n"), (E, P)])
    stream.batch([("", "")])
    assert stream.fired() == [("p", E)]
    assert [(row.event, row.source) for row in stream.of("problem")] == [(E, "here"), (None, "here")]


def test_a_line_ends_where_n_triples_end_it(stream: Stream) -> None:
    odd = '<http://e/p> <http://e/p> "a\u2028b\u0085c" .\n'
    stream.batch([(E, odd)])
    stream.batch([(E, Q)])
    stream.batch([(E, END.format(E))])
    assert stream.closed() == {E: "".join(sorted([odd, Q]))}
    assert [row.triples for row in stream.of("closed")] == [2]


def test_too_much_is_rejected(those: Version) -> None:
    stream = Stream(those, Following(timedelta(seconds=60), limits=Limits(max_triples=2)))
    stream.batch([(E, R + Q)])
    stream.batch([(E, P)])
    stream.batch([(E, P)])
    stream.at(1_000)
    assert stream.fired() == []
    assert [row.reason for row in stream.of("problem")] == ["the event has more than 2 triples"]
    assert [row.reason for row in stream.of("late")] == ["refused"]
    assert sum(row.opened or 0 for row in stream.told) == 0


def test_an_end_without_quads_is_told(stream: Stream) -> None:
    stream.batch([(E, END.format(E))])
    stream.batch([(E, P)])
    assert [row.reason for row in stream.of("problem")] == ["the event ended before any quad of it came"]
    assert [row.kind for row in stream.told] == ["problem", "late"]


def test_a_subscription_that_comes_meanwhile_sees_all_quads(stream: Stream, tmp_path: Path) -> None:
    stream.batch([(E, P)])
    (tmp_path / "more").mkdir()
    queries = {"both": parse(BOTH), "late": parse("ASK { ?a <http://e/p> ?x }")}
    stream.version = version(World(Ontology.empty(), queries, []), tmp_path / "more")
    stream.at(60)
    assert stream.fired() == [("p", E), ("late", E)]
