"""Named arrays in a folder, opened by memory map; a write replaces all of them at once, or nothing.

    manifest.json      names the data file, and says where each array is in it: see `manifest`
    data-<random>.bin  a header, and the arrays one after the other, each at a multiple of 64 bytes
    writer.lock        held while somebody writes; stays, because a lock on a file that comes and goes is none

A write makes a new data file, and only when that is safely on disk a new manifest, which takes the old one's place in
one step. So whatever a crash leaves behind, the manifest names a data file that is complete; the rest is swept away by
the next writer. A reader who has mapped the old data keeps it: its file has lost its name only.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tidings.errors import SnapshotError
from tidings.index.manifest import (
    AGAIN,
    ALIGNMENT,
    DATA_FILE,
    DTYPES,
    MAX_BYTES,
    Entry,
    Json,
    Manifest,
    check_array,
    parse,
    render,
)

MANIFEST = "manifest.json"
_NEW_MANIFEST = "manifest.json.new"
_LOCK = "writer.lock"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The arrays are views of one memory map, which lives as long as any of them. Whoever writes into one gets a page
    of his own: neither the file nor another process sees it.
    """

    folder: Path
    about: Mapping[str, Json]
    arrays: Mapping[str, NDArray[Any]]


def write(folder: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Json]) -> None:
    """Make `arrays` the snapshot in `folder`, in place of the one that is there.

    Raises SnapshotError if somebody else is writing it or the disk refuses, UsageError for what no snapshot can hold.
    """
    for name, array in arrays.items():
        check_array(name, array.dtype, array.shape)
    try:
        _make(folder)
        with _only_writer(folder):
            _sweep_after_a_crash(folder)
            _replace(folder, arrays, about)
    except OSError as error:
        problem = f"it could not be written: {error.strerror or error}"
        raise SnapshotError(folder, problem, "check the disk and the folder, and write it again") from error


def open_snapshot(folder: Path, *, verify: bool = False) -> Snapshot:
    """The snapshot in `folder`: its manifest and the size of its data are checked, with `verify` all data, too.

    Raises SnapshotError if there is none, if it is damaged, or if it does not fit this product, Python or machine.
    """
    try:
        manifest, file = _open_both(folder)
        with file:
            _check_file(folder, manifest, file)
            if verify:
                _check_data(folder, manifest, file)
            data = mmap.mmap(file.fileno(), manifest.size, access=mmap.ACCESS_COPY)
    except OSError as error:
        problem = f"it could not be read: {error.strerror or error}"
        raise SnapshotError(folder, problem, f"check the disk and the folder, or {AGAIN}") from error
    arrays = {
        name: np.ndarray(entry.shape, DTYPES[entry.dtype], data, entry.offset)
        for name, entry in manifest.entries.items()
    }
    return Snapshot(folder, MappingProxyType(dict(manifest.about)), MappingProxyType(arrays))


def verify(folder: Path) -> Snapshot:
    """Read all data of the snapshot and compare their digests; SnapshotError names the arrays that are damaged."""
    return open_snapshot(folder, verify=True)


def _make(folder: Path) -> None:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        _sync_folder(path.parent)


@contextmanager
def _only_writer(folder: Path) -> Iterator[None]:
    """Nobody else writes while this lasts. The system ends the lock with the process, however that ends."""
    with open(folder / _LOCK, "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            other = file.read(20).decode("ascii", "replace").strip()
            problem = f"another writer is at work (process {other or 'unknown'})"
            raise SnapshotError(folder, problem, "write it again when that one is done") from error
        try:
            file.truncate(0)
            file.write(b"%d\n" % os.getpid())
            file.flush()
            yield
        finally:
            # Closing alone would leave the lock to a process forked in the meantime.
            fcntl.flock(file, fcntl.LOCK_UN)


def _replace(folder: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Json]) -> None:
    data, new = folder / f"data-{token_hex(16)}.bin", folder / _NEW_MANIFEST
    try:
        with open(data, "xb") as file:
            entries = _write_arrays(file, arrays)
            size = file.tell()
            _sync(file)
        with open(new, "wb") as file:
            file.write(render(Manifest(data.name, size, entries, about)))
            _sync(file)
        _sync_folder(folder)
    except BaseException:
        data.unlink(missing_ok=True)
        new.unlink(missing_ok=True)
        raise
    os.replace(new, folder / MANIFEST)
    # Before the old data go: else the disk might keep their removal and lose the new manifest.
    _sync_folder(folder)
    _sweep(folder, data.name)


