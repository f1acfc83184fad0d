"""How often somebody may ask: so many times a second, and twice as many at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

_BURST = 2.0
"""Seconds' worth of requests that may come at once."""

_MOST = 10_000
"""Askers that are remembered. Of more, those that have not asked for longest are forgotten, and begin anew."""


class Rates:
    """A bucket for each asker that fills by `rate` a second; None is no bound.

    All that is kept of a bucket is the moment at which it will be full again.
    """

    def __init__(self, rate: float | None, *, burst: float | None = None, most: int = _MOST) -> None:
        self._each = 0.0 if not rate else 1.0 / rate
        self._burst = _BURST if burst is None or not rate else burst / rate
        self._most = most
        self._full: OrderedDict[Hashable, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._full)

    def wait(self, asker: Hashable, now: float) -> float:
        """0 where he may ask; else in how many seconds he may. `now` is in seconds."""
        if not self._each:
            return 0.0
        full = max(self._full.get(asker, now), now) + self._each
        over = full - now - self._burst
        if over > 1e-9:
            return over
        self._full[asker] = full
        self._full.move_to_end(asker)
        if len(self._full) > self._most:
            self._full.popitem(last=False)
        return 0.0
