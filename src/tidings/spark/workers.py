"""What a Python worker keeps between its tasks: compiled subscriptions, mapped into memory, and the changes since.

Workers of one node map the same files, so that they share one copy. Where these are in a store that cannot be mapped,
a node copies them once. Of subscriptions in shards, those are open that the worker had events for.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from threading import Lock
from typing import NamedTuple

from tidings.errors import UsageError
from tidings.index.placing import Placing
from tidings.index.snapshot import MANIFEST, open_snapshot
from tidings.index.usage import Usage
from tidings.match.fast import Fast
from tidings.match.fast.router import Router
from tidings.match.fast.sharded import PLACING, ROUTER, shard_name
from tidings.match.fast.times import Times
from tidings.match.run import DEFAULT_BUDGET
from tidings.spark.store import Store
from tidings.spark.versions import INDEX, TIMES, Version, apply, filed_in, of_lines, set_name

_MOST = 2
"""Indices that are kept open: the one in use, and the one before it."""

_MOST_BYTES = 2 << 30
"""As many shards of an index are kept open as are no more than this; and two in any case."""

_NO_MERGE = 1 << 62
"""What is merged is no longer shared with the others: the driver does it, for all."""


class Opened(NamedTuple):
    engine: Fast
    times: Times


def open_base(folder: str, budget: int = DEFAULT_BUDGET, usage: Usage | None = None) -> Opened:
    """A base, without the changes since."""
    base = Path(local_copy(folder))
    times = Times()
    if (base / TIMES / MANIFEST).is_file():
        arrays = open_snapshot(base / TIMES).arrays
        times = Times(arrays["created"], arrays["cancelled"])
    return Opened(Fast.open(base / INDEX, merge_at=_NO_MERGE, budget=budget, usage=usage), times)


def placing_of(folder: str) -> Placing:
    """The plan of a base in shards."""
    return Placing.of_bytes(Store(folder).read(PLACING))


class _Kept:
    """A base, or one shard of it, and how many sets of changes it has been given."""

    def __init__(self, version: Version, shard: int | None) -> None:
        self._store = Store(version.folder)
        self._shard = shard
        self._changes = 0
        place = version.folder if shard is None else self._store.place(shard_name(shard))
        if version.bare:
            self.engine, self.times = Fast.open(Path(place), budget=version.budget), Times()
        else:
            usage = None if shard is None else placing_of(version.folder).usage
            self.engine, self.times = open_base(place, version.budget, usage)
        self.size = int(self.engine.stats()["bytes_held"])

    def behind(self, changes: int) -> bool:
        return self._changes <= changes

    def bring_to(self, changes: int) -> None:
        for number in range(self._changes + 1, changes + 1):
            apply(of_lines(self._store.read(set_name(number)), self._shard), self.engine, self.times)
            self._changes = number


class _KeptRouter:
    """The router of a base, and how many sets of changes it has learned of."""

    def __init__(self, version: Version) -> None:
        self._store = Store(version.folder)
        self._changes = 0
        self.router = Router.open(Path(local_copy(self._store.place(ROUTER))))

    def bring_to(self, changes: int) -> None:
        # One that knows of later changes sends more, which does no harm.
        for number in range(self._changes + 1, changes + 1):
            for shard, under in filed_in(self._store.read(set_name(number))):
                self.router.learn(shard, under)
            self._changes = number


_open: dict[tuple[str, int, int, int | None], _Kept] = {}
_routers: dict[str, _KeptRouter] = {}
_lock = Lock()


def opened(version: Version, shard: int | None = None) -> Opened:
    """The subscriptions of a version, or those of one of its shards."""
    if shard is None and version.shards:
        raise UsageError(f"{version.folder} is in shards, which are for matching whole events: use an index without")
    with _lock:
        key = version.folder, _stamp(version), version.budget, shard
        kept = _open.pop(key, None)
        if kept is None or not kept.behind(version.changes):
            kept = _Kept(version, shard)
        kept.bring_to(version.changes)
        # The one that was used last is the last.
        _open[key] = kept
        while _too_much():
            del _open[next(iter(_open))]
    return Opened(kept.engine, kept.times)


def _too_much() -> bool:
    if len({folder for folder, *_ in _open}) > _MOST:
        return True
    return len(_open) > _MOST and sum(kept.size for kept in _open.values()) > _MOST_BYTES


def opened_router(version: Version) -> Router:
    """What knows where events go, of a version in shards."""
    with _lock:
        kept = _routers.pop(version.folder, None) or _KeptRouter(version)
        kept.bring_to(version.changes)
        _routers[version.folder] = kept
        while len(_routers) > _MOST:
            del _routers[next(iter(_routers))]
    return kept.router


def _stamp(version: Version) -> int:
    """An index by itself may be replaced by another one at the same place."""
    by_itself = version.bare and not version.shards
    return (Path(version.folder) / MANIFEST).stat().st_mtime_ns if by_itself else 0


def local_copy(folder: str) -> str:
    """A folder of this machine with the same files: itself, or a copy that all workers of this machine share."""
    store = Store(folder)
    if store.local:
        return store.folder
    root = Path(os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")[0]) / f"tidings-{os.getuid()}"
    place = root / sha256(folder.encode()).hexdigest()[:32]
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(root / f"{place.name}.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            beside = Path(f"{place}.new")
            rmtree(beside, ignore_errors=True)
            store.download("", str(beside))
            os.replace(beside, place)
    return str(place)
