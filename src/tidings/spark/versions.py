"""Which subscriptions a batch is matched with: a compiled base, and the changes since it was made.

    base-<n>/index/     the subscriptions, compiled: what `tidings compile` writes
    base-<n>/times/     from when and until when they stand, where any of them says so
    base-<n>/rows       what the driver remembers of each
    base-<n>/<m>.ndjson a set of changes, numbered from 1

A version is a base and how many sets of changes count. Nothing of it ever changes, so that a batch that is run again
sees what it saw. Whoever has the version before it open gets there by the sets that are new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidings.lang import parse
from tidings.lang.watched import Change
from tidings.match.fast import Fast
from tidings.match.fast.times import Times
from tidings.match.run import DEFAULT_BUDGET

INDEX, TIMES, ROWS = "index", "times", "rows"


class Version(NamedTuple):
    """`folder` is that of a base; or, where `bare`, an index by itself, without changes. `budget` is what one of these
    subscriptions may spend on one event.
    """

    folder: str
    changes: int = 0
    bare: bool = False
    budget: int = DEFAULT_BUDGET


def set_name(number: int) -> str:
    return f"{number:08}.ndjson"


def to_lines(changes: Iterable[Change]) -> bytes:
    rows = (
        {
            "kind": change.kind,
            "id": change.id,
            "query": change.query,
            "dialect": change.dialect,
            "created": change.created,
            "cancelled": change.cancelled,
            "digest": change.digest.hex(),
        }
        for change in changes
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def of_lines(data: bytes) -> Iterator[Change]:
    for line in data.splitlines():
        row = json.loads(line)
        yield Change(**{**row, "digest": bytes.fromhex(row["digest"])})


def apply(changes: Iterable[Change], engine: Fast, times: Times) -> None:
    """Have a matcher and its times as they are after these changes."""
    for change in changes:
        if change.kind == "put":
            engine.add(change.id, change.form or parse(change.query, change.dialect))
            times.put(change.id, change.created, change.cancelled)
        elif change.kind == "taken" or change.id not in engine:
            continue
        elif change.kind == "gone":
            engine.remove(change.id)
            times.gone(change.id)
        else:
            assert change.cancelled is not None
            times.end(change.id, change.cancelled, engine)
