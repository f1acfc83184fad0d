"""Processors that do not fall asleep between two requests.

A processor with nothing to do is put to sleep, and to wake it takes its time: on a virtual machine, until its host has
a place for it again. Linux lets a program say that it cannot wait that long, by a file that it holds open. The price is
power, and a host that sees no idle time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from sys import byteorder

from tidings.errors import UsageError

FILE = Path("/dev/cpu_dma_latency")
_NO_DELAY = (0).to_bytes(4, byteorder)
"""Microseconds that a processor may take to wake up."""


@contextmanager
def awake(file: Path = FILE) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(file.open("r+b", buffering=0)).write(_NO_DELAY)
        except OSError as error:
            problem = f"{file} cannot be written ({error.strerror or error})"
            raise UsageError(f"{problem}: --awake needs Linux, and the right to write to it") from error
        yield
