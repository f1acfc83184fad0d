"""From when and until when subscriptions stand, where they say so.

A moment is microseconds since 1970. An event that says when it was published is compared with subscriptions that say
when they were created: created ≤ published < cancelled. For all others the order in which they came decides, and a
subscription is over from the moment on at which it is cancelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from tidings.index.arrays import Bytes, Ints, Longs
from tidings.match.fast.engine import Fast

NEVER = np.iinfo(np.int64).max
ALWAYS = np.iinfo(np.int64).min
"""As the moment of creation: it is not said."""


@dataclass
class Times:
    """Of frozen subscriptions by number, where there are any that say so; of the others by id."""

    created: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    cancelled: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    live: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        return bool(self.live or self.created.size)

    def put(self, id: str, created: int | None, cancelled: int | None) -> None:
        """Of a subscription that has just been added."""
        self.live.pop(id, None)
        if created is not None or cancelled is not None:
            self.live[id] = (ALWAYS if created is None else created, NEVER if cancelled is None else cancelled)

    def end(self, id: str, cancelled: int, engine: Fast) -> None:
        number = engine.frozen_number(id)
        if number < 0:
            self.live[id] = (self.live.get(id, (ALWAYS, NEVER))[0], cancelled)
            return
        if not self.created.size:
            self.created = np.full(engine.frozen_size, ALWAYS)
            self.cancelled = np.full(engine.frozen_size, NEVER)
        self.cancelled[number] = cancelled

    def gone(self, id: str) -> None:
        self.live.pop(id, None)

    def by_id(self, engine: Fast) -> Mapping[str, tuple[int, int]]:
        """All of them, those of subscriptions that are gone left out."""
        numbers = np.flatnonzero((self.created != ALWAYS) | (self.cancelled != NEVER))
        found = {}
        with engine.reading() as view:
            for number in numbers.tolist():
                id = view.id(number)
                if engine.frozen_number(id) == number:
                    found[id] = (int(self.created[number]), int(self.cancelled[number]))
        return {**found, **{id: pair for id, pair in self.live.items() if id in engine}}

    def standing(
        self, numbers: Ints, ids: pa.ChunkedArray, published: pa.Array, accepted: int, frozen_size: int
    ) -> Bytes:
        """Which of these matches are of subscriptions that stand. A number that is no frozen one's counts by its id.

        `published` is of their events, `accepted` when all these events came.
        """
        frozen = (numbers >= 0) & (numbers < frozen_size)
        created = np.full(numbers.size, ALWAYS)
        cancelled = np.full(numbers.size, NEVER)
        if self.created.size:
            created[frozen] = self.created[numbers[frozen]]
            cancelled[frozen] = self.cancelled[numbers[frozen]]
        if self.live:
            for place in np.flatnonzero(~frozen).tolist():
                created[place], cancelled[place] = self.live.get(ids[place].as_py(), (ALWAYS, NEVER))
        when = published.cast(pa.int64()).fill_null(ALWAYS).to_numpy(zero_copy_only=False)
        both = (when != ALWAYS) & (created != ALWAYS)
        moment = np.where(both, when, accepted)
        stands: Bytes = ((created <= moment) | ~both) & (moment < cancelled)
        return stands


def of_base(engine: Fast, pairs: Mapping[str, tuple[int, int]]) -> Times:
    """The same by the numbers of a matcher whose subscriptions are all frozen."""
    if not pairs:
        return Times()
    times = Times(np.full(engine.frozen_size, ALWAYS), np.full(engine.frozen_size, NEVER))
    for id, (created, cancelled) in pairs.items():
        number = engine.frozen_number(id)
        if number >= 0:
            times.created[number], times.cancelled[number] = created, cancelled
    return times
