"""Words and full text for the brute-force checks, character by character."""

from __future__ import annotations

import unicodedata

_HAN_OR_HIRAGANA = (
    "CJK UNIFIED IDEOGRAPH",
    "CJK COMPATIBILITY IDEOGRAPH",
    "IDEOGRAPHIC ITERATION MARK",
    "VERTICAL IDEOGRAPHIC ITERATION MARK",
    "IDEOGRAPHIC NUMBER ZERO",
    "HANGZHOU NUMERAL",
    "OLD CHINESE ITERATION MARK",
    "HIRAGANA LETTER",
    "HIRAGANA ITERATION MARK",
    "HIRAGANA VOICED ITERATION MARK",
    "HIRAGANA DIGRAPH",
    "HENTAIGANA LETTER",
)


def stands_alone(char: str) -> bool:
    """Han and Hiragana characters are words by themselves; their names tell them."""
    return unicodedata.name(char, "").startswith(_HAN_OR_HIRAGANA)


def words(text: str) -> list[str]:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    found: list[str] = []
    open_word = False
    alone = False
    for char in text:
        major = unicodedata.category(char)[0]
        if major not in "LMN":
            open_word = False
        elif stands_alone(char):
            found.append(char)
            open_word, alone = True, True
        elif not open_word or (alone and major != "M"):
            found.append(char)
            open_word, alone = True, False
        else:
            found[-1] += char
    return found


def contains(text: str, tree: tuple) -> bool:
    """Whether a full-text expression holds on a text."""
    match tree:
        case ("and", *items):
            return all(contains(text, i) for i in items)
        case ("or", *items):
            return any(contains(text, i) for i in items)
        case ("not", item):
            return not contains(text, item)
    return bool(spans(words(text), tree))


def spans(row: list[str], tree: tuple) -> set[tuple[int, int]]:
    """Where a phrase or a ftNEAR is found: the places of its first and last word."""
    match tree:
        case ("phrase", phrase):
            wanted = words(phrase)
            last = len(row) - len(wanted)
            return {(i, i + len(wanted) - 1) for i in range(last + 1) if row[i : i + len(wanted)] == wanted}
        case ("or", *items):
            return {span for item in items for span in spans(row, item)}
        case ("near", left, least, most, right):
            return {
                (a, d)
                for a, b in spans(row, left)
                for c, d in spans(row, right)
                if c > b and least <= c - b - 1 <= most
            }
    raise TypeError(tree)
