"""Documents of events with mistakes in them: whatever the bytes are, `fast` and the oracle make the same of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.contract.respelled import respelled

from tidings.errors import EventError
from tidings.match.matcher import Matcher
from tidings.rdf.event import Event, to_nquads

_PIECES = [
    *(bytes([byte]) for byte in b'<>"_:.@^#\\ \t\n\r%[]{}|`-/?a0Z\x00\x7f\x80\xc3\xed\xf5'),
    b"\\u00e9",
    b"\\U0010FFFF",
    b"\\uD800",
    "\u00e9\u6771\ufffe".encode(),
    b"\r\n",
    b"<http://e.x/g>",
    b"_:g",
    b'"x"@en-x-y',
    b'"1"^^<e:t>',
    b" .\n",
    b"# \n",
    b"%zz",
    b"//[::1]/",
    b":80/",
]


@dataclass(frozen=True)
class Outcome:
    """The rows, and what was refused, in order."""

    rows: tuple[tuple[str, str], ...]
    refused: tuple[str, ...]


def document(events: Sequence[Event], dice: random.Random) -> bytes:
    """Events in N-Quads, in both spellings, with a handful of mistakes; now and then one comes in two parts."""
    parts = [to_nquads(event) if dice.random() < 0.7 else respelled([event], dice) + b"\n" for event in events]
    if dice.random() < 0.2:
        parts.append(to_nquads(dice.choice(events)))
    data = b"".join(parts)
    for _ in range(dice.choice([0, 1, 1, 2, 4])):
        data = _spoilt(data, dice)
    return data


def _spoilt(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    length = dice.choice([0, 0, 1, 1, 2, 9])
    match dice.randrange(6):
        case 0:
            return data[:at] + data[at + max(1, length) :]
        case 1:
            other = dice.randrange(len(data) + 1)
            return data[:at] + data[other : other + 20] + data[at:]
        case 2:
            lines = data.splitlines(keepends=True)
            dice.shuffle(lines[: dice.randint(1, 4)])
            line = dice.choice(lines)
            lines.insert(dice.randrange(len(lines)), line)
            return b"".join(lines)
    return data[:at] + dice.choice(_PIECES) + data[at + length :]


def outcome(matcher: Matcher, data: bytes) -> Outcome:
    refused: list[EventError] = []
    table = matcher.match_nquads(data, on_error=refused.append)
    rows = zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True)
    return Outcome(tuple(sorted(rows)), tuple(map(str, refused)))


def smaller(data: bytes, matchers: tuple[Matcher, Matcher]) -> bytes:
    """What is left of a document on which two matchers differ when all is gone that need not be there."""
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data):
            less = data[:at] + data[at + size :]
            if outcome(matchers[0], less) != outcome(matchers[1], less):
                data = less
            else:
                at += size
        size //= 2
    return data
