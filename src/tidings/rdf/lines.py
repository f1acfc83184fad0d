"""N-Triples and N-Quads: a stream of lines, each of which stands or falls by itself.

The bytes are cut at newlines before a parser sees them. Many lines go to the parser at once; only where these do not
parse as a whole is each looked at by itself, so good input costs nothing for the bad input's sake.

A broken line costs the event that is open at that line: the graph the line itself still names at its end, else the
graph of the line before, else (at the start of a document) the graph that comes next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import pyoxigraph as ox

from tidings.errors import EventError, Span
from tidings.rdf.formats import Format
from tidings.rdf.limits import Limits, human
from tidings.rdf.messages import BASE, CONVERT, NOT_UTF8, in_words
from tidings.rdf.quads import DEFAULT, Broken, Item, Refused, Run, runs, subject_of, too_large
from tidings.rdf.sources import Document, Stream

_BATCH = 256 * 1024
_BOM = b"\xef\xbb\xbf"

_NODE = r"<[^<>\"{}|^`\\\s]*>|_:[^\s<>\"]+"
_HEAD = re.compile(rf"\s*({_NODE})\s+(<[^<>\"\s]*>\s+(?=\S))?")
_LITERAL_END = r"\"(?:@[\w-]+|\^\^<[^<>\"\s]*>)?"
_TAIL = re.compile(rf"(?:({_LITERAL_END})?\s+({_NODE})|{_LITERAL_END})\s*\.\s*$")
_END_LENGTH = 4000
_TERM = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|<[^>]*+>?|[^\s"<]++')
_RDF_1_2 = (b"<<(", b"--ltr", b"--rtl")


def line_items(document: Document, limits: Limits) -> Iterator[Item]:
    """The document's runs and broken lines, in order."""
    try:
        stream = document.open()
    except EventError as error:
        yield Broken(error, None, None, rest=True)
        return
    reader = LineReader(document.name, document.format, limits)
    with stream:
        for first, lines in line_batches(stream, limits):
            yield from reader.items(first, lines)


