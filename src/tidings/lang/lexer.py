"""Tokens, for all three dialects: one regular expression cuts the text, a cursor walks the pieces.

A token is its text and its kind. The kind of a word is the word in capitals (`SELECT`, `FTCONTAINS`), of punctuation
the sign itself (`{`, `&&`), of everything else a name in small letters:

    iri      <http://e.x/a>          string   "a", 'a', three quotes too     integer  12, -12
    pname    ex:a, ex:, :a           lang     @en                            decimal  1.5, .5
    var      ?x, $x                  blank    _:b                            double   1e0
    end      after the last token    bad      what no rule knows

White space and `#` comments lie between tokens. Places are not kept: they are found again when an error needs one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import islice

from tidings.errors import Span, SubscriptionError

MAX_LENGTH = 1 << 20
"""Characters of one subscription."""
MAX_WRITTEN = 1 << 26
"""Characters that it may have when every name in it is written out, at every place where it may be needed."""
MAX_NESTING = 100
"""How deep parentheses and brackets may nest in one another; a group in braces counts twice."""

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = f"{_BASE}_0-9\u00b7\u0300-\u036f\u203f-\u2040"
_CHARS = f"{_NAME}\\-"
_HEX = "[0-9A-Fa-f]"
_ESCAPED = f"(?:%{_HEX}{{2}}|\\\\[_~.\\-!$&'()*+,;=/?#@%])"
# The grammar of tokens, in verbose regular expressions. Nothing here may read far ahead of what it takes, or a hostile
# text would be read over and over: the prefix of a name is bounded, and an unfinished string swallows all that follows.
SPACE = r"(?:[ \t\r\n]++|\#[^\r\n]*+)"
VAR = f"[?$][{_BASE}_0-9][{_NAME}]*+"
PREFIX = rf"(?:[{_BASE}][{_CHARS}.]{{0,100}}+(?<!\.))?:"
PNAME = rf"{PREFIX}(?:(?:[{_BASE}_0-9:]|{_ESCAPED})(?:[{_CHARS}:]++|\.++(?=[{_CHARS}:%\\])|{_ESCAPED})*+)?"
IRI = rf"""<(?:[^<>"{{}}|^`\\\x00-\x20]|\\u{_HEX}{{4}}|\\U{_HEX}{{8}})*+>"""
WORD = "[A-Za-z][A-Za-z0-9_]*+"
# Signs and words that cannot be the beginning of anything longer; tried first, since most tokens are of this kind.
SIMPLE = r"(?: [{}()\[\],;*/=] | \.(?![0-9]) | [A-Za-z]++(?=[ (\[]) )"
STRING = r"""(?:
    \"{3}(?:[^"\\]|\\.|\"{1,2}(?!\"))*+\"{3} | '{3}(?:[^'\\]|\\.|'{1,2}(?!'))*+'{3}
  | (?!\"{3})"[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+" | (?!'{3})'[^'\\\r\n]*+(?:\\[^\r\n][^'\\\r\n]*+)*+'
)"""
OTHER = rf"""(?:
    [+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)[eE][+-]?[0-9]++ | [+-]?[0-9]*+\.[0-9]++ | [+-]?[0-9]++
  | _:[{_BASE}_0-9](?:[{_CHARS}]++|\.++(?=[{_CHARS}]))*+
  | @[A-Za-z]++(?:-[A-Za-z0-9]++)*+
  | \^\^ | \|\| | && | != | <= | >=
  | ["'].*
  | .
)"""

_TOKEN = re.compile(
    rf"{SPACE}*+(?:( {VAR} | {SIMPLE} | {PNAME} | {IRI} | {WORD} | {STRING} | {OTHER} )|\Z)",
    re.VERBOSE | re.DOTALL,
)
_WHOLE_STRING = re.compile(STRING, re.VERBOSE | re.DOTALL)

_SIGNS = [*"{}()[],;.*/=+-!<>|^?", "^^", "||", "&&", "!=", "<=", ">="]
_OPERATORS = frozenset(["||", "&&", "=", "!=", "<=", ">", ">="])
_NAMES = {
    "iri": "an IRI",
    "pname": "a prefixed name",
    "var": "a variable",
    "string": "a string",
    "lang": "a language tag",
    "integer": "an integer",
    "decimal": "a decimal number",
    "double": "a number",
    "blank": "a blank node",
    "end": "the end of the text",
    "FTAND": "ftAND",
    "FTOR": "ftOR",
    "FTNOT": "ftNOT",
    "FTNEAR": "ftNEAR",
}


class _Kinds(dict[str, str]):
    """From a token's text to its kind; only the signs, of which there are few, are stored."""

    def __missing__(self, text: str) -> str:
        first = text[0]
        if first in "?$":
            return "var" if len(text) > 1 else "bad"
        if first == "<":
            return "iri"
        if first in "\"'":
            return "string"
        if first in "0123456789.+-":
            return "double" if "e" in text or "E" in text else "decimal" if "." in text else "integer"
        if first == "_" and len(text) > 2:
            return "blank"
        if first == "@" and len(text) > 1:
            return "lang"
        if ":" in text:
            return "pname"
        return text.upper() if text.isascii() and first.isalpha() else "bad"


_KINDS = _Kinds({sign: sign for sign in _SIGNS} | {"": "end"})


class Tokens:
    """The tokens of a text and a place among them: the root of every parser.

    `texts` and `kinds` run in parallel, `i` is the current token. Both lists end in `end` tokens, and nothing steps
    over the first of them, so `kinds[i + 1]` is safe wherever `kinds[i]` is not `end`.
    """

    def __init__(self, text: str, source: str | None = None) -> None:
        self.text = text
        self.source = source
        self.i = 0
        self.depth = 0
        check_characters(text, source)
        self.texts: list[str] = _TOKEN.findall(text)
        self.kinds = [_KINDS[token] for token in self.texts]
        self._mark_unfinished_string()

    def _mark_unfinished_string(self) -> None:
        last = len(self.kinds) - 1
        while last > 0 and self.kinds[last] == "end":
            last -= 1
        if self.kinds[last] == "string" and not _WHOLE_STRING.fullmatch(self.texts[last]):
            self.kinds[last] = "bad"

    # ------------------------------------------------------------------------------------------------------- stepping

    def next(self) -> str:
        """The text of the current token, which is then behind."""
        text = self.texts[self.i]
        self.i += 1
        return text

    def take(self, kind: str) -> bool:
        """Step over the current token if it is of this kind."""
        if self.kinds[self.i] == kind:
            self.i += 1
            return True
        return False

    def expect(self, kind: str) -> str:
        """The text of the current token, which must be of this kind."""
        if self.kinds[self.i] != kind:
            raise self.unexpected(kind)
        return self.next()

    def expect_end(self) -> None:
        if self.kinds[self.i] != "end":
            raise self.unexpected("end")

    def enter(self, levels: int = 1) -> None:
        """Deeper; every parser that calls itself does this first, and `leave` afterwards."""
        self.depth += levels
        if self.depth > MAX_NESTING:
            raise self.error("nested too deeply", hint=f"at most {MAX_NESTING} levels are read")

    def leave(self, levels: int = 1) -> None:
        self.depth -= levels

    # --------------------------------------------------------------------------------------------------------- errors

    def offset(self, index: int) -> int:
        """Where the token with this index begins in the text."""
        match = next(islice(_TOKEN.finditer(self.text), index, None), None)
        return match.end() - len(match[1] or "") if match else len(self.text)

    def starts(self) -> list[int]:
        """Where each token begins, in the order of `texts`."""
        return [match.end() - len(match[1] or "") for match in _TOKEN.finditer(self.text)]

    def span(self, index: int | None = None, inside: int = 0) -> Span:
        """The place of a token (the current one if not said), or of a character `inside` it."""
        return Span.at(self.text, self.offset(self.i if index is None else index) + inside)

    def error(
        self, reason: str, *, at: int | None = None, inside: int = 0, hint: str | None = None
    ) -> SubscriptionError:
        """An error at the token with the index `at`, the current one if not said. The caller raises it."""
        return SubscriptionError(reason, span=self.span(at, inside), source=self.source, hint=hint)

    def unexpected(self, *expected: str, hint: str | None = None) -> SubscriptionError:
        """An error at the current token: one of `expected` (kinds, or descriptions of more) should have been there."""
        text, kind = self.texts[self.i], self.kinds[self.i]
        if kind == "bad":
            return self._bad(text)
        found = _NAMES["end"] if kind == "end" else f"'{_shortened(text)}'"
        reason = f"expected {listed(describe(e) for e in expected)}, found {found}"
        if kind == "/" and self.kinds[self.i + 1] == "/":
            hint = "a comment begins with #"
        return self.error(reason, hint=hint or _hint(kind, text, expected))

    def _bad(self, text: str) -> SubscriptionError:
        if text[0] in "\"'":
            quote = text[:3] if text[:3] in ('"""', "'''") else text[0]
            hint = "a string with line breaks needs three quotes" if len(quote) == 1 else None
            return self.error(f"this string has no closing {quote}", hint=hint)
        return self.error(f"the character {text[0]!r} has no meaning here")


def check_length(text: str, source: str | None) -> None:
    if len(text) > MAX_LENGTH:
        reason = f"the text has {len(text)} characters, a subscription may have {MAX_LENGTH}"
        raise SubscriptionError(reason, span=Span(1), source=source)


def check_characters(text: str, source: str | None) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        reason = f"half a surrogate pair, U+{ord(text[error.start]):04X}, is not a character"
        place = Span.at(text.encode(errors="replace").decode(), error.start)
        raise SubscriptionError(reason, span=place, source=source) from None


def _hint(kind: str, text: str, expected: Iterable[str]) -> str | None:
    if kind.isupper():
        near = difflib.get_close_matches(kind, [e for e in expected if e.isupper()], 1)
        return f"did you mean {describe(near[0])}?" if near else None
    if kind == "iri" and text[1] in "?$":
        return "from < to > without a space is an IRI; put spaces around a comparison"
    if kind == "<":
        return "an IRI in angle brackets holds no spaces, quotes or braces"
    if kind in _OPERATORS:
        return "a condition with operators stands in parentheses"
    return None


def describe(kind: str) -> str:
    """A kind of token as it reads in a message."""
    return _NAMES.get(kind) or (kind if kind.isupper() or " " in kind else f"'{kind}'")


def listed(items: Iterable[str]) -> str:
    """`a, b or c`."""
    *rest, last = dict.fromkeys(items)
    return f"{', '.join(rest)} or {last}" if rest else last


def _shortened(text: str) -> str:
    text = text.replace("\n", "\\n")
    return text if len(text) <= 40 else text[:39] + "…"
