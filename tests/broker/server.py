"""A server in a process of its own, which may be ended and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import mkstemp
from typing import Self

TIDINGS = str(Path(sys.executable).with_name("tidings"))


class Server:
    """`tidings serve` on a free port, with these arguments. `first` is done in its process before it begins."""

    def __init__(self, *arguments: str | Path, first: Callable[[], None] | None = None, **environment: str) -> None:
        command = [TIDINGS, "serve", "--port", "0", *map(str, arguments)]
        # Not a pipe: who does not read it would stop the server.
        self._said, path = mkstemp()
        os.unlink(path)
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env={**os.environ, "NO_COLOR": "1", **environment},
            preexec_fn=first,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.process.wait(30)
            raise AssertionError(self.said())

    def said(self) -> str:
        """What it has said so far, for people."""
        return os.pread(self._said, 1 << 24, 0).decode()

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()
        os.close(self._said)
