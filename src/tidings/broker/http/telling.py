"""What streams say, made as events are accepted: once for all who read the same, in threads that do nothing else.

A stream is always with the same thread, so what it says stays in order.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from threading import Condition, Thread
from time import monotonic
from typing import TypeAlias

from tidings.broker import subscriptions
from tidings.broker.core import Core
from tidings.broker.log import Logged
from tidings.broker.options import Carries
from tidings.broker.payloads import told
from tidings.broker.receiving import Notification
from tidings.broker.subscriptions import Standing
from tidings.errors import TidingsError

_log = logging.getLogger("tidings")
_WAITING = 10_000
"""What may wait for a thread; beyond that, readers look for themselves."""

_KNOWN = 20_000
"""So many versions are not looked up again."""

_AT_ONCE = 0.002
"""Seconds for which what is said is gathered: to hand it over takes longer than to say it."""

Said: TypeAlias = tuple[int, Logged, Mapping[Carries, str] | None]
"""A stream, an event, and what is said of it, as it is wanted; None where readers have to look."""

Job: TypeAlias = tuple[int, Sequence[tuple[int, Logged]], frozenset[Carries]]
"""A stream, what is new in it, and what its readers want of that."""


def message(notification: Notification, carries: Carries) -> str:
    """A notification as a stream has it."""
    data = json.dumps(told(notification, carries), ensure_ascii=False)
    return f"id: {notification.cursor}\nevent: notification\ndata: {data}\n\n"


class _Jobs:
    """What waits for one thread."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._changed = Condition()
        self._closed = False

    def put(self, jobs: Sequence[Job]) -> bool:
        """False where that would be too much."""
        with self._changed:
            if len(self._jobs) + len(jobs) > _WAITING:
                return False
            self._jobs += jobs
            self._changed.notify()
            return True

    def take(self) -> list[Job]:
        """All that there is, as soon as there is something; nothing when it is closed."""
        with self._changed:
            while not self._jobs and not self._closed:
                self._changed.wait()
            jobs, self._jobs = self._jobs, []
            return [] if self._closed else jobs

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()


class Tellers:
    """`told` is called with what is said, from their threads."""

    def __init__(self, core: Core, told: Callable[[list[Said]], None], threads: int = 1) -> None:
        self._core = core
        self._told = told
        self._standing: dict[int, Standing] = {}
        self._jobs = [_Jobs() for _ in range(threads)]
        for number, jobs in enumerate(self._jobs):
            Thread(target=self._run, args=(jobs,), name=f"tidings-tell-{number}", daemon=True).start()

    def tell(self, jobs: Sequence[Job]) -> list[int]:
        """Have it said. The streams for which too much waits already."""
        refused: list[int] = []
        for number, waiting in enumerate(self._jobs):
            here = [job for job in jobs if job[0] % len(self._jobs) == number]
            if here and not waiting.put(here):
                refused += [stream for stream, _, _ in here]
        return refused

    def close(self) -> None:
        for jobs in self._jobs:
            jobs.close()

    def _run(self, jobs: _Jobs) -> None:
        while those := jobs.take():
            said: list[Said] = []
            begun = monotonic()
            for stream, news, wanted in those:
                said += [(stream, logged, self._said(number, logged, wanted)) for number, logged in news]
                if monotonic() - begun > _AT_ONCE:
                    self._told(said)
                    said, begun = [], monotonic()
            if said:
                self._told(said)

    def _said(self, number: int, logged: Logged, wanted: frozenset[Carries]) -> Mapping[Carries, str] | None:
        try:
            return self._texts(number, logged, wanted)
        except Exception as error:
            # Whoever reads it looks for himself, and is told then.
            if not isinstance(error, TidingsError):
                _log.exception("what a stream says")
            return None

    def _texts(self, number: int, logged: Logged, wanted: frozenset[Carries]) -> Mapping[Carries, str] | None:
        standing = self._found(number)
        first = self._found(standing.stream) if standing is not None else None
        if standing is None or first is None or first.since is not None:
            # One that looks back, or did when the stream began, may not have come so far.
            return None
        notification = Notification(self._core, standing, logged)
        return {carries: message(notification, carries) for carries in wanted}

    def _found(self, number: int) -> Standing | None:
        standing = self._standing.get(number)
        if standing is None:
            with self._core.database.reading() as reader:
                standing = subscriptions.by_number(reader, number)
            if standing is not None:
                if len(self._standing) >= _KNOWN:
                    self._standing.clear()
                self._standing[number] = standing
        return standing
