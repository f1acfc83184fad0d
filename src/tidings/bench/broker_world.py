"""The workload of the broker's benchmark: a folder with subscriptions in it, a server on that, events as requests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tidings.bench.measure import refuse
from tidings.bench.spark_world import Made
from tidings.broker import subscriptions
from tidings.broker.database import Database
from tidings.broker.http.awake import awake
from tidings.broker.options import Options
from tidings.broker.subscriptions import Wanted
from tidings.delivery.notification import NO_TENANT
from tidings.errors import UsageError
from tidings.lang import to_text
from tidings.match.fast import Fast
from tidings.rdf.event import Event, to_nquads

AWAKE = "The servers were started with --awake."
ASLEEP = "This machine does not let a server keep its processors awake."

_HEAD = b"POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/n-quads\r\ncontent-length: "


def fill(folder: Path, made: Made) -> None:
    """A broker that has all subscriptions, as if they had been left there."""
    folder.mkdir(parents=True)
    database = Database(folder)
    with database.writing() as writer:
        for id, form in made.forms():
            wanted = Wanted(NO_TENANT, id, to_text(form), "sparql", Options())
            subscriptions.register(writer, wanted, 0, 0, None)
    database.close()


@dataclass(frozen=True, slots=True)
class Running:
    """A server in a process of its own."""

    host: str
    port: int
    pid: int

    @property
    def memory(self) -> int:
        """The bytes that are its own, files that it has mapped aside."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("the system does not tell what a process holds")

    @property
    def seconds(self) -> float:
        """Of processor time, so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def awake_options() -> tuple[str, ...]:
    """What keeps processors awake while it is served, where that can be had."""
    try:
        with awake():
            return ("--awake",)
    except UsageError:
        return ()


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Running]:
    """`tidings serve` on it."""
    command = [
        sys.executable,
        "-c",
        "from tidings.cli import main; main()",
        "serve",
        str(folder),
        "--port",
        "0",
        "--open",
        *options,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = urlsplit(process.stdout.readline().strip())
            if address.hostname is None or address.port is None:
                raise RuntimeError("the server does not start")
            yield Running(address.hostname, address.port, process.pid)
        finally:
            process.terminate()


class Requests:
    """Events as requests to publish them. When all have been drawn, they come again under other names."""

    def __init__(self, events: Sequence[Event], run: str) -> None:
        self._drawn = [(event.id, to_nquads(event)) for event in events]
        self._run = run
        self.count = 0

    def __next__(self) -> tuple[str, bytes]:
        """The id of the next event, and the request."""
        id, quads = self._drawn[self.count % len(self._drawn)]
        name = f"{id}/{self._run}/{self.count}"
        self.count += 1
        body = quads.replace(id.encode(), name.encode())
        return name, b"%s%d\r\n\r\n%s" % (_HEAD, len(body), body)


def heard(made: Made, events: Sequence[Event], streams: int) -> list[int]:
    """For each event, how many of the first so many subscriptions match it, as one process finds it."""
    engine = Fast(made.world.ontology)
    engine.add_many((id, form) for _, (id, form) in zip(range(streams), made.forms(), strict=False))
    return [len(engine.match(event, refuse)) for event in events]
