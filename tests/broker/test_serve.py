"""The server as a process: streams that resume, an end that lets go, a restart that goes on."""

from __future__ import annotations

import asyncio
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

from tidings.broker.client import AsyncClient, Client
from tidings.errors import ClientError
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


def run(server: Server, *arguments: str | Path, stdin: str = "") -> list[dict[str, object]]:
    done = subprocess.run(
        [TIDINGS, *map(str, arguments), "--url", server.url], input=stdin, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_commands_of_a_client(tmp_path: Path) -> None:
    (tmp_path / "cheap.rq").write_text(CHEAP)
    (tmp_path / "offers.nq").write_bytes(to_nquads(offer(1)) + to_nquads(offer(2)))
    with Server(tmp_path / "broker", "--open") as server:
        [standing] = run(server, "subscribe", tmp_path / "cheap.rq", "--label", "team=books", "--ttl", "1h")
        assert (standing["id"], standing["labels"], standing["ttl"]) == ("cheap", {"team": "books"}, 3600)
        assert [each["id"] for each in run(server, "publish", tmp_path / "offers.nq")] == ids(1, 2)
        assert [each["id"] for each in run(server, "publish", "-", stdin=to_nquads(offer(3)).decode())] == ids(3)
        heard = run(server, "listen", "cheap", "--ack", "--count", "2")
        assert [each["event"] for each in heard] == ids(1, 2)
        assert [each["event"] for each in run(server, "listen", "cheap", "--count", "1")] == ids(3)
        [status] = run(server, "status")
        assert (status["events"], status["subscriptions"]) == (3, 1)
        wrong = tmp_path / "wrong.rq"
        wrong.write_text("SELECT nonsense")
        refused = subprocess.run([TIDINGS, "subscribe", wrong, "--url", server.url], capture_output=True, text=True)
        assert refused.returncode == 1
        assert "wrong.rq:1:8" in refused.stderr


def test_who_listens_is_told_of_a_pause_and_ends_with_the_subscription(tmp_path: Path) -> None:
    with Server(tmp_path, "--open") as server, Client(server.url) as client:
        subscribe(server.url, "s")
        publish(server.url, 1)
        client.pause("s")
        command = [TIDINGS, "listen", "s", "--url", server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as listening:
            assert listening.stdout is not None
            assert listening.stderr is not None
            assert json.loads(listening.stdout.readline())["event"] == ids(1)[0]
            assert listening.stderr.readline() == "warning: the subscription is paused: by its owner\n"
            client.resume("s")
            publish(server.url, 2)
            assert json.loads(listening.stdout.readline())["event"] == ids(2)[0]
            client.cancel("s")
            assert listening.wait(20) == 0
        gone = subprocess.run(command, capture_output=True, text=True)
        assert (gone.returncode, gone.stdout) == (2, "")
        assert "there is no such subscription" in gone.stderr


def test_what_is_piped_through_survives_a_restart_and_a_bound_on_requests(tmp_path: Path) -> None:
    server = Server(tmp_path, "--open", "--rate", "1")
    port = server.url.rpartition(":")[2]
    command = [TIDINGS, "publish", "-", "--url", server.url]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as publishing:
        assert publishing.stdin is not None
        assert publishing.stdout is not None

        def pass_on(number: int) -> None:
            assert publishing.stdin is not None
            publishing.stdin.write(to_nquads(offer(number)).decode())
            publishing.stdin.flush()

        with server:
            # An event is complete when the next one begins.
            for number in range(4):
                pass_on(number)
            assert [json.loads(publishing.stdout.readline())["id"] for _ in range(3)] == ids(0, 1, 2)
            server.kill()
        pass_on(4)
        with Server(tmp_path, "--open", "--port", port) as again:
            publishing.stdin.close()
            assert [json.loads(line)["id"] for line in publishing.stdout] == ids(3, 4)
            assert publishing.wait(20) == 0
            assert httpx2.get(f"{again.url}/v1/status").json()["events"] == 5


def test_the_reader_of_a_pipe_goes_away(tmp_path: Path) -> None:
    with Server(tmp_path, "--open") as server:
        subscribe(server.url, "s")
        publish(server.url, 0)
        script = f"{TIDINGS} listen s --url {server.url} | head -n 1"
        listening = subprocess.Popen(script, shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # That nobody reads any more is noticed when there is more to write.
        for number in range(1, 300):
            publish(server.url, number)
            time.sleep(0.05)
            if listening.poll() is not None:
                break
        out, err = listening.communicate(timeout=20)
        assert json.loads(out)["event"] == ids(0)[0]
        assert err == ""


def test_who_listens_does_not_notice_a_restart(tmp_path: Path) -> None:
    server = Server(tmp_path, "--open")
    port = server.url.rpartition(":")[2]
    subscribe(server.url, "s")
    publish(server.url, 1)
    heard: list[str] = []

    def listen() -> None:
        with Client(server.url) as client:
            for notification in client.listen("s"):
                heard.append(notification["event"])
                if len(heard) == 3:
                    return

    listening = Thread(target=listen, daemon=True)
    with server:
        listening.start()
        publish(server.url, 2)
        server.kill()
    with Server(tmp_path, "--open", "--port", port) as again:
        publish(again.url, 3)
        listening.join(30)
        assert heard == ids(1, 2, 3)


def test_the_same_for_asyncio(tmp_path: Path) -> None:
    async def run(url: str) -> list[str]:
        heard = []
        async with AsyncClient(url) as client:
            await client.subscribe("s", CHEAP)
            await client.publish(to_nquads(offer(1)) + to_nquads(offer(2)), "application/n-quads")
            async for notification in client.listen("s"):
                heard.append(notification["event"])
                await client.ack("s", notification["cursor"])
                if len(heard) == 2:
                    break
            assert (await client.page("s"))["notifications"] == []
            await client.cancel("s")
            with pytest.raises(ClientError) as raised:
                await client.subscription("s")
            assert raised.value.status == 404
        return heard

    with Server(tmp_path, "--open") as server:
        assert asyncio.run(run(server.url)) == ids(1, 2)


def test_a_server_that_is_not_there() -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(ClientError, match="cannot be reached"):
        client.status()
