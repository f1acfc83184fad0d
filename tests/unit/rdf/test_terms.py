"""How text is escaped in literals."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidings.rdf.terms import escape, unescape

NAMED = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
ODD = st.sampled_from([*NAMED, "\x00", "\x1f", "\x7f", "\x80", "\ufffe", "\uffff", "u", "é", "“", "\U0001f600"])


def one(character: str) -> str:
    if character in NAMED:
        return NAMED[character]
    rare = character < " " or character in "\x7f\ufffe\uffff"
    return f"\\u{ord(character):04X}" if rare else character


@given(st.one_of(st.text(), st.text(ODD)))
@example('a "b"\n\\u0041')
@example('"\x01"')
@example('"\x7f')
def test_every_character_is_escaped_by_itself(text: str) -> None:
    assert escape(text) == "".join(map(one, text))
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("character", [*NAMED, "\x01", "\x7f", "\uffff", "x"])
def test_a_character_among_many_others(character: str) -> None:
    assert escape("é" * 500 + character) == "é" * 500 + one(character)
