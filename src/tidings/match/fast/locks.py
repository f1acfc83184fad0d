"""A lock that many can share, or one has alone."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition


class SharedLock:
    """Who wants it alone waits for those who share it, and nobody new joins them meanwhile. Not reentrant."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._sharing = 0
        self._waiting = 0
        self._alone = False
        self._for_many = _Held(self._share, self._unshare)
        self._for_one = _Held(self._take, self._give)

    def shared(self) -> _Held:
        return self._for_many

    def alone(self) -> _Held:
        return self._for_one

    def _share(self) -> None:
        with self._changed:
            while self._alone or self._waiting:
                self._changed.wait()
            self._sharing += 1

    def _unshare(self) -> None:
        with self._changed:
            self._sharing -= 1
            if self._waiting and not self._sharing:
                self._changed.notify_all()

    def _take(self) -> None:
        with self._changed:
            self._waiting += 1
            try:
                while self._alone or self._sharing:
                    self._changed.wait()
                self._alone = True
            finally:
                self._waiting -= 1
                if not self._alone:
                    # It was interrupted, and others may have waited for it.
                    self._changed.notify_all()

    def _give(self) -> None:
        with self._changed:
            self._alone = False
            self._changed.notify_all()


class _Held:
    """For `with`. It has no state, so that all can use the same one: a generator for each would take longer."""

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self._enter = enter
        self._leave = leave

    def __enter__(self) -> None:
        self._enter()

    def __exit__(self, *_: object) -> None:
        self._leave()
