"""A pipeline on a cluster, some of whose processes are killed while a batch is under way, until it is at its end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.processes import Process, alive, below, kill, until
from tests.cluster.world import MAX_FILES, World

KINDS = ("executor", "python", "driver")
_JVM = "org.apache.spark.deploy.SparkSubmit"
_GUESS, _LONGEST = 2.0, 5.0
_BATCHES = 8
_REJECTED = 1
Tell = Callable[[str], None]


class Driver:
    """`tidings pipeline --once`, as a process of its own with a JVM of its own."""

    def __init__(self, cluster: Cluster, world: World) -> None:
        self._cluster = cluster
        self._before = {process.pid for process in cluster.executors()}
        self.log = world.root / f"driver-{time.time_ns()}.log"
        places = {
            "events": world.events,
            "subscriptions": world.queries,
            "notifications": world.notifications,
            "checkpoint": world.checkpoint,
        }
        options = [text for name, place in places.items() for text in (f"--{name}", str(place))]
        command = [str(Path(sys.executable).with_name("tidings")), "pipeline", "--master", cluster.url, "--once"]
        with self.log.open("wb") as out:
            self._process = subprocess.Popen(
                [*command, "--max-files", str(MAX_FILES), *options],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=cluster.environment,
                start_new_session=True,
            )

    def ended(self) -> bool:
        """Whether it has come to its end. There are bad documents, so that it says 1."""
        code = self._process.poll()
        assert code in (None, _REJECTED), f"the driver ended with {code}: {self.log.read_text()[-2000:]}"
        return code is not None

    def executors(self) -> list[Process]:
        return [process for process in self._cluster.executors() if process.pid not in self._before]

    def pythons(self) -> list[Process]:
        return [python for executor in self.executors() for python in self._cluster.pythons(executor)]

    def kill(self) -> None:
        """As when its machine goes down: Python and the JVM at once."""
        machines = [process for process in below(self._process.pid) if _JVM in process.command]
        assert machines, "the driver has a JVM"
        self.stop()
        until(lambda: not any(alive(process.pid) for process in machines), "the driver's JVM is dead")

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Ordeal:
    """So many kills of each kind, at moments that follow from the seed as far as processes can be told to."""

    def __init__(self, cluster: Cluster, world: World, seed: int, each: int, tell: Tell) -> None:
        self._cluster = cluster
        self._world = world
        self._random = random.Random(seed)
        self._left = list(KINDS) * each
        self._random.shuffle(self._left)
        self._tell = tell
        self._hit = -1
        self.landed: Counter[str] = Counter()

    def run(self) -> None:
        """Kill, and begin again, until there is nothing left to kill and the pipeline has ended by itself."""
        self._world.publish(_BATCHES)
        driver = Driver(self._cluster, self._world)
        try:
            while self._left:
                batch = self._moment(driver)
                if batch is None:
                    self._world.publish(_BATCHES)
                    driver = Driver(self._cluster, self._world)
                elif self._strike(driver, self._left[-1], batch):
                    self._landed(self._left.pop(), batch)
                    if self.landed_last == "driver":
                        self._world.change_subscriptions()
                        driver = Driver(self._cluster, self._world)
                    else:
                        until(lambda: batch in self._world.done() or driver.ended(), f"batch {batch} is done")
            until(driver.ended, "the pipeline has ended", seconds=180)
        finally:
            driver.stop()

    def _landed(self, kind: str, batch: int) -> None:
        self.landed[kind] += 1
        self.landed_last, self._hit = kind, batch
        self._tell(f"killed {kind} in batch {batch}")

    def _moment(self, driver: Driver) -> int | None:
        """Some moment in some batch that is under way; None when there is none left."""
        found: list[int] = []

        def is_under_way() -> bool:
            batch = self._world.under_way()
            # One that was begun by another driver may be under way no longer, or not yet again.
            if batch is not None and batch > self._hit and driver.pythons():
                found.append(batch)
            return bool(found) or driver.ended()

        until(is_under_way, "a batch begins")
        usual = self._random.choice(self._world.seconds() or [_GUESS])
        moment = time.monotonic() + self._random.uniform(0, min(usual, _LONGEST))
        until(lambda: time.monotonic() > moment or self._world.under_way() not in found, "the moment has come")
        return found[0] if found else None

    def _strike(self, driver: Driver, kind: str, batch: int) -> bool:
        """Kill one of these, if the batch still is under way; whether it was when this was done."""
        if self._world.under_way() != batch:
            return False
        if kind == "driver":
            driver.kill()
        else:
            those = driver.executors() if kind == "executor" else driver.pythons()
            if not those:
                return False
            kill(self._random.choice([process for process in those if process.runs] or those).pid)
        return self._world.under_way() == batch
