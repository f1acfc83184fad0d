"""How the archive lies in its folder.

    batch=0000000012/day=2026-11-16/…             the events of a batch, as the pipeline wrote them
    batch=0000000000-0000000011/day=2026-11-16/…  those of many batches, sorted by their ids: a compacted piece
    _quads/0000000000-0000000011/day=2026-11-16/… the quads of a compacted piece, sorted by predicate, number and object

A piece takes effect when its folder gets its name. Batches that a larger piece covers are dead: whoever reads leaves
them out, and whoever writes next removes them. So nothing is ever missing or there twice, wherever a compaction stops.
A day is that of `published`, or else of `accepted`. All files are Parquet; names that begin with an underscore are not
read by those who read the folder as a table.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, date, datetime
from typing import BinaryIO, NamedTuple

import pyarrow as pa
from pyarrow import fs

from tidings.errors import UsageError
from tidings.spark.store import Store

QUADS = "_quads"
COMPACTING = "_compacting"
_LOCK = "_lock"
_READERS = "_readers"
_HALF_WRITTEN = re.compile(r"\.[0-9a-f]{32}")
_BATCH = re.compile(r"batch=(\d+)(?:-(\d+))?")
_DAY = re.compile(r"day=(\d{4}-\d{2}-\d{2})")
_MOMENT = pa.timestamp("us", "UTC")
ARCHIVE_ROWS = pa.schema(
    [
        ("event", pa.string()),
        ("published", _MOMENT),
        ("accepted", _MOMENT),
        ("body", pa.string()),
        ("source", pa.string()),
        ("digest", pa.string()),
        ("part", pa.string()),
    ]
)
"""`part` is null for a whole event; a part of one that came by itself is a `part`, and `late` after its event's end."""

QUAD_ROWS = pa.schema(
    [
        ("graph", pa.string()),
        ("subject", pa.string()),
        ("predicate", pa.string()),
        ("object", pa.string()),
        ("number", pa.float64()),
    ]
)
"""The graph is the event's id, the others are terms as N-Triples has them; `number` is the object's value, if it has
one, as near as a double gets."""


class Piece(NamedTuple):
    """The batches from the first to the last, in one folder."""

    first: int
    last: int
    compacted: bool

    @property
    def range(self) -> str:
        return f"{self.first:010}-{self.last:010}" if self.compacted else f"{self.first:010}"

    @property
    def name(self) -> str:
        return f"batch={self.range}"

    @property
    def quads(self) -> str:
        return f"{QUADS}/{self.range}"

    def covers(self, other: Piece) -> bool:
        """Whether all of the other is in this one."""
        wider = (self.last - self.first, self.compacted) > (other.last - other.first, other.compacted)
        return wider and self.first <= other.first and other.last <= self.last


class File(NamedTuple):
    """A file of the archive. `name` is relative to its folder."""

    piece: Piece
    day: date
    name: str
    size: int


class Span(NamedTuple):
    """The events from one moment on, and before another."""

    since: datetime | None = None
    until: datetime | None = None

    def has_day(self, day: date) -> bool:
        after = self.since is None or day >= self.since.astimezone(UTC).date()
        return after and (self.until is None or day <= self.until.astimezone(UTC).date())


ALWAYS = Span()


class Before(NamedTuple):
    """What was there before a batch. Where that one was begun, `accepted` is when: a batch that is run again may have
    been compacted with those before it, and its events are the ones that came at that moment.
    """

    batch: int
    accepted: datetime | None = None


