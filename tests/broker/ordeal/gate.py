"""Clients that work while there is a server, and rest while there is none."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread

import httpx2


class Gate:
    def __init__(self) -> None:
        self._changed = Condition()
        self._open = False
        self._over = False
        self._inside = 0

    def open(self) -> None:
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def shut(self) -> None:
        """And wait until nobody is inside."""
        with self._changed:
            self._open = False
            if not self._changed.wait_for(lambda: not self._inside, 60):
                raise AssertionError("somebody still waits for a server that is not there")

    def end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()

    @contextmanager
    def inside(self) -> Iterator[bool]:
        """When it is open; false when all is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._open or self._over)
            over = self._over
            self._inside += 1
        try:
            yield not over
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def run(self, turn: Callable[[], None], wrong: Callable[[str], None]) -> Thread:
        """Have it do its turns, one after the other. A connection that breaks is nothing unusual."""

        def turns() -> None:
            while True:
                with self.inside() as going:
                    if not going:
                        return
                    try:
                        turn()
                    except httpx2.HTTPError:
                        pass
                    except Exception:
                        wrong(traceback.format_exc())
                        return

        thread = Thread(target=turns, daemon=True)
        thread.start()
        return thread
