"""Big N-Quads files in ranges of bytes, each of which is read by itself, as if the whole file had been read.

A file is cut only where nothing that came before matters: where a good line of a named graph follows a good line of
another. A range of bytes stands for what lies between two such cuts, the first behind its start and the first behind
its end, so it has whole graphs, and both its neighbours know the same cuts without asking. What is outside any graph
is one event of the whole file. It is gathered by one more reader, which looks only at lines that may be outside.

A range knows nothing of the others. Where a graph comes apart, one reader of the whole file would refuse its second
part, drop it as the same again, or not give it at all since a line of the first was broken. If the parts are in
different ranges, both are given. `standing.settled` then takes the first, and refuses the other or drops it as the
same; but that a part was broken in another range nobody knows by then, and the sound part counts. And what is wrong
with such a graph is told by each range that sees it, and not only once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, BinaryIO

from tidings.errors import EventError
from tidings.rdf.by_graph import by_graph
from tidings.rdf.draft import Problems
from tidings.rdf.event import Event
from tidings.rdf.finish import Finisher
from tidings.rdf.formats import Format
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.rdf.lines import LineReader, line_batches, line_items
from tidings.rdf.quads import DEFAULT, Broken, Item, Run
from tidings.rdf.read import Report
from tidings.rdf.seen import SeenEvents
from tidings.rdf.sources import Document

_CHUNK = 1 << 20
_LONGEST = 1 << 20
"""A line that is longer is never taken for a plain one."""

# Lines in the usual spelling, of which it is clear what graph they name, even if they are broken (see `rdf.lines`):
# so only ASCII where it is not in quotes, and nothing that is long behind them.
_CHARACTERS = rb"[!#-;=?-\[\]_a-z~]"
_IRI = rb"<" + _CHARACTERS + rb"*+>"
_SHORT_IRI = rb"<" + _CHARACTERS + rb"{0,1500}+>"
_BLANK = rb"_:[A-Za-z0-9_-]++"
_LITERAL = rb'"(?:[^"\\\r\n]++|\\[^\r\n])*+"(?:@[A-Za-z0-9-]{1,100}+|\^\^' + _SHORT_IRI + rb")?+"
_GAP = rb"[ \t]{1,8}+"
_TRIPLE = rb"(?:%b|%b)%b%b%b(?:%b|%b|%b)" % (_IRI, _BLANK, _GAP, _IRI, _GAP, _IRI, _BLANK, _LITERAL)
_END = rb"[ \t]{0,8}+\.[ \t]{0,8}+\r?\n"
_NAMED = re.compile(_TRIPLE + _GAP + rb"(" + _SHORT_IRI + rb")" + _END)
_NAMED_LINES = re.compile(rb"(?:" + _TRIPLE + _GAP + _SHORT_IRI + _END + rb")++")
_NEXT_NAMED = re.compile(rb"(?m:^)" + _TRIPLE + _GAP + _SHORT_IRI + _END)
_UNNAMED = re.compile(rb"(?:%b%b|[ \t]*+(?:#[\t -~]*+)?+\r?\n)" % (_TRIPLE, _END))


def ranges(size: int, longest: int) -> list[tuple[int, int]]:
    """A file of this size in ranges of about the same length."""
    count = max(1, -(-size // longest))
    places = [size * number // count for number in range(count + 1)]
    return list(pairwise(places))


def events_in_range(
    document: Document,
    start: int,
    stop: int,
    size: int,
    *,
    report: Report,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Event]:
    """The events of the named graphs that begin in a range of an N-Quads file, which has `size` bytes in all.

    Problems with what is outside any graph are left to `events_outside`.
    """
    try:
        first = 0 if start == 0 else _first_cut(document, start, stop, size, limits)
        if first is None:
            return
        last = size if stop == size else _first_cut(document, stop, size, size, limits) or size
    except OSError as error:
        report(_unopened(document, error))
        return
    # The newline before comes with it: a stream that begins with one is never taken for a compressed one.
    begin = max(first - 1, 0)
    piece = replace(document, opener=lambda: _slice(document, begin, last))
    problems = Problems(document.name, limits, _shifting(report, document, begin))
    items = _inside(line_items(piece, limits))
    yield from Finisher(problems, None, SeenEvents(), strict=strict).events(by_graph(items, problems))


def events_outside(
    document: Document, *, report: Report, strict: bool = False, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Event]:
    """The event of what is outside any graph in an N-Quads file, if there is any."""
    outside = _Outside(report)
    problems = Problems(document.name, limits, outside.report)
    items = outside.items(_seldom_named(document, limits))
    yield from Finisher(problems, None, SeenEvents(), strict=strict).events(by_graph(items, problems))


# ------------------------------------------------------------------------------------------------------------ in ranges


def _first_cut(document: Document, start: int, before: int, size: int, limits: Limits) -> int | None:
    """The first cut behind a line that begins at `start` or later, but still before `before`."""
    last = b""
    last_graph = b""
    last_place = before
    for place, line in _lines(document, start, size):
        if place >= before and last_place >= before:
            return None
        if named := _NAMED.fullmatch(line):
            graph = named[1]
            if last and graph != last_graph and _is_good(last, last_graph, limits) and _is_good(line, graph, limits):
                return place
            last, last_graph, last_place = line, graph, place
        elif not _UNNAMED.fullmatch(line):
            last, last_place = b"", before
    return None


def _is_good(line: bytes, graph: bytes, limits: Limits) -> bool:
    items = list(LineReader("", Format.NQ, limits).items(1, line))
    return len(items) == 1 and isinstance(items[0], Run) and items[0].graph == graph.decode()


def _lines(document: Document, start: int, size: int) -> Iterator[tuple[int, bytes]]:
    """The lines that begin at `start`, which is not 0, or later, with their places. Too long ones come as `-`."""
    with _slice(document, start - 1, size) as data:
        place = start - 1
        whole = False
        while piece := data.readline(_LONGEST):
            ends = piece.endswith(b"\n")
            if place >= start:
                yield place, piece if whole and ends else b"-"
            place += len(piece)
            whole = ends


def _inside(items: Iterable[Item]) -> Iterator[Item]:
    """Without what is outside any graph, but for the place where it stands."""
    for item in items:
        if isinstance(item, Run):
            yield item if item.graph != DEFAULT else replace(item, triples=[], size=0)
        elif item.graph != DEFAULT or item.rest:
            yield item


def _shifting(report: Report, document: Document, begin: int) -> Report:
    """Lines are counted from the start of the file, and those before `begin` only if there is something to tell."""
    before: list[int] = []

    def shifted(error: EventError) -> None:
        if error.span is not None and begin:
            if not before:
                before.append(_newlines(document, begin))
            span = replace(error.span, line=error.span.line + before[0])
            error = EventError(error.reason, span=span, source=error.source, hint=error.hint)
        report(error)

    return shifted


def _newlines(document: Document, stop: int) -> int:
    with _slice(document, 0, stop) as data:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: data.read(_CHUNK), b""))


# -------------------------------------------------------------------------------------------------------------- outside


class _Outside:
    """What is outside any graph; of the rest no more than that it is there."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._told_elsewhere: EventError | None = None

    def items(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            if isinstance(item, Run):
                yield item if item.graph == DEFAULT else replace(item, triples=[], size=0)
            elif item.graph in (None, DEFAULT) or item.rest:
                # At the start of a file a broken line may cost what is outside: the first range tells of it.
                self._told_elsewhere = None if item.graph == DEFAULT or item.rest else item.error
                yield item

    def report(self, error: EventError) -> None:
        if error is not self._told_elsewhere:
            self._report(error)


def _seldom_named(document: Document, limits: Limits) -> Iterator[Item]:
    """The items of all lines but those that plainly name a graph; of many such in a row the last is enough."""
    try:
        stream = document.open()
    except EventError as error:
        yield Broken(error, None, None, rest=True)
        return
    reader = LineReader(document.name, Format.NQ, limits)
    with stream:
        for first, lines in line_batches(stream, limits):
            if not isinstance(lines, bytes):
                yield from reader.items(first, lines)
                continue
            place, number = 0, first
            while place < len(lines):
                named = _NAMED_LINES.match(lines, place)
                following = None if named else _NEXT_NAMED.search(lines, place)
                end = named.end() if named else following.start() if following else len(lines)
                piece = lines[place:end]
                yield from _of_named(reader, number, piece) if named else reader.items(number, piece)
                number += piece.count(b"\n")
                place = end


def _of_named(reader: LineReader, first: int, lines: bytes) -> Iterable[Item]:
    """Which graph is open behind these lines is told by the last, unless that one is broken."""
    last = lines.rfind(b"\n", 0, -1) + 1
    items = list(reader.items(first + lines.count(b"\n", 0, last), lines[last:]))
    return items if all(isinstance(item, Run) for item in items) else reader.items(first, lines)


# ---------------------------------------------------------------------------------------------------------------- bytes


class _Part(io.RawIOBase):
    """Some bytes of a file."""

    def __init__(self, raw: BinaryIO, start: int, stop: int) -> None:
        self._raw = raw
        self._left = max(stop - start, 0)
        raw.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def _slice(document: Document, start: int, stop: int) -> io.BufferedReader:
    return io.BufferedReader(_Part(document.opener(), start, stop), _CHUNK >> 2)


def _unopened(document: Document, error: OSError) -> EventError:
    return EventError(f"cannot be opened: {error.strerror or error}", source=document.name)