@dataclass(frozen=True, slots=True)
class _BrokenLine:
    """A broken line before it is known which event it costs."""

    error: EventError
    raw: bytes = b""
    rest: bool = False


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that is too long to be read, of which the two ends are kept."""

    ends: bytes

    @staticmethod
    def of(line: bytes) -> TooLong:
        return TooLong(line[:_END_LENGTH] + line[-_END_LENGTH:])


Lines: TypeAlias = bytes | EventError | TooLong
"""Whole lines, or what stands in their place."""


def line_batches(stream: Stream, limits: Limits) -> Iterator[tuple[int, Lines]]:
    """Whole lines, many at a time, with the number of the first."""
    line = 1
    carry = b""
    skipped = b""
    while True:
        try:
            chunk = stream.some(_BATCH)
        except EventError as error:
            yield line, error
            return
        if not chunk:
            break
        if skipped:
            rest, newline, chunk = chunk.partition(b"\n")
            skipped = skipped[:_END_LENGTH] + (skipped[_END_LENGTH:] + rest)[-_END_LENGTH:]
            if not newline:
                continue
            yield line, TooLong(skipped)
            line, skipped = line + 1, b""
        data = carry + chunk
        if line == 1 and data.startswith(_BOM):
            data = data[len(_BOM) :]
        cut = data.rfind(b"\n") + 1
        if cut:
            yield line, data[:cut]
            line += data.count(b"\n", 0, cut)
        carry = data[cut:]
        if len(carry) > limits.max_line:
            skipped, carry = carry[:_END_LENGTH] + carry[-_END_LENGTH:], b""
    if skipped:
        yield line, TooLong(skipped)
    if carry:
        yield line, carry


class LineReader:
    """Reads the lines of one document, in as many pieces as they come in."""

    def __init__(self, source: str, format: Format, limits: Limits) -> None:
        self._source = source
        self._format = format
        self._limits = limits
        self._graph: str | None = None if format.has_graphs else DEFAULT
        self._subject: str | None = None

    def items(self, first: int, lines: Lines) -> Iterator[Item]:
        """The runs and broken lines of whole lines, the first of which has this number."""
        for item in self._found(first, lines):
            if isinstance(item, Run):
                self._graph, self._subject = item.graph, subject_of(item.triples[-1])
                yield item
            else:
                yield self._placed(item)

    def _found(self, first: int, lines: Lines) -> Iterator[Run | _BrokenLine]:
        if isinstance(lines, EventError):
            yield _BrokenLine(lines, rest=True)
        elif isinstance(lines, TooLong):
            limits = self._limits
            reason = f"a line of more than {human(limits.max_line)}; one term may have {human(limits.max_term)}"
            yield _BrokenLine(EventError(reason, span=Span(first), source=self._source), lines.ends)
        else:
            yield from self._batch_items(lines, first)

    def _batch_items(self, batch: bytes, first: int) -> Iterator[Run | _BrokenLine]:
        if len(batch) <= self._limits.max_term and not any(mark in batch for mark in _RDF_1_2):
            with suppress(SyntaxError, Refused, UnicodeDecodeError):
                if not batch.isascii():
                    # The parser does not look into comments; what is next to a line must not matter.
                    batch.decode()
                quads = list(ox.parse(batch, self._format.oxigraph))
                numbers = _numbers(batch, first, len(quads))
                if len(numbers) == len(quads):
                    yield from list(runs(quads, self._limits, numbers))
                    return
        for number, raw in enumerate(batch.split(b"\n"), first):
            if raw and not raw.isspace():
                yield from self._line_items(raw, number)

    def _line_items(self, raw: bytes, number: int) -> Iterator[Run | _BrokenLine]:
        hint: str | None = None
        column: int | None = None
        try:
            limit = self._limits.max_term
            if len(raw) > limit and any(m.end() - m.start() > limit for m in _TERM.finditer(raw)):
                raise Refused(too_large(self._limits))
            raw.decode("utf-8")
            quads = list(ox.parse(raw + b"\n", self._format.oxigraph))
            yield from runs(quads, self._limits, [number] * len(quads))
            return
        except UnicodeDecodeError as error:
            reason, hint = f"{NOT_UTF8} (byte {error.start + 1} of the line)", CONVERT
            column = len(raw[: error.start].decode("utf-8")) + 1
        except SyntaxError as error:
            reason, hint = in_words(str(error.msg))
            hint = None if hint is BASE else hint
            column = error.offset
            if column is not None and raw.decode("utf-8")[column - 1 : column] == '"':
                reason = "a quoted string does not end on its line"
        except Refused as refused:
            reason = str(refused)
        text = raw.decode("utf-8", "replace").rstrip("\r") if len(raw) <= _BATCH else None
        yield _BrokenLine(EventError(reason, span=Span(number, column, text), source=self._source, hint=hint), raw)

    def _placed(self, broken: _BrokenLine) -> Broken:
        """A broken line with the graph and the subject that it costs."""
        own_graph, own_subject = _named(broken.raw)
        if own_graph is None or not self._format.has_graphs:
            own_graph = self._graph
        return Broken(broken.error, own_graph, own_subject or self._subject, broken.rest)


def _numbers(batch: bytes, first: int, quads: int) -> range | list[int]:
    """The line numbers of the quads: of every line, or of those that are neither blank nor comments."""
    count = batch.count(b"\n") + (not batch.endswith(b"\n"))
    if count == quads:
        return range(first, first + count)
    lines = enumerate(batch.split(b"\n"), first)
    return [number for number, line in lines if (text := line.strip()) and not text.startswith(b"#")]


def _named(raw: bytes) -> tuple[str | None, str | None]:
    """The graph and the subject that a broken line still names.

    Its last term is the graph where a whole literal stands before it, or a subject, a predicate and something else do;
    where it ends in a literal it is outside any graph.
    """
    text = raw.decode("utf-8", "replace")
    head = _HEAD.match(text)
    subject = head[1] if head else None
    offset = max(0, len(text) - _END_LENGTH)
    tail = _TAIL.search(text[offset:])
    if tail is None:
        return None, subject
    if tail[2] is None:
        return DEFAULT, subject
    after_predicate = head is not None and head[2] is not None and head.end() < offset + tail.start()
    return (tail[2] if tail[1] or after_predicate else None), subject
