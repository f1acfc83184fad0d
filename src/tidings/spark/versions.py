"""Which subscriptions a batch is matched with: a compiled base, and the changes since it was made.

    base-<n>/index/     the subscriptions, compiled: what `tidings compile` writes
    base-<n>/times/     from when and until when they stand, where any of them says so
    base-<n>/rows       what the driver remembers of each
    base-<n>/<m>.ndjson a set of changes, numbered from 1

Where they are in shards, `index` and `times` are in a folder for each, `shard-<k>`, and beside these are the plan and
the router (`match.fast.sharded`). A set of changes is for all: it says where each subscription lives from then on, and
a shard that had it before lets it go.

A version is a base and how many sets of changes count. Nothing of it ever changes, so that a batch that is run again
sees what it saw. Whoever has the version before it open gets there by the sets that are new.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tidings.index.atoms import Atom, Kind
from tidings.index.routing import Under
from tidings.lang import parse
from tidings.lang.watched import Change
from tidings.match.fast import Fast
from tidings.match.fast.times import Times
from tidings.match.run import DEFAULT_BUDGET

INDEX, TIMES, ROWS = "index", "times", "rows"


class Version(NamedTuple):
    """`folder` is that of a base; or, where `bare`, an index by itself, without changes. `budget` is what one of these
    subscriptions may spend on one event; `shards` how many these are in, or 0.
    """

    folder: str
    changes: int = 0
    bare: bool = False
    budget: int = DEFAULT_BUDGET
    shards: int = 0


def set_name(number: int) -> str:
    return f"{number:08}.ndjson"


def to_lines(changes: Iterable[Change], place: Callable[[Change], tuple[int, Under]] | None = None) -> bytes:
    """`place` tells the shard of a subscription, and what it is filed under."""
    return "".join(json.dumps(_row(change, place), ensure_ascii=False) + "\n" for change in changes).encode()


def _row(change: Change, place: Callable[[Change], tuple[int, Under]] | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kind": change.kind,
        "id": change.id,
        "query": change.query,
        "dialect": change.dialect,
        "created": change.created,
        "cancelled": change.cancelled,
        "retroactive": change.retroactive,
        "digest": change.digest.hex(),
    }
    if place is not None and change.kind == "put":
        shard, under = place(change)
        atoms = None if under is None else [(atom.kind, atom.first, atom.second) for atom in under]
        row |= {"shard": shard, "under": atoms}
    return row


def of_lines(data: bytes, shard: int | None = None) -> Iterator[Change]:
    """All changes; or as they are for a shard, where what is put elsewhere is gone."""
    for line in data.splitlines():
        row = json.loads(line)
        home = row.pop("shard", None)
        row.pop("under", None)
        if shard is not None and home is not None and home != shard:
            yield Change("gone", row["id"])
        else:
            yield Change(**{**row, "digest": bytes.fromhex(row["digest"])})


def filed_in(data: bytes) -> Iterator[tuple[int, Under]]:
    """The shards that something is put in by these changes, and what it is filed under."""
    for line in data.splitlines():
        row = json.loads(line)
        if row.get("shard") is not None:
            atoms = row["under"]
            yield row["shard"], None if atoms is None else tuple(Atom(Kind(kind), *names) for kind, *names in atoms)


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
