"""A broker of Kafka, alone and its own controller, on ports that are free: started, killed, and started again."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from tests.kafka.jars import Absent, jars

from tidings.errors import UsageError
from tidings.spark.java import java_home

_SHARED = ("scala-library", "slf4j-api", "log4j-", "jackson-", "lz4-java", "snappy-java", "zstd-jni")
_JAVA = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dorg.apache.logging.log4j.level=INFO")
_SECONDS = 90
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}
num.partitions=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
# One that was killed is missed soon.
broker.heartbeat.interval.ms=200
broker.session.timeout.ms=1000
"""


class Broker:
    """`server` is its address."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._log = root / "broker.log"
        self._settings = root / "server.properties"
        port, controller = _free_ports(2)
        self.server = f"127.0.0.1:{port}"
        self._settings.write_text(_SETTINGS.format(port=port, controller=controller, folder=root / "data"))
        self._process: subprocess.Popen[bytes] | None = None
        self._command = _command()
        self._run("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(self._settings)).wait()

    def start(self) -> None:
        before = self._said()
        self._process = self._run("kafka.Kafka", str(self._settings))
        end = time.monotonic() + _SECONDS
        while self._said() == before:
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise Absent(f"the broker does not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        """At once, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def place(self, topic: str) -> str:
        return f"kafka://{self.server}/{topic}"

    def _said(self) -> int:
        """How often it has said that it is there."""
        return self._log.read_text().count("Kafka Server started")

    def _run(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as out:
            return subprocess.Popen(
                [*self._command, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
            )


@contextmanager
def running(root: Path) -> Iterator[Broker]:
    """A broker for as long as this lasts; `Absent` where there can be none."""
    broker = Broker(root)
    try:
        broker.start()
        yield broker
    finally:
        broker.kill()


def _command() -> list[str]:
    try:
        java = Path(java_home()) / "bin" / "java"
    except UsageError as error:
        raise Absent(str(error)) from error
    of_spark = (Path(pyspark.__file__).parent / "jars").glob("*.jar")
    shared = [path for path in of_spark if path.name.startswith(_SHARED)]
    return [str(java), *_JAVA, "-cp", os.pathsep.join(map(str, [*jars("broker"), *shared]))]


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
