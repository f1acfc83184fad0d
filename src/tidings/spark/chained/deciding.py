"""What the compiled subscriptions say of an event, or of as much of it as has come.

More quads never undo a match of a conjunction, so what is found on some of them holds for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tidings.errors import EvaluationError
from tidings.match.base import Failure
from tidings.match.fast import Fast
from tidings.match.fast.times import Times
from tidings.rdf.event import Event
from tidings.spark.chained.choosing import Chosen
from tidings.spark.stage import bindings_text
from tidings.spark.workers import opened

_MOMENT = pa.timestamp("us", "UTC")
_START = datetime(1970, 1, 1, tzinfo=UTC)


class Decided(NamedTuple):
    """A match; or, where there is a reason, a subscription that failed."""

    subscription: str
    bindings: str | None = None
    reason: str | None = None


def decide(chosen: Chosen, event: str, body: str, published: int | None, bindings: bool) -> Iterator[Decided]:
    """The matches of subscriptions that stand, and failures. Moments are microseconds since 1970."""
    engine, times = opened(chosen.version)
    failures: list[Failure] = []
    matches = engine.match(Event(event, body), failures.append)
    stand = standing(engine, times, [match.subscription for match in matches], published, micros(chosen.accepted))
    for match, stands in zip(matches, stand, strict=True):
        if not stands:
            continue
        try:
            yield Decided(match.subscription, bindings_text(match) if bindings else None)
        except EvaluationError as error:
            yield Decided(match.subscription, reason=str(error))
    for failure in failures:
        yield Decided(failure.subscription, reason=failure.reason)


def standing(engine: Fast, times: Times, ids: list[str], published: int | None, accepted: int) -> list[bool]:
    """Which of these stand for an event that was published, or came, at such a moment."""
    if not times.any or not ids:
        return [True] * len(ids)
    numbers = np.array([engine.frozen_number(id) for id in ids], np.int32)
    moments = pa.array([published] * len(ids), pa.int64()).cast(_MOMENT)
    stand = times.standing(numbers, pa.chunked_array([ids]), moments, accepted, engine.frozen_size)
    return [bool(each) for each in stand]


def micros(moment: datetime) -> int:
    return (moment - _START) // timedelta(microseconds=1)
