"""What the thread that writes has done, told to the server's loop: once for all that were done together."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Outcomes:
    """Waking the loop takes longer than most of what it is woken for. So who is done stands in a row, and the first
    one of it wakes the loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._woken = False

    def of(self, future: Future[T]) -> asyncio.Future[T]:
        """The same to wait for in the loop. Who stops waiting does not stop what is under way."""
        waiting: asyncio.Future[T] = self._loop.create_future()
        future.add_done_callback(lambda done: self._finished(waiting, done))
        return waiting

    def _finished(self, waiting: asyncio.Future[Any], done: Future[Any]) -> None:
        self._done.append((waiting, done))
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        # First: who comes from now on wakes the loop again.
        self._woken = False
        while self._done:
            waiting, done = self._done.popleft()
            if waiting.done():
                continue
            error = done.exception()
            if error is None:
                waiting.set_result(done.result())
            else:
                waiting.set_exception(error)
