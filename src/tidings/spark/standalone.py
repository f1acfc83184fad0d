"""A standalone cluster of Spark on this machine, from the pyspark package: a master and a worker, each a process.

Its executors are processes too, as many as a session asks for; nobody outside the machine has anything to do with it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from tidings.errors import EngineError
from tidings.spark.java import QUICK_TO_START, java_home, quiet_home
from tidings.spark.sessions import session

_PATIENCE = 180.0
_BETWEEN_LOOKS = 0.02
_TO_GO = 15.0
_HERE = "127.0.0.1"
_SETTINGS = {
    "spark.driver.host": _HERE,
    "spark.driver.bindAddress": _HERE,
    "spark.driver.memory": "2g",
    "spark.executor.cores": "1",
    "spark.executor.memory": "700m",
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    # A task goes to whoever has nothing to do.
    "spark.locality.wait": "0",
    "spark.ui.enabled": "false",
}


class Standalone:
    """`url` is its master, once it is started. `environment` is what whoever uses it from outside has to have."""

    def __init__(self, root: Path, *, cores: int, defaults: Mapping[str, str] | None = None) -> None:
        """`cores` are those that the worker gives away, whatever the machine has.

        `defaults` are settings of Spark, which a session may change.
        """
        self.root = root
        self.cores = cores
        self.url = ""
        self.environment = _environment(root, defaults or {})
        self.processes: list[subprocess.Popen[bytes]] = []
        root.mkdir(parents=True)

    def start(self) -> None:
        master = self._start("master.Master", "--port", "0", "--webui-port", "0")
        self.url = self._told(master, r"Starting Spark master at (spark://\S+)")
        memory = f"{max(2, self.cores) * 1024}m"
        worker = self._start("worker.Worker", "--webui-port", "0", "-c", str(self.cores), "-m", memory, self.url)
        self._told(worker, r"Successfully registered with master (\S+)")

    def stop(self) -> None:
        """The worker first: it ends the executors that there are."""
        for process in reversed(self.processes):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_TO_GO)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, name: str, *arguments: str) -> Path:
        log = self.root / f"{name}.log"
        command = [str(spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*command, "--host", _HERE, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=self.environment,
                start_new_session=True,
            )
        self.processes.append(process)
        return log

    def _told(self, log: Path, pattern: str) -> str:
        """What the process that was started last says of itself."""
        end = time.monotonic() + _PATIENCE
        while (found := re.search(pattern, log.read_text())) is None:
            if self.processes[-1].poll() is not None or time.monotonic() > end:
                raise EngineError(f"a cluster of Spark does not start here: {log.read_text()[-500:]}")
            time.sleep(_BETWEEN_LOOKS)
        return found[1]


@contextmanager
def running(root: Path, *, cores: int) -> Iterator[Standalone]:
    """A cluster for as long as this lasts; an `EngineError` where there can be none."""
    cluster = Standalone(root, cores=cores)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def executors(url: str, count: int) -> Iterator[SparkSession]:
    """A session on so many executors of the cluster, of one core each, all of which are there; it ends with this.

    There can be one session in a process: one that is there already is ended.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    os.environ.setdefault("SPARK_LOCAL_IP", _HERE)
    counted = {"spark.cores.max": str(count), "spark.sql.shuffle.partitions": str(count)}
    spark = session("tidings", master=url, options={**_SETTINGS, **counted})
    try:
        _wait_for(spark, count)
        yield spark
    finally:
        spark.stop()


def _wait_for(spark: SparkSession, count: int) -> None:
    end = time.monotonic() + _PATIENCE
    # The driver is among those that it tells of.
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() <= count:
        if time.monotonic() > end:
            raise EngineError(f"the cluster has not given {count} executors after {_PATIENCE:.0f} s")
        time.sleep(_BETWEEN_LOOKS)


def spark_home() -> Path:
    return Path(pyspark.__file__).parent


def _environment(root: Path, defaults: Mapping[str, str]) -> Mapping[str, str]:
    given = " ".join(f"-D{name}={value}" for name, value in defaults.items())
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return kept | {
        "JAVA_HOME": quiet_home(java_home()),
        "SPARK_DAEMON_JAVA_OPTS": f"{QUICK_TO_START} {given}",
        "SPARK_SUBMIT_OPTS": given,
        "SPARK_LOCAL_IP": _HERE,
        "SPARK_LOCAL_DIRS": str(root / "local"),
        "SPARK_WORKER_DIR": str(root / "work"),
    }
