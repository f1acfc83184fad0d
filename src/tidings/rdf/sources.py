"""From what the user names (files, folders, globs, `-`, bytes, streams) to documents, and from these to bytes."""

from __future__ import annotations

import glob
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeAlias, cast

import pyarrow as pa

from tidings.errors import EventError
from tidings.rdf.formats import EXTENSIONS, Format

STDIN = "-"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_FAILURES = (EOFError, OSError, zlib.error, pa.ArrowException)


def compression(head: bytes) -> str:
    """How data that begin with these four bytes are compressed; empty where they are not."""
    if head.startswith(_GZIP):
        return "gzip"
    return "zstd" if head == _ZSTD else ""


class Stream:
    """The bytes of a document, decompressed. Whatever goes wrong while reading is an `EventError`."""

    def __init__(self, name: str, raw: BinaryIO, *, owned: bool = True) -> None:
        self._name = name
        self._raw = raw
        self._owned = owned
        buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(_Unbuffered(raw))
        try:
            self._inner, self._kind = self._decompressed(buffered)
        except EventError:
            self.close()
            raise
        except _FAILURES as error:
            self.close()
            raise EventError(f"cannot be read: {error}", source=name) from error

    def _decompressed(self, raw: io.BufferedReader) -> tuple[BinaryIO, str]:
        kind = compression(raw.peek(4)[:4])
        if kind == "gzip":
            return cast(BinaryIO, gzip.GzipFile(fileobj=raw)), kind
        if kind == "zstd":
            return pa.CompressedInputStream(pa.PythonFile(raw, "r"), kind), kind
        for suffix, kind in ((".gz", "gzip"), (".zst", "zstd")):
            if self._name.endswith(suffix):
                raise EventError(f"is not {kind} data, as its name says", source=self._name)
        return raw, ""

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; fewer only at the end."""
        return self._guarded(self._inner.read, size)

    def some(self, size: int) -> bytes:
        """Up to `size` bytes, as soon as there are any: a pipe is not kept waiting for more."""
        return self._guarded(getattr(self._inner, "read1", self._inner.read), size)

    def _guarded(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except _FAILURES as error:
            if not self._kind:
                raise EventError(f"cannot be read: {error}", source=self._name) from error
            reason = f"the {self._kind} data are cut off or damaged: {error}".splitlines()[0]
            raise EventError(reason, source=self._name, hint="fetch or compress the file again") from error

    def close(self) -> None:
        if self._owned:
            self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Unbuffered(io.RawIOBase):
    """Any object with `read` as the raw stream that `io.BufferedReader` wants."""

    def __init__(self, inner: BinaryIO) -> None:
        self._read: Callable[[int], bytes] = getattr(inner, "read1", inner.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@dataclass(frozen=True, slots=True)
class Document:
    """One RDF document. `base` resolves its relative IRIs.

    `once` is a stream that cannot be read again, `shared` one that is not for the reader to close.
    """

    name: str
    format: Format
    base: str | None
    opener: Callable[[], BinaryIO]
    once: bool = False
    shared: bool = False

    def open(self) -> Stream:
        try:
            raw = self.opener()
        except OSError as error:
            raise EventError(f"cannot be opened: {error.strerror or error}", source=self.name) from error
        return Stream(self.name, raw, owned=not self.shared)


Source: TypeAlias = str | os.PathLike[str] | bytes | BinaryIO | Document


def documents(
    sources: Iterable[Source] | Source, *, format: str | Format | None = None, base: str | None = None
) -> Iterator[Document | EventError]:
    """The documents that `sources` stand for, in order; an error stands where there is none."""
    wanted = None if format is None else Format.of(format)
    for source in _several(sources):
        if isinstance(source, Document):
            yield source
        elif isinstance(source, bytes):
            yield _in_memory(source, wanted, base)
        elif not isinstance(source, str | os.PathLike):
            yield _stream(source, wanted, base)
        elif not os.fspath(source):
            yield EventError("the name of a file or folder is empty")
        elif os.fspath(source) == STDIN:
            yield Document("stdin", wanted or Format.NQ, base, lambda: sys.stdin.buffer, once=True, shared=True)
        else:
            yield from _files(Path(source), wanted, base)


def _several(sources: Iterable[Source] | Source) -> Iterable[Source]:
    if isinstance(sources, str | os.PathLike | bytes | Document):
        return [sources]
    return [cast(BinaryIO, sources)] if hasattr(sources, "read") else sources


def _in_memory(data: bytes, format: Format | None, base: str | None) -> Document | EventError:
    if format is None:
        return EventError("bytes need format=, for instance format='trig'", source="bytes")
    return Document("bytes", format, base, lambda: io.BytesIO(data))


def _stream(stream: BinaryIO, format: Format | None, base: str | None) -> Document | EventError:
    name = getattr(stream, "name", None)
    name = name if isinstance(name, str) else "stream"
    found = format or Format.of_path(name)
    if found is None:
        return EventError("a stream needs format=, for instance format='trig'", source=name)
    return Document(name, found, base, lambda: stream, once=True, shared=True)


def _files(path: Path, format: Format | None, base: str | None) -> Iterator[Document | EventError]:
    try:
        if path.is_dir():
            yield from _folder(path, format, base)
        elif path.exists():
            yield _file(path, format, base)
        else:
            yield from _matching(str(path), format, base)
    except (OSError, ValueError) as error:
        yield EventError(f"cannot be opened: {error}", source=str(path))


def _folder(path: Path, format: Format | None, base: str | None) -> Iterator[Document | EventError]:
    """The RDF files below a folder; what else lies there is left alone."""
    for file in below(path):
        if format or Format.of_path(file):
            yield _file(file, format, base)


def _matching(pattern: str, format: Format | None, base: str | None) -> Iterator[Document | EventError]:
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]
    if not found:
        what = "no file matches this pattern" if glob.has_magic(pattern) else "no such file or folder"
        yield EventError(what, source=pattern)
    for path in found:
        if path.is_dir():
            yield from _folder(path, format, base)
        else:
            yield _file(path, format, base)


def below(folder: Path) -> Iterator[Path]:
    """The files below a folder in name order, each folder where its name stands; hidden ones are left out."""
    for entry in sorted(folder.iterdir(), key=lambda p: p.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from below(entry)
        else:
            yield entry


def _file(path: Path, format: Format | None, base: str | None) -> Document | EventError:
    found = format or Format.of_path(path)
    if found is None:
        hint = f"known extensions are {' '.join(EXTENSIONS)}, each also with .gz or .zst"
        return EventError("the name does not tell the RDF format", source=str(path), hint=hint)
    # A named pipe can be read only once.
    once = not stat.S_ISREG(path.stat().st_mode) if path.exists() else False
    return Document(str(path), found, base or path.absolute().as_uri(), lambda: path.open("rb"), once=once)
