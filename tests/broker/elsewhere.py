"""Somebody who matches elsewhere, with the oracle and over HTTP; and histories of what may happen meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from tests.unit.broker.offers import X, offer

import tidings
from tidings.broker import log, subscriptions
from tidings.broker.core import Core, Where
from tidings.broker.http.app import application
from tidings.broker.options import Options
from tidings.broker.receiving import Subscription
from tidings.broker.retention import Retention
from tidings.broker.subscriptions import Wanted
from tidings.lang import parse
from tidings.rdf.event import Event

IDS = ("a", "b", "c", "d")
QUERIES = (
    *(f"SELECT ?pc {{ ?pc <{X}price> ?p FILTER(?p < {limit}) }}" for limit in (200, 500, 800)),
    f"SELECT ?pc {{ ?pc <{X}price> ?p FILTER(?p >= 500) }}",
    f"ASK {{ ?pc <{X}price> ?p FILTER(SECONDS(NOW()) < 30) }}",
    f"SELECT ?g {{ GRAPH ?g {{ ?pc <{X}price> ?p }} FILTER(CONTAINS(STR(?g), '7')) }}",
)


@dataclass
class Batch:
    """What a matcher is at: events up to a place, and then with these subscriptions."""

    after: int
    upto: int
    matcher: tidings.Matcher | None = None
    found: list[list[Any]] = field(default_factory=list)


class Elsewhere:
    """Takes the log from where it is matched, a batch at a time, and says what matched: by the oracle."""

    def __init__(self) -> None:
        self.batch: Batch | None = None
        self.before: list[list[list[Any]]] = []

    def step(self, client: TestClient, most: int) -> bool:
        """One of three: choose events, ask for subscriptions, say what was found. Whether there was anything."""
        if self.batch is None:
            marks = client.get("/v1/log", params={"limit": 0}).json()
            if marks["last"] == marks["matched"]:
                return False
            self.batch = Batch(marks["matched"], min(marks["last"], marks["matched"] + most))
        elif self.batch.matcher is None:
            self._match(client, self.batch)
        else:
            answer = said(client, self.batch.found)
            assert answer.status_code in (200, 409), answer.text
            self.before.append(self.batch.found)
            self.batch = None
        return True

    def _match(self, client: TestClient, batch: Batch) -> None:
        numbers = client.get("/v1/log/subscriptions").json()["numbers"]
        rows = client.post("/v1/log/subscriptions", json={"numbers": numbers}).json()["subscriptions"]
        assert [row["number"] for row in rows] == numbers
        batch.matcher = tidings.Matcher("naive")
        for row in rows:
            batch.matcher.add(str(row["number"]), row["query"], dialect=row["dialect"])
        for each in events(client, batch.after, batch.upto):
            event = Event(each["id"], each["body"], published=each["published"])
            matches = batch.matcher.match(event)
            batch.found.append([each["place"], [int(match.subscription) for match in matches]])


def events(client: TestClient, after: int, upto: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/v1/log", params={"after": after, "upto": upto}).json()["events"]
    return found


def said(client: TestClient, found: list[list[Any]]) -> Any:
    tag = client.get("/v1/log/ontology").json()["tag"]
    return client.post("/v1/log/matched", json={"events": found, "ontology": tag})


class Side:
    """A broker, which may be ended and begun again."""

    def __init__(self, folder: Path, where: Where) -> None:
        self.folder = folder
        self.begin(where)

    def begin(self, where: Where) -> None:
        self.core = Core(self.folder, None, Retention(), matching=where)
        self.client = TestClient(application(self.core, open=True))
        self.client.__enter__()

    def end(self) -> None:
        self.client.__exit__()
        self.core.close()

    def subscribe(self, id: str, query: str, since: int | None, ttl: float | None) -> None:
        wanted = Wanted("", id, query, "sparql", Options(ttl=ttl), since)
        standing = self.core.register(wanted, parse(query)).result().standing
        self.core.look_back(standing)

    def log(self) -> list[tuple[int, str, tuple[int, ...] | None]]:
        """The events, with what each matched."""
        with self.core.database.reading() as reader:
            rows = list(log.between(reader, 0, self.core.last))
        return [(row.seq, row.event.id, None if row.matched is None else tuple(row.matched.tolist())) for row in rows]

    def told(self) -> dict[str, list[tuple[str, str]]]:
        """The notifications of every subscription that stands, in order."""
        found = {}
        with self.core.database.reading() as reader:
            those = list(subscriptions.standing(reader))
        for standing in those:
            page = Subscription(self.core, standing).page(limit=10_000)
            found[standing.id] = [(each.id, each.event.id) for each in page.notifications]
        return found


class History:
    """The same happens to a broker that matches by itself, and to one whose events are matched elsewhere."""

    def __init__(self, folder: Path, seed: int, tick: Callable[[], None]) -> None:
        self._random = random.Random(seed)
        self._tick = tick
        self.here = Side(folder / "here", "embedded")
        self.there = Side(folder / "there", "outside")
        self._matcher = Elsewhere()
        self._number = 0

    def run(self, steps: int) -> None:
        kinds = {
            self._publish: 8,
            self._subscribe: 4,
            self._change: 4,
            self._delete: 1,
            self._time: 1,
            self._match: 12,
            self._again: 1,
            self._gap: 1,
            self._restart: 1,
        }
        for step in self._random.choices(list(kinds), list(kinds.values()), k=steps):
            step()
            if self._random.random() < 0.1:
                self._check()
        while self.there.core.where == "outside" and self._matcher.step(self.there.client, 50):
            pass
        assert self.there.core.told == self.there.core.last

    def end(self) -> None:
        self.here.end()
        self.there.end()

    def _check(self) -> None:
        """Nobody is told what he should not be, nor out of turn."""
        right, told = self.here.told(), self.there.told()
        assert told.keys() == right.keys()
        for id, notifications in told.items():
            assert notifications == right[id][: len(notifications)]

    # ------------------------------------------------------------------------------------------------------------ steps

    def _publish(self) -> None:
        some = []
        for _ in range(self._random.randint(1, 4)):
            self._number += 1
            again = self._random.random() < 0.1
            some.append(
                offer(self._random.randint(1, self._number) if again else self._number, 100 * (self._number % 9))
            )
        for side in (self.here, self.there):
            # One that has the id of another is refused, by both.
            side.core.publish(some).result()

    def _subscribe(self) -> None:
        id, query = self._random.choice(IDS), self._random.choice(QUERIES)
        since = 1 if self._random.random() < 0.2 else None
        ttl = 60.0 if self._random.random() < 0.3 else None
        for side in (self.here, self.there):
            side.subscribe(id, query, since, ttl)

    def _change(self) -> None:
        id, kind = self._random.choice(IDS), self._random.choice(("end", "pause", "resume", "resume"))
        for side in (self.here, self.there):
            core = side.core
            done = {
                "end": lambda core=core: core.end("", id),
                "pause": lambda core=core: core.pause("", id, "by its owner"),
                "resume": lambda core=core: core.resume("", id),
            }[kind]()
            done.result()

    def _delete(self) -> None:
        id = f"{X}offer/{self._random.randint(1, self._number + 1)}"
        for side in (self.here, self.there):
            side.core.delete_event(id).result()

    def _time(self) -> None:
        self._tick()
        for side in (self.here, self.there):
            side.core.upkeep.once()

    # --------------------------------------------------------------------------------------------------- of one of them

    def _match(self) -> None:
        if self.there.core.where == "outside":
            self._matcher.step(self.there.client, self._random.choice((1, 3, 50)))

    def _again(self) -> None:
        """A batch that was taken before changes nothing."""
        if self._matcher.before:
            there = self.there.log()
            said(self.there.client, self._random.choice(self._matcher.before))
            assert self.there.log() == there

    def _gap(self) -> None:
        """What leaves out an event is refused."""
        waiting = [seq for seq, _, matched in self.there.log() if matched is None]
        if len(waiting) > 1:
            assert said(self.there.client, [[seq, []] for seq in waiting[1:]]).status_code == 409

    def _restart(self) -> None:
        where: Where = self._random.choice(("outside", "outside", "embedded"))
        self.there.end()
        self.there.begin(where)