def _write_arrays(file: IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Entry]:
    file.write(_header(Path(file.name).name))
    entries = {}
    for name, array in arrays.items():
        file.write(bytes(-file.tell() % ALIGNMENT))
        offset = file.tell()
        content = np.asarray(array, order="C").reshape(-1).view(np.uint8)
        digest = hashlib.sha256()
        for at in range(0, content.size, _CHUNK):
            # Bytes of our own, so that what is written is what the digest is of even if the array is not at rest.
            chunk = content[at : at + _CHUNK].tobytes()
            digest.update(chunk)
            file.write(chunk)
        entries[name] = Entry(array.dtype.name, array.shape, offset, content.size, digest.hexdigest())
    return entries


def _header(file: str) -> bytes:
    """What a data file begins with: says what it is, never leaves it empty, and ties it to its name."""
    return f"tidings {file}\n".encode().ljust(ALIGNMENT, b"\0")


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep_after_a_crash(folder: Path) -> None:
    """Make room before the new data need it. Of a manifest that cannot be read nobody knows what it needs."""
    try:
        keep = parse(folder, _read_manifest(folder)).file
    except FileNotFoundError:
        keep = ""
    except (OSError, SnapshotError):
        return
    _sweep(folder, keep)


def _sweep(folder: Path, keep: str) -> None:
    """Remove the data files nobody needs. What resists is left to the next writer."""
    for path in folder.iterdir():
        if DATA_FILE.fullmatch(path.name) and path.name != keep:
            with suppress(OSError):
                path.unlink()


def _open_both(folder: Path) -> tuple[Manifest, IO[bytes]]:
    """The manifest and its data file. Between the two a writer may replace both: then the new ones."""
    before = None
    while True:
        try:
            text = _read_manifest(folder)
        except (FileNotFoundError, NotADirectoryError) as error:
            advice = "compile one with 'tidings compile', or name another folder"
            raise SnapshotError(folder, f"there is none (no {MANIFEST})", advice) from error
        manifest = parse(folder, text)
        try:
            return manifest, _open_file(folder / manifest.file)
        except FileNotFoundError as error:
            if text == before:
                raise SnapshotError(folder, f"its data file {manifest.file} is missing", AGAIN) from error
            before = text


def _read_manifest(folder: Path) -> bytes:
    with _open_file(folder / MANIFEST) as file:
        return file.read(MAX_BYTES + 1)


def _open_file(path: Path) -> IO[bytes]:
    """A plain file of the folder: no link that leads out of it, no pipe that never answers."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path.name} is not a plain file")
    return open(descriptor, "rb")


def _check_file(folder: Path, manifest: Manifest, file: IO[bytes]) -> None:
    size = os.fstat(file.fileno()).st_size
    if size != manifest.size:
        problem = f"its data file {manifest.file} has {size:,} bytes, and the manifest says {manifest.size:,}"
        raise SnapshotError(folder, problem, AGAIN)
    if file.read(ALIGNMENT) != _header(manifest.file):
        raise SnapshotError(folder, f"{manifest.file} is not the data file that was written here", AGAIN)


def _check_data(folder: Path, manifest: Manifest, file: IO[bytes]) -> None:
    """Reads the file rather than the map, where a bad sector would end the process."""
    damaged = [name for name, entry in manifest.entries.items() if _digest_of(file, entry) != entry.digest]
    if damaged:
        names = ", ".join(damaged[:10]) + (", …" if len(damaged) > 10 else "")
        problem = f"data have changed since they were written (digest mismatch in {names})"
        raise SnapshotError(folder, problem, AGAIN)


def _digest_of(file: IO[bytes], entry: Entry) -> str:
    file.seek(entry.offset)
    digest = hashlib.sha256()
    left = entry.bytes
    while left and (chunk := file.read(min(left, _CHUNK))):
        digest.update(chunk)
        left -= len(chunk)
    return digest.hexdigest()
