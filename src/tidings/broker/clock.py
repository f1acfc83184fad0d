"""What time it is for a broker."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock


class Clock:
    """Microseconds since 1970, by the clock of the machine, and never back: when that is set back, it goes on from
    where it was, as fast as ever. It begins at `least`, for there are events of then.
    """

    def __init__(self, least: int, machine: Callable[[], int]) -> None:
        self._machine = machine
        self._lock = Lock()
        self._last = least
        self._seen = time.monotonic_ns()

    def now(self) -> int:
        with self._lock:
            passed = (time.monotonic_ns() - self._seen) // 1_000
            self._seen += passed * 1_000
            machine = self._machine()
            self._last = machine if machine >= self._last else self._last + passed
            return self._last
