"""The words that the kernel finds are those of `lang.fulltext`, or it says that it is not sure."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.index.running import COMPILED, examples, words_of

from tidings.index.folding import PAGE, UNICODE, Folder, shared_folder
from tidings.index.kernels.words import FULL, LONGEST, UNSURE
from tidings.lang.fulltext import words

# Letters that grow, shrink, compose or stand alone; marks of both kinds; what looks like a letter and is none.
ODD = "aZ09_-'\"\\\n\t\x7f\x00\xa0\xad éßſŒŉǰΐẞﬁﬃΣςſİıÅΩK①Ⅷ½²ªℵ℀㋿㍿㎏"
ODD += "東京々〇〆ひゞゟゔがカガｶﾞーｰ゛゙゚각가각ㅏﾡ가\u0301\u0308\u0345\u093f\u0903\u0488\u20dd\u200d\u200c\ufe0f"
ODD += "\U0001d400\U0001f600\U00020000\U0002f800\U00030000\U0001b001\U00016fe3\U0001e900\U00011131\U0001d165\U000e0100"
ODD += "\ufffe\uffff\ufdfa\u0958\u0f43\u1100\ufb1d\u2126\u212b\ua66f\u0e33\u0eb3\u0f77\u1fb3\u1f80"

texts = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])), max_size=40)
SAMPLED = (
    *range(0x35),
    *range(0xA0, 0xD8, 9),
    *range(0xF9, 0x100),
    *range(0x100, 0x200, 8),
    *(0x200, 0x2A6, 0x2F8, 0x2FA, 0x300, 0x334, 0xE00, 0xE01, 0x10FF),
)


def learned(text: str) -> Folder:
    folder = shared_folder()
    folder.learn(text)
    return folder


def check(text: str, *, weak: int = 0xFFFFFFFFFFFFFFFF) -> bool:
    """Whether the kernel is sure, and then it is right."""
    expected = words(text)
    found = words_of(text, learned(text), expected, weak=weak)
    assert found == UNSURE or found == list(expected), (text, found, expected)
    return found != UNSURE


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Rio",
        "  The quick, brown FOX-trot 2x_y; it's 3.14!",
        'tab\there "quoted" back\\slash\nline\rend\x00\x7f\x1fnull',
        "\\",
        "a\\nb \\u0041 \\t",
        "Straße, ŒUVRE, naïve façade; ΣΊΣΥΦΟΣ; Война и мир",
        "ﬁne ﬃ ① Ⅷ ½ x²",
        "東京タワー",
        "東a京 b海",
        "ひらがなとカタカナ",
        "々〇〆",
        "각하 한국어",
        "नहीं",
        "\U00020000\U0001d400\U0001f600x",
        "a\ufffeb\uffffc",
        "ſ K Å Ω",
        "x\u200dy a\xadb c\xa0d",
        "12345678 123456789 1234567",
        "éééé ééééé",
        "a" * (LONGEST - 1),
    ],
)
def test_it_is_sure_of_the_usual(text: str) -> None:
    assert check(text)
    assert check(f"x {text} x")


@pytest.mark.parametrize("text", ["e\u0301", "か\u3099", "ｶﾞ", "\u1100\u1161", "가\u11a8", "a" * LONGEST, "é" * LONGEST])
def test_it_leaves_what_minds_its_neighbours(text: str) -> None:
    assert not check(text)
    assert not check(f"東京 {text} x")


@examples(1200)
@given(texts)
def test_any_text(text: str) -> None:
    check(text)


@examples(500)
@given(st.text(st.sampled_from("ab1 東é\\"), max_size=30))
def test_few_characters_in_many_orders(text: str) -> None:
    assert check(text)


@examples(300)
@given(texts, st.sampled_from([0, 1, 0xFF00000000000000]))
def test_hashes_do_not_matter(text: str, weak: int) -> None:
    check(text, weak=weak)


@pytest.mark.parametrize("page", SAMPLED if COMPILED else (0, 1, 3, 0x30, 0x1D4))
def test_every_character_between_others(page: int) -> None:
    """Alone, doubled, behind a letter and a lone character, and before them."""
    folder = shared_folder()
    folder.learn(chr(page * PAGE) if not 0xD8 <= page < 0xE0 else "")
    entries = folder.tables.entry[folder.tables.page[page] * PAGE :][:PAGE]
    known = [chr(page * PAGE + n) for n, entry in enumerate(entries.tolist()) if entry >= 0]
    for first in range(0, len(known), 32):
        text = " ".join(f"a{c}b 東{c}é {c} {c}{c}東" for c in known[first : first + 32])
        assert check(text), hex(page)


def test_a_character_that_is_not_sure_is_one_that_can_change_with_its_neighbours() -> None:
    """Most are sure: what the kernel leaves to others is marks, and the second halves of compositions."""
    folder = learned("".join(map(chr, range(0x3400))))
    tables = folder.tables
    codes = [c for c in range(0x3400) if tables.entry[tables.page[c // PAGE] * PAGE + c % PAGE] < 0]
    kinds = {unicodedata.category(chr(code))[0] for code in codes}
    assert kinds <= {"M", "L", "S"}
    assert len(codes) < 1000


def test_pages_are_learned_on_demand() -> None:
    folder = Folder()
    before = folder.tables
    for text in ("Ж", "東京", "\U0001d400"):
        assert words_of(text, folder, words(text)) == UNSURE
        folder.learn(text)
        assert words_of(text, folder, words(text)) == list(words(text))
    assert words_of("a", folder, ["a"]) == ["a"]
    after = folder.tables
    assert before is not after
    folder.learn("ЖA東")
    assert folder.tables is after
    assert words_of("plain", folder, ["plain"]) == ["plain"]


def test_tables_at_hand_stay_as_they_are() -> None:
    """A kernel may be reading them."""
    folder = Folder()
    before = folder.tables
    copies = [array.copy() for array in before]
    folder.learn("Ж東")
    assert all((array == copy).all() for array, copy in zip(before, copies, strict=True))


def test_unknown_words_have_their_places() -> None:
    assert words_of("one two three twotwotwotwo", shared_folder(), ["three", "one"]) == ["one", None, "three", None]
    assert words_of("a", shared_folder(), []) == [None]


@pytest.mark.parametrize("text", ["a b c d", "東京東京", "a東b京", "ab é é é"])
def test_no_room(text: str) -> None:
    expected = list(words(text))
    folder = learned(text)
    assert words_of(text, folder, expected, room=len(expected)) == expected
    for room in range(len(expected)):
        assert words_of(text, folder, expected, room=room) == FULL


def test_words_of_every_length() -> None:
    """Up to eight bytes a word is its own key, above that it is hashed."""
    for letter in ("a", "é", "東", "\U00020000", "タ"):
        for length in (*range(1, 20), 47, 48, 49, 95, 96, 97, 200):
            text = letter * length
            assert check(f"{text} {text}{letter} x{text}")


def test_the_tables_are_of_this_unicode() -> None:
    assert unicodedata.unidata_version == UNICODE
