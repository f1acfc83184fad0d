"""Who subscribes and then publishes is told, whatever connection either comes by, and whoever else does the same."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from threading import Thread

import httpx2
import pytest
from tests.broker.ordeal.asking import SSE, Told
from tests.broker.ordeal.publishers import NQUADS
from tests.broker.ordeal.world import Thing, X, thing
from tests.broker.server import Server

SEED = int(os.environ.get("TIDINGS_SEED", "7"))
CLIENTS, ROUNDS = 8, 12


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Server(tmp_path_factory.mktemp("broker"), "--open") as server:
        yield server.url


class Client:
    """One of many: he subscribes, publishes on another connection, and reads on a third.

    What he asks for, only he publishes; others publish what is nearly the same, at the same time.
    """

    def __init__(self, url: str, number: int) -> None:
        self._number = number
        self._dice = random.Random(SEED * 1_000 + number)
        self._http = [httpx2.Client(base_url=url, timeout=30, verify=False) for _ in range(3)]
        self.problems: list[str] = []

    def run(self) -> None:
        try:
            for turn in range(ROUNDS):
                self._round(turn)
        except Exception as error:
            self.problems.append(repr(error))
        finally:
            for each in self._http:
                each.close()

    def _round(self, turn: int) -> None:
        subscriber, publisher, reader = self._dice.sample(self._http, 3)
        id, place = f"{self._number}-{turn % 3}", self._number * 1_000 + turn * 20
        query = f"SELECT ?t {{ ?t <{X}kind> <{X}kind/{place}> }}"
        # Every third time, a subscription of that id stands already, and this is its next version.
        subscriber.put(f"/v1/subscriptions/{id}", json={"query": query}).raise_for_status()
        due = []
        for event in range(self._dice.randrange(1, 4)):
            made = thing(place + event, self._dice)
            due.append(f"{X}event/{made.number}")
            document = Thing(made.number, place, made.price, made.words, made.urgent).nquads()
            noise = thing(1_000_000 + made.number, self._dice).nquads() if self._dice.random() < 0.5 else ""
            again = self._dice.random() < 0.3
            for _ in range(1 + again):
                publisher.post("/v1/events", content=document + noise, headers=NQUADS).raise_for_status()
        for told in (self._streamed(reader, id, due[-1]), self._page(reader, id)):
            events = [each["event"] for each in told if each["version"] == turn // 3 + 1]
            if events != due:
                self.problems.append(f"{id} in round {turn}: {events} was told, and {due} is due")

    def _page(self, reader: httpx2.Client, id: str) -> list[dict[str, object]]:
        """All that is there when there is nothing more to come."""
        return list(reader.get(f"/v1/subscriptions/{id}/notifications").json()["notifications"])

    def _streamed(self, reader: httpx2.Client, id: str, last: str) -> list[dict[str, object]]:
        """Up to that event."""
        told = Told()
        with reader.stream("GET", f"/v1/subscriptions/{id}/notifications", headers=SSE) as answer:
            for line in answer.iter_lines():
                told.line(line)
                if told.notifications and told.notifications[-1]["event"] == last:
                    break
        return told.notifications


def test_who_subscribes_and_then_publishes_is_told_and_once(url: str) -> None:
    print(f"TIDINGS_SEED={SEED}")
    clients = [Client(url, number) for number in range(1, CLIENTS + 1)]
    threads = [Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [problem for client in clients for problem in client.problems] == []
