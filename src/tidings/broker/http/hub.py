"""Those who wait for notifications in the server's loop, woken when there are some."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from tidings.broker.core import Core, Streams


class Hub:
    """One call into the loop for all that a transaction brings."""

    def __init__(self, core: Core) -> None:
        self._waiting: defaultdict[int, set[asyncio.Event]] = defaultdict(set)
        self._loop = asyncio.get_running_loop()
        self._silent = core.listen(self._rung)
        self.closing = False

    def close(self) -> None:
        """Wake everybody, so that they can end."""
        self._silent()
        self.closing = True
        for flags in self._waiting.values():
            for flag in flags:
                flag.set()

    @property
    def listening(self) -> int:
        return sum(map(len, self._waiting.values()))

    @contextmanager
    def waiting(self, stream: int) -> Iterator[asyncio.Event]:
        """A flag that is set when the stream has something new."""
        flag = asyncio.Event()
        self._waiting[stream].add(flag)
        try:
            yield flag
        finally:
            self._waiting[stream].discard(flag)
            if not self._waiting[stream]:
                del self._waiting[stream]

    def _rung(self, streams: Streams) -> None:
        """From the thread that writes."""
        # Looked at without a lock: who comes meanwhile looks for himself.
        if any(stream in self._waiting for stream in streams):
            self._loop.call_soon_threadsafe(self._wake, streams)

    def _wake(self, streams: Streams) -> None:
        for stream in streams:
            for flag in self._waiting.get(stream, ()):
                flag.set()
