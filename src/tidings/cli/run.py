"""A run over subscriptions and events: what was rejected, what was counted, and how long it took."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tidings.cli.terminal import Terminal
from tidings.errors import EventError, SubscriptionError, TidingsError, UnsupportedError, UsageError
from tidings.lang.files import Subscription, read_subscriptions
from tidings.match.base import Engine, Failure
from tidings.match.registry import DEFAULT

if TYPE_CHECKING:
    from tidings.cli.progress import Progress
    from tidings.match.fast import Fast


MANIFEST, SHARDS = "manifest.json", "shards.json"


class Stop(Exception):
    """`--fail-fast` met its first reject."""


@dataclass
class Run:
    """What happened so far."""

    terminal: Terminal
    fail_fast: bool
    stopped: bool = False
    rejected: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def reject(self, kind: str, error: TidingsError | str) -> None:
        """Name on stderr what could not be processed; the rest goes on."""
        self.rejected[kind] += 1
        self.terminal.error(str(error))
        if self.fail_fast:
            raise Stop

    def reject_subscription(self, error: SubscriptionError) -> None:
        self.reject("subscriptions", error)

    def reject_event(self, error: EventError) -> None:
        self.reject("events", error)

    def reject_evaluation(self, failure: Failure) -> None:
        where = f"subscription '{failure.subscription}' on event <{failure.event}>"
        self.reject("evaluations", f"{where}: {failure.reason}")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start


@contextmanager
def telling_of_compiling(core: Engine, progress: Progress) -> Iterator[None]:
    """Where the kernels of `fast` are compiled, which takes long but happens once, the progress line says so."""
    if core.name != DEFAULT:
        yield
        return
    with telling_of_kernels(progress):
        yield


@contextmanager
def telling_of_kernels(progress: Progress) -> Iterator[None]:
    """The same for whoever uses `fast` in this process."""
    from tidings.index.kernels.jit import telling

    with telling(lambda kernel: progress.tell(f"compiling the matcher, this once: {kernel}")):
        yield


def take_subscriptions(core: Engine, path: str, run: Run) -> None:
    """Give the matcher all subscriptions of a file or folder that it can use; the others are rejected."""
    with run.terminal.progress("reading subscriptions") as progress, telling_of_compiling(core, progress):

        def found() -> Iterator[Subscription]:
            for number, subscription in enumerate(read_subscriptions(path, report=run.reject_subscription)):
                progress.update(subscriptions=number)
                yield subscription

        if core.name == DEFAULT:
            # It takes every form, and many at once sooner.
            cast("Fast", core).add_many((each.id, each.query) for each in found())
        else:
            for each in found():
                try:
                    core.add(each.id, each.query)
                except UnsupportedError as error:
                    run.reject("subscriptions", f"{each.source}: subscription '{each.id}': {error}")
    run.counts["subscriptions"] = len(core)
    if not len(core):
        raise UsageError(f"{path}: there is no subscription that can be used")


def is_snapshot(path: str) -> bool:
    """Whether this is a folder of compiled subscriptions, and not of files with subscriptions."""
    return (Path(path) / MANIFEST).is_file() or is_sharded(path)


def is_sharded(path: str) -> bool:
    """Whether they are compiled in shards."""
    return (Path(path) / SHARDS).is_file()


def need_spark(what: str) -> None:
    """Say what to install where Spark is not there."""
    if find_spec("pyspark") is None:
        raise UsageError(f"{what} needs Spark, which is not installed; install it with: pip install 'tidings[spark]'")


def need_server(what: str) -> None:
    """Say what to install where the web framework is not there."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UsageError(
            f"{what} needs a web server, which is not installed; install it with: pip install 'tidings[server]'"
        )


def peak_memory() -> int | None:
    """The most memory this process had at once, in bytes; None on systems that do not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
