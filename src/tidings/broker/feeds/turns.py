"""Who has his turn when: what is due is done by a few threads, each thing by one at a time, and few of one lane."""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from heapq import heappop, heappush
from threading import Condition, Thread

_log = logging.getLogger("tidings")
_REST = 60.0
"""Seconds until a turn that went wrong, by a mistake of ours, is tried again."""


class Turns:
    """`take` has the turn of a number, and says after how many seconds the next one is; None: when somebody asks. It is
    never called for one number by two threads. `lane` says which numbers are `narrow`: so many of a lane at a time.
    """

    def __init__(
        self,
        name: str,
        take: Callable[[int], float | None],
        *,
        workers: int,
        lane: Callable[[int], str] = str,
        narrow: int = 1,
    ) -> None:
        self._take = take
        self._lane = lane
        self._narrow = narrow
        self._due: list[tuple[float, int]] = []
        self._next: dict[int, float] = {}
        """When each has its next turn; what else stands in the row of those that are due does not count."""
        self._busy: dict[int, bool] = {}
        """Who has his turn, and whether he is to have another one."""
        self._in_lane: Counter[str] = Counter()
        self._behind: defaultdict[str, deque[int]] = defaultdict(deque)
        self._changed = Condition()
        self._over = False
        self._pool = ThreadPoolExecutor(workers, f"tidings-{name}")
        self._thread = Thread(target=self._run, name=f"tidings-{name}s", daemon=True)
        self._thread.start()

    def soon(self, number: int, wait: float = 0.0) -> None:
        """Let it have a turn, after so many seconds, unless it has one before."""
        when = time.monotonic() + max(0.0, wait)
        with self._changed:
            if self._next.get(number, when + 1) > when:
                self._next[number] = when
                heappush(self._due, (when, number))
                self._changed.notify()

    def close(self) -> None:
        """When all who have a turn are done with it."""
        with self._changed:
            self._over = True
            self._changed.notify()
        self._thread.join()
        self._pool.shutdown(cancel_futures=True)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._over and (not self._due or self._due[0][0] > time.monotonic()):
                    self._changed.wait(self._due[0][0] - time.monotonic() if self._due else None)
                if self._over:
                    return
                when, number = heappop(self._due)
                if self._next.get(number) != when:
                    continue
                del self._next[number]
            self._begin(number)

    def _begin(self, number: int) -> None:
        with self._changed:
            if number in self._busy:
                self._busy[number] = True
                return
        lane = self._lane(number)
        with self._changed:
            if self._in_lane[lane] >= self._narrow:
                if number not in self._behind[lane]:
                    self._behind[lane].append(number)
                return
            self._in_lane[lane] += 1
            self._busy[number] = False
        self._pool.submit(self._turn, number, lane)

    def _turn(self, number: int, lane: str) -> None:
        wait: float | None = None
        try:
            wait = self._take(number)
        except Exception:
            _log.exception("the turn of %d", number)
            wait = _REST
        with self._changed:
            again = self._busy.pop(number)
            self._in_lane[lane] -= 1
            if not self._in_lane[lane]:
                del self._in_lane[lane]
            behind = self._behind[lane].popleft() if self._behind.get(lane) else None
            if not self._behind.get(lane):
                self._behind.pop(lane, None)
        if again:
            self.soon(number)
        elif wait is not None:
            self.soon(number, wait)
        if behind is not None:
            self.soon(behind)
