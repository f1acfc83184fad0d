"""A server in a process of its own, which may be ended and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

TIDINGS = str(Path(sys.executable).with_name("tidings"))


class Server:
    """`tidings serve` on a free port, with these arguments."""

    def __init__(self, *arguments: str | Path) -> None:
        command = [TIDINGS, "serve", "--port", "0", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"}
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read())

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
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
