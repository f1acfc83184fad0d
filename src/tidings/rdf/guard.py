"""Bounds that hold before a parser sees the bytes: document size, and for Turtle and TriG depth and term size.

A guard takes a document's chunks and gives them on, checked; what it does not give on, no parser ever reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tidings.errors import EventError, Span
from tidings.rdf.limits import Limits, human
from tidings.rdf.quads import too_large
from tidings.rdf.seen import Numbering
from tidings.rdf.sources import Document, Stream

_CHUNK = 128 * 1024
_BOM = b"\xef\xbb\xbf"

GENERATED = r"[a-f][0-9a-f]{19,31}"
"""What the parser calls a blank node without a label: 128 random bits in hexadecimal, beginning with a letter."""


class Reader:
    """Chunks as a file, which is what the parser reads from."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._chunk = b""
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            rest = self._chunk[self._at :] + b"".join(self._chunks)
            self._chunk, self._at = b"", 0
            return rest
        while self._at >= len(self._chunk):
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._chunk, self._at = chunk, 0
        piece = self._chunk[self._at : self._at + size]
        self._at += len(piece)
        return piece


def chunks(stream: Stream, document: Document, limit: int) -> Iterator[bytes]:
    """The document in chunks, without a byte order mark; an error once it is larger than `limit`."""
    size = 0
    while chunk := stream.read(_CHUNK):
        if size == 0:
            chunk = chunk.removeprefix(_BOM)
        size += len(chunk)
        if size > limit:
            hint = "split it, or use N-Quads, which is read as a stream"
            raise EventError(f"a document of more than {human(limit)}", source=document.name, hint=hint)
        yield chunk


# Everything that neither opens nor closes a bracket. The quantifiers are possessive: nothing is looked at twice.
_SKIP = rb"""(?:
    [^"'<\#\[\](){}\\_]++
  | <[^<>\n\r]*+>
  | "{3}(?:"{0,2}+(?:[^"\\]++|\\.))*+"{3} | '{3}(?:'{0,2}+(?:[^'\\]++|\\.))*+'{3}
  | "(?!"")(?:[^"\\\n\r]++|\\.)*+" | '(?!'')(?:[^'\\\n\r]++|\\.)*+'
  | \#[^\n\r]*+[\n\r]
  | \\.
  | _(?!:%(label)s)
)*+"""
_TOKEN = re.compile(
    (_SKIP + rb"""(?: (?P<open>[\[({]) | (?P<close>[\])}]) | _:(?P<label>%(label)s) )?+""")
    % {b"label": GENERATED.encode()},
    re.VERBOSE | re.DOTALL,
)


def turtle(parts: Iterable[bytes], document: Document, limits: Limits, labels: Numbering) -> Iterator[bytes]:
    """Turtle or TriG, bounded; labels that look like the parser's own are noted in `labels`."""
    scan = _TurtleScan(document, limits, labels)
    for part in parts:
        yield scan.checked(part)
    yield scan.checked(b"", last=True)


class _TurtleScan:
    def __init__(self, document: Document, limits: Limits, labels: Numbering) -> None:
        self._document = document
        self._limits = limits
        self._labels = labels
        self._rest = b""
        self._line = 1
        self._column = 1
        self._depth = 0

    def checked(self, part: bytes, *, last: bool = False) -> bytes:
        """What of the text so far is known to be good: all but a token that has not ended yet."""
        data = self._rest + part
        # A token that ends at white space has ended; one that ends with the chunk may go on in the next.
        end = len(data) if last else max(data.rfind(b"\n"), data.rfind(b" ")) + 1
        at = self._scan(data, end)
        if at < end:
            self._look_at(data, at, end, last)
        self._rest = b"" if last else data[at:]
        if len(self._rest) > self._limits.max_term:
            raise self._error(data, at, too_large(self._limits))
        good = data[: len(data) - len(self._rest)]
        self._line, self._column = _after(good, self._line, self._column)
        return good

    def _scan(self, data: bytes, end: int) -> int:
        """Where the first token stands that does not end before `end`."""
        at = 0
        while True:
            token = _TOKEN.match(data, at, end)
            if token is None or token.lastgroup is None:
                return token.end() if token else at
            at = token.end()
            if token.lastgroup == "open":
                self._depth += 1
                if self._depth > self._limits.max_depth:
                    raise self._error(data, at - 1, f"brackets nested more than {self._limits.max_depth} deep")
            elif token.lastgroup == "close":
                self._depth -= 1
            else:
                self._labels.number(token["label"].decode())

    def _look_at(self, data: bytes, at: int, end: int, last: bool) -> None:
        """The token at `at` has no end. Say so where none can come any more."""
        text = data[at:end]
        if text.startswith(b"<<"):
            raise self._error(data, at, "a triple term or reifier: RDF 1.2 is not supported, only RDF 1.1")
        if text[:1] in b"#\\" or (not last and (text.startswith((b'"""', b"'''")) or not re.search(rb"[\n\r]", text))):
            return
        what = "an IRI" if text.startswith(b"<") else "a quoted string"
        raise self._error(data, at, f"{what} is not closed")

    def _error(self, data: bytes, at: int, reason: str) -> EventError:
        line, column = _after(data[:at], self._line, self._column)
        start = data.rfind(b"\n", 0, at) + 1
        text = None
        if start or self._column == 1:
            text = data[start : start + 10_000].partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
        return EventError(reason, span=Span(line, column, text), source=self._document.name)


def _after(data: bytes, line: int, column: int) -> tuple[int, int]:
    """The place after `data`, which starts at the given one."""
    newlines = data.count(b"\n")
    if newlines:
        line, column = line + newlines, 1
        data = data[data.rindex(b"\n") + 1 :]
    return line, column + len(data.decode("utf-8", "replace"))
