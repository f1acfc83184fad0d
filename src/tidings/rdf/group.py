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
from dataclasses import dataclass, field, replace
from typing import IO, TypeAlias

from tidings.rdf.limits import Limits
from tidings.rdf.quads import DEFAULT, Broken, Item, Run
from tidings.rdf.seen import Numbering

_HEADER = struct.Struct("<QqII")
_UNKNOWN_LINE = -1
_LAST = 2**64 - 1
_FILES = 64
_GROUP_OVERHEAD = 400
_TRIPLE_OVERHEAD = 60

_Record: TypeAlias = tuple[int, Run]
"""Consecutive triples of a group, with the number of the group."""


@dataclass(slots=True)
class _Held:
    line: int | None
    triples: list[str] = field(default_factory=list)
    size: int = 0


class Grouper:
    """Takes runs in any order, gives them back group by group; the default graph comes last.

    A context manager: temporary files have no name and go with it, whatever happens.
    """

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.spill
        self._held: dict[str, _Held] = {}
        self._size = 0
        self._numbers = Numbering()
        self._files: list[IO[bytes]] = []
        self._stack = ExitStack()

    def __enter__(self) -> Grouper:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, run: Run) -> None:
        held = self._held.get(run.graph)
        if held is None:
            held = self._held[run.graph] = _Held(run.line)
            self._size += _GROUP_OVERHEAD
        held.triples += run.triples
        held.size += run.size
        self._size += run.size + _TRIPLE_OVERHEAD * len(run.triples)
        if self._size > self._limit:
            self._spill()

    def runs(self) -> Iterator[Run]:
        """Everything that was added: the runs of each group follow one another."""
        if not self._files:
            for name, held in sorted(self._held.items(), key=lambda group: group[0] == DEFAULT):
                yield Run(name, held.triples, held.size, held.line)
            return
        self._spill()
        for _, run in heapq.merge(*map(_read, self._files), key=_number):
            yield run

    def _spill(self) -> None:
        records = [(self._number_of(k), Run(k, h.triples, h.size, h.line)) for k, h in self._held.items()]
        records.sort(key=_number)
        self._write(records)
        self._held.clear()
        self._size = 0
        if len(self._files) >= _FILES:
            merged, self._files = self._files, []
            self._write(heapq.merge(*map(_read, merged), key=_number))
            for file in merged:
                file.close()

    def _number_of(self, key: str) -> int:
        return _LAST if key == DEFAULT else self._numbers.number(key)[0]

    def _write(self, records: Iterable[_Record]) -> None:
        file = self._stack.enter_context(_temporary())
        self._files.append(file)
        for number, run in records:
            key, data = run.graph.encode(), "".join(run.triples).encode()
            line = _UNKNOWN_LINE if run.line is None else run.line
            file.write(_HEADER.pack(number, line, len(key), len(data)) + key + data)


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


def _number(record: _Record) -> int:
    return record[0]


def _read(file: IO[bytes]) -> Iterator[_Record]:
    file.seek(0)
    while header := file.read(_HEADER.size):
        number, line, key_size, data_size = _HEADER.unpack(header)
        key = file.read(key_size).decode()
        data = file.read(data_size).decode()
        triples = [f"{text}\n" for text in data.split("\n")[:-1]]
        yield number, Run(key, triples, len(data), None if line == _UNKNOWN_LINE else line)
