"""Those who wait share what is written; one that fails costs the others nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Event as Flag
from time import monotonic, sleep

import pytest

from tidings.broker.committer import Committer
from tidings.errors import BrokerError


class Kept:
    """Takes numbers; where 13 is among them, it fails."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.go = Flag()

    def wait(self, what: Sequence[None]) -> list[None]:
        assert self.go.wait(10)
        return [None] * len(what)

    def numbers(self, what: Sequence[int]) -> list[int]:
        if 13 in what:
            raise ValueError("13")
        self.groups.append(list(what))
        return [-number for number in what]

    def texts(self, what: Sequence[str]) -> list[str]:
        return list(what)


def test_what_waits_is_done_together_and_in_order() -> None:
    kept = Kept()
    committer = Committer("it", 100)
    first = committer.submit(kept.wait, None)
    futures = [committer.submit(kept.numbers, number) for number in range(5)]
    committer.submit(kept.texts, "between")
    futures += [committer.submit(kept.numbers, number) for number in range(5, 8)]
    kept.go.set()
    assert first.result() is None
    assert [future.result() for future in futures] == [0, -1, -2, -3, -4, -5, -6, -7]
    assert kept.groups == [[0, 1, 2, 3, 4], [5, 6, 7]]
    committer.close()


def test_a_group_is_bounded_but_has_one_at_least() -> None:
    kept = Kept()
    committer = Committer("it", 10)
    committer.submit(kept.wait, None)
    futures = [committer.submit(kept.numbers, number, weight) for number, weight in enumerate((4, 4, 4, 99, 1))]
    kept.go.set()
    committer.close()
    assert all(future.done() for future in futures)
    assert kept.groups == [[0, 1], [2], [3], [4]]


def test_one_that_fails_costs_the_others_nothing() -> None:
    kept = Kept()
    committer = Committer("it", 100)
    committer.submit(kept.wait, None)
    futures = [committer.submit(kept.numbers, number) for number in (12, 13, 14)]
    kept.go.set()
    assert (futures[0].result(), futures[2].result()) == (-12, -14)
    with pytest.raises(ValueError, match="13"):
        futures[1].result()
    committer.close()


def test_what_is_closed_takes_nothing() -> None:
    committer = Committer("the broker", 100)
    committer.close()
    with pytest.raises(BrokerError, match="the broker: it is closed"):
        committer.submit(Kept().texts, "late")


def test_who_stops_waiting_stops_nobody_else() -> None:
    slow, done = Flag(), []

    def do(those: Sequence[int]) -> list[int]:
        slow.wait(10)
        done.extend(those)
        return list(those)

    committer = Committer("it", 1)
    first, second, third = (committer.submit(do, number) for number in range(3))
    assert second.cancel()
    slow.set()
    assert (first.result(10), third.result(10)) == (0, 2)
    assert done == [0, 2]
    committer.close()


def test_who_is_told_and_fails_costs_the_others_nothing() -> None:
    kept = Kept()
    committer = Committer("it", 100)
    told: list[object] = []
    committer.tell(kept.numbers, 1, 1, lambda outcome: told.append(1 / 0))
    committer.tell(kept.numbers, 2, 1, told.append)
    committer.tell(kept.numbers, 13, 1, told.append)
    assert committer.submit(kept.numbers, 3).result(10) == -3
    assert told[0] == -2
    assert isinstance(told[1], ValueError)
    committer.close()
    with pytest.raises(BrokerError, match="closed"):
        committer.tell(kept.numbers, 4, 1, told.append)


def test_who_comes_after_a_long_group_need_not_wait_as_long_again() -> None:
    committer = Committer("it", 100)
    slow = partial(_slowly, 0.5)
    for _ in range(3):
        committer.submit(slow, None)
    last = committer.submit(slow, None)
    last.result(10)
    begun = monotonic()
    committer.submit(_at_once, None).result(10)
    committer.close()
    assert monotonic() - begun < 0.45


def _slowly(seconds: float, what: Sequence[None]) -> Sequence[None]:
    sleep(seconds)
    return what


def _at_once(what: Sequence[None]) -> Sequence[None]:
    return what
