"""A broker whose events are matched by a pipeline: what is asked of it, in order, and what the oracle says to that."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import httpx2
from tests.broker.server import TIDINGS, Server

from tidings.lang import parse
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE

X = "http://x/"
ONTOLOGY = f"<{X}Notebook> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{X}Computer> .\n"
_PATIENCE = 300.0
IDS = ("a", "b", "c", "d", "e", "f")
QUERIES = (
    f"SELECT ?x {{ ?x a <{X}Computer> }}",
    f"SELECT ?x {{ ?x a <{X}Notebook> ; <{X}price> ?p FILTER(?p < 500) }}",
    f"SELECT ?x {{ ?x <{X}price> ?p FILTER(?p >= 500) }}",
    f"ASK {{ GRAPH ?g {{ ?x <{X}price> ?p }} FILTER(CONTAINS(STR(?g), '7')) }}",
    f"ASK {{ ?x <{X}price> ?p FILTER(SECONDS(NOW()) < 30) }}",
)


class Client:
    """One client, who does one thing after the other, and knows what he is due; and his server."""

    def __init__(self, folder: Path, seed: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = found.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._http = httpx2.Client(base_url=self.url, timeout=60)
        self._known = folder / "known.nt"
        self._known.write_text(ONTOLOGY)
        self._arguments = (folder / "broker", "--open", "--matching", "outside", "--port", str(port))
        self.server = Server(*self._arguments, "--ontology", self._known)
        self._random = random.Random(seed)
        self._ontology = Ontology.load(ONTOLOGY.encode(), format="nt")
        self._standing: dict[str, tuple[int, str, bool]] = {}
        """By id: the version, the query, and whether it is active."""
        self._versions: dict[str, int] = {}
        self._due: dict[str, list[tuple[int, str]]] = {}
        self._events = 0

    def kill_server(self) -> None:
        with self.server:
            self.server.kill()
        self.server = Server(*self._arguments)
        # What was open is not any more.
        self._http.close()
        self._http = httpx2.Client(base_url=self.url, timeout=60)

    def end(self) -> None:
        self._http.close()
        with self.server:
            self.server.end()

    def act(self, steps: int) -> None:
        kinds = {self._publish: 12, self._subscribe: 6, self._pause: 2, self._resume: 3, self._cancel: 1}
        for step in self._random.choices(list(kinds), list(kinds.values()), k=steps):
            step()

    def check(self) -> int:
        """What was told is what was due, in order. How many that were."""
        for id in self._standing:
            page = self._ask("GET", f"/v1/subscriptions/{id}/notifications?limit=1000").json()
            assert [(each["version"], each["event"]) for each in page["notifications"]] == self._due[id], id
        return sum(len(self._due[id]) for id in self._standing)

    def unmatched(self) -> int:
        return int(self._ask("GET", "/v1/status").json()["unmatched"])

    def wait(self, process: Process | None = None) -> None:
        """Until everything is matched; where that process does it, it has to live."""
        over = time.monotonic() + _PATIENCE
        while self.unmatched():
            assert time.monotonic() < over, "nobody matches"
            if process is not None:
                process.look()
            time.sleep(0.05)

    # ------------------------------------------------------------------------------------------------------------ steps

    def _publish(self) -> None:
        for _ in range(self._random.randint(1, 5)):
            self._events += 1
            number, cls = self._events, self._random.choice(("Notebook", "Computer", "Phone"))
            price = f'"{self._random.randint(1, 9)}00"^^<http://www.w3.org/2001/XMLSchema#integer>'
            lines = [f"<{X}{number}> {RDF_TYPE} <{X}{cls}> .\n", f"<{X}{number}> <{X}price> {price} .\n"]
            at = f"2026-11-17T12:00:{number % 60:02}Z"
            event = Event(f"{X}event/{number}", "".join(sorted(lines)), published=at)
            body = event.body.replace(" .\n", f" <{event.id}> .\n")
            self._ask("POST", "/v1/events", body, {"content-type": "application/n-quads", "ce-time": at})
            oracle = Naive(self._ontology)
            for id, (_, query, active) in self._standing.items():
                if active:
                    oracle.add(id, parse(query))
            for match in oracle.match(event, lambda failure: None):
                self._due[match.subscription].append((self._standing[match.subscription][0], event.id))

    def _subscribe(self) -> None:
        id, query = self._random.choice(IDS), self._random.choice(QUERIES)
        version, before, active = self._standing.get(id, (self._versions.get(id, 0), "", True))
        self._ask("PUT", f"/v1/subscriptions/{id}", query, {"content-type": "application/sparql-query"})
        if query != before:
            version, active = version + 1, True
        self._versions[id] = version
        if id not in self._standing:
            self._due[id] = []
        self._standing[id] = version, query, active

    def _pause(self) -> None:
        self._set(active=False)

    def _resume(self) -> None:
        self._set(active=True)

    def _set(self, *, active: bool) -> None:
        if self._standing:
            id = self._random.choice(list(self._standing))
            version, query, _ = self._standing[id]
            self._ask("POST", f"/v1/subscriptions/{id}/{'resume' if active else 'pause'}")
            self._standing[id] = version, query, active

    def _cancel(self) -> None:
        if self._standing:
            id = self._random.choice(list(self._standing))
            self._ask("DELETE", f"/v1/subscriptions/{id}")
            del self._standing[id]

    def _ask(self, method: str, path: str, content: str = "", headers: dict[str, str] | None = None) -> Any:
        answer = self._http.request(method, path, content=content, headers=headers)
        assert answer.status_code < 300, answer.text
        return answer


class Process:
    """`tidings pipeline` in a process of its own."""

    def __init__(self, *arguments: str | Path) -> None:
        self._command = [TIDINGS, "pipeline", *map(str, arguments)]
        self._begin()

    def _begin(self) -> None:
        self._process = subprocess.Popen(self._command, start_new_session=True, stderr=subprocess.PIPE, text=True)

    def look(self) -> None:
        """Begin again where Spark gave up: it waits ten seconds for its workers, and a busy machine takes more."""
        if self._process.poll() is not None:
            _, said = self._process.communicate()
            assert "failed to connect back" in said, said
            self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()
        assert self._process.stderr is not None
        self._process.stderr.close()

    def kill(self) -> None:
        """With all that it has started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)

    def end(self) -> tuple[int, str]:
        self._process.send_signal(signal.SIGTERM)
        _, said = self._process.communicate(timeout=120)
        return self._process.returncode, said
