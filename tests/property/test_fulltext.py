"""Words and full text against an implementation that goes character by character."""

from __future__ import annotations

import sys
import unicodedata
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from tests.property import brute_sparql, brute_text, check, render
from tests.property import model as m
from tests.property.strategies import ex
from tests.property.strategies_sparql import fulltexts

from tidings.lang import parse
from tidings.lang.fulltext import words
from tidings.ontology import Ontology
from tidings.rdf.event import Event

# Script blocks where word rules differ, and the characters that case folding and normal forms change most.
_BLOCKS = [
    (0x20, 0x7E),
    (0xA0, 0x17F),
    (0x300, 0x36F),
    (0x370, 0x3FF),
    (0x400, 0x45F),
    (0x590, 0x5FF),
    (0x620, 0x65F),
    (0x900, 0x97F),
    (0xE00, 0xE5B),
    (0x1100, 0x11FF),
    (0x2000, 0x206F),
    (0x2070, 0x209F),
    (0x2150, 0x218B),
    (0x2460, 0x24FF),
    (0x3000, 0x303F),
    (0x3040, 0x309F),
    (0x30A0, 0x30FF),
    (0x3200, 0x32FF),
    (0x4E00, 0x4E40),
    (0xAC00, 0xAC40),
    (0xFB00, 0xFB06),
    (0xFF00, 0xFF9F),
    (0x1F44D, 0x1F468),
    (0x20000, 0x20010),
]
_characters = st.one_of(*(st.characters(min_codepoint=a, max_codepoint=b) for a, b in _BLOCKS))
_SPECIAL = ["ß", "İ", "e\u0301", "é", "ﬁ", "ǅ", "\u200d", "々", "〇", "ー", "が", "か\u3099", "हिन्दी", "½", "x²", "①"]
_texts = st.lists(st.one_of(_characters, st.sampled_from(_SPECIAL)), max_size=12).map("".join)


PHRASES = [("phrase", words) for words in ("a", "b", "a b")]
_TOKENS = ["the", "olympic", "games", "in", "Rio", "2016", "Tokyo", "東京", ",", "-"]


@check.examples(420)
@given(_texts)
def test_words(text: str) -> None:
    assert list(words(text)) == brute_text.words(text)


@check.examples(180)
@given(st.text(st.characters(exclude_categories=["Cn", "Cs", "So", "Po"]), max_size=20))
def test_words_of_any_text(text: str) -> None:
    assert list(words(text)) == brute_text.words(text)


def test_every_assigned_character() -> None:
    """Between two letters, every character of Unicode either joins them, splits them, or is a word of its own.

    Left out are the few characters of the Han script that are no letters or numbers: their names do not tell them.
    """
    radicals, other_marks = range(0x2E80, 0x2EF4), (0x16FE2, 0x16FF0, 0x16FF1)
    wrong = []
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in ("Cn", "Cs", "Co") or code in radicals or code in other_marks:
            continue
        text = f"a{char}b"
        if list(words(text)) != brute_text.words(text):
            wrong.append(f"U+{code:04X} {unicodedata.name(char, '?')}")
    assert wrong == []


@check.examples(150)
@given(
    fulltexts(),
    st.lists(st.sampled_from(["the", "olympic", "games", "in", "Rio", "2016", "Tokyo", "東京", ",", "-"]), max_size=9),
)
def test_full_text_expressions(tree: m.FtTree, tokens: list[str]) -> None:
    _agree(tree, tokens)


def test_every_near() -> None:
    """All texts of up to four words over three, under all small bounds, alone and chained."""
    texts = [" ".join(row) for length in range(5) for row in product("abc", repeat=length)]
    bounds = [(least, most) for most in range(3) for least in range(most + 1)]
    trees: list[m.FtTree] = []
    for (least, most), left, right in product(bounds, PHRASES, PHRASES):
        near = ("near", left, least, most, right)
        trees += [near, ("near", near, 0, most, PHRASES[0]), ("near", PHRASES[1], 0, least, near)]
    where = m.Bgp(((ex("s"), ex("p"), m.V("t")),))
    queries = {}
    for number, tree in enumerate(trees):
        query = m.Select(m.Group((where, m.Filter(("ft", m.V("t"), tree)))), form="ASK")
        queries[str(number)] = parse(render.text(query))
    events = [Event.of(f"urn:{text}", check.triples([(ex("s"), ex("p"), m.Lit(text))])) for text in texts]
    for result in check.matched(queries, Ontology.empty(), events):
        text = result.event.id.removeprefix("urn:")
        expected = {id for id in result.taken if brute_text.contains(text, trees[int(id)])}
        assert result.found == expected, f"{result.matcher} on {text!r}"


def _agree(tree: m.FtTree, tokens: list[str]) -> None:
    world = m.World((), ((ex("a"), ex("p"), m.Lit(" ".join(tokens))),))
    where = m.Group((m.Bgp(((m.V("x"), ex("p"), m.V("t")),)), m.Filter(("ft", m.V("t"), tree))))
    query = m.Select(where, form="ASK")
    check.agree(query, world, brute_sparql.answer(query, world))
