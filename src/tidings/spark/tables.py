"""Tables in folders, written batch by batch: a batch is there as a whole and once, or not at all.

Spark may run a batch again: after a crash, or when it is not sure that it was done. So a batch is written beside the
table first and then given its place by renaming its folder, which takes effect at once; where the place is taken, it
was done before. Names that begin with an underscore are not read.
"""

from __future__ import annotations

from os import PathLike, fspath
from uuid import uuid4

from pyarrow import fs
from pyspark.sql import DataFrame

from tidings.errors import UsageError

_WRITING = "_writing"


class BatchTable:
    """A folder of Parquet. Its rows have the column `batch` besides their own."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = fspath(folder).rstrip("/")
        self._files, self._root = _store(self.folder)

    def has(self, batch: int) -> bool:
        return self._is_folder(self._place(batch))

    def write(self, batch: int, rows: DataFrame) -> bool:
        """Have these rows as a batch; whether they had to be written."""
        if self.has(batch):
            return False
        name = f"{batch}-{uuid4().hex}"
        rows.write.parquet(f"{self.folder}/{_WRITING}/{name}")
        try:
            self._files.move(f"{self._root}/{_WRITING}/{name}", self._place(batch))
        except OSError:
            # A driver that was thought to be dead may have been sooner.
            if not self.has(batch):
                raise
        self.clean()
        return True

    def clean(self) -> None:
        """Remove what was begun and never came to its end."""
        if self._is_folder(f"{self._root}/{_WRITING}"):
            self._files.delete_dir(f"{self._root}/{_WRITING}")

    def _is_folder(self, place: str) -> bool:
        return bool(self._files.get_file_info(place).type == fs.FileType.Directory)

    def _place(self, batch: int) -> str:
        return f"{self._root}/batch={batch:010}"


def _store(folder: str) -> tuple[fs.FileSystem, str]:
    if not folder:
        raise UsageError("the name of a table's folder is empty")
    if "://" not in folder:
        return fs.LocalFileSystem(), folder
    store: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(folder)
    return store
