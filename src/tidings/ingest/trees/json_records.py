"""The records of a JSON document, one at a time: memory is needed for one of them, and not for all.

The C scanner of the standard library reads every value; this only finds where one begins, and reads on where it is not
there as a whole yet. Numbers keep their text. An object is a tuple of its pairs and an array a list, so that a member
that is there twice is seen.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from tidings.errors import EventError, Span
from tidings.ingest.base import Input
from tidings.ingest.trees.paths import Step, takes_name, takes_place
from tidings.rdf.limits import KIB, Limits, human
from tidings.rdf.messages import CONVERT, NOT_UTF8
from tidings.rdf.sources import Stream

_CHUNK = 64 * KIB
_SKIPPED = 256 * KIB
"""A value that is not wanted is read as a whole up to this size, and beyond it member by member."""
_SPACE = re.compile(r"[ \t\n\r]*")
_NEAR_END = 16
"""Longer than any token that the end of the text may have cut (`-Infinity`, `\\uXXXX`), strings and numbers apart."""


class Number(str):
    """A JSON number as it is written."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A record: its number from 1, the line it begins on, and its value."""

    number: int
    line: int
    value: Any


def record_limit(limits: Limits) -> int:
    """The largest record: as an event it is several times its size."""
    return limits.max_event // 4


def found(input: Input, path: tuple[Step, ...] | None, limits: Limits) -> Iterator[Found]:
    """The records of a document; without a path the members of an array, or the one value that is there.

    An `EventError` where the document is no JSON: what comes after that place cannot be read.
    """
    text = _Text(input.name, input.stream)
    reader = _Records(text, limits)
    records = reader.members() if path is None else reader.matching(path, 0)
    for number, (line, value) in enumerate(records, 1):
        yield Found(number, line, value)
    text.end()


def _constant(text: str) -> NoReturn:
    raise _Constant(text)


class _Constant(Exception):
    """NaN or an infinity, which JSON does not have."""


class _TooLarge(Exception):
    """A value beyond the size that was asked for."""


_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple,
    parse_int=Number,
    parse_float=Number,
    parse_constant=_constant,
)


class _Text:
    """The text of a document from some place on, as much as is needed."""

    def __init__(self, name: str, stream: Stream) -> None:
        self.name = name
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        self._line = 1
        self._counted = 0
        self._ended = False
        self._started = False

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, expected: str, what: str) -> None:
        if self.peek() != expected:
            raise self.error(f"{what} is expected here")
        self._at += 1

    def value(self, limit: int) -> Any:
        """The value that begins here, whose text has at most `limit` characters."""
        if not self.peek():
            raise self.error("the document ends where a value is expected")
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR_END
                if cut and self._room(limit) and self._more():
                    continue
                raise self.error(
                    f"JSON that is not well-formed: {error.msg[0].lower()}{error.msg[1:]}", error.pos
                ) from None
            except RecursionError:
                raise self.error("nested too deeply") from None
            except _Constant as error:
                raise self.error(f"{error} is no JSON number") from None
            # A number that ends with the text so far may go on.
            if end == len(self._text) and self._text[self._at] not in '{["' and self._room(limit) and self._more():
                continue
            if end - self._at > limit:
                raise _TooLarge
            self._at = end
            return value

    def _room(self, limit: int) -> bool:
        if len(self._text) - self._at > limit:
            raise _TooLarge
        return True

    def line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def end(self) -> None:
        if self.peek():
            hint = "for a value on every line, the format is jsonl"
            raise self.error("the document goes on after its value", hint=hint)

    def _more(self) -> bool:
        """Read on; as much again as is waiting, so that a large value is not looked at too often."""
        if self._ended:
            return False
        data = self._stream.some(max(_CHUNK, len(self._text) - self._at))
        if not self._started:
            while 0 < len(data) < len(codecs.BOM_UTF8) and (rest := self._stream.some(_CHUNK)):
                data += rest
            data = data.removeprefix(codecs.BOM_UTF8)
            self._started = True
        self._ended = not data
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            line = self.line() + self._text.count("\n", self._at) + error.object[: error.start].count(b"\n")
            raise EventError(NOT_UTF8, span=Span(line), source=self.name, hint=CONVERT) from error
        self.line()
        self._text = self._text[self._at :] + text
        self._at = self._counted = 0
        return True

    def error(self, reason: str, at: int | None = None, hint: str | None = None) -> EventError:
        at = self._at if at is None else at
        line = self.line() + self._text.count("\n", self._at, at)
        return EventError(reason, span=Span(line), source=self.name, hint=hint)


class _Records:
    def __init__(self, text: _Text, limits: Limits) -> None:
        self._text = text
        self._limit = record_limit(limits)
        self._depth = limits.max_depth

    def members(self) -> Iterator[tuple[int, Any]]:
        """The members of the document where it is an array, else its value."""
        if self._text.peek() != "[":
            yield self._record()
            return
        for _ in self._places():
            yield self._record()

    def matching(self, steps: tuple[Step, ...], depth: int) -> Iterator[tuple[int, Any]]:
        """What the path from its step `depth` on leads to in the value that begins here."""
        if depth == len(steps):
            yield self._record()
            return
        step = steps[depth]
        opening = self._text.peek()
        if opening == "{":
            for name in self._names():
                if takes_name(step, name):
                    yield from self.matching(steps, depth + 1)
                else:
                    self._skip(depth + 1)
        elif opening == "[":
            for place in self._places():
                if takes_place(step, place):
                    yield from self.matching(steps, depth + 1)
                else:
                    self._skip(depth + 1)
        else:
            self._skip(depth)

    def _record(self) -> tuple[int, Any]:
        self._text.peek()
        line = self._text.line()
        try:
            return line, self._text.value(self._limit)
        except _TooLarge:
            hint = "say with a path (--record) which part of the document is one record, or raise the limit of an event"
            raise self._text.error(f"a record of more than {human(self._limit)}", hint=hint) from None

    def _skip(self, depth: int) -> None:
        """Go past a value, however large; what is in it must still be JSON."""
        opening = self._text.peek()
        try:
            self._text.value(_SKIPPED if opening in "{[" else self._limit)
        except _TooLarge:
            if depth >= self._depth:
                raise self._text.error(f"nested more than {self._depth} deep") from None
            if opening not in "{[":
                raise self._text.error(f"a value of more than {human(self._limit)}") from None
            for _ in self._names() if opening == "{" else self._places():
                self._skip(depth + 1)

    def _names(self) -> Iterator[str]:
        """The names of an object's members, each with the reader at its value."""
        text = self._text
        text.take("{", "an object")
        while text.peek() != "}":
            name = text.value(self._limit) if text.peek() == '"' else None
            if name is None:
                raise text.error("the name of a member is expected here")
            text.take(":", "a colon")
            yield name
            if text.peek() == ",":
                text.take(",", "a comma")
                if text.peek() == "}":
                    raise text.error("the name of a member is expected here")
            elif text.peek() != "}":
                raise text.error("a comma or the end of the object is expected here")
        text.take("}", "the end of the object")

    def _places(self) -> Iterator[int]:
        text = self._text
        text.take("[", "an array")
        place = 0
        while text.peek() != "]":
            yield place
            place += 1
            if text.peek() == ",":
                text.take(",", "a comma")
                if text.peek() == "]":
                    raise text.error("a value is expected here")
            elif text.peek() != "]":
                raise text.error("a comma or the end of the array is expected here")
        text.take("]", "the end of the array")
