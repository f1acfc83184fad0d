"""Files by paths, folders and globs: of this machine, or of a store that Arrow knows."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast
from urllib.parse import quote, urlsplit

import pyarrow as pa
from pyarrow import fs

from tidings.errors import UsageError
from tidings.rdf.formats import EXTENSIONS, Format
from tidings.rdf.sources import Document


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was found; `changed` is when it came to be as and where it is, in nanoseconds."""

    name: str
    size: int
    changed: int

    @property
    def turn(self) -> tuple[int, str]:
        """Its place in a stream of files."""
        return self.changed, self.name

    def format(self, wanted: str | None) -> Format | None:
        return Format.of(wanted) if wanted else Format.of_path(_plain(self.name) or urlsplit(self.name).path)

    def document(self, wanted: str | None) -> Document:
        format = self.format(wanted)
        assert format is not None
        plain = _plain(self.name)
        base = self.name if plain is None else Path(plain).as_uri()
        # A name that is no text can be opened, but not be put into a table.
        shown = self.name.encode(errors="backslashreplace").decode()
        return Document(shown, format, base, lambda: opened(self.name))


def located(path: str) -> tuple[fs.FileSystem, str]:
    """The store that has a file or folder, and the place there."""
    plain = _plain(path)
    if plain is not None:
        return fs.LocalFileSystem(), os.path.abspath(plain)
    try:
        store, place = fs.FileSystem.from_uri(path)
    except (pa.ArrowException, ValueError) as error:
        raise UsageError(f"'{path}' cannot be reached: {error}") from error
    return store, place


def opened(path: str) -> BinaryIO:
    plain = _plain(path)
    if plain is not None:
        return open(plain, "rb")
    store, place = located(path)
    return cast(BinaryIO, store.open_input_file(place))


def files(paths: Iterable[str], format: str | None, *, waiting: bool = False, without: str | None = None) -> list[File]:
    """The files of all paths, each once; of a folder those that are RDF by name (or all, if the format is given).

    Below a folder they are in name order, and as for Spark a name that begins with `.` or `_` is ignored. A path that
    stands for nothing is an error, but a glob may be `waiting` for files. The folder `without` is left out.
    """
    found: dict[str, File] = {}
    for path in paths:
        plain = _plain(path)
        some = list(_local(os.path.abspath(plain)) if plain is not None else _stored(path))
        if not some and glob.has_magic(path.partition("?")[0] if plain is None else path):
            if not waiting:
                raise UsageError(f"no file matches: '{path}'")
        elif not some and not _is_folder(path):
            raise UsageError(f"no such file or folder: '{path}'")
        for file, named in some:
            if file.format(format) is not None:
                found[file.name] = file
            elif named:
                known = " ".join(EXTENSIONS)
                raise UsageError(f"'{file.name}' does not tell the RDF format: say it by format, or by {known}")
    if without is None:
        return list(found.values())
    prefix = os.path.abspath(plain) if (plain := _plain(without)) is not None else without.rstrip("/")
    return [file for name, file in found.items() if not name.startswith(f"{prefix}/")]


def is_ignored(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def _plain(path: str) -> str | None:
    """The path of a file of this machine; None where it is the address of another."""
    if urlsplit(path).scheme not in ("", "file"):
        return None
    return path.removeprefix("file://") if path.startswith("file://") else path.removeprefix("file:")


def _is_folder(path: str) -> bool:
    store, place = located(path)
    return bool(store.get_file_info(place).type == fs.FileType.Directory)


# ------------------------------------------------------------------------------------------------------ of this machine

_Found = Iterator[tuple[File, bool]]
"""Files, and whether each was named itself and not only a folder of it."""


def _local(path: str) -> _Found:
    if os.path.isdir(path):
        yield from ((file, False) for file in _below(path))
    elif os.path.exists(path):
        yield from ((file, True) for file in _one(path))
    elif glob.has_magic(path):
        parts = PurePosixPath(path).parts
        fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
        for name in sorted(glob.glob(path, recursive=True)):
            if not any(map(is_ignored, PurePosixPath(name).parts[fixed:])):
                folder = os.path.isdir(name)
                yield from ((file, False) for file in (_below(name) if folder else _one(name)))


def _below(folder: str) -> Iterator[File]:
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in ordered:
        if is_ignored(entry.name):
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _below(entry.path)
        else:
            yield from _one(entry.path)


def _one(path: str) -> Iterator[File]:
    """The file, if it is one, and still there.

    Its change is the time that nobody can set: a move counts, and so does a new date, but not what that date says.
    """
    try:
        link, file = os.lstat(path), os.stat(path)
    except FileNotFoundError:
        return
    if stat.S_ISREG(file.st_mode):
        yield File(path, file.st_size, max(link.st_ctime_ns, file.st_ctime_ns))


# ----------------------------------------------------------------------------------------------------------- of a store


_SAFE = "/=:@+,;"


def _stored(uri: str) -> _Found:
    """An address may have settings behind a `?`, which then belong to every file of it."""
    base, mark, settings = uri.partition("?")
    parts = base.rstrip("/").split("/")
    fixed = next((number for number, part in enumerate(parts) if "*" in part or "[" in part), len(parts))
    top, pattern = "/".join(parts[:fixed]), parts[fixed:]
    store, root = located(f"{top}{mark}{settings}")
    if not pattern and (info := store.get_file_info(root)).type == fs.FileType.File:
        yield _of_store(info, uri), True
        return
    for info in _in_name_order(store, root):
        below = info.path[len(root) :].strip("/").split("/")
        if not any(map(is_ignored, below)) and _fits(below, pattern):
            yield _of_store(info, f"{top}/{quote('/'.join(below), _SAFE)}{mark}{settings}"), False


def _in_name_order(store: fs.FileSystem, folder: str) -> list[fs.FileInfo]:
    infos = store.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=True))
    return sorted((info for info in infos if info.type == fs.FileType.File), key=lambda info: info.path.split("/"))


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the pattern matches a file, or a folder that it is in."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(_fits(parts[number:], pattern[1:]) for number in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _of_store(info: fs.FileInfo, uri: str) -> File:
    return File(uri, info.size or 0, info.mtime_ns or 0)
