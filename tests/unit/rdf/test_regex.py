"""XPath regular expressions: what they match, what is refused, and that no pattern takes long."""

from __future__ import annotations

import pytest

from tidings.rdf.regex import MAX_PATTERN, compile_regex


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "found"),
    [
        ("b", "", "abc", True),
        ("^b", "", "abc", False),
        ("^abc$", "", "abc", True),
        ("a.c", "", "a\nc", False),
        ("a.c", "s", "a\nc", True),
        ("^b$", "", "a\nb\nc", False),
        ("^b$", "m", "a\nb\nc", True),
        ("B", "i", "abc", True),
        ("Σ", "i", "ς", True),
        ("a b", "x", "ab", True),
        ("[a b]c", "x", " c", True),
        ("a.b", "q", "axb", False),
        ("A.B", "qi", "a.b", True),
        ("(ab)+?c{2,3}", "", "ababcc", True),
        (r"^\d+$", "", "٣", True),
        (r"^\w+$", "", "naïve_", False),
        (r"^\w+$", "", "naïve€", True),
        (r"^\W$", "", "_", True),
        (r"^[\W]$", "", "é", False),
        (r"^\s$", "", "\u00a0", False),
        (r"^\i\c*$", "", "_a-1", True),
        (r"^\I$", "", "1", True),
        (r"^\p{Lu}\P{Lu}$", "", "Éa", True),
        (r"^\p{Lu}$", "i", "é", False),
        (r"^[\p{Ll}X]$", "i", "x", True),
        (r"^[^\p{Ll}X]$", "i", "x", False),
        (r"^\p{IsGreek}\p{IsCyrillic}$", "", "αж", True),
        (r"^\p{Cn}$", "", "\U000e0fff", True),
        ("^[a-z-[aeiou]]+$", "", "xyz", True),
        ("^[a-z-[aeiou]]+$", "", "xyza", False),
        ("^[a-c-[b-[b]]]$", "", "b", True),
        ("^[-a]$", "", "-", True),
        ("^[a-]$", "", "-", True),
        (r"^[\]\[\\^-]$", "", "\\", True),
        ("^[^b]$", "i", "B", False),
        (r"^\$\^\.\{\}\|$", "", "$^.{}|", True),
        ("^(?:a|b){2}$", "", "ba", True),
        ("^\U0001f600$", "", "😀", True),
        ("^.$", "", "😀", True),
        ("", "", "", True),
    ],
)
def test_search(pattern: str, flags: str, text: str, found: bool) -> None:
    assert compile_regex(pattern, flags).search(text) is found


@pytest.mark.parametrize(
    ("pattern", "flags", "reason"),
    [
        (r"(a)\1", "", "back-references"),
        ("a(?=b)", "", "look-around"),
        ("(?<!a)b", "", "look-around"),
        ("(?i)a", "", "except '(?:'"),
        (r"\b", "", "not an escape"),
        ("a**", "", "nothing that"),
        ("*", "", "nothing that"),
        ("(|+)", "", "nothing that"),
        ("a{1001}", "", "at most 1000"),
        ("(a{1000}){1000}", "", "repetition"),
        ("a{3,2}", "", "is empty"),
        ("a{,2}", "", "quantity"),
        ("(a", "", "without its"),
        ("a)", "", "without its"),
        ("[a", "", "without its"),
        ("[]", "", "without characters"),
        ("[z-a]", "", "is empty"),
        (r"[a-\d]", "", "cannot end a range"),
        ("[[:alpha:]]", "", "written"),
        ("[a-[b]c]", "", "last thing"),
        ("a]", "", "closes nothing"),
        (r"\p{Xx}", "", "no Unicode category"),
        (r"\p{IsNowhere}", "", "no Unicode block"),
        (r"\pL", "", "needs a category"),
        ("a\\", "", "not an escape"),
        ("a", "g", "flag 'g'"),
        ("x" * (MAX_PATTERN + 1), "", "characters"),
        ("(" * 300 + ")" * 300, "", "nested"),
        ("[a-" * 300 + "]" * 300, "", "nested"),
    ],
)
def test_refused(pattern: str, flags: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"(?s).*") as caught:
        compile_regex(pattern, flags)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "pattern", "by", "flags", "result"),
    [
        ("abracadabra", "bra", "*", "", "a*cada*"),
        ("abracadabra", "a.*?a", "*", "", "*c*bra"),
        ("abc", "(a)(b)?(x)?", "[$2|$3|$0]", "", "[b||ab]c"),
        ("abc", "(a)", "$10", "", "a0bc"),
        ("abc", "b", r"\$\\", "", r"a$\c"),
        ("a.b", ".", "$1", "q", "a$1b"),
        ("naïve", "Ï", "i", "i", "naive"),
        ("😀x😀", "x", "-", "", "😀-😀"),
    ],
)
def test_replace(text: str, pattern: str, by: str, flags: str, result: str) -> None:
    assert "".join(compile_regex(pattern, flags).replaced(text, by)) == result


@pytest.mark.parametrize(("pattern", "by"), [("a*", "x"), ("a", "$"), ("a", r"\n")])
def test_replace_refused(pattern: str, by: str) -> None:
    with pytest.raises(ValueError, match="REPLACE"):
        list(compile_regex(pattern).replaced("banana", by))


@pytest.mark.parametrize(
    ("pattern", "width"), [("abc", 3), ("a{5}b", 6), ("(ab|c){10}d*", 31), ("((a{2}){3}){4}", 24), (r"[a-z]\d", 2)]
)
def test_width(pattern: str, width: int) -> None:
    assert compile_regex(pattern).width == width


def test_bombs_take_linear_time() -> None:
    assert not compile_regex("^(a+)+$").search("a" * 100_000 + "!")
    assert not compile_regex("(x+x+)+y").search("x" * 100_000)
    assert not compile_regex("(.*a){20}b").search("a" * 1_000)
