"""Prefixes, IRIs and literals in subscription text."""

from __future__ import annotations

import pytest

from tidings.errors import SubscriptionError
from tidings.lang.terms import TermParser, resolve
from tidings.rdf.terms import XSD, Term

_PROLOGUE = "PREFIX ex: <http://e.x/> PREFIX : <http://e.x/#> "


def term(text: str, base: str | None = None) -> Term:
    parser = TermParser(_PROLOGUE + text, base=base)
    parser.prologue()
    found = parser.iri() if parser.kinds[parser.i] in ("iri", "pname") else parser.literal()
    parser.expect_end()
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<http://e.x/a>", "<http://e.x/a>"),
        ("ex:a", "<http://e.x/a>"),
        ("ex:", "<http://e.x/>"),
        (":a", "<http://e.x/#a>"),
        ("ex:a.b", "<http://e.x/a.b>"),
        (r"ex:a\(b\)", "<http://e.x/a(b)>"),
        ("ex:%41", "<http://e.x/%41>"),
        (r"<http://e.x/\u00e9\U0001F600>", "<http://e.x/é😀>"),
        ('"a"', '"a"'),
        ("'a'", '"a"'),
        ('"""a\nb"""', '"a\\nb"'),
        (r'"\t\b\n\r\f\"\'\\"', r'"\t\b\n\r\f\"' + r"'\\" + '"'),
        (r'"\u00e9\U0001F600"', '"é😀"'),
        (r'"\\u0041"', r'"\\u0041"'),
        ('"a"@en-GB', '"a"@en-gb'),
        ('"5"^^ex:int', '"5"^^<http://e.x/int>'),
        (f'"a"^^<{XSD}string>', '"a"'),
        ("5", f'"5"^^<{XSD}integer>'),
        ("-05", f'"-05"^^<{XSD}integer>'),
        ("+.5", f'"+.5"^^<{XSD}decimal>'),
        ("1e5", f'"1e5"^^<{XSD}double>'),
        ("true", f'"true"^^<{XSD}boolean>'),
        ("FALSE", f'"false"^^<{XSD}boolean>'),
    ],
)
def test_terms(text: str, expected: str) -> None:
    assert term(text) == expected


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        (r'"a\q"', r"unknown escape '\q'", 3),
        (r'"\uD800"', r"'\uD800' is not a Unicode character", 2),
        (r'"\UFFFFFFFF"', r"'\UFFFFFFFF' is not a Unicode character", 2),
        ("<a>", "the IRI <a> is relative", 1),
        ("<http://[>", "<http://[> is not a valid IRI", 1),
        (r"<http://e.x/\u0020>", "<http://e.x/ > is not a valid IRI", 1),
        (r"ex:\%", "<http://e.x/%> is not a valid IRI", 1),
        ("exx:a", "unknown prefix 'exx:'", 1),
        ('"a"^^5', "expected an IRI, found '5'", 6),
        ("?x", "expected a literal, found '?x'", 1),
    ],
)
def test_what_is_no_term(text: str, reason: str, column: int) -> None:
    with pytest.raises(SubscriptionError) as caught:
        term(text)
    assert caught.value.reason == reason
    assert caught.value.column == len(_PROLOGUE) + column


@pytest.mark.parametrize(
    ("prefix", "hint"),
    [
        ("exx", "did you mean 'ex:'?"),
        ("foaf", "declare it first: PREFIX foaf: <http://xmlns.com/foaf/0.1/>"),
        ("zzz", "declare it first: PREFIX zzz: <http://…>"),
    ],
)
def test_unknown_prefixes_come_with_a_hint(prefix: str, hint: str) -> None:
    with pytest.raises(SubscriptionError) as caught:
        term(f"{prefix}:a")
    assert caught.value.hint == hint


@pytest.mark.parametrize("text", ["PREFIX ex <http://e.x/>", "PREFIX ex:a <http://e.x/>", "PREFIX ex: a:b", "BASE 5"])
def test_broken_declarations(text: str) -> None:
    with pytest.raises(SubscriptionError):
        TermParser(text).prologue()


def test_declarations_build_on_those_before() -> None:
    text = "BASE <http://e.x/a/> PREFIX p: <b#> BASE <c/> PREFIX p: <> prefix q: <http://q.x/>"
    parser = TermParser(text)
    parser.prologue()
    assert parser.base == "http://e.x/a/c/"
    assert parser.prefixes == {"p": "http://e.x/a/c/", "q": "http://q.x/"}


def test_a_base_from_outside() -> None:
    assert term("<a>", base="http://b.x/c/d") == "<http://b.x/c/a>"


def test_natural_numbers_are_bounded() -> None:
    assert TermParser("0012").natural() == 12
    for text in ("-1", "1.0", "9" * 19, "a"):
        with pytest.raises(SubscriptionError):
            TermParser(text).natural()


# The examples of RFC 3986, 5.4.
_BASE = "http://a/b/c/d;p?q"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
    ],
)
def test_resolution(reference: str, expected: str) -> None:
    assert resolve(_BASE, reference) == expected


def test_resolution_against_unusual_bases() -> None:
    assert resolve("http://a", "b") == "http://a/b"
    assert resolve("urn:a:b", "#c") == "urn:a:b#c"
