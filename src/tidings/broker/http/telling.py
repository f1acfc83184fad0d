"""What streams say, made as events are accepted: once for all who read the same, in threads that do nothing else.

A stream is always with the same thread, so what it says stays in order.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from threading import Thread
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

Told: TypeAlias = Callable[[int, Logged, Mapping[Carries, str] | None], None]
"""Called with a stream, an event, and what is said of it, as it is wanted; None where readers have to look."""

_Job: TypeAlias = tuple[int, Sequence[tuple[int, Logged]], frozenset[Carries]]


def message(notification: Notification, carries: Carries) -> str:
    """A notification as a stream has it."""
    data = json.dumps(told(notification, carries), ensure_ascii=False)
    return f"id: {notification.cursor}\nevent: notification\ndata: {data}\n\n"


class Tellers:
    def __init__(self, core: Core, told: Told, threads: int = 2) -> None:
        self._core = core
        self._told = told
        self._standing: dict[int, Standing] = {}
        self._jobs: list[SimpleQueue[_Job | None]] = [SimpleQueue() for _ in range(threads)]
        for number, jobs in enumerate(self._jobs):
            Thread(target=self._run, args=(jobs,), name=f"tidings-tell-{number}", daemon=True).start()

    def tell(self, stream: int, news: Sequence[tuple[int, Logged]], wanted: frozenset[Carries]) -> bool:
        """What is new in a stream, with what its readers want of it; false where too much waits already."""
        jobs = self._jobs[stream % len(self._jobs)]
        if jobs.qsize() >= _WAITING:
            return False
        jobs.put((stream, news, wanted))
        return True

    def close(self) -> None:
        for jobs in self._jobs:
            jobs.put(None)

    def _run(self, jobs: SimpleQueue[_Job | None]) -> None:
        while (job := jobs.get()) is not None:
            stream, news, wanted = job
            for number, logged in news:
                try:
                    texts = self._texts(number, logged, wanted)
                except Exception as error:
                    # Whoever reads it looks for himself, and is told then.
                    if not isinstance(error, TidingsError):
                        _log.exception("what a stream says")
                    texts = None
                self._told(stream, logged, texts)

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
