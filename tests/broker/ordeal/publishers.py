"""Those who publish: one event, several in a document, what was published before, and what cannot be."""

from __future__ import annotations

import random
import time
from itertools import count
from threading import Lock

from tests.broker.ordeal.asking import Asking
from tests.broker.ordeal.world import Thing, thing

NQUADS = {"content-type": "application/n-quads"}


class Numbers:
    """The numbers of events, one after the other, for all who publish."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._lock = Lock()

    def next(self) -> int:
        with self._lock:
            return next(self._numbers)


class Publisher:
    """What was not answered is published again, until it is."""

    def __init__(self, asking: Asking, numbers: Numbers, dice: random.Random, pause: float) -> None:
        self._asking = asking
        self._numbers = numbers
        self._dice = dice
        self._pause = pause
        self._waiting: list[Thing] = []
        self._done: list[Thing] = []

    def turn(self) -> None:
        if not self._waiting:
            many = self._dice.randrange(2, 6) if self._dice.random() < 0.2 else 1
            self._waiting = [thing(self._numbers.next(), self._dice) for _ in range(many)]
        new = self._waiting
        again = [self._dice.choice(self._done)] if self._done and self._dice.random() < 0.1 else []
        self._asking.history.asking(new)
        document = "".join(each.nquads() for each in (*new, *again))
        answer = self._asking.http.post("/v1/events", content=document, headers=NQUADS)
        assert answer.status_code == 202, answer.text
        said = [each["id"] for each in answer.json()["events"]]
        assert said == [each.id for each in (*new, *again)], answer.text
        self._asking.history.answered(new)
        # Of those that are long ago, some servers know nothing any more.
        self._done = [*self._done, *new][-20:]
        self._waiting = []
        if self._dice.random() < 0.03:
            self._contradict(self._dice.choice(self._done))
        time.sleep(self._dice.random() * 2 * self._pause)

    def _contradict(self, published: Thing) -> None:
        other = published.nquads(price=published.price + 1_000)
        answer = self._asking.http.post("/v1/events", content=other, headers=NQUADS)
        assert answer.status_code == 409, answer.text
