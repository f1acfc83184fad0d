"""Many who want something written, and one thread that writes: those who wait share the next transaction.

What is asked for is done in the order in which it came. Jobs of one kind that stand next to each other are done
together, so that there is one wait for the disk for all of them. Where that fails, each is tried alone, so that one
does not cost the others anything.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from itertools import takewhile
from threading import Condition, Thread
from threading import Event as Flag
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from tidings.errors import BrokerError

_log = logging.getLogger("tidings")
A = TypeVar("A")
R = TypeVar("R")

Together = Callable[[Sequence[A]], Sequence[R]]
"""Does several, durably, and gives the outcome of each: an exception for one that was refused."""

Then = Callable[[R | Exception], None]
"""Is told an outcome. It must be quick."""

PACE = 0.012
"""Seconds from the beginning of one group to that of the next, where several publish at the same time: a group costs
more than what is in it, and who waits this little shares it. Who publishes alone does not wait."""

_SHARE, _LONGEST = 2, 0.1
"""The same in what the last group took: half of the time is for those who bring what is in the next one. But who waits
for a disk, say, for seconds need not wait as long again."""


class _Job(NamedTuple):
    """Something to do: `then` is told the outcome. Where it is waited for, there is a future of it, too."""

    do: Together[Any, Any]
    what: Any
    weight: int
    then: Then[Any]
    future: Future[Any] | None = None

    def begins(self) -> bool:
        """Whether it is wanted still. From now on who waits gets it, whether he goes on waiting or not."""
        return self.future is None or self.future.set_running_or_notify_cancel()


class Committer:
    """`most` is how much is done together at most, by weight."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._jobs: deque[_Job] = deque()
        self._changed = Condition()
        self._closed = False
        self._over = Flag()
        self._thread = Thread(target=self._run, name="tidings-commit", daemon=True)
        self._thread.start()

    def submit(self, do: Together[A, R], what: A, weight: int = 1) -> Future[R]:
        """Have it done, together with others that are done by the same."""
        future: Future[R] = Future()
        self._put(_Job(do, what, weight, partial(_wake, future), future))
        return future

    def tell(self, do: Together[A, R], what: A, weight: int, then: Then[R]) -> None:
        """The same, and have somebody told, from the thread that writes: what there is to wait takes long to make."""
        self._put(_Job(do, what, weight, then))

    def _put(self, job: _Job) -> None:
        with self._changed:
            if self._closed:
                raise BrokerError(self._name, "it is closed")
            self._jobs.append(job)
            self._changed.notify()

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    def close(self) -> None:
        """When all that was asked for has been done."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        begun, took, several = 0.0, 0.0, False
        while True:
            if several:
                self._over.wait(max(0.0, begun + max(PACE, min(_SHARE * took, _LONGEST)) - monotonic()))
            taken = self._next()
            if not taken:
                return
            begun, took, several = monotonic(), 0.0, len(taken) > 1
            jobs = [job for job in taken if job.begins()]
            if not jobs:
                continue
            try:
                outcomes = jobs[0].do([job.what for job in jobs])
            except Exception as error:
                outcomes = [error] if len(jobs) == 1 else [_alone(job) for job in jobs]
            for job, outcome in zip(jobs, outcomes, strict=True):
                _tell(job, outcome)
            took = monotonic() - begun

    def _next(self) -> list[_Job]:
        """The jobs to do together; none when it is closed."""
        with self._changed:
            while not self._jobs and not self._closed:
                self._changed.wait()
            if not self._jobs:
                return []
            do, weight, count = self._jobs[0].do, 0, 0
            for job in takewhile(lambda job: job.do == do, self._jobs):
                weight += job.weight
                if count and weight > self._most:
                    break
                count += 1
            return [self._jobs.popleft() for _ in range(count)]


def _wake(future: Future[R], outcome: R | Exception) -> None:
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _tell(job: _Job, outcome: Any) -> None:
    """Whatever goes wrong there, others wait for their outcome."""
    try:
        job.then(outcome)
    except Exception:
        _log.exception("somebody who was to be told")


def _alone(job: _Job) -> Any:
    try:
        [outcome] = job.do([job.what])
    except Exception as error:
        return error
    return outcome
