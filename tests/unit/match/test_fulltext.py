"""Full text: phrases, ftNEAR and its chains, the boolean operators, and what is not a literal."""

from __future__ import annotations

import random
from itertools import product

import pytest
from tests.unit.match.worlds import rows

from tidings.lang.fulltext import words
from tidings.lang.pattern import FtExpr, FtNear, FtOr, FtPhrase
from tidings.match.fulltext import Words, contains

TEXT = "The quick brown fox jumps over the lazy dog"


def found(expression: str, literal: str = f'"{TEXT}"') -> bool:
    return bool(rows(f"SELECT ?s {{ ?s :p ?v FILTER ftcontains(?v, {expression}) }}", f":a :p {literal} ."))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('"fox"', True),
        ('"FOX"', True),
        ('"fo"', False),
        ('"quick brown"', True),
        ('"brown quick"', False),
        ('"quick fox"', False),
        ('"quick" ftNEAR[0,0] "brown"', True),
        ('"quick" ftNEAR[1,1] "fox"', True),
        ('"quick" ftNEAR[2,5] "fox"', False),
        ('"fox" ftNEAR[0,9] "quick"', False),
        ('"the" ftNEAR[0,0] "lazy"', True),
        ('"quick" ftNEAR[1,1] "fox" ftNEAR[1,1] "over"', True),
        ('"quick" ftNEAR[1,1] "fox" ftNEAR[2,3] "over"', False),
        ('"quick brown" ftNEAR[1,1] "jumps over"', True),
        ('"quick" ftNEAR[0,1] ("fox" ftOR "cat")', True),
        ('("quick" ftOR "lazy") ftNEAR[0,0] "dog"', True),
        ('"quick" ftAND "dog"', True),
        ('"quick" ftAND "cat"', False),
        ('"cat" ftOR "dog"', True),
        ('ftNOT "cat"', True),
        ('ftNOT ("cat" ftOR "dog")', False),
        ('"quick" ftAND ftNOT "cat"', True),
    ],
)
def test_contains(expression: str, expected: bool) -> None:
    assert found(expression) is expected


@pytest.mark.parametrize("literal", ['"fox"@en', '"fox"^^:own', '"fox"^^xsd:integer'])
def test_any_literal_has_text(literal: str) -> None:
    assert found('"fox"', literal)


@pytest.mark.parametrize("node", [":fox", "[]"])
def test_what_is_no_literal_has_none(node: str) -> None:
    assert not found('"fox"', node)
    assert found('ftNOT "fox"', node) is False


def test_unbound_is_an_error() -> None:
    event = ":a :p 1 ."
    assert not rows('SELECT * { ?s :p ?v FILTER ftcontains(?w, "a") }', event)
    assert not rows('SELECT * { ?s :p ?v FILTER (! ftcontains(?w, "a")) }', event)
    assert rows('SELECT * { ?s :p ?v FILTER (ftcontains(?w, "a") || true) }', event)


def spans(text: tuple[str, ...], expr: FtExpr) -> set[tuple[int, int]]:
    """The definition, occurrence by occurrence."""
    match expr:
        case FtPhrase(words=phrase):
            places = range(len(text) - len(phrase) + 1)
            return {(i, i + len(phrase) - 1) for i in places if text[i : i + len(phrase)] == phrase}
        case FtOr(items=items):
            return {span for item in items for span in spans(text, item)}
        case FtNear(left=left, least=least, most=most, right=right):
            pairs = product(spans(text, left), spans(text, right))
            return {(a[0], b[1]) for a, b in pairs if b[0] > a[1] and least <= b[0] - a[1] - 1 <= most}
    raise AssertionError(expr)


def random_expr(chance: random.Random, depth: int) -> FtExpr:
    if depth == 0 or chance.random() < 0.3:
        phrase = tuple(chance.choices("ab", k=chance.randint(1, 2)))
        return FtPhrase(" ".join(phrase), phrase)
    left, right = random_expr(chance, depth - 1), random_expr(chance, depth - 1)
    if chance.random() < 0.3:
        return FtOr((left, right))
    least = chance.randint(0, 2)
    return FtNear(left, least, least + chance.randint(0, 2), right)


def test_near_is_what_its_spans_say() -> None:
    chance = random.Random(7)
    outcomes = set()
    for _ in range(1_000):
        text = tuple(chance.choices("abc", k=chance.randint(0, 9)))
        expr = random_expr(chance, 3)
        expected = bool(spans(text, expr))
        assert contains(Words(text), FtNear(expr, 0, 99, expr), _free) == bool(
            spans(text, FtNear(expr, 0, 99, expr))
        ), (text, expr)
        if not isinstance(expr, FtOr):
            assert contains(Words(text), expr, _free) == expected, (text, expr)
            outcomes.add(expected)
    assert outcomes == {True, False}


def test_work_is_counted() -> None:
    spent: list[int] = []
    assert contains(Words(words("a " * 1_000)), FtPhrase("a a", ("a", "a")), spent.append)
    assert sum(spent) == 2_000


def _free(steps: int) -> None:
    """No budget."""
