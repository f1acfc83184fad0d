"""Tables in folders, written batch by batch: a batch is there as a whole and once, or not at all.

Spark may run a batch again: after a crash, or when it is not sure that it was done. So a batch is written beside the
table first and then given its place by renaming its folder, which takes effect at once; where the place is taken, it
was done before. Names that begin with an underscore are not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from tidings.spark.store import Store, claim

_WRITING = "_writing"
_NUMBERED = re.compile(r"batch=(\d+)")
_SEVERAL = re.compile(r"batch=(\d+)-(\d+)")


class BatchTable:
    """A folder of Parquet. Its rows have the column `batch` besides their own, and may be in folders by others."""

    def __init__(self, folder: str | PathLike[str], by: str | None = None) -> None:
        self._store = Store(fspath(folder))
        self._by = by
        self.folder = self._store.folder

    def has(self, batch: int) -> bool:
        """Whether it is there, by itself or in a folder of several."""
        return self._store.is_folder(_place(batch)) or any(
            int(several[1]) <= batch <= int(several[2])
            for name in self._store.names()
            if (several := _SEVERAL.fullmatch(name)) is not None
        )

    def batches(self) -> list[int]:
        """Those that are there."""
        return [int(match[1]) for name in self._store.names() if (match := _NUMBERED.fullmatch(name)) is not None]

    def place(self, batch: int) -> str:
        return self._store.place(_place(batch))

    def write(self, batch: int, rows: DataFrame) -> bool:
        """Have these rows as a batch; whether they had to be written."""

        def put(place: str) -> None:
            writer = rows.write.partitionBy(self._by) if self._by else rows.write
            writer.parquet(place)

        return self.once(batch, put)

    def write_here(self, batch: int, rows: pa.Table) -> bool:
        """The same with rows of this process, and by it."""

        def put(place: str) -> None:
            into = Store(place)
            if self._by is None:
                into.write("part-0.parquet", _parquet(rows))
                return
            for value in pc.unique(rows[self._by]).to_pylist():
                these = rows.filter(pc.equal(rows[self._by], value)).drop_columns([self._by])
                into.write(f"{self._by}={value}/part-0.parquet", _parquet(these))
            if not len(rows):
                # A file that is in no such folder would make the others hard to read.
                into.write("_SUCCESS", b"")

        return self.once(batch, put)

    def once(self, batch: int, put: Callable[[str], None]) -> bool:
        """Have what is put into a folder as a batch; whether it had to be put there."""
        if self.has(batch):
            return False
        name = f"{_WRITING}/{batch}-{uuid4().hex}"
        put(self._store.place(name))
        try:
            self._store.move(name, _place(batch))
        except OSError:
            # A driver that was thought to be dead may have been sooner.
            if not self.has(batch):
                raise
        self.clean()
        return True

    @contextmanager
    def aside(self) -> Iterator[str]:
        """A folder for something that is not kept."""
        yield self._store.place(f"{_WRITING}/aside-{uuid4().hex}")
        self.clean()

    def claim(self, owner: str) -> None:
        """Say whose table this is; one that is somebody else's is refused."""
        claim(self._store, owner, in_use=bool(self.batches()))

    def forget(self, before: int) -> None:
        """Remove the batches before this one."""
        for batch in self.batches():
            if batch < before:
                self._store.remove(_place(batch))

    def clean(self) -> None:
        """Remove what was begun and never came to its end."""
        self._store.remove(_WRITING)


def _place(batch: int) -> str:
    return f"batch={batch:010}"


def _parquet(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data
