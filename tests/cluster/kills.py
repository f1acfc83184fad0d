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
_REJECTED = 1
Tell = Callable[[str], None]


class Driver:
    """`tidings pipeline`, as a process of its own with a JVM of its own."""

    def __init__(self, cluster: Cluster, world: World, *, once: bool) -> None:
        self._cluster = cluster
        self._world = world
        self._once = once
        self._before = {process.pid for process in cluster.executors()}
        self.log = world.root / f"driver-{time.time_ns()}.log"
        places = {
            "events": world.events,
            "subscriptions": world.queries,
            "notifications": world.notifications,
            "checkpoint": world.checkpoint,
        }
        options = [text for name, place in places.items() for text in (f"--{name}", str(place))]
        command = [str(Path(sys.executable).with_name("tidings")), "pipeline", "--master", cluster.url]
        command += ["--once"] if once else []
        with self.log.open("wb") as out:
            self._process = subprocess.Popen(
                [*command, "--max-files", str(MAX_FILES), *options, *world.options],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=cluster.environment,
                start_new_session=True,
            )

    def goes_on(self) -> bool:
        """Whether it still runs, and has not come to a good end. There are bad documents, so that it says 1."""
        code = self._process.poll()
        expected = (None, _REJECTED) if self._once else (None,)
        assert code in expected, f"the driver ended with {code}: {self.log.read_text()[-2000:]}"
        return code is None

    def finishes(self, batch: int) -> None:
        """Wait until it has done a batch, whatever has happened to its helpers."""
        until(lambda: self.goes_on() and self._world.over(batch), f"batch {batch} is done")

    def ends(self) -> None:
        until(lambda: not self.goes_on(), "the pipeline has ended")

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
        # Where there are no more documents to come, the pipeline can end by itself.
        self._left.remove("driver")
        self._left.append("driver")
        self._tell = tell
        self._driver: Driver | None = None
        self.landed: Counter[str] = Counter()

    def run(self) -> None:
        """Kill, and begin again, until there is nothing left to kill and the pipeline has ended by itself."""
        try:
            driver = self._begin()
            for kind in self._left:
                driver, batch = self._killed(driver, kind)
                self.landed[kind] += 1
                self._tell(f"killed {kind} in batch {batch}")
                if kind == "driver":
                    self._world.change_subscriptions()
                    self._world.publish()
                    if self.landed.total() == len(self._left):
                        self._world.finish()
                    driver = self._begin()
                else:
                    driver.finishes(batch)
            driver.ends()
        finally:
            if self._driver is not None:
                self._driver.stop()

    def _begin(self) -> Driver:
        self._driver = Driver(self._cluster, self._world, once=self.landed.total() == len(self._left))
        return self._driver

    def _killed(self, driver: Driver, kind: str) -> tuple[Driver, int]:
        """Kill one of this kind in some batch. Whose batch it was, and which."""
        while True:
            self._world.publish()
            batch = self._moment(driver)
            if self._world.under_way() == batch and self._strike(driver, kind):
                if self._world.under_way() == batch:
                    return driver, batch
                if kind == "driver":
                    # It was done just before.
                    driver = self._begin()

    def _moment(self, driver: Driver) -> int:
        """Wait for some moment in the next batch that is under way, or for its end."""
        found: set[int] = set()

        def is_under_way() -> bool:
            batch = self._world.under_way()
            # It was perhaps begun by another driver, and this one is not so far yet.
            if batch is not None and driver.goes_on() and driver.pythons():
                found.add(batch)
            return bool(found)

        until(is_under_way, "a batch is under way")
        usual = self._random.choice(self._world.seconds() or [_GUESS])
        moment = time.monotonic() + self._random.uniform(0, min(usual, _LONGEST))
        until(lambda: time.monotonic() > moment or self._world.under_way() not in found, "the moment has come")
        return found.pop()

    def _strike(self, driver: Driver, kind: str) -> bool:
        """Kill one of this kind, rather one that is at work; whether there was any."""
        if kind == "driver":
            driver.kill()
            return True
        those = driver.executors() if kind == "executor" else driver.pythons()
        if those:
            kill(self._random.choice([process for process in those if process.runs] or those).pid)
        return bool(those)
