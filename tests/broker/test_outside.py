"""Events that are matched elsewhere: clients are told the same, in the same order, as if the broker did it."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import httpx2
import pytest
from starlette.testclient import TestClient
from tests.broker.elsewhere import Elsewhere, History, Side, said
from tests.broker.server import Server
from tests.unit.broker.offers import ANY, CHEAP, X, ids, offer

import tidings
from tidings.broker import core as cores
from tidings.broker import postings, schema, tokens
from tidings.broker.core import Core
from tidings.broker.database import FILE
from tidings.broker.http.app import application
from tidings.broker.http.beside import beside
from tidings.broker.knowledge import Knowledge
from tidings.broker.retention import Retention
from tidings.errors import BrokerError, LogError
from tidings.rdf.event import Event, to_nquads
from tidings.spark.broker_client import Broker, Refused, Remote

SEEDS = range(int(os.environ.get("TIDINGS_HISTORIES", "4")))
SPARQL = {"content-type": "application/sparql-query"}
NQUADS = {"content-type": "application/n-quads"}
ISA = "http://www.w3.org/2000/01/rdf-schema#subClassOf"


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    made = Side(tmp_path, "outside")
    yield made
    made.end()


def publish(side: Side, *numbers: int, price: int = 100) -> None:
    for number in numbers:
        [outcome] = side.core.publish([offer(number, price)]).result()
        assert isinstance(outcome, cores.Accepted)


def told(side: Side, id: str) -> list[str]:
    return [event for _, event in side.told()[id]]


def matched(side: Side) -> None:
    """Have everything matched."""
    elsewhere = Elsewhere()
    while elsewhere.step(side.client, 1_000):
        pass


# ------------------------------------------------------------------------------------------------------------ histories


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_told_is_what_the_broker_would_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    now = [1_800_000_000_000_000]
    monkeypatch.setattr(cores, "_now", lambda: now[0])
    monkeypatch.setattr(postings, "BLOCK", 8)

    def tick() -> None:
        now[0] += 45_000_000

    history = History(tmp_path, seed, tick)
    try:
        history.run(120)
        assert history.there.log() == history.here.log()
        assert history.there.told() == history.here.told()
    finally:
        history.end()


# ------------------------------------------------------------------------------------------------------- piece by piece


def test_nobody_is_told_before_it_is_matched(side: Side) -> None:
    side.subscribe("s", CHEAP, None, None)
    publish(side, 1, 2)
    assert told(side, "s") == []
    assert len(side.core.matching.engine) == 0
    assert side.client.get("/v1/events").json() == {"events": []}
    assert side.client.get("/v1/status").json()["unmatched"] == 2
    matched(side)
    assert told(side, "s") == ids(1, 2)
    assert [each["matches"] for each in side.client.get("/v1/events").json()["events"]] == [["s"], ["s"]]
    assert side.client.get("/v1/status").json()["unmatched"] == 0


def test_who_came_later_or_went_before_is_told_nothing_of_it(side: Side) -> None:
    side.subscribe("gone", ANY, None, None)
    side.subscribe("paused", ANY, None, None)
    publish(side, 1)
    side.core.end("", "gone").result()
    side.core.pause("", "paused", "").result()
    side.subscribe("late", ANY, None, None)
    publish(side, 2)
    side.core.resume("", "paused").result()
    publish(side, 3)
    matched(side)
    assert [numbers for *_, numbers in side.log()] == [(1, 2), (3,), (2, 3)]
    assert (told(side, "paused"), told(side, "late")) == (ids(1, 3), ids(2, 3))


def test_matches_cannot_be_had_with_the_answer(side: Side) -> None:
    answer = side.client.post("/v1/events?matches=own", content=to_nquads(offer(1)), headers=NQUADS)
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "events are matched elsewhere here, and later: ask without matches",
    )
    assert side.core.last == 0


def test_the_time_of_an_event_is_written_as_all_write_it(side: Side) -> None:
    at = "2026-01-01T02:00:00.5+02:00"
    side.core.publish([Event("urn:e", offer(1).body, published=at)]).result()
    [event] = side.client.get("/v1/log").json()["events"]
    assert event["published"] == "2026-01-01T00:00:00.500000Z"


def test_the_ontology_stays_as_it_is_while_events_wait(tmp_path: Path) -> None:
    def known(name: str) -> Knowledge:
        (tmp_path / name).write_text(f"<urn:{name}> <{ISA}> <urn:c> .\n")
        return Knowledge.of_files((tmp_path / name,), "error")

    first, second = known("a.nt"), known("b.nt")
    core = Core(tmp_path / "broker", first, Retention(), matching="outside")
    with pytest.raises(LogError, match="matched elsewhere"):
        core.learn(second)
    core.publish([offer(1)]).result()
    core.close()
    with pytest.raises(BrokerError, match="events wait to be matched with the ontology that it had"):
        Core(tmp_path / "broker", second, Retention(), matching="outside")
    Core(tmp_path / "broker", first, Retention(), matching="outside").close()
    # The one that matches by itself does so with the ontology of then.
    Core(tmp_path / "broker", second, Retention()).close()
    Core(tmp_path / "broker", second, Retention(), matching="outside").close()


def test_an_ontology_that_nobody_else_knows(tmp_path: Path) -> None:
    made = tidings.Ontology.load(f"<urn:a> <{ISA}> <urn:b> .".encode(), format="nt")
    with pytest.raises(BrokerError, match="give it as a file"):
        tidings.Broker(tmp_path, ontology=made, matching="outside")
    tidings.Broker(tmp_path).close()


def test_what_was_matched_with_another_ontology_is_refused(side: Side) -> None:
    publish(side, 1)
    answer = side.client.post("/v1/log/matched", json={"events": [[1, []]], "ontology": "another"})
    assert answer.status_code == 409
    assert "another ontology" in answer.json()["detail"]


def test_one_that_fails_and_fails_is_paused_with_the_reason(side: Side) -> None:
    side.subscribe("s", CHEAP, None, None)
    tag = side.client.get("/v1/log/ontology").json()["tag"]
    for number in range(1, 3):
        publish(side, number)
        failed = [{"number": 1, "times": 12, "event": "urn:e", "reason": "too many steps"}]
        said = {"events": [[number, []]], "failed": failed, "ontology": tag}
        # What comes again does not count again.
        for _ in range(2):
            assert side.client.post("/v1/log/matched", json=said).json() == {"matched": number}
        state = side.client.get("/v1/subscriptions/s").json()
        assert state["state"] == ("active" if number == 1 else "paused")
    assert state["reason"] == "it failed on 20 events within an hour, the last time on urn:e: too many steps"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"events": 1},
        {"events": [1]},
        {"events": [[0, []]]},
        {"events": [[True, []]]},
        {"events": [[1, ["a"]]]},
        {"events": [[1, [-1]]]},
        {"events": [[1, [1 << 40]]]},
        {"events": [[1, [[1], [2, 3]]]]},
        {"events": [[1, [1.5]]]},
        {"events": [[1, [10**30]]]},
        {"events": [], "failed": 1},
        {"events": [], "failed": [{"number": 1}]},
        {"events": [], "ontology": None},
    ],
)
def test_what_is_no_answer_is_refused(side: Side, body: dict[str, object]) -> None:
    answer = side.client.post("/v1/log/matched", json={"ontology": "x", **body})
    assert answer.status_code == 400, answer.text
    assert side.client.post("/v1/log/subscriptions", json={"numbers": ["x"]}).status_code == 400
    assert side.client.get("/v1/log?after=x").status_code == 400


def test_places_and_numbers_that_there_are_none_of(side: Side) -> None:
    publish(side, 1)
    assert said(side.client, [[1, [7, 4_000_000_000]], [2, [1]]]).json() == {"matched": 1}
    assert side.log() == [(1, ids(1)[0], ())]
    publish(side, 2)
    assert [matched for *_, matched in side.log()] == [(), None]


def test_it_is_for_who_may_do_everything(tmp_path: Path) -> None:
    core = Core(tmp_path, None, Retention(), matching="outside")
    scopes: frozenset[tokens.Scope] = frozenset(("publish", "subscribe"))
    _, token = core.change(lambda writer: tokens.make(writer, "", scopes, "", core.now(), None)).result()
    with TestClient(application(core)) as client:
        bearer = {"authorization": f"Bearer {token}"}
        for method, path in (("GET", ""), ("GET", "/ontology"), ("GET", "/subscriptions"), ("POST", "/matched")):
            assert client.request(method, f"/v1/log{path}").status_code == 401
            assert client.request(method, f"/v1/log{path}", headers=bearer).status_code == 403
    core.close()


def test_a_broker_that_matches_by_itself_has_no_log_for_others(tmp_path: Path) -> None:
    side = Side(tmp_path, "embedded")
    for answer in (side.client.get("/v1/log"), side.client.get("/v1/log/subscriptions"), said(side.client, [[1, []]])):
        assert (answer.status_code, answer.json()["detail"]) == (
            409,
            "events are matched by the broker itself; start it with --matching outside",
        )
    side.end()


def test_what_is_not_matched_is_kept(tmp_path: Path) -> None:
    side = Side(tmp_path, "outside")
    side.subscribe("s", ANY, None, None)
    publish(side, 1, 2)
    side.core.upkeep._keep = Retention(size=0)
    side.core.upkeep.once()
    assert len(side.log()) == 2
    matched(side)
    side.core.upkeep.once()
    assert side.log() == []
    side.end()


def test_the_tables_of_the_version_before(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / FILE)
    schema.MIGRATIONS[0](database)
    database.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    database.execute("PRAGMA user_version = 1")
    database.commit()
    database.close()
    side = Side(tmp_path, "outside")
    side.subscribe("s", ANY, None, None)
    publish(side, 1)
    matched(side)
    assert told(side, "s") == ids(1)
    side.end()


# ------------------------------------------------------------------------------------------------------------ elsewhere


def test_from_beside_a_folder_whose_broker_runs(side: Side) -> None:
    side.subscribe("s", ANY, None, None)
    publish(side, 1, 2)
    with beside(side.folder) as address:
        with pytest.raises(Refused, match="401"):
            Remote(Broker(address.url, "wrong")).marks()
        remote = Remote(Broker(*address))
        assert remote.marks() == (2, 0)
        assert remote.marks(2, wait=0.1) == (2, 0)
        assert [event.id for event in remote.events(0, 2)] == ids(1, 2)
        listed = remote.listed(None)
        assert (listed.numbers, remote.listed(listed.state).numbers) == ([1], None)
        assert [text.query for text in remote.texts([1, 2])] == [ANY]
        remote.take([(1, [1]), (2, [])], [], listed.ontology)
        with pytest.raises(Refused, match="409"):
            remote.take([(5, [])], [], "another")
    over = time.monotonic() + 20
    while side.core.told < 2 and time.monotonic() < over:
        time.sleep(0.02)
    assert told(side, "s") == ids(1)


def test_there_has_to_be_a_broker_beside(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match="there is none"), beside(tmp_path):
        pass
    tidings.Broker(tmp_path).close()
    with pytest.raises(LogError, match="--matching outside"), beside(tmp_path):
        pass


# ------------------------------------------------------------------------------------------------------------ a process


class Matching:
    """Somebody who matches as fast as he can, in a thread, and waits for the server where it is not there."""

    def __init__(self, url: str) -> None:
        self._remote = Remote(Broker(url))
        self._over = Flag()
        self._matcher, self._known = tidings.Matcher("naive"), set[int]()
        self._thread = Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            marks = self._remote.marks()
            marks = self._remote.marks(marks.matched, wait=0.2)
            events = list(self._remote.events(marks.matched, marks.last))
            listed = self._remote.listed(None)
            assert listed.numbers is not None
            for text in self._remote.texts([each for each in listed.numbers if each not in self._known]):
                self._known.add(text.number)
                self._matcher.add(str(text.number), text.query)
            found = [
                (each.place, [int(match.subscription) for match in self._matcher.match(Event(each.id, each.body))])
                for each in events
            ]
            self._remote.take(found, [], listed.ontology)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def test_subscribe_then_publish_through_a_kill(tmp_path: Path) -> None:
    """Every publisher subscribes to what he will publish, and then publishes it; meanwhile the server is killed."""
    port = free_port()
    arguments = (tmp_path, "--open", "--matching", "outside", "--port", str(port))
    url = f"http://127.0.0.1:{port}"
    over = Flag()
    due: dict[str, list[str]] = {}

    def asked(http: httpx2.Client, method: str, path: str, content: str, kind: dict[str, str]) -> None:
        """Until it is done: the same again changes nothing."""
        while True:
            try:
                answer = http.request(method, path, content=content, headers=kind)
                assert answer.status_code < 300, answer.text
                return
            except httpx2.HTTPError:
                time.sleep(0.05)

    def run(name: str) -> None:
        http = httpx2.Client(base_url=url, timeout=60)
        number = 0
        while not over.is_set():
            id = f"{name}-{number // 5}"
            if number % 5 == 0:
                asked(http, "PUT", f"/v1/subscriptions/{id}", f"ASK {{ <{X}{id}> ?p ?o }}", SPARQL)
                due[id] = []
            event = f"{X}{name}/{number}"
            asked(http, "POST", "/v1/events", f"<{X}{id}> <{X}p> <{X}o> <{event}> .\n", NQUADS)
            due[id].append(event)
            number += 1

    server = Server(*arguments)
    matching = Matching(url)
    publishers = [Thread(target=run, args=(name,)) for name in ("x", "y", "z")]
    for publisher in publishers:
        publisher.start()

    def wait_for(count: int) -> None:
        until = time.monotonic() + 60
        while len(due) < count and time.monotonic() < until:
            time.sleep(0.02)
        assert len(due) >= count

    try:
        wait_for(6)
        with server:
            server.kill()
        server = Server(*arguments)
        wait_for(15)
    finally:
        over.set()
        for publisher in publishers:
            publisher.join()
    try:
        http = httpx2.Client(base_url=url, timeout=60)
        until = time.monotonic() + 60
        while http.get("/v1/status").json()["unmatched"] and time.monotonic() < until:
            time.sleep(0.05)
        for id, events in due.items():
            page = http.get(f"/v1/subscriptions/{id}/notifications").json()
            assert [each["event"] for each in page["notifications"]] == events
    finally:
        matching.close()
        with server:
            server.end()
