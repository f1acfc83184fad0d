"""A standalone Spark cluster, of which processes can be found and killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.cluster.processes import Process, below, can_be_seen, kill

from tidings.errors import EngineError, UsageError
from tidings.spark.standalone import Standalone

CORES = 2
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
_PYTHON = "pyspark.daemon"
_SETTINGS = {
    "spark.master.rest.enabled": "false",
    "spark.worker.ui.retainedExecutors": "10",
    "spark.ui.enabled": "false",
    "spark.executor.memory": "700m",
    "spark.locality.wait": "0",
    "spark.sql.shuffle.partitions": "2",
}


class Absent(Exception):
    """There can be no cluster here, for this reason."""


class Cluster(Standalone):
    """A master, and a worker with two cores, for so many executors."""

    def __init__(self, root: Path, *, executors: int = 1) -> None:
        cores = {"spark.executor.cores": str(CORES // executors)}
        super().__init__(root, cores=CORES, defaults={**_SETTINGS, **cores})
        self.environment = {**self.environment, "SPARK_DRIVER_MEMORY": "700m"}

    def stop(self) -> None:
        for process in self.processes:
            # Those of Python are in a group of their own.
            children = below(process.pid)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for child in children:
                kill(child.pid)

    def executors(self) -> list[Process]:
        """The executors that there are, of any application."""
        return [process for process in below(self.processes[1].pid) if _EXECUTOR in process.command]

    @staticmethod
    def pythons(executor: Process) -> list[Process]:
        """The Python workers of an executor: the children of the one that makes them."""
        those = [process for process in below(executor.pid) if _PYTHON in process.command]
        makers = {process.pid for process in those if process.parent == executor.pid}
        return [process for process in those if process.parent in makers]


@contextmanager
def running(root: Path, *, executors: int = 1) -> Iterator[Cluster]:
    """A cluster for as long as this lasts; `Absent` where there can be none."""
    if not can_be_seen():
        raise Absent("processes cannot be seen here: there is no /proc")
    try:
        cluster = Cluster(root, executors=executors)
    except UsageError as error:
        raise Absent(str(error)) from error
    try:
        try:
            cluster.start()
        except EngineError as error:
            raise Absent(str(error)) from error
        yield cluster
    finally:
        cluster.stop()
