"""The server as a process: streams that resume, an end that lets go, a restart that goes on."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import httpx2
import pytest
from tests.broker.server import TIDINGS, Server
from tests.unit.broker.offers import CHEAP, ids, offer

from tidings.rdf.event import to_nquads

SPARQL = {"content-type": "application/sparql-query"}
NQUADS = {"content-type": "application/n-quads"}


def publish(url: str, *numbers: int) -> None:
    for number in numbers:
        httpx2.post(f"{url}/v1/events", content=to_nquads(offer(number)), headers=NQUADS).raise_for_status()


def subscribe(url: str, id: str) -> None:
    httpx2.put(f"{url}/v1/subscriptions/{id}", content=CHEAP, headers=SPARQL).raise_for_status()


def heard(url: str, id: str, count: int, after: str | None = None) -> Iterator[tuple[str, str]]:
    """So many notifications of a stream: where each is, and its event."""
    headers = {"accept": "text/event-stream"} | ({"last-event-id": after} if after else {})
    with httpx2.stream("GET", f"{url}/v1/subscriptions/{id}/notifications", headers=headers, timeout=20) as answer:
        answer.raise_for_status()
        assert answer.headers["content-type"].startswith("text/event-stream")
        place = ""
        for line in answer.iter_lines():
            if line.startswith("id: "):
                place = line.removeprefix("id: ")
            elif line.startswith("data: "):
                yield place, json.loads(line.removeprefix("data: "))["event"]
                count -= 1
                if not count:
                    return


def test_a_stream_goes_from_what_there_is_to_what_comes_and_resumes(tmp_path: Path) -> None:
    with Server(tmp_path, "--open") as server:
        subscribe(server.url, "s")
        publish(server.url, 1, 2)
        later = Thread(target=publish, args=(server.url, 3, 4))
        stream = heard(server.url, "s", 4)
        first = [next(stream), next(stream)]
        later.start()
        events = [*first, *stream]
        later.join()
        assert [event for _, event in events] == ids(1, 2, 3, 4)
        assert [event for _, event in heard(server.url, "s", 2, events[1][0])] == ids(3, 4)
        # It ends although somebody listens, and goes on where it was.
        listening = Thread(target=lambda: list(heard(server.url, "s", 5)))
        listening.start()
        time.sleep(0.3)
        assert server.end() == 0
        listening.join(10)
        assert not listening.is_alive()
    with Server(tmp_path, "--open") as server:
        publish(server.url, 5)
        assert [event for _, event in heard(server.url, "s", 3, events[1][0])] == ids(3, 4, 5)


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    with Server(tmp_path, "--open") as server:
        subscribe(server.url, "s")
        done: list[int] = []

        def run(first: int) -> None:
            for number in range(first, first + 1_000):
                try:
                    publish(server.url, number)
                except httpx2.HTTPError:
                    return
                done.append(number)

        threads = [Thread(target=run, args=(1_000 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        server.kill()
        for thread in threads:
            thread.join()
    assert done
    with Server(tmp_path, "--open") as server:
        publish(server.url, 9_999)
        page = httpx2.get(f"{server.url}/v1/subscriptions/s/notifications?limit=1000").json()
        events = [each["event"] for each in page["notifications"]]
        assert len(events) == len(set(events))
        assert set(ids(*done, 9_999)) <= set(events)
        # One that was under way for each publisher may have been taken, too.
        assert len(events) <= len(done) + 1 + len(threads)


def test_a_token_opens_the_door(tmp_path: Path) -> None:
    run = [TIDINGS, "token", str(tmp_path)]
    with Server(tmp_path) as server:
        made = subprocess.run(
            [*run, "--scope", "subscribe", "--tenant", "x"], capture_output=True, text=True, check=True
        )
        bearer = {"authorization": f"Bearer {made.stdout.strip()}"}
        assert httpx2.get(f"{server.url}/v1/subscriptions").status_code == 401
        assert httpx2.get(f"{server.url}/v1/subscriptions", headers=bearer).status_code == 200
    listed = subprocess.run([*run, "--list"], capture_output=True, text=True, check=True)
    [token] = map(json.loads, listed.stdout.splitlines())
    assert (token["tenant"], token["scopes"]) == ("x", ["subscribe"])
    subprocess.run([*run, "--revoke", token["name"]], check=True)
    assert subprocess.run([*run, "--list"], capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"), [([], "name a FOLDER"), (["--host", "300.0.0.1", "--open"], "300.0.0.1")]
)
def test_what_cannot_be_served(arguments: list[str], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        Server(*arguments)


def test_two_servers_on_one_folder(tmp_path: Path) -> None:
    with Server(tmp_path, "--open"), pytest.raises(AssertionError, match="running already"):
        Server(tmp_path, "--open")
