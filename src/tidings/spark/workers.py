"""What a Python worker keeps between its tasks: compiled subscriptions, mapped into memory, and the changes since.

Workers of one node map the same files, so that they share one copy. Where these are in a store that cannot be mapped,
a node copies them once.
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

from tidings.index.snapshot import MANIFEST, open_snapshot
from tidings.match.fast import Fast
from tidings.match.fast.times import Times
from tidings.match.run import DEFAULT_BUDGET
from tidings.spark.store import Store
from tidings.spark.versions import INDEX, TIMES, Version, apply, of_lines, set_name

_MOST = 2
"""Indices that are kept open: the one in use, and the one before it."""

_NO_MERGE = 1 << 62
"""What is merged is no longer shared with the others: the driver does it, for all."""


class Opened(NamedTuple):
    engine: Fast
    times: Times


def open_base(folder: str, budget: int = DEFAULT_BUDGET) -> Opened:
    """A base, without the changes since."""
    base = Path(local_copy(folder))
    times = Times()
    if (base / TIMES / MANIFEST).is_file():
        arrays = open_snapshot(base / TIMES).arrays
        times = Times(arrays["created"], arrays["cancelled"])
    return Opened(Fast.open(base / INDEX, merge_at=_NO_MERGE, budget=budget), times)


class _Kept:
    """A base, and how many sets of changes it has been given."""

    def __init__(self, version: Version) -> None:
        self._store = Store(version.folder)
        self._changes = 0
        if version.bare:
            self.engine, self.times = Fast.open(Path(version.folder), budget=version.budget), Times()
        else:
            self.engine, self.times = open_base(version.folder, version.budget)

    def behind(self, changes: int) -> bool:
        return self._changes <= changes

    def bring_to(self, changes: int) -> None:
        for number in range(self._changes + 1, changes + 1):
            apply(of_lines(self._store.read(set_name(number))), self.engine, self.times)
            self._changes = number


_open: dict[tuple[str, int, int], _Kept] = {}
_lock = Lock()


def opened(version: Version) -> Opened:
    """The subscriptions of a version."""
    with _lock:
        key = version.folder, _stamp(version), version.budget
        kept = _open.pop(key, None)
        if kept is None or not kept.behind(version.changes):
            kept = _Kept(version)
        kept.bring_to(version.changes)
        # The one that was used last is the last.
        _open[key] = kept
        while len(_open) > _MOST:
            del _open[next(iter(_open))]
    return Opened(kept.engine, kept.times)


def _stamp(version: Version) -> int:
    """An index by itself may be replaced by another one at the same place."""
    return (Path(version.folder) / MANIFEST).stat().st_mtime_ns if version.bare else 0


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
