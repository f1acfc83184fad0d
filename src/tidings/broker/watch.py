"""Sees what others have written into the database of a broker that runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event as Flag
from threading import Thread

_PAUSE = 0.05
_log = logging.getLogger("tidings")


class Watch:
    """Looks every moment, in a thread of its own."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._over = Flag()
        self._thread = Thread(target=self._run, name="tidings-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(_PAUSE):
            try:
                self._look()
            except Exception:
                _log.exception("looking for what was matched elsewhere")
