"""A progress line on a terminal. What draws it takes long to load, and is loaded when there is something to draw."""

from __future__ import annotations

import time
from threading import Lock, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 2.0
_BETWEEN_UPDATES = 0.1


class Progress:
    """A line with counts for what takes over two seconds, on a terminal; elsewhere nothing."""

    def __init__(self, what: str, shown: bool) -> None:
        self._what = what
        self._shown = shown
        self._counts = ""
        self._next = time.monotonic() + _PATIENCE
        self._bar: Bar | None = None
        self._lock = Lock()
        # The first count may be long in coming: the line does not wait for it.
        self._timer = Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if self._shown:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._shown = False
        self.clear()

    def update(self, **counts: int) -> None:
        """Tell how far it is; cheap enough for every event."""
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN_UPDATES
            self._counts = "  ".join(f"{value:,} {name}" for name, value in counts.items())
            self._show()

    def tell(self, what: str) -> None:
        """Say what is being done now, in words."""
        self._counts = what
        if self._shown and time.monotonic() >= self._next:
            self._show()

    def clear(self) -> None:
        """Make way for a line of text on the same terminal; the next update brings it back."""
        with self._lock:
            if self._bar:
                self._bar.stop()
                self._bar = None

    def _show(self) -> None:
        with self._lock:
            if self._shown and self._bar is None:
                self._bar = _bar(self._what)
                self._bar.start()
            if self._bar:
                self._bar.update(self._bar.task_ids[0], counts=self._counts)


def _bar(what: str) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        SpinnerColumn(),
        TextColumn(what),
        BarColumn(20),
        TextColumn("{task.fields[counts]}"),
        TimeElapsedColumn(),
    )
    # Left alone, rich would send what is written to stdout to its own console, which is stderr.
    bar = Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task(what, total=None, counts="")
    return bar
