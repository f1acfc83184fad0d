"""A standalone Spark cluster from the pyspark package: a master, and a worker with two cores, each a process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.cluster.processes import Process, below, can_be_seen, kill, until

from tidings.errors import UsageError

CORES = 2
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_PYTHON = "pyspark.daemon"
_QUICK_TO_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_SETTINGS = """\
spark.master.rest.enabled false
spark.worker.ui.retainedExecutors 10
spark.ui.enabled false
spark.driver.memory 700m
spark.driver.defaultJavaOptions {java}
spark.executor.memory 700m
spark.executor.defaultJavaOptions {java}
spark.executor.cores {cores}
spark.locality.wait 0
spark.sql.shuffle.partitions 2
"""


class Absent(Exception):
    """There can be no cluster here, for this reason."""


class Cluster:
    """`url` is its master. `environment` is what whoever uses it has to have."""

    def __init__(self, root: Path, *, executors: int = 1) -> None:
        self.root = root
        self.environment = _environment(root)
        self._processes: list[subprocess.Popen[bytes]] = []
        (root / "conf").mkdir(parents=True)
        (root / "conf" / "spark-defaults.conf").write_text(
            _SETTINGS.format(cores=CORES // executors, java=_QUICK_TO_START)
        )

    def start(self) -> None:
        master = self._start("master.Master", "--port", "0", "--webui-port", "0")
        self.url = self._told(master, r"Starting Spark master at (spark://\S+)")
        worker = self._start("worker.Worker", "--webui-port", "0", "-c", str(CORES), "-m", "2g", self.url)
        self._told(worker, r"Successfully registered with master (\S+)")

    def stop(self) -> None:
        for process in self._processes:
            # Those of Python are in a group of their own.
            children = below(process.pid)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for child in children:
                kill(child.pid)

    def executors(self) -> list[Process]:
        """The executors that there are, of any application."""
        return [process for process in below(self._processes[1].pid) if _EXECUTOR in process.command]

    @staticmethod
    def pythons(executor: Process) -> list[Process]:
        """The Python workers of an executor: the children of the one that makes them."""
        those = [process for process in below(executor.pid) if _PYTHON in process.command]
        makers = {process.pid for process in those if process.parent == executor.pid}
        return [process for process in those if process.parent in makers]

    def _start(self, name: str, *arguments: str) -> Path:
        log = self.root / f"{name}.log"
        command = [str(spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=self.environment,
                start_new_session=True,
            )
        self._processes.append(process)
        return log

    def _told(self, log: Path, pattern: str) -> str:
        found: list[str] = []

        def is_told() -> bool:
            found.extend(re.findall(pattern, log.read_text()))
            if not found and self._processes[-1].poll() is not None:
                raise Absent(f"Spark does not start: {log.read_text()[-500:]}")
            return bool(found)

        until(is_told, f"{log.name} says '{pattern}'")
        return found[0]


@contextmanager
def running(root: Path, *, executors: int = 1) -> Iterator[Cluster]:
    """A cluster for as long as this lasts; `Absent` where there can be none."""
    if not can_be_seen():
        raise Absent("processes cannot be seen here: there is no /proc")
    cluster = Cluster(root, executors=executors)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def spark_home() -> Path:
    try:
        import pyspark
    except ImportError as error:
        raise Absent("pyspark is not installed") from error
    return Path(pyspark.__file__).parent


def _environment(root: Path) -> Mapping[str, str]:
    try:
        from tidings.spark.java import java_home

        java = java_home()
    except (ImportError, UsageError) as error:
        raise Absent(str(error)) from error
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return kept | {
        "JAVA_HOME": java,
        "SPARK_DAEMON_JAVA_OPTS": _QUICK_TO_START,
        "SPARK_CONF_DIR": str(root / "conf"),
        # Nobody outside this machine has anything to do with it.
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(root / "local"),
        "SPARK_WORKER_DIR": str(root / "work"),
    }
