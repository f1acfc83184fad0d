"""Tokens and their places."""

from __future__ import annotations

import pytest

from tidings.errors import SubscriptionError
from tidings.lang.lexer import MAX_LENGTH, MAX_NESTING, Tokens, check_length


def tokens(text: str) -> list[tuple[str, str]]:
    read = Tokens(text)
    return [(t, k) for t, k in zip(read.texts, read.kinds, strict=True) if k != "end"]


def kinds(text: str) -> list[str]:
    return [kind for _, kind in tokens(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("?x", "var"),
        ("$x_1", "var"),
        ("?1", "var"),
        ("<http://e.x/a>", "iri"),
        ("<>", "iri"),
        (r"<http://e.x/\u00e9>", "iri"),
        ("ex:a", "pname"),
        ("ex:", "pname"),
        (":", "pname"),
        (":a.b.c", "pname"),
        ("ex:T._E._Lawrence", "pname"),
        (r"ex:a\-b%41", "pname"),
        ("a.b-c:d", "pname"),
        ("é:ü", "pname"),
        ("_:b0", "blank"),
        ("_:a.b", "blank"),
        ('"a"', "string"),
        ("'it\"s'", "string"),
        (r'"a\"b"', "string"),
        ('"""a"b\n""c"""', "string"),
        ("'''a'b'''", "string"),
        ('""', "string"),
        ("@en-GB", "lang"),
        ("12", "integer"),
        ("-12", "integer"),
        ("1.5", "decimal"),
        ("+.5", "decimal"),
        ("1e0", "double"),
        ("1.E-3", "double"),
        (".5e+3", "double"),
        ("select", "SELECT"),
        ("ftContains", "FTCONTAINS"),
        ("Encode_For_URI", "ENCODE_FOR_URI"),
        ("^^", "^^"),
        ("&&", "&&"),
        (">=", ">="),
    ],
)
def test_one_token(text: str, kind: str) -> None:
    assert tokens(text) == [(text, kind)]


def test_longest_token_wins() -> None:
    assert kinds("?x<=?y") == ["var", "<=", "var"]
    assert kinds("?x<?y") == ["var", "<", "var"]
    assert kinds("?x<?y&&?z>1") == ["var", "iri", "integer"]
    assert kinds("?x-5") == ["var", "integer"]
    assert kinds("?x - 5") == ["var", "-", "integer"]


def test_dots_end_names_and_numbers() -> None:
    assert [t for t, _ in tokens("ex:a. ex:b.c. 5. true. _:d.")] == [
        *("ex:a", ".", "ex:b.c", ".", "5", ".", "true", ".", "_:d", ".")
    ]


def test_comments_and_space_lie_between_tokens() -> None:
    assert [t for t, _ in tokens('# "no string\nASK # <x>\r\n\t{}#')] == ["ASK", "{", "}"]


def test_a_hash_in_a_string_or_iri_is_no_comment() -> None:
    assert kinds('<http://e.x/#a> "#" ex:a') == ["iri", "string", "pname"]


@pytest.mark.parametrize(("text", "reason"), [('"a', "no closing"), ("'''a''", "no closing"), ("ASK ~", "'~'")])
def test_what_no_rule_knows(text: str, reason: str) -> None:
    read = Tokens(text)
    read.i = len(kinds(text)) - 1
    assert read.kinds[read.i] == "bad"
    assert reason in read.unexpected("a triple").reason


def test_an_escaped_quote_at_the_end_closes_nothing() -> None:
    assert kinds(r'"a\"') == ["bad"]


def test_places_are_found_again() -> None:
    text = "# one\nASK {\n\t?s ?p é:x }"
    read = Tokens(text)
    spans = [read.span(n) for n in range(len(read.texts))]
    assert [(s.line, s.column) for s in spans[:6]] == [(2, 1), (2, 5), (3, 2), (3, 5), (3, 8), (3, 12)]
    assert spans[2].text == "\t?s ?p é:x }"
    assert read.span(99).line == 3


def test_unexpected_says_what_was_expected_and_what_is_near() -> None:
    read = Tokens("OPTINAL {}", source="a.rq")
    error = read.unexpected("}", "a triple", "OPTIONAL", "FILTER")
    assert error.reason == "expected '}', a triple, OPTIONAL or FILTER, found 'OPTINAL'"
    assert error.hint == "did you mean OPTIONAL?"
    assert error.where() == "a.rq:1:1"


def test_long_tokens_are_cut_in_messages() -> None:
    reason = Tokens('"' + "a" * 1000 + '"').unexpected("var").reason
    assert len(reason) < 100


def test_length_is_bounded() -> None:
    check_length(" " * MAX_LENGTH, None)
    with pytest.raises(SubscriptionError, match="1048577 characters"):
        check_length(" " * (MAX_LENGTH + 1), None)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(SubscriptionError, match=r"U\+D800") as caught:
        Tokens('ASK {\n ?s ?p "a\ud800" }')
    assert (caught.value.line, caught.value.column) == (2, 10)
    str(caught.value).encode()


def test_nesting_is_bounded() -> None:
    read = Tokens("")
    read.enter(MAX_NESTING)
    with pytest.raises(SubscriptionError, match="nested too deeply"):
        read.enter()


@pytest.mark.parametrize(
    "piece", ["a.", "a-", '"\\', '"""\\', "'''\\", "<a", " ", ":.", "_:a.", "?", '"a\n', "\\", "#", "a:\\", "%"]
)
def test_hostile_texts_are_cut_in_one_go(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert Tokens(text).kinds[-1] == "end"
