"""What needs no reading is what reading it would give."""

from __future__ import annotations

import random
import re

import pytest
from tests.property.test_lane import document

from tidings.errors import EventError
from tidings.index.plain import plain_events
from tidings.rdf.read import read_events


@pytest.mark.parametrize("seed", range(40))
def test_it_is_what_is_read(seed: int) -> None:
    dice = random.Random(seed)
    plain = 0
    for _ in range(50):
        data = re.sub(rb"_:b(\d)", rb"<e:b\1>", document(dice))
        found = plain_events(data)
        if found is not None:
            plain += 1
            errors: list[EventError] = []
            read = list(read_events([data], format="nq", report=errors.append))
            assert [(event.id, event.body) for event in found] == [(event.id, event.body) for event in read]
            assert errors == []
    assert plain


LINE = b'<e:s> <e:p> "o" <e:g> .\n'


@pytest.mark.parametrize(
    "data",
    [
        LINE[:-1],
        LINE[:-2],
        b" " + LINE,
        LINE.replace(b" .", b"  ."),
        LINE.replace(b"<e:g> ", b""),
        LINE.replace(b"<e:g>", b"_:g"),
        LINE.replace(b"<e:s>", b"_:s"),
        LINE.replace(b"<e:s>", b"<s>"),
        LINE.replace(b'"o"', b"_:o"),
        LINE.replace(b'"o"', b'"\\u006f"'),
        LINE.replace(b'"o"', b'"o"^^<http://www.w3.org/2001/XMLSchema#string>'),
        LINE.replace(b'"o"', b'"o"@EN'),
        LINE.replace(b'"o"', b'"\xff"'),
        LINE.replace(b"\n", b"\r\n"),
        LINE + b"# that is all\n",
        LINE + LINE.replace(b"e:g", b"e:h") + LINE,
        LINE * 2 + b"\n",
        b"\xef\xbb\xbf" + LINE,
    ],
)
def test_what_has_to_be_read(data: bytes) -> None:
    assert plain_events(data) is None


def test_lines_are_sorted_and_there_once() -> None:
    other = LINE.replace(b'"o"', '"a\u2028b\x85 <e:g> ."@en-gb'.encode())
    [first, second] = plain_events(LINE + other + LINE + LINE.replace(b"e:g", b"e:h")) or []
    assert first.id == "e:g"
    assert first.body == '<e:s> <e:p> "a\u2028b\x85 <e:g> ."@en-gb .\n<e:s> <e:p> "o" .\n'
    assert (second.id, second.body) == ("e:h", '<e:s> <e:p> "o" .\n')


def test_nothing_and_too_much() -> None:
    assert plain_events(b"") == []
    several = b"".join(LINE.replace(b"e:g", b"e:g%d" % n) for n in range(4))
    assert plain_events(several, 3) is None
    assert len(plain_events(several, 4) or ()) == 4