class Archive:
    """An archive in a folder of this machine, or of a store that Arrow knows."""

    def __init__(self, folder: str) -> None:
        self.store = Store(folder)
        self.folder = self.store.folder

    @classmethod
    def at(cls, folder: str) -> Archive:
        """One that is there."""
        archive = cls(folder)
        if not archive.pieces():
            raise UsageError(
                f"{folder}: there is no archive here; name the folder that `tidings pipeline --archive` has"
            )
        return archive

    def pieces(self) -> list[Piece]:
        """Those that count, in the order of their batches."""
        return living(self._found())

    def dead(self) -> list[Piece]:
        """Those whose events are in another one as well."""
        found = self._found()
        return [each for each in found if each not in set(living(found))]

    def _found(self) -> list[Piece]:
        return [piece for name in self.store.names() if (piece := piece_of(name)) is not None]

    def files(self, span: Span = ALWAYS) -> Iterator[File]:
        """The files of events that may be of this time."""
        for piece in self.pieces():
            yield from self.events_of(piece, span)

    def events_of(self, piece: Piece, span: Span = ALWAYS) -> Iterator[File]:
        """The files of events of a piece."""
        return self._files(piece, piece.name, span)

    def quad_files(self, piece: Piece, span: Span = ALWAYS) -> Iterator[File]:
        """The files of quads of a compacted piece."""
        return self._files(piece, piece.quads, span)

    def _files(self, piece: Piece, folder: str, span: Span) -> Iterator[File]:
        for info in self.store.tree(folder):
            day = _DAY.search(info.path.removeprefix(self.store.root))
            hidden = info.base_name.startswith(("_", "."))
            if info.type != fs.FileType.File or hidden or day is None or not info.base_name.endswith(".parquet"):
                continue
            when = date.fromisoformat(day[1])
            if span.has_day(when):
                yield File(piece, when, info.path.removeprefix(self.store.root).lstrip("/"), info.size)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While this lasts, nothing goes of what is there, as far as that is decided on this machine."""
        with self._held(_READERS, fcntl.LOCK_SH):
            yield

    @contextmanager
    def maintained(self, *, alone: bool = False) -> Iterator[None]:
        """While this lasts, nobody else on this machine compacts or deletes; where `alone`, nobody reads either."""
        with self._held(_LOCK, fcntl.LOCK_EX):
            self._remove_begun()
            if alone:
                with self._held(_READERS, fcntl.LOCK_EX):
                    self._remove_dead()
                    yield
                return
            self._clean()
            yield
            self._clean()

    @contextmanager
    def _held(self, name: str, how: int) -> Iterator[None]:
        """With a lock on a file of this archive. Who only reads it, and finds no such file, has to do without."""
        with ExitStack() as held:
            if self.store.local:
                lock = _opened(self.store.place(name), may_be_absent=how == fcntl.LOCK_SH)
                if lock is not None:
                    fcntl.flock(held.enter_context(lock), how)
            yield

    def _clean(self) -> None:
        """Remove dead pieces, unless somebody may be reading them: then whoever maintains it next does."""
        try:
            with self._held(_READERS, fcntl.LOCK_EX | fcntl.LOCK_NB):
                self._remove_dead()
        except BlockingIOError:
            return

    def _remove_dead(self) -> None:
        for piece in self.dead():
            self.store.remove(piece.name)
            self.store.remove(piece.quads)

    def _remove_begun(self) -> None:
        """Remove what was begun and never came to its end: nobody reads that."""
        self.store.remove(COMPACTING)
        found = self._found()
        there = {piece.quads for piece in found}
        for name in self.store.names(QUADS):
            if f"{QUADS}/{name}" not in there:
                self.store.remove(f"{QUADS}/{name}")
        for folder in [*(piece.name for piece in found), QUADS]:
            for info in self.store.tree(folder):
                if _HALF_WRITTEN.fullmatch(info.base_name):
                    self.store.delete(info.path.removeprefix(self.store.root).lstrip("/"))


def _opened(place: str, *, may_be_absent: bool) -> BinaryIO | None:
    try:
        return open(place, "ab")
    except OSError:
        if not may_be_absent:
            raise
    try:
        return open(place, "rb")
    except OSError:
        return None


def piece_of(name: str) -> Piece | None:
    match = _BATCH.fullmatch(name)
    if match is None:
        return None
    return Piece(int(match[1]), int(match[2] or match[1]), match[2] is not None)


def living(pieces: Sequence[Piece]) -> list[Piece]:
    """Those that no other one covers."""
    kept: list[Piece] = []
    for piece in sorted(pieces, key=lambda each: (each.first, -each.last, not each.compacted)):
        if not kept or not kept[-1].covers(piece):
            kept.append(piece)
    return kept
