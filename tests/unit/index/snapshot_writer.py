"""A process that writes snapshots to be killed at it: `python snapshot_writer.py FOLDER`.

It reads one command a line, forks a writer for each, and tells on stdout what becomes of it:

    endless     write one generation after the other until somebody kills the writer
    line N      write one generation, and be killed at the Nth line that is executed in the snapshot module

It prints `writer PID`, then `done G` for every generation that was written, then `dead` or `ended`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidings.index import snapshot


def arrays_of(generation: int) -> dict[str, NDArray[Any]]:
    """What generation n holds: enough for a write to take a while, and different everywhere."""
    return {
        "large": np.full(200_000, generation, np.int64),
        "small": np.arange(generation, generation + 10, dtype=np.int32),
        "none": np.zeros((0, generation), np.uint8),
    }


def next_generation(folder: Path) -> None:
    about = snapshot.open_snapshot(folder).about
    generation = int(str(about["generation"])) + 1
    snapshot.write(folder, arrays_of(generation), {"generation": generation})
    tell(f"done {generation}")


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def be_killed_at_line(number: int) -> None:
    left = number

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != snapshot.__file__:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def write(folder: Path, command: list[str]) -> None:
    match command:
        case ["endless"]:
            while True:
                next_generation(folder)
        case ["line", number]:
            be_killed_at_line(int(number))
            next_generation(folder)


def main() -> None:
    folder = Path(sys.argv[1])
    snapshot.write(folder, arrays_of(0), {"generation": 0})
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            tell(f"writer {os.getpid()}")
            write(folder, line.split())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        tell("dead" if os.WIFSIGNALED(status) else "ended")


if __name__ == "__main__":
    main()
