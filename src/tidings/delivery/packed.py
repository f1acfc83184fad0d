"""Bodies that come packed, unpacked a piece at a time: never more than a little beyond what is allowed."""

from __future__ import annotations

import zlib

_MEMBERS = 10_000
"""Members of a gzip file: it may be one after the other, but not for ever."""


class PackedError(ValueError):
    """It is not packed as it says."""


class Gzip:
    """A gzip file, of one member or several; with `raw`, what HTTP calls deflate. Who has been given more than `most`
    bytes knows that there are too many.
    """

    def __init__(self, most: int, *, raw: bool = False) -> None:
        self._raw = raw
        self._name = "deflate" if raw else "gzip"
        self._inflate = self._fresh()
        self._most = most
        self._size = 0
        self._members = 1
        self._begun = False

    def unpack(self, chunk: bytes) -> bytes:
        pieces: list[bytes] = []
        while chunk and self._size <= self._most:
            if self._inflate.eof:
                self._next_member()
            self._begun = True
            try:
                piece = self._inflate.decompress(chunk, self._most - self._size + 1)
            except zlib.error as error:
                raise PackedError(f"the body is not {self._name}: {error}") from error
            self._size += len(piece)
            pieces.append(piece)
            chunk = self._inflate.unused_data
        return b"".join(pieces)

    def end(self) -> None:
        if self._begun and not self._inflate.eof and self._size <= self._most:
            raise PackedError(f"the body is not {self._name}: it ends in the middle")

    def _next_member(self) -> None:
        self._members += 1
        if self._raw or self._members > _MEMBERS:
            most = 1 if self._raw else _MEMBERS
            raise PackedError(f"the body is {self._name} of more than {most:,} members")
        self._inflate = self._fresh()

    def _fresh(self) -> zlib._Decompress:
        return zlib.decompressobj(zlib.MAX_WBITS if self._raw else 16 + zlib.MAX_WBITS)
