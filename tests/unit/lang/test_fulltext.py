"""Words, and the grammar of ftcontains."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import SubscriptionError
from tidings.lang import fulltext
from tidings.lang.fulltext import parse_fulltext, phrase, print_fulltext, words
from tidings.lang.pattern import FtAnd, FtExpr, FtNear, FtNot, FtOr, FtPhrase
from tidings.lang.terms import TermParser


def parse(text: str) -> FtExpr:
    parser = TermParser(text)
    expr = parse_fulltext(parser)
    parser.expect_end()
    return expr


A, B, C, D = (phrase(letter) for letter in "abcd")

# ---------------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\n", []),
        ("Hello, World!", ["hello", "world"]),
        ("don't stop_now e-mail", ["don", "t", "stop", "now", "e", "mail"]),
        ("C3PO 42 3.14", ["c3po", "42", "3", "14"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("İstanbul", ["i\u0307stanbul"]),
        ("ΣΊΣΥΦΟΣ σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("caf\u00e9 cafe\u0301 cafe", ["caf\u00e9", "caf\u00e9", "cafe"]),
        ("ﬁne ＡＢＣ", ["fine", "abc"]),
        ("Ⅷ ½ x² ①", ["viii", "1", "2", "x2", "1"]),
        ("٣٤ १२", ["٣٤", "१२"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ภาษาไทย", ["ภาษาไทย"]),
        ("한국어 조선", ["한국어", "조선"]),
        ("東京", ["東", "京"]),
        ("iPhone東京2020", ["iphone", "東", "京", "2020"]),
        ("時々〇", ["時", "々", "〇"]),
        ("葛\U000e0100城", ["葛\U000e0100", "城"]),
        ("漢\u0301abc", ["漢\u0301", "abc"]),
        ("\U00020000\U00020001", ["\U00020000", "\U00020001"]),
        ("ひらがな", ["ひ", "ら", "が", "な"]),
        ("か\u3099く", ["が", "く"]),
        ("ま\u3099", ["ま\u3099"]),
        ("カタカナ ﾊﾟﾝ", ["カタカナ", "パン"]),
        ("東京タワーの上", ["東", "京", "タワー", "の", "上"]),
        ("😀 👍🏽 ❤", []),
        ("a\u200db a\u00adb", ["a", "b", "a", "b"]),
        ("👩\u200d🚀 rocket", ["rocket"]),
        ("⼀", ["一"]),
        ("㈱", ["株"]),
        ("\u0301x", ["\u0301x"]),
        ("e\u0301\u0327", ["ȩ\u0301"]),
        ("a_b‿c", ["a", "b", "c"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == tuple(expected)


def test_every_character_is_in_a_word_or_not_as_its_category_says() -> None:
    single = re.compile(f"[{fulltext._SINGLE}{fulltext._HIGH_SINGLE}]")
    rule = fulltext._word_rule()
    for char in map(chr, range(sys.maxunicode + 1)):
        alone = rule.fullmatch(char) is not None
        assert alone == (unicodedata.category(char)[0] in "LMN" or single.match(char) is not None), hex(ord(char))


def test_scripts_are_those_of_unicode() -> None:
    """RE2 knows the Script property; where a character is assigned for both, the two tables agree."""
    script = re2.compile(r"[\p{Han}\p{Hiragana}]")
    single = re.compile(f"[{fulltext._SINGLE}{fulltext._HIGH_SINGLE}]")
    wrong = [
        hex(ord(char))
        for char in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(char)[0] in "LMN" and (script.match(char) is None) != (single.match(char) is None)
    ]
    assert wrong == []


@given(st.text())
def test_composition_and_width_do_not_matter(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(text)
    assert words(unicodedata.normalize("NFKC", text)) == words(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_has_a_rule_of_its_own_that_says_the_same(text: str) -> None:
    assert words(text) == words(text + " é")[:-1]


# -------------------------------------------------------------------------------------------------------------- grammar


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a"', A),
        ("'a'", A),
        ('("a")', A),
        ('"A b"', FtPhrase("A b", ("a", "b"))),
        ('"a" ftAND "b"', FtAnd((A, B))),
        ('"a" FTAND "b" ftand "c"', FtAnd((A, B, C))),
        ('"a" ftOR "b" ftAND "c"', FtOr((A, FtAnd((B, C))))),
        ('"a" ftAND "b" ftOR "c"', FtOr((FtAnd((A, B)), C))),
        ('("a" ftOR "b") ftAND "c"', FtAnd((FtOr((A, B)), C))),
        ('ftNOT "a" ftAND "b"', FtAnd((FtNot(A), B))),
        ('ftNOT ("a" ftAND "b")', FtNot(FtAnd((A, B)))),
        ('ftNOT ftNOT "a"', FtNot(FtNot(A))),
        ('ftNOT "a" ftNEAR[0,1] "b"', FtNot(FtNear(A, 0, 1, B))),
        ('"a" ftAND "b" ftNEAR[0,2] "c"', FtAnd((A, FtNear(B, 0, 2, C)))),
        ('"a" ftNEAR[0,1] "b" ftNEAR [2,2] "c"', FtNear(FtNear(A, 0, 1, B), 2, 2, C)),
        ('"a" ftNEAR[0,1] ("b" ftNEAR[2,3] "c")', FtNear(A, 0, 1, FtNear(B, 2, 3, C))),
        ('("a" ftOR "b") ftNEAR[0,1] ("c" ftOR ("d" ftNEAR[0,0] "a"))', None),
    ],
)
def test_expressions(text: str, expected: FtExpr | None) -> None:
    expr = parse(text)
    assert expected is None or expr == expected
    assert parse(print_fulltext(expr)) == expr


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ('""', "this string has no word to look for", 1),
        ('"a" ftAND "…!"', "this string has no word to look for", 11),
        ('"a" ftNEAR[3,1] "b"', "ftNEAR[3,1] can never hold: the first number is above the second", 12),
        ('"a" ftNEAR[-1,1] "b"', "expected a natural number, found '-1'", 12),
        ('"a" ftNEAR "b"', "expected '[', found '\"b\"'", 12),
        ('("a" ftAND "b") ftNEAR[0,1] "c"', "ftNEAR takes strings, ftNEARs and ftORs of these, not ftAND", 1),
        ('"a" ftNEAR[0,1] (ftNOT "c")', "ftNEAR takes strings, ftNEARs and ftORs of these, not ftNOT", 17),
        (
            '"a" ftNEAR[0,1] ("b" ftOR ("c" ftAND "d"))',
            "ftNEAR takes strings, ftNEARs and ftORs of these, not ftAND",
            17,
        ),
        ('"a" ftNEAR[0,1] ftNOT "c"', "expected a quoted string or '(', found 'ftNOT'", 17),
        ("a", "expected a quoted string, ftNOT or '(', found 'a'", 1),
        ('("a"', "expected ftAND, ftOR, ftNEAR or ')', found the end of the text", 5),
        ('"a"@en', "expected the end of the text, found '@en'", 4),
    ],
)
def test_what_is_no_expression(text: str, reason: str, column: int) -> None:
    with pytest.raises(SubscriptionError) as caught:
        parse(text)
    assert caught.value.reason == reason
    assert caught.value.column == column


def ft_expressions() -> st.SearchStrategy[FtExpr]:
    phrases = st.sampled_from(["a", "B c", 'say "no"', "back\\slash", "ß", "東京"]).map(phrase)
    distance = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted)

    def near(inner: st.SearchStrategy[FtExpr]) -> st.SearchStrategy[FtExpr]:
        either = st.lists(inner, min_size=2, max_size=3).map(lambda items: FtOr(tuple(items)))
        return either | st.builds(lambda a, d, b: FtNear(a, d[0], d[1], b), inner, distance, inner)

    def boolean(inner: st.SearchStrategy[FtExpr]) -> st.SearchStrategy[FtExpr]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return several.map(FtAnd) | several.map(FtOr) | inner.map(FtNot)

    return st.recursive(st.recursive(phrases, near, max_leaves=4), boolean, max_leaves=6)


@given(ft_expressions())
def test_printing_reads_back(expr: FtExpr) -> None:
    assert parse(print_fulltext(expr)) == expr
