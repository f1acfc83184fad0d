"""Where records and cells of CSV text end: RFC 4180, and a rule for all that is not so.

The rule: a quote opens only where a cell begins. In quotes, two of them are one, and a single one closes; what then
follows up to the delimiter belongs to the cell as it stands. A record ends at a newline, a carriage return, or both,
outside quotes. Lines with nothing in them are no records.

Text in which quotes stand only where they should is *regular*: there a place is in quotes if the number of quotes
before it is odd, and arrays find all records at once. All other text is read by the rule, quote by quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tidings.ingest.rows.blocks import Skipper
from tidings.ingest.rows.text import Ints

_LARGE = 8 << 20
"""Text of this size has a record that is far too large; arrays of its places would be many times that."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One ASCII character each; without a quote, quotes are text."""

    delimiter: str = ","
    quote: str = '"'

    def last(self, data: bytes) -> int:
        ends = self.ends(data)
        if ends.size and ends[-1] == len(data) and data.endswith(b"\r"):
            ends = ends[:-1]  # a newline may follow
        return int(ends[-1]) if ends.size else 0

    def skipper(self) -> Skipper:
        return _Skipper(self)

    def ends(self, data: bytes) -> Ints:
        """The places behind all records that have an end, blank lines too."""
        if len(data) > _LARGE:
            return self._ends_by_rule(data)
        view = np.frombuffer(data, np.uint8)
        breaks = np.flatnonzero(view == 10)
        if b"\r" in data:
            returns = np.flatnonzero(view == 13)
            followed = returns + 1 < view.size
            followed[followed] = view[returns[followed] + 1] == 10
            breaks = np.sort(np.concatenate([breaks, returns[~followed]]))
        if not self.quote or self.quote.encode() not in data:
            return breaks + 1
        quotes = np.flatnonzero(view == ord(self.quote))
        if not self._regular(view, quotes):
            return self._ends_by_rule(data)
        outside = (np.searchsorted(quotes, breaks) & 1) == 0
        found: Ints = breaks[outside] + 1
        return found

    def _ends_by_rule(self, data: bytes) -> Ints:
        return np.fromiter((after for _, _, after in self.records(data) if after > 0), np.int64)

    def _regular(self, view: np.ndarray[tuple[int], np.dtype[np.uint8]], quotes: Ints) -> bool:
        quote, delimiter = ord(self.quote), ord(self.delimiter)
        opening, closing = quotes[::2], quotes[1::2]
        before = view[opening[opening > 0] - 1]
        after = view[closing[closing + 1 < view.size] + 1]
        around = np.concatenate([before, after])
        return bool(((around == delimiter) | (around == 10) | (around == 13) | (around == quote)).all())

    def records(self, data: bytes) -> Iterator[tuple[int, int, int]]:
        """Start, end and end of the line break of every record, by the rule; -1 where the last has no break."""
        place = 0
        while place < len(data):
            end, after = self._record_end(data, place)
            yield place, end, after
            if after < 0:
                return
            place = after

    def _record_end(self, data: bytes, place: int) -> tuple[int, int]:
        """The end of the record that begins at `place`, and the place behind its line break, or -1."""
        quote = self.quote.encode()
        if quote and data.startswith(quote, place):
            place = _closed(data, place + 1, self.quote)
        while place >= 0:
            found = _next(self).search(data, place)
            if found is None:
                break
            if found[0][:1] in b"\r\n":
                return found.start(), found.end()
            place = _closed(data, found.end(), self.quote)
        return len(data), -1

    def cells(self, record: bytes) -> list[bytes]:
        """The cells of one record, without its line break."""
        quote, delimiter = self.quote.encode(), self.delimiter.encode()
        if not quote or quote not in record:
            return record.split(delimiter)
        cells, place = [], 0
        while True:
            inside = b""
            if record.startswith(quote, place):
                closed = _closed(record, place + 1, self.quote)
                end = len(record) + 1 if closed < 0 else closed
                inside = record[place + 1 : end - 1].replace(quote * 2, quote)
                place = min(end, len(record))
            found = record.find(delimiter, place)
            cells.append(inside + record[place : found if found >= 0 else len(record)])
            if found < 0:
                return cells
            place = found + 1

    def is_open(self, record: bytes) -> bool:
        """Whether a record ends inside quotes."""
        return bool(self.quote) and self._record_end(record + b"\n", 0)[1] < 0


@lru_cache(maxsize=64)
def _next(dialect: Dialect) -> re.Pattern[bytes]:
    """The next line break, or the next cell that begins with a quote."""
    opening = re.escape((dialect.delimiter + dialect.quote).encode())
    return re.compile(rb"\r\n?|\n|" + opening if dialect.quote else rb"\r\n?|\n")


@lru_cache(maxsize=64)
def _inside(quote: str) -> re.Pattern[bytes]:
    """What is in quotes, up to the one that closes."""
    one = re.escape(quote.encode())
    return re.compile(rb"(?:[^%b]++|%b%b)*+" % (one, one, one))


def _closed(data: bytes, place: int, quote: str) -> int:
    """The place behind the quote that closes, or -1."""
    found = _inside(quote).match(data, place)
    assert found is not None
    return found.end() + 1 if found.end() < len(data) else -1


class _Skipper:
    """The rule, for text that comes in parts of any length."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        # At the start of a cell; else in "text", "quoted", behind a "quote" that closes or is the first of two, or
        # behind a carriage "return".
        self._state = "start"

    def feed(self, data: bytes) -> int:
        place, quote = 0, self._dialect.quote.encode()
        if self._state == "return":
            return int(data.startswith(b"\n"))
        if quote and self._state in ("start", "quote") and data.startswith(quote):
            self._state, place = "quoted", 1
        while place < len(data):
            if self._state == "quoted":
                end = _closed(data, place, self._dialect.quote)
                if end < 0:
                    return -1
                self._state, place = ("quote" if end == len(data) else "text"), end
            else:
                found = _next(self._dialect).search(data, place)
                if found is None:
                    self._state = "start" if data.endswith(self._dialect.delimiter.encode()) else "text"
                    return -1
                if found[0] == b"\r" and found.end() == len(data):
                    self._state = "return"
                    return -1
                if found[0][:1] in b"\r\n":
                    return found.end()
                self._state, place = "quoted", found.end()
        return -1
