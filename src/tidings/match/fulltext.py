"""Full text: whether a text satisfies an `ftcontains` expression.

Instead of listing occurrences as spans, of which `ftNEAR` can have quadratically many, an expression is asked where
its occurrences end, given where they may start. That is one pass over sorted positions, and it composes: the ends of
the left operand of `ftNEAR` are the windows in which the right one may start.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeAlias

from tidings.lang.pattern import FtAnd, FtExpr, FtNear, FtNot, FtOr, FtPhrase

Windows: TypeAlias = list[tuple[int, int]]
"""First and last positions, sorted and apart."""

Spend: TypeAlias = Callable[[int], None]
"""Called with the number of steps taken; it may raise to stop the work."""


class Words:
    """The words of a text, in order, and where each of them stands."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words

    @cached_property
    def places(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(self.words):
            table[word].append(place)
        return dict(table)


def contains(text: Words, expr: FtExpr, spend: Spend) -> bool:
    """Whether the text satisfies the expression."""
    match expr:
        case FtAnd(items=items):
            return all(contains(text, item, spend) for item in items)
        case FtOr(items=items):
            return any(contains(text, item, spend) for item in items)
        case FtNot(item=item):
            return not contains(text, item, spend)
        case FtPhrase() | FtNear():
            return bool(_ends(text, expr, [(0, len(text.words))], spend))


def _ends(text: Words, expr: FtExpr, starts: Windows, spend: Spend) -> list[int]:
    """The last positions of the occurrences that start within the windows, sorted."""
    match expr:
        case FtPhrase(words=phrase):
            return _phrase_ends(text, phrase, starts, spend)
        case FtOr(items=items):
            return sorted({end for item in items for end in _ends(text, item, starts, spend)})
        case FtNear(left=left, least=least, most=most, right=right):
            ends = _ends(text, left, starts, spend)
            if not ends:
                return []
            return _ends(text, right, _merged((end + 1 + least, end + 1 + most) for end in ends), spend)
    raise AssertionError(f"not an operand of ftNEAR: {expr!r}")


def _phrase_ends(text: Words, phrase: tuple[str, ...], starts: Windows, spend: Spend) -> list[int]:
    length = len(phrase)
    found = []
    window = 0
    for place in text.places.get(phrase[0], ()):
        while window < len(starts) and starts[window][1] < place:
            window += 1
        if window == len(starts):
            break
        spend(length)
        if starts[window][0] <= place and text.words[place : place + length] == phrase:
            found.append(place + length - 1)
    return found


def _merged(windows: Iterable[tuple[int, int]]) -> Windows:
    """Windows given in the order of their starts, overlapping ones joined."""
    merged: Windows = []
    for first, last in windows:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return merged
