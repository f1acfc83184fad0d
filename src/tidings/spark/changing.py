"""Subscriptions that change while a stream runs, as the driver has them.

It looks at their source between two batches and writes what has changed as a small file, which the workers apply to
what they have open. When many have changed since all were compiled, they are compiled again in the background: what was
there is taken as it is, and only what is new costs anything. See `versions` for the files.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from time import time_ns

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.index.placing import checked_shards
from tidings.index.routing import Under
from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.lang.rows import Report
from tidings.lang.watched import Change, Source, Standing, Watched, is_late
from tidings.match.fast import Fast
from tidings.match.fast.keeping import open_kept
from tidings.match.fast.sharded import PLACING, Placer, shard_name
from tidings.match.fast.times import Times
from tidings.ontology import Ontology
from tidings.spark.compiled import Standings as Standings
from tidings.spark.compiled import Taken as Taken
from tidings.spark.shards_base import changes_of, first_shards, placer_of, save_base, shards_again
from tidings.spark.store import Store
from tidings.spark.versions import INDEX, ROWS, Version, apply, of_lines, set_name, to_lines
from tidings.spark.workers import local_copy, open_base, placing_of

_FEWEST = 5_000
_SHARE = 10
"""All are compiled again when so many have changed, and one in so many of them."""

_BESIDE = "tidings-base-"
_LATE = "late"

_log = logging.getLogger("tidings")


class Subscriptions:
    """Subscriptions from a source, kept in a folder that all workers can read.

    A folder that has some already is gone on with: only what has changed since is compiled. With `shards` they are in
    so many; if it is not said, as they were.
    """

    def __init__(
        self, source: Source, folder: str, ontology: Ontology | None = None, shards: int | None = None
    ) -> None:
        self._source = source
        self._store = Store(folder)
        self._ontology = ontology or Ontology.empty()
        self._standing = Standing()
        self._changing = threading.Lock()
        self._compiling: threading.Thread | None = None
        self._base, self._sets, self._since = -1, 0, 0
        self._shards = 0
        self._has_older = True
        self._placer: Placer | None = None
        self._go_on(shards if shards is None else checked_shards(shards))

    @property
    def version(self) -> Version:
        return Version(self._store.place(_base(self._base)), self._sets, shards=self._shards)

    @property
    def ready(self) -> bool:
        """Whether there is a version of them, from now or from another run."""
        return self._base >= 0

    def __len__(self) -> int:
        return len(self._standing.rows)

    def take(self, report: Report) -> Taken:
        """Have what the source says now. What is wrong in it is reported."""
        with self._changing:
            if self._has_older:
                self._remove_older()
            if self._base < 0:
                self._first(report)
                return Taken(self.version, len(self), 0, len(self))
            changes = list(self._noted(self._source.changes(self._standing, report)))
            if changes:
                self._note_late(changes)
                self._sets += 1
                self._store.write(f"{_base(self._base)}/{set_name(self._sets)}", self._lines(changes))
                self._since += len(changes)
                self._compile_soon()
            counts = Counter(change.kind for change in changes)
            gone = counts["gone"] + counts["end"]
            late = [int(name.partition(".")[0]) for name in self._store.names(_LATE) if name.endswith(".ndjson")]
            return Taken(self.version, counts["put"], gone, len(self), late)

    @property
    def ontology(self) -> Ontology:
        return self._ontology

    def _note_late(self, changes: Sequence[Change]) -> None:
        """Before the changes themselves: if this is as far as one gets, the source says them once more."""
        ids = {change.id for change in changes if is_late(change)}
        if ids:
            these = to_lines(change for change in changes if change.id in ids)
            self._store.write(f"{_LATE}/{time_ns() // 1_000_000}.ndjson", these)

    def late(self, number: int) -> list[Change]:
        """Of those that were noted."""
        place = f"{_LATE}/{number}.ndjson"
        return list(of_lines(self._store.read(place))) if self._store.is_file(place) else []

    def forget(self, number: int) -> None:
        self._store.delete(f"{_LATE}/{number}.ndjson")

    def close(self) -> None:
        """Wait until what goes on in the background is done."""
        if self._compiling is not None:
            self._compiling.join()

    def _noted(self, changes: Iterable[Change]) -> Iterator[Change]:
        for change in changes:
            self._standing.note(change)
            yield change

    def _lines(self, changes: Iterable[Change]) -> bytes:
        if not self._shards:
            return to_lines(changes)
        placer = self._placer = self._placer or placer_of(self.version, self._ontology)

        def place(change: Change) -> tuple[int, Under]:
            return placer.place(change.id, change.form or parse(change.query, change.dialect))

        return to_lines(changes, place)

    # ------------------------------------------------------------------------------------------------------ the bases

    def _go_on(self, wanted: int | None) -> None:
        """Find out where one was."""
        bases = [int(name.removeprefix("base-")) for name in self._store.names() if name.startswith("base-")]
        if not bases:
            self._shards = wanted or 0
            return
        self._base = max(bases)
        folder = _base(self._base)
        self._sets = sum(name.endswith(".ndjson") for name in self._store.names(folder))
        table = pq.read_table(pa.BufferReader(self._store.read(f"{folder}/{ROWS}")))
        self._standing.taken = set((table.schema.metadata or {}).get(b"taken", b"").decode().splitlines())
        self._standing.rows = dict(zip(table["id"].to_pylist(), table["digest"].to_pylist(), strict=True))
        for change in self._changes(self._base, self._sets):
            self._standing.note(change)
            self._since += 1
        if self._store.is_file(f"{folder}/{PLACING}"):
            self._shards = placing_of(self._store.place(folder)).shards
        part = f"{folder}/{shard_name(0)}" if self._shards else folder
        renew = not open_kept(Path(local_copy(self._store.place(part))) / INDEX).fits(self._ontology)
        if renew or wanted not in (None, self._shards):
            self._compile(renew=renew, shards=wanted)

    def _first(self, report: Report) -> None:
        if self._shards:
            changes = self._noted(self._source.changes(self._standing, report))
            self._keep(0, first_shards(changes, self._shards, self._ontology), self._standing)
        else:
            self._keep(0, self._whole(report), self._standing)
        self._base = 0

    def _whole(self, report: Report) -> Callable[[Path], None]:
        engine, times = Fast(self._ontology), Times()

        def rows() -> Iterator[tuple[str, Query]]:
            for change in self._noted(self._source.changes(self._standing, report)):
                if change.kind == "put" and change.id not in ended:
                    times.put(change.id, change.created, change.cancelled)
                    yield change.id, change.form or parse(change.query, change.dialect)
                else:
                    # In a log, what is put after it was cancelled stays.
                    ended.add(change.id)
                    later.append(change)

        later: list[Change] = []
        ended: set[str] = set()
        engine.add_many(rows())
        apply(later, engine, times)
        return lambda folder: save_base(folder, engine, times)

    def _changes(self, base: int, sets: int) -> Iterator[Change]:
        for number in range(1, sets + 1):
            yield from of_lines(self._store.read(f"{_base(base)}/{set_name(number)}"))

    def _keep(self, base: int, write: Callable[[Path], None], standing: Standing) -> None:
        """Make a base of these. Its folder has its name when all of it is there."""
        with tempfile.TemporaryDirectory(prefix=_BESIDE, dir=self._beside()) as beside:
            folder = Path(beside) / "base"
            write(folder)
            (folder / ROWS).write_bytes(_rows(standing))
            if self._store.local:
                folder.rename(self._store.place(_base(base)))
            else:
                self._store.upload(str(folder), f"new-{base}")
                self._store.move(f"new-{base}", _base(base))

    def _beside(self) -> str | None:
        """Where a folder can be made that has only to be renamed."""
        if not self._store.local:
            return None
        Path(self._store.folder).mkdir(parents=True, exist_ok=True)
        for left in Path(self._store.folder).glob(f"{_BESIDE}*"):
            # From somebody who did not come to his end.
            shutil.rmtree(left, ignore_errors=True)
        return self._store.folder

    # ------------------------------------------------------------------------------------------------- compiling again

    def _compile_soon(self) -> None:
        if self._since < max(_FEWEST, len(self) // _SHARE) or (self._compiling and self._compiling.is_alive()):
            return
        self._compiling = threading.Thread(target=self._compile_quietly, name="tidings-compile", daemon=True)
        self._compiling.start()

    def _compile_quietly(self) -> None:
        try:
            self._compile()
        except Exception:
            _log.exception("subscriptions could not be compiled again; matching goes on with them as they are")

    def _compile(self, *, renew: bool = False, shards: int | None = None) -> None:
        """With another ontology, or in another number of shards, it is for who has just begun."""
        with self._changing:
            base, sets = self._base, self._sets
            standing = Standing(dict(self._standing.rows), set(self._standing.taken))
            old = self.version
        self._keep(base + 1, self._again(old, renew, shards), standing)
        with self._changing:
            # What came meanwhile belongs to the new base. After a crash here, the source says it once more.
            for number in range(sets + 1, self._sets + 1):
                late = self._store.read(f"{_base(base)}/{set_name(number)}")
                self._store.write(f"{_base(base + 1)}/{set_name(number - sets)}", late)
            self._base, self._sets = base + 1, self._sets - sets
            self._shards, self._placer = self._shards if shards is None else shards, None
            self._since = sum(1 for _ in self._changes(self._base, self._sets))
            self._has_older = True

    def _remove_older(self) -> None:
        """Bases that nobody needs. Who asks for the next version has done the batch that may have been run again, which
        one of several starts ago might have begun; a batch that is under way may need the base before the last.
        """
        for name in self._store.names():
            if name.startswith("base-") and int(name.removeprefix("base-")) < self._base - 1:
                self._store.remove(name)
        self._has_older = False

    def _again(self, old: Version, renew: bool, shards: int | None) -> Callable[[Path], None]:
        """What writes the subscriptions of a version anew."""
        if shards not in (None, old.shards):
            assert shards is not None
            return first_shards(changes_of(old), shards, self._ontology)
        if old.shards:
            return shards_again(old, self._ontology, renew=renew)
        engine, times = open_base(old.folder)
        apply(self._changes(self._base, old.changes), engine, times)
        if renew:
            engine.replace_ontology(self._ontology)
        return lambda folder: save_base(folder, engine, times)


def _base(number: int) -> str:
    return f"base-{number:06}"


def _rows(standing: Standing) -> bytes:
    table = pa.table({"id": list(standing.rows), "digest": list(standing.rows.values())})
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({b"taken": "\n".join(sorted(standing.taken)).encode()}), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def subscriptions(
    source: str | PathLike[str] | Source,
    *,
    ontology: str | PathLike[str] | Ontology | None = None,
    folder: str | PathLike[str] | None = None,
    shards: int | None = None,
) -> Subscriptions:
    """Subscriptions for `match` and `pipeline`, as they are now: `take` has them as their source says then.

    `folder` keeps them compiled, for this run and the next; all workers must be able to read it. Without one they are
    kept for this process. `shards` is for so many that they outgrow a worker: each lives in one of so many shards.
    """
    watched = Watched(fspath(source)) if isinstance(source, str | PathLike) else source
    if folder is None:
        folder = tempfile.mkdtemp(prefix="tidings-subscriptions-")
        # Nobody knows when the last task has read it.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Subscriptions(watched, fspath(folder), loaded(ontology), shards)


def loaded(ontology: str | PathLike[str] | Ontology | None) -> Ontology | None:
    return ontology if isinstance(ontology, Ontology) or ontology is None else Ontology.load(fspath(ontology))
