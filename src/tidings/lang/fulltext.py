"""Full text: what a word is, and the expressions of `ftcontains`, which are, from the loosest to the tightest:

a ftOR b
a ftAND b
ftNOT a
a ftNEAR[m,n] b      chains to the left; a and b are strings, ftNEARs, and parenthesised ftORs of these
"a string"           its words in a row
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain

from tidings.lang.pattern import FtAnd, FtExpr, FtNear, FtNot, FtOr, FtPhrase
from tidings.lang.terms import TermParser
from tidings.rdf.terms import escape

# ---------------------------------------------------------------------------------------------------------------- words

_ASCII_WORD = re.compile("[a-z0-9]+")
_SHORT = 40

# The letters, marks and numbers of the scripts Han and Hiragana, below and above U+10000. The standard library does not
# have Unicode's Script property.
_SINGLE = (
    "\u3005\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9"
)
_HIGH_SINGLE = (
    "\U00016fe3\U00016ff0-\U00016ff6\U0001b001-\U0001b11f\U0001b132\U0001b150-\U0001b152"
    "\U00020000-\U0002a6df\U0002a700-\U0002b81d\U0002b820-\U0002cead\U0002ceb0-\U0002ebe0\U0002ebf0-\U0002ee5d"
    "\U0002f800-\U0002fa1d\U00030000-\U0003134a\U00031350-\U00033479"
)


def words(text: str) -> tuple[str, ...]:
    """The words of a text: case, compatibility forms and composition do not matter, accents do.

    >>> words("Straße Nr. 5")
    ('strasse', 'nr', '5')
    >>> words("東京タワー")
    ('東', '京', 'タワー')
    """
    if text.isascii():
        return tuple(_ASCII_WORD.findall(text.lower()))
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return tuple(_word_rule().findall(normal))


def phrase(text: str) -> FtPhrase:
    """The words of a quoted string, to be looked for in a row."""
    return _short_phrase(text) if len(text) <= _SHORT else FtPhrase(text, words(text))


@lru_cache(maxsize=65_536)
def _short_phrase(text: str) -> FtPhrase:
    return FtPhrase(text, words(text))


@cache
def _word_rule() -> re.Pattern[str]:
    """A Han or Hiragana character with its marks, or a run of other letters, marks and numbers.

    Below U+10000 a character class is a table, above it a list: so the two are kept apart, and the list is only looked
    at for characters that are up there. Beyond what is listed here nothing is assigned but private use.
    """
    low, low_marks = _classes(map(chr, range(0x10000)), _SINGLE)
    high, high_marks = _classes(map(chr, chain(range(0x10000, 0x40000), range(0xE0000, 0xE1000))), _HIGH_SINGLE)
    up = "(?=[\U00010000-\U0010ffff])"
    single = f"(?:[{_SINGLE}]|{up}[{_HIGH_SINGLE}])"
    return re.compile(f"{single}(?:[{low_marks}]|{up}[{high_marks}])*+|(?:[{low}]++|{up}[{high}]++)++")


def _classes(chars: Iterable[str], single: str) -> tuple[str, str]:
    """The insides of two character classes: what a longer word is made of, and the marks among it."""
    every = "".join(chars)
    # What Python calls a word character is just a letter or a number, the underscore aside.
    letters = re.findall(rf"(?:(?![{single}])[^\W_])+", every)
    marks = [char for char in re.findall(r"\W", every) if unicodedata.category(char)[0] == "M"]
    only_marks = "".join(f"{first}-{last}" for first, last in _ranges(marks))
    return only_marks + "".join(f"{run[0]}-{run[-1]}" for run in letters), only_marks


def _ranges(chars: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The first and the last of each stretch of neighbours, of characters in ascending order."""
    first = last = ""
    for char in chars:
        if last and ord(char) == ord(last) + 1:
            last = char
            continue
        if first:
            yield first, last
        first = last = char
    yield first, last


# -------------------------------------------------------------------------------------------------------------- reading


def parse_fulltext(parser: TermParser) -> FtExpr:
    """The expression that begins at the current token of the parser."""
    first = _conjunction(parser)
    if parser.kinds[parser.i] != "FTOR":
        return first
    items = [first]
    while parser.take("FTOR"):
        items.append(_conjunction(parser))
    return FtOr(tuple(items))


def _conjunction(parser: TermParser) -> FtExpr:
    first = _negation(parser)
    if parser.kinds[parser.i] != "FTAND":
        return first
    items = [first]
    while parser.take("FTAND"):
        items.append(_negation(parser))
    return FtAnd(tuple(items))


def _negation(parser: TermParser) -> FtExpr:
    if parser.kinds[parser.i] != "FTNOT":
        return _proximity(parser)
    parser.i += 1
    parser.enter()
    item = _negation(parser)
    parser.leave()
    return FtNot(item)


def _proximity(parser: TermParser) -> FtExpr:
    start = parser.i
    left = _operand(parser, "FTNOT")
    while parser.kinds[parser.i] == "FTNEAR":
        _check_near(parser, left, start)
        parser.i += 1
        least, most = _distance(parser)
        start = parser.i
        right = _operand(parser)
        _check_near(parser, right, start)
        left = FtNear(left, least, most, right)
    return left


def _operand(parser: TermParser, *also: str) -> FtExpr:
    """A string or something in parentheses; `also` is what else could stand here."""
    if parser.take("("):
        parser.enter()
        inner = parse_fulltext(parser)
        if not parser.take(")"):
            raise parser.unexpected("FTAND", "FTOR", "FTNEAR", ")")
        parser.leave()
        return inner
    if parser.kinds[parser.i] != "string":
        raise parser.unexpected("a quoted string", *also, "(")
    found = phrase(parser.string())
    if not found.words:
        raise parser.error("this string has no word to look for", at=parser.i - 1)
    return found


def _distance(parser: TermParser) -> tuple[int, int]:
    """`[m,n]`."""
    parser.expect("[")
    start = parser.i
    least = parser.natural()
    parser.expect(",")
    most = parser.natural()
    if least > most:
        raise parser.error(f"ftNEAR[{least},{most}] can never hold: the first number is above the second", at=start)
    parser.expect("]")
    return least, most


def _check_near(parser: TermParser, operand: FtExpr, start: int) -> None:
    todo = [operand]
    while todo:
        match todo.pop():
            case FtOr(items=items):
                todo.extend(items)
            case FtAnd() | FtNot() as wrong:
                name = "ftAND" if isinstance(wrong, FtAnd) else "ftNOT"
                raise parser.error(f"ftNEAR takes strings, ftNEARs and ftORs of these, not {name}", at=start)


# ------------------------------------------------------------------------------------------------------------- printing

_LEVELS = {FtOr: 1, FtAnd: 2, FtNot: 3, FtNear: 4, FtPhrase: 5}


def print_fulltext(expr: FtExpr) -> str:
    match expr:
        case FtPhrase(text=text):
            return f'"{escape(text)}"'
        case FtNot(item=item):
            return f"ftNOT {_inside(item, 3)}"
        case FtNear(left=left, least=least, most=most, right=right):
            return f"{_inside(left, 4)} ftNEAR[{least},{most}] {_inside(right, 5)}"
        case FtAnd(items=items):
            return " ftAND ".join(_inside(item, 3) for item in items)
        case FtOr(items=items):
            return " ftOR ".join(_inside(item, 2) for item in items)


def _inside(expr: FtExpr, level: int) -> str:
    text = print_fulltext(expr)
    return text if _LEVELS[type(expr)] >= level else f"({text})"
