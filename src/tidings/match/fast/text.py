"""N-Quads as the lane goes through them: whole lines at places that count from the start of the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from tidings.index.arrays import Bytes
from tidings.index.scanner import PADDING, padded
from tidings.rdf.limits import Limits
from tidings.rdf.lines import Lines, TooLong

_BOM = b"\xef\xbb\xbf"
_NEWLINE = 10
_LOOK = 4096


class Text(Protocol):
    """A document, or the part of it that is there: whole lines from `start` up to `stop`."""

    @property
    def start(self) -> int: ...

    @property
    def stop(self) -> int: ...

    @property
    def ended(self) -> bool:
        """Whether nothing comes behind `stop`."""

    @property
    def trouble(self) -> tuple[int, Lines] | None:
        """What stands at `stop` in place of lines, with the number of the line."""

    def more(self, at: int) -> bool:
        """Get what comes behind `stop`, and let go of what is before `at`. False where there is nothing."""

    def cut(self, at: int, size: int) -> int:
        """The end of a line, about this many bytes behind `at`: no farther if any line ends so soon."""

    def window(self, at: int, stop: int) -> tuple[Bytes, int]:
        """An array for the kernels that has these lines, and the place of its first byte."""

    def lines(self, at: int, stop: int) -> bytes: ...

    def piece(self, at: int, stop: int) -> Lines:
        """The same for `rdf/`, which takes lines of a limited length only."""

    def line(self, at: int) -> int:
        """The number of the line that begins at `at`."""


class WholeText:
    """A document in memory."""

    trouble = None
    ended = True

    def __init__(self, data: memoryview, limits: Limits) -> None:
        # Kernels are compiled for arrays that can be written, or for others: here, for others.
        self._data = np.frombuffer(data, np.uint8)
        self._data.flags.writeable = False
        self._limits = limits
        self._counted = (0, 1)
        self.start = len(_BOM) if self.lines(0, len(_BOM)) == _BOM else 0
        self.stop = int(self._data.size)

    def let_go(self) -> None:
        """Of the bytes: the file that they are mapped from can be closed."""
        self._data = np.zeros(0, np.uint8)

    def more(self, at: int) -> bool:
        return False

    def cut(self, at: int, size: int) -> int:
        return _cut(self._data, at, size, self.stop)

    def window(self, at: int, stop: int) -> tuple[Bytes, int]:
        if stop + PADDING <= self._data.size:
            return self._data, 0
        # Kernels look beyond the end, so what is last has to be copied; and its last line may lack its newline.
        data = self.lines(at, stop)
        return padded(data if data.endswith(b"\n") else data + b"\n"), at

    def lines(self, at: int, stop: int) -> bytes:
        return self._data[at:stop].tobytes()

    def piece(self, at: int, stop: int) -> Lines:
        lines = self.lines(at, stop)
        if len(lines) > self._limits.max_line and b"\n" not in lines[:-1]:
            return TooLong.of(lines.removesuffix(b"\n"))
        return lines

    def line(self, at: int) -> int:
        # From the last place that was asked for: these come in order, or nearly so.
        place, line = self._counted if self._counted[0] <= at else (0, 1)
        self._counted = at, line + int(np.count_nonzero(self._data[place:at] == _NEWLINE))
        return self._counted[1]


class FedText:
    """A document that comes in pieces: whole lines, each with the number of its first (`rdf.lines.line_batches`)."""

    def __init__(self, pieces: Iterator[tuple[int, Lines]]) -> None:
        self._pieces = pieces
        self._data = b""
        self._padded = padded(b"")
        self._counted = (0, 1)
        self.start = 0
        self.ended = False
        self.trouble: tuple[int, Lines] | None = None

    @property
    def stop(self) -> int:
        return self.start + len(self._data)

    def more(self, at: int) -> bool:
        piece = next(self._pieces, None)
        if piece is None:
            self.ended = True
            return False
        line, lines = piece
        kept = self._data[at - self.start :]
        self._counted = at, line - kept.count(b"\n")
        self.start = at
        self.trouble = None if isinstance(lines, bytes) else piece
        if isinstance(lines, bytes):
            self._data = kept + lines if lines.endswith(b"\n") else kept + lines + b"\n"
        else:
            self._data = kept
        self._padded = padded(self._data)
        return True

    def cut(self, at: int, size: int) -> int:
        return self.start + _cut(self._padded, at - self.start, size, len(self._data))

    def window(self, at: int, stop: int) -> tuple[Bytes, int]:
        return self._padded, self.start

    def lines(self, at: int, stop: int) -> bytes:
        return self._data[at - self.start : stop - self.start]

    def piece(self, at: int, stop: int) -> Lines:
        return self.lines(at, stop)

    def line(self, at: int) -> int:
        place, line = self._counted
        self._counted = at, line + self._data.count(b"\n", place - self.start, at - self.start)
        return self._counted[1]


def _cut(data: Bytes, at: int, size: int, stop: int) -> int:
    """The end of the last line that ends between `at` and `at + size`, else of the first behind."""
    end = at + size
    if end >= stop:
        return stop
    while end > at:
        # A line is mostly short.
        start = max(end - _LOOK, at)
        newline = data[start:end].tobytes().rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    start = at + size
    while start < stop:
        newline = data[start : min(start + size, stop)].tobytes().find(b"\n")
        if newline >= 0:
            return start + newline + 1
        start += size
    return stop
