"""A server under load is killed five times; what it acknowledged is there, and what is due is told. `make soak` has two
hundred kills.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from tests.broker.ordeal.history import Heard, Published, Seen, Sent, Span, Stage, Stream
from tests.broker.ordeal.run import Load, Ordeal
from tests.broker.ordeal.verdict import Entry, Known, Log, Timeline, seen, sent
from tests.broker.ordeal.world import Asked, asked, thing

import tidings

SEED = int(os.environ.get("TIDINGS_SEED", "7"))
EVERYTHING = Asked("", lambda thing: True)


def test_nothing_is_lost_by_five_kills(tmp_path: Path) -> None:
    print(f"TIDINGS_SEED={SEED}")
    assert Ordeal(tmp_path, SEED, Load(longest=0.5), print).run(5) == []


def test_the_world_is_what_the_oracle_says_it_is() -> None:
    dice = random.Random(1)
    queries = {each.text: each for each in (asked(dice) for _ in range(40))}
    oracle = tidings.Matcher("naive")
    oracle.add_many((text, text) for text in queries)
    for number in range(40):
        made = thing(number, dice)
        found = {match.subscription for match in oracle.match(made.nquads().encode(), format="nq")}
        assert found == {text for text, query in queries.items() if query.matches(made)}


# ------------------------------------------------------------------------------------------------- the verdict can fail


def log(count: int) -> Log:
    """Event n is asked for at 10 n, and answered at 10 n + 5."""
    dice = random.Random(0)
    return Log([Entry(n, Published(thing(n, dice), 10 * n, 10 * n + 5), n) for n in range(1, count + 1)])


def stream(*begins: tuple[int, int]) -> Stream:
    """A stage that hears everything, one that hears nothing, and so on."""
    stages = [Stage(Span(*span), 1, None if number % 2 else EVERYTHING) for number, span in enumerate(begins)]
    return Stream("s", stages, number=1)


def timeline(which: Stream, places: list[int]) -> Timeline:
    known = {place: Heard("", "", 1) for place in places}
    return Timeline(which, log(9), Known(known, gone=0, whole=9))


@pytest.mark.parametrize(
    ("begins", "places", "good"),
    [
        ([(26, 29)], [3, 4, 5, 6, 7, 8, 9], True),
        ([(26, 29)], [4, 5, 6, 7, 8, 9], False),  # one that is due
        ([(26, 29)], [2, 3, 4, 5, 6, 7, 8, 9], False),  # one from before
        ([(22, 43)], [3, 4, 5, 6, 7, 8, 9], True),  # it may have been any of these
        ([(22, 43)], [5, 6, 7, 8, 9], True),
        ([(22, 43)], [3, 5, 6, 7, 8, 9], False),  # but not with one in the middle left out
        ([(22, 43)], [6, 7, 8, 9], False),
        ([(26, 29), (56, 59)], [3, 4, 5], True),
        ([(26, 29), (56, 59)], [3, 4], False),
        ([(26, 29), (56, 59)], [3, 4, 5, 6], False),
        ([(26, 29), (56, 59), (76, 79)], [3, 4, 5, 8, 9], True),
        ([(26, 29), (56, 59), (76, 79)], [3, 4, 5, 9], False),
    ],
)
def test_there_is_one_place_for_each_change(begins: list[tuple[int, int]], places: list[int], good: bool) -> None:
    assert bool(timeline(stream(*begins), places).problems) is not good


@pytest.mark.parametrize(
    ("after", "acked", "places", "last", "good"),
    [
        (2, (), (3, 4, 5), False, True),
        (2, (), (4, 5), False, False),
        (2, (), (3, 5), False, False),
        (2, (), (4, 3), False, False),
        (None, (2,), (3, 4), False, True),
        (None, (2,), (2, 3), False, False),  # it went back
        (None, (2,), (4, 5), False, False),  # it skipped one
        (None, (2, 3), (4, 5), False, True),
        (2, (), (3, 4), True, False),  # 5 was there
        (2, (), (3, 4, 5, 6, 7, 8), True, True),
    ],
)
def test_what_is_read_has_no_gaps(
    after: int | None, acked: tuple[int, ...], places: tuple[int, ...], last: bool, good: bool
) -> None:
    which = stream((0, 1))
    told = Seen("page", 1, 86, after, places, last, acked)
    assert bool(list(seen(told, which, range(1, 10), log(9), forgets=False))) is not good


@pytest.mark.parametrize(
    ("arrived", "good"),
    [
        ([(1, True), (2, True), (3, True)], True),
        ([(1, False), (1, True), (1, True), (2, True)], True),
        ([(1, True), (3, True)], False),
        ([(1, False), (2, True)], False),
        ([(1, True), (2, True), (1, True)], False),
        ([(2, True)], False),
    ],
)
def test_what_is_sent_is_in_order(arrived: list[tuple[int, bool]], good: bool) -> None:
    told = [Sent(1, place, taken) for place, taken in arrived]
    assert bool(list(sent(told, stream((0, 1)), range(1, 10)))) is not good
