"""A stream cut into blocks that hold whole records, in bounded memory, however long the stream and its records are."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from tidings.errors import EventError, UsageError

BLOCK = 1 << 20
BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = (b"\xff\xfe", b"\xfe\xff")


class Skipper(Protocol):
    """Reads past one record."""

    def feed(self, data: bytes) -> int:
        """The place behind the end of the record, or -1 where that is still to come."""


class Cutter(Protocol):
    """Knows where records end."""

    def last(self, data: bytes) -> int:
        """The place behind the last record that is whole, of data that go on."""

    def skipper(self) -> Skipper: ...


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records: the line and byte that they begin at, and how many too large ones were left out before them."""

    data: bytes
    line: int
    offset: int
    before: int = 0
    closed: bool = True
    """Whether the last record has an end: the last of all may stop in the middle."""


def line_count(data: bytes, start: int = 0, stop: int | None = None) -> int:
    """How many lines end in these bytes: by a newline, a carriage return, or both together."""
    stop = len(data) if stop is None else stop
    returns = data.count(b"\r", start, stop)
    return data.count(b"\n", start, stop) + (returns - data.count(b"\r\n", start, stop) if returns else 0)


def blocks(
    read: Callable[[int], bytes],
    cutter: Cutter,
    largest: int,
    refuse: Callable[[int], None],
    *,
    line: int = 1,
    head: bytes = b"",
) -> Iterator[Block]:
    """The blocks of a stream that goes on behind `head`. `refuse` is told the line of a record that is too large."""
    rest, offset, before = head, 0, 0
    while True:
        chunk = read(max(BLOCK, len(rest)))
        data = rest + chunk if rest else chunk
        end = cutter.last(data) if chunk else len(data)
        if end:
            closed = bool(chunk) or cutter.last(data + b"\n") == len(data) + 1
            yield Block(data[:end], line, offset, before, closed)
            line += line_count(data, 0, end)
            offset += end
            before = 0
        rest = data[end:]
        if not chunk:
            if before:
                yield Block(b"", line, offset, before)
            return
        if len(rest) > largest:
            refuse(line)
            before += 1
            rest, lines, passed = _skipped(read, cutter.skipper(), rest)
            line, offset = line + lines, offset + passed


def _skipped(read: Callable[[int], bytes], skipper: Skipper, data: bytes) -> tuple[bytes, int, int]:
    """What comes behind a record, and the lines and bytes that it had."""
    lines, passed, after_return = 0, 0, False
    while data:
        end = skipper.feed(data)
        part = data if end < 0 else data[:end]
        lines += line_count(part) - (after_return and part.startswith(b"\n"))
        passed += len(part)
        after_return = part.endswith(b"\r")
        if end >= 0:
            return data[end:], lines, passed
        data = read(BLOCK)
    return b"", lines, passed


class LineCutter:
    """Records are lines."""

    def last(self, data: bytes) -> int:
        return data.rfind(b"\n") + 1

    def skipper(self) -> Skipper:
        return _LineSkipper()


class _LineSkipper:
    def feed(self, data: bytes) -> int:
        return data.find(b"\n") + 1 or -1


def without_bom(head: bytes, source: str) -> bytes:
    if head.startswith(_OTHER_BOMS):
        hint = "say so: the option 'encoding' is, for instance, 'utf-16'"
        raise EventError("is not UTF-8, but probably UTF-16", source=source, hint=hint)
    return head.removeprefix(BOM)


def transcoded(read: Callable[[int], bytes], encoding: str, source: str) -> Callable[[int], bytes]:
    """What `read` gives, as UTF-8: as much as is asked for, and less only at the end."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
        if not isinstance(decoder.decode(b""), str):
            raise LookupError
    except LookupError as error:
        raise UsageError(f"'{encoding}' is no encoding of text") from error
    waiting, ended = b"", False

    def more(size: int) -> bytes:
        nonlocal waiting, ended
        while len(waiting) < size and not ended:
            chunk = read(BLOCK)
            ended = not chunk
            try:
                waiting += decoder.decode(chunk, final=ended).encode()
            except UnicodeError as error:
                raise EventError(f"is not {encoding}: {error}", source=source) from error
        given, waiting = waiting[:size], waiting[size:]
        return given

    return more


def encoding_is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")
    except LookupError as error:
        raise UsageError(f"'{encoding}' is no encoding of text") from error
