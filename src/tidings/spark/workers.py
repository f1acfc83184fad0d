"""What a Python worker keeps between its tasks: compiled subscriptions, mapped into memory.

Workers of one node map the same files, so that they share one copy.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from tidings.index.snapshot import MANIFEST
from tidings.match.fast import Fast

_MOST = 2
"""Indices that are kept open: the one in use, and the one before it."""

_open: dict[tuple[str, int], Fast] = {}
_lock = Lock()


def opened(folder: str) -> Fast:
    """The matcher of a snapshot; opened anew where the snapshot is not the one it was."""
    key = folder, (Path(folder) / MANIFEST).stat().st_mtime_ns
    with _lock:
        engine = _open.pop(key, None) or Fast.open(Path(folder))
        # The one that was used last is the last.
        _open[key] = engine
        while len(_open) > _MOST:
            del _open[next(iter(_open))]
    return engine
