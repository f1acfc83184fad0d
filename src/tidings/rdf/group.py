"""Bring together what belongs together, on disk where memory does not suffice.

Groups come out in the order of their first appearance. Every key has a number in that order; what is held in memory is
written, sorted by number, as one temporary file when it grows too large, and the files are merged in the end.
"""

from __future__ import annotations

import heapq
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import IO

from tidings.rdf.limits import Limits
from tidings.rdf.quads import DEFAULT, Broken, Item, Run
from tidings.rdf.seen import Numbering

_HEADER = struct.Struct("<QqII")
_UNKNOWN_LINE = -1
_LAST = 2**64 - 1
_FILES = 64
_OVERHEAD = 60


@dataclass(frozen=True, slots=True)
class _Part:
    """Consecutive triples of a group."""

    number: int
    run: Run


class Grouper:
    """Takes runs in any order, gives them back group by group; the default graph comes last.

    A context manager: temporary files have no name and go with it, whatever happens.
    """

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.spill
        self._held: dict[str, list[Run]] = {}
        self._size = 0
        self._numbers = Numbering()
        self._files: list[IO[bytes]] = []
        self._stack = ExitStack()

    def __enter__(self) -> Grouper:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, run: Run) -> None:
        self._held.setdefault(run.graph, []).append(run)
        self._size += run.size + _OVERHEAD * (len(run.triples) + 1)
        if self._size > self._limit:
            self._spill()

    def runs(self) -> Iterator[Run]:
        """Everything that was added: the runs of each group follow one another."""
        if not self._files:
            last = self._held.pop(DEFAULT, [])
            for group in self._held.values():
                yield from group
            yield from last
            return
        self._spill()
        for part in heapq.merge(*map(_read, self._files), key=_number):
            yield part.run

    def _spill(self) -> None:
        parts = [_Part(self._number_of(key), run) for key, runs in self._held.items() for run in runs]
        parts.sort(key=_number)
        self._write(parts)
        self._held.clear()
        self._size = 0
        if len(self._files) >= _FILES:
            merged, self._files = self._files, []
            self._write(heapq.merge(*map(_read, merged), key=_number))
            for file in merged:
                file.close()

    def _number_of(self, key: str) -> int:
        return _LAST if key == DEFAULT else self._numbers.number(key)[0]

    def _write(self, parts: Iterable[_Part]) -> None:
        file = self._stack.enter_context(_temporary())
        self._files.append(file)
        for part in parts:
            key, data = part.run.graph.encode(), "".join(part.run.triples).encode()
            line = _UNKNOWN_LINE if part.run.line is None else part.run.line
            file.write(_HEADER.pack(part.number, line, len(key), len(data)) + key + data)


def regrouped(items: Iterable[Item], limits: Limits) -> Iterator[Item]:
    """The same items with the runs of each graph together. Broken lines come first: they may cost any of the runs."""
    first: Broken | None = None
    with Grouper(limits) as grouper:
        for item in items:
            if isinstance(item, Run):
                if first:
                    yield replace(first, graph=item.graph)
                    first = None
                grouper.add(item)
            elif item.graph is None:
                first = first or item
            else:
                yield item
        if first:
            yield first
        yield from grouper.runs()


@contextmanager
def _temporary() -> Iterator[IO[bytes]]:
    """A file without a name, which goes when it is closed or the process ends."""
    with tempfile.TemporaryFile(prefix="tidings-") as file:
        yield file


def _number(part: _Part) -> int:
    return part.number


def _read(file: IO[bytes]) -> Iterator[_Part]:
    file.seek(0)
    while header := file.read(_HEADER.size):
        number, line, key_size, data_size = _HEADER.unpack(header)
        key = file.read(key_size).decode()
        data = file.read(data_size).decode()
        triples = [f"{text}\n" for text in data.split("\n")[:-1]]
        yield _Part(number, Run(key, triples, len(data), None if line == _UNKNOWN_LINE else line))
