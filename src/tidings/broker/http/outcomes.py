"""What the thread that writes has done, told to the server's loop: once for all that were done together."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")
_log = logging.getLogger("tidings")


class Outcomes:
    """Waking the loop takes longer than most of what it is woken for. So who is done stands in a row, and the first
    one of it wakes the loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._woken = False

    def of(self, future: Future[T]) -> asyncio.Future[T]:
        """The same to wait for in the loop. Who stops waiting does not stop what is under way."""
        waiting: asyncio.Future[T] = self._loop.create_future()
        future.add_done_callback(partial(self.then, partial(_wake, waiting)))
        return waiting

    def then(self, do: Callable[[T], None], done: T) -> None:
        """Have this done in the loop, with something that has been done. From any thread."""
        self._done.append((do, done))
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._tell)

    def soon(self, do: Callable[[], None]) -> None:
        """Have this done in the loop, where this is, when all that goes on there now is over."""
        self._loop.call_soon(do)

    def _tell(self) -> None:
        # First: who comes from now on wakes the loop again.
        self._woken = False
        while self._done:
            do, done = self._done.popleft()
            try:
                do(done)
            except Exception:
                _log.exception("somebody who was waiting")


def _wake(waiting: asyncio.Future[T], done: Future[T]) -> None:
    if waiting.done():
        return
    error = done.exception()
    if error is None:
        waiting.set_result(done.result())
    else:
        waiting.set_exception(error)
