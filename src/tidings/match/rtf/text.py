"""Text constraints, as the RTF paper indexes them: words to be found, and distances between them to be checked.

Full-text expressions are split at their disjunctions, negation pushed inwards, until each alternative is a conjunction
of proximity formulas, wanted or unwanted. A phrase is a formula without room between its words, and a chain of
`ftNEAR`s is one formula however it was bracketed, since each step goes on from the end of the one before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TypeAlias, TypeVar

from tidings.lang.pattern import FtAnd, FtExpr, FtNear, FtNot, FtOr, FtPhrase, Var
from tidings.match.fulltext import Words
from tidings.match.rtf.size import Size

Gap: TypeAlias = tuple[int, int]
"""At least and at most so many words between."""

Spend: TypeAlias = Callable[[int], None]

T = TypeVar("T")

_ADJACENT: Gap = (0, 0)


class TooManySplits(Exception):
    """A disjunction has more alternatives than asked for at most."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A proximity formula: words in this order, `gaps[i]` between the words i and i + 1."""

    words: tuple[str, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """What the literal at the object of a tuple must satisfy.

    `words` are the distinct words that all have to be there, `near` the formulas of two or more words, and `never` the
    formulas that must not hold.
    """

    words: tuple[str, ...]
    near: tuple[Formula, ...]
    never: tuple[Formula, ...]

    @property
    def is_plain(self) -> bool:
        """Whether finding the words decides it."""
        return bool(self.words) and not self.near and not self.never


# ------------------------------------------------------------------------------------------------------------ splitting


@dataclass(frozen=True, slots=True)
class _Literal:
    """A formula on the text of a variable, or its negation."""

    var: Var
    formula: Formula
    wanted: bool


_Conjunction: TypeAlias = tuple[_Literal, ...]


def alternatives(filters: Iterable[tuple[Var, FtExpr]], most: int) -> list[dict[Var, Text]]:
    """The conjunction of the filters without disjunctions: the constraints on each variable, once for each alternative.

    Raises `TooManySplits` before there are more than `most`, or as many in any part of it.
    """
    every = _product([_split(var, expr, True, most) for var, expr in filters], most)
    return [_by_variable(conjunction) for conjunction in dict.fromkeys(every)]


def _split(var: Var, expr: FtExpr, wanted: bool, most: int) -> list[_Conjunction]:
    """The expression, or its negation, as alternatives."""
    match expr:
        case FtNot(item=item):
            return _split(var, item, not wanted, most)
        case FtAnd(items=items) | FtOr(items=items):
            parts = [_split(var, item, wanted, most) for item in items]
            return _product(parts, most) if isinstance(expr, FtAnd) == wanted else _union(parts, most)
        case FtPhrase() | FtNear():
            literals = [_Literal(var, formula, wanted) for formula in _formulas(expr, most)]
            return [(literal,) for literal in literals] if wanted else [tuple(literals)]


def _formulas(expr: FtExpr, most: int) -> list[Formula]:
    """What is near what, with every choice made; chains to the left, which may be long, are unrolled."""
    gaps: list[Gap] = []
    operands: list[FtExpr] = []
    while isinstance(expr, FtNear):
        gaps.append((expr.least, expr.most))
        operands.append(expr.right)
        expr = expr.left
    if not gaps:
        return _operand(expr, most)
    operands.append(expr)
    choices = [_operand(operand, most) for operand in reversed(operands)]
    return [_chained(formulas, gaps[::-1]) for formulas in _combinations(choices, most)]


def _operand(expr: FtExpr, most: int) -> list[Formula]:
    match expr:
        case FtPhrase(words=words):
            return [Formula(words, (_ADJACENT,) * (len(words) - 1))]
        case FtOr(items=items):
            return _union([_formulas(item, most) for item in items], most)
        case FtNear():
            return _formulas(expr, most)
    raise AssertionError(f"not an operand of ftNEAR: {expr!r}")


def _chained(formulas: tuple[Formula, ...], gaps: list[Gap]) -> Formula:
    inside = [formula.gaps for formula in formulas]
    between = [*((gap,) for gap in gaps), ()]
    return Formula(
        tuple(word for formula in formulas for word in formula.words),
        tuple(gap for own, behind in zip(inside, between, strict=True) for gap in (*own, *behind)),
    )


def _product(parts: Sequence[list[_Conjunction]], most: int) -> list[_Conjunction]:
    return [tuple(chain.from_iterable(choice)) for choice in _combinations(parts, most)]


def _combinations(parts: Sequence[list[T]], most: int) -> Iterator[tuple[T, ...]]:
    count = 1
    for part in parts:
        count *= len(part)
        if count > most:
            raise TooManySplits
    return product(*parts)


def _union(parts: Sequence[list[T]], most: int) -> list[T]:
    if sum(map(len, parts)) > most:
        raise TooManySplits
    return list(dict.fromkeys(chain.from_iterable(parts)))


def _by_variable(conjunction: _Conjunction) -> dict[Var, Text]:
    literals: dict[Var, list[_Literal]] = {}
    for literal in conjunction:
        literals.setdefault(literal.var, []).append(literal)
    return {var: _text(found) for var, found in literals.items()}


def _text(literals: list[_Literal]) -> Text:
    wanted = [literal.formula for literal in literals if literal.wanted]
    return Text(
        words=tuple(dict.fromkeys(word for formula in wanted for word in formula.words)),
        near=tuple(dict.fromkeys(formula for formula in wanted if formula.gaps)),
        never=tuple(dict.fromkeys(literal.formula for literal in literals if not literal.wanted)),
    )


# ------------------------------------------------------------------------------------------------------------- checking


def has_words(text: Text, words: Words) -> bool:
    """Whether all words are there, wherever."""
    return all(word in words.places for word in text.words)


def keeps_distances(text: Text, words: Words, spend: Spend) -> bool:
    """Whether every formula holds and no unwanted one does, by the positions of the words."""
    return all(holds(f, words, spend) for f in text.near) and not any(holds(f, words, spend) for f in text.never)


def holds(formula: Formula, words: Words, spend: Spend) -> bool:
    """Whether the text has the words at these distances: word after word, the positions at which they can end."""
    ends = words.places.get(formula.words[0], [])
    for word, (least, most) in zip(formula.words[1:], formula.gaps, strict=True):
        if not ends:
            return False
        places = words.places.get(word, [])
        spend(len(places) + 1)
        ends = [place for place in places if _is_between(ends, place - 1 - most, place - 1 - least)]
    return bool(ends)


def _is_between(places: list[int], first: int, last: int) -> bool:
    at = bisect_left(places, first)
    return at < len(places) and places[at] <= last


def measure(text: Text, size: Size) -> None:
    """Adds the constraint with its tables. Of these the paper has what distances need; words it keeps elsewhere."""
    size.own(text)
    size.share(text.words, text.near, text.never, *text.words)
    for formula in text.near + text.never:
        size.own(formula)
        size.share(formula.words, formula.gaps, *formula.words, *formula.gaps)
        size.keep(len(formula.words) + 2 * len(formula.gaps))
