"""Files of the pipeline, on this machine or in a store that Arrow knows: each is there as a whole, or not at all."""

from __future__ import annotations

import os
from uuid import uuid4

from pyarrow import fs

from tidings.errors import UsageError

_OWNER = "_checkpoint"


class Store:
    """A folder, by its name or address. Names inside it are relative to it."""

    def __init__(self, folder: str) -> None:
        if not folder:
            raise UsageError("the name of a folder is empty")
        self.folder = folder.rstrip("/") or "/"
        self.local = "://" not in folder or folder.startswith("file://")
        if self.local:
            self.folder = os.path.abspath(self.folder.removeprefix("file://"))
            self._files, self.root = fs.LocalFileSystem(), self.folder
        else:
            self._files, self.root = fs.FileSystem.from_uri(self.folder)

    def place(self, name: str) -> str:
        """The whole name, as Spark and Python take it."""
        return f"{self.folder}/{name}"

    def is_folder(self, name: str) -> bool:
        return bool(self._info(name).type == fs.FileType.Directory)

    def is_file(self, name: str) -> bool:
        return bool(self._info(name).type == fs.FileType.File)

    def names(self, name: str = "") -> list[str]:
        """What is in a folder, sorted; nothing where there is none."""
        found = self._files.get_file_info(fs.FileSelector(self._at(name), allow_not_found=True))
        return sorted(info.base_name for info in found)

    def tree(self, name: str) -> list[fs.FileInfo]:
        """All that is in a folder and in those below it, sorted; nothing where there is none."""
        select = fs.FileSelector(self._at(name), allow_not_found=True, recursive=True)
        return sorted(self._files.get_file_info(select), key=lambda info: str(info.path))

    def read(self, name: str) -> bytes:
        with self._files.open_input_file(self._at(name)) as file:
            data: bytes = file.read()
        return data

    def write(self, name: str, data: bytes) -> None:
        """Have a file with this in it, in place of one that is there. It is on the disk when this returns."""
        place = self._at(name)
        self._files.create_dir(place.rpartition("/")[0], recursive=True)
        if not self.local:
            with self._files.open_output_stream(place) as file:
                file.write(data)
            return
        beside = f"{place.rpartition('/')[0]}/.{uuid4().hex}"
        with open(beside, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, place)

    def opened(self, name: str) -> tuple[str, fs.FileSystem]:
        """A file as Arrow takes it; its folder is there."""
        place = self._at(name)
        self._files.create_dir(place.rpartition("/")[0], recursive=True)
        return place, self._files

    def move(self, name: str, to: str) -> None:
        """Give a folder its place."""
        self._files.create_dir(self._at(to).rpartition("/")[0], recursive=True)
        self._files.move(self._at(name), self._at(to))

    def remove(self, name: str) -> None:
        """Remove a folder, if it is there."""
        if self.is_folder(name):
            self._files.delete_dir(self._at(name))

    def delete(self, name: str) -> None:
        """Remove a file, if it is there."""
        if self.is_file(name):
            self._files.delete_file(self._at(name))

    def upload(self, folder: str, name: str) -> None:
        """Copy a folder of this machine."""
        fs.copy_files(folder, self._at(name), fs.LocalFileSystem(), self._files)

    def download(self, name: str, folder: str) -> None:
        """Copy a folder to this machine."""
        fs.copy_files(self._at(name), folder, self._files, fs.LocalFileSystem())

    def _info(self, name: str) -> fs.FileInfo:
        return self._files.get_file_info(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root


def claim(store: Store, owner: str, *, in_use: bool) -> None:
    """Say whose folder this is. One that is somebody else's is refused: his batches have the same numbers."""
    if store.is_file(_OWNER):
        other = store.read(_OWNER).decode()
    else:
        other = "" if in_use else owner
        if not in_use:
            store.write(_OWNER, owner.encode())
    if other != owner:
        advice = "name another folder, or remove it if nobody needs it"
        raise UsageError(f"{store.folder} has the batches of another checkpoint: {advice}")
