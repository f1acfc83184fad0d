"""Processes of this machine, as Linux tells of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_BETWEEN_LOOKS = 0.01


class Process(NamedTuple):
    pid: int
    parent: int
    state: str
    command: str

    @property
    def runs(self) -> bool:
        """Whether it is on a core, or waits for one."""
        return self.state == "R"


def can_be_seen() -> bool:
    return (_PROC / "self" / "stat").exists()


def alive(pid: int) -> bool:
    process = _process(pid)
    return process is not None and process.state not in "ZX"


def below(pid: int) -> list[Process]:
    """The children of a process, theirs, and so on."""
    children: dict[int, list[Process]] = {}
    for process in _all():
        children.setdefault(process.parent, []).append(process)
    found = list(children.get(pid, ()))
    for process in found:
        found.extend(children.get(process.pid, ()))
    return found


def kill(pid: int) -> None:
    """Kill a process, whether it likes it or not, and see that it is dead."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(pid), f"process {pid} is dead")


def until(condition: Callable[[], object], what: str, seconds: float = 180.0) -> None:
    """Wait for something, but not for ever."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it took more than {seconds:g} s until {what}"
        time.sleep(_BETWEEN_LOOKS)


def _all() -> Iterator[Process]:
    for entry in os.listdir(_PROC):
        if entry.isdigit():
            process = _process(int(entry))
            if process is not None:
                yield process


def _process(pid: int) -> Process | None:
    folder = _PROC / str(pid)
    try:
        # The name comes in parentheses, and may have anything in it.
        state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Process(pid, int(parent), state, command)
