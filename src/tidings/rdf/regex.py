"""XPath regular expressions, as SPARQL's REGEX and REPLACE have them, run by RE2 in time linear in the text.

A pattern is translated while it is read: literals, groups and quantifiers nearly as they are, character classes as
explicit ranges, since XPath's `\\w`, `\\i`, `\\c`, blocks and class subtraction mean what RE2 cannot say. What needs
backtracking (back-references, look-around), and what XPath does not have, is refused with a `ValueError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

import re2

from tidings.rdf import codesets
from tidings.rdf.codesets import CodeSet

MAX_PATTERN = 16_384
MAX_REPEAT = 1_000
_MAX_DEPTH = 200
_MAX_MEMORY = 8 << 20

_SPACE = " \t\n\r"
_SINGLE = {"n": "\n", "r": "\r", "t": "\t"} | {c: c for c in "\\|.?*+(){}-[]^$"}
_META = frozenset("\\|.?*+(){}[]^$")
_QUANTITY = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_CATEGORY = re.compile(r"\{([A-Za-z0-9-]+)\}")
_TEMPLATE = re.compile(r"\\([\\$])|\$([0-9]+)|[^\\$]+", re.DOTALL)


class Regex:
    """A compiled pattern."""

    def __init__(self, pattern: str, flags: str = "") -> None:
        unknown = sorted(set(flags) - set("smixq"))
        if unknown:
            raise ValueError(f"unknown regular expression flag '{unknown[0]}': the flags are s, m, i, x and q")
        if len(pattern) > MAX_PATTERN:
            raise ValueError(f"a regular expression may have {MAX_PATTERN} characters, this one has {len(pattern)}")
        self._literal = "q" in flags
        self.width = len(pattern)
        """How many places in the pattern, repetitions written out, a search may be at, at the same time."""
        source = "".join(map(_quoted_char, pattern))
        if not self._literal:
            translation = _Translation(pattern, flags)
            source, self.width = translation.text(), translation.width
        self._source = _wrapped(source, flags)
        self._program = _compiled(self._source, captures=False)

    def search(self, text: str) -> bool:
        """Whether some part of the text matches."""
        return self._program.search(text.encode()) is not None

    def replaced(self, text: str, template: str) -> Iterator[str]:
        """The text with every match replaced, in pieces; `$1` in the template is what the first group matched."""
        if self.search(""):
            raise ValueError("REPLACE: the regular expression matches the empty string")
        pieces = [template] if self._literal else _template(template, self._capturing.groups)
        end = 0
        for match in self._capturing.finditer(text):
            yield text[end : match.start()]
            for piece in pieces:
                yield piece if isinstance(piece, str) else match[piece] or ""
            end = match.end()
        yield text[end:]

    @cached_property
    def _capturing(self) -> re2._Regexp:
        return _compiled(self._source, captures=True)


@lru_cache(maxsize=256)
def compile_regex(pattern: str, flags: str = "") -> Regex:
    """The pattern, ready to search; `ValueError` says what is wrong with it."""
    return Regex(pattern, flags)


def _compiled(source: str, captures: bool) -> re2._Regexp:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    options.never_capture = not captures
    try:
        return re2.compile(source, options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise ValueError(f"regular expression: {reason}") from None


def _wrapped(source: str, flags: str) -> str:
    inline = "".join(f for f in "ims" if f in flags)
    return f"(?{inline}){source}" if inline else source


def _quoted_char(char: str) -> str:
    if char in _META:
        return "\\" + char
    return char if char >= " " else f"\\x{{{ord(char):X}}}"


def _template(template: str, groups: int) -> list[str | int]:
    """The replacement in pieces; a number is a group. `$12` is group 12, or group 1 and a `2` where there are fewer."""
    pieces: list[str | int] = []
    place = 0
    while place < len(template):
        found = _TEMPLATE.match(template, place)
        if found is None:
            raise ValueError("REPLACE: in the replacement, '\\' is written '\\\\' and '$' is '\\$' or before a number")
        place = found.end()
        if found[2] is None:
            pieces.append(found[1] or found[0])
            continue
        digits = found[2]
        used = len(digits)
        while used > 1 and int(digits[:used]) > groups:
            used -= 1
        number = int(digits[:used])
        pieces += [number if number <= groups else "", digits[used:]]
    return pieces


class _Translation:
    """One pattern on its way to RE2's syntax."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = _without_space(pattern) if "x" in flags else pattern
        self.any_case = "i" in flags
        self.at = 0
        self.widths = [0]
        self.last_width = 0

    def text(self) -> str:
        out: list[str] = []
        repeatable = False
        while self.at < len(self.pattern):
            char = self.pattern[self.at]
            if char in "*+?{":
                out.append(self._quantifier(repeatable))
                repeatable = False
                continue
            self._count(char)
            out.append(self._group() if char == "(" else self._atom(char))
            repeatable = char not in "(|"
        if len(self.widths) > 1:
            raise self._error("a '(' without its ')'")
        return "".join(out)

    @property
    def width(self) -> int:
        return self.widths[0]

    def _count(self, char: str) -> None:
        """Keep track of open groups and of how wide each is: one for an atom, times its repetitions."""
        if char == "(":
            self.widths.append(0)
            if len(self.widths) > _MAX_DEPTH:
                raise self._error(f"groups are nested more than {_MAX_DEPTH} deep")
            return
        self.last_width = 0 if char == "|" else 1
        if char == ")":
            self.last_width = self.widths.pop()
            if not self.widths:
                raise self._error("a ')' without its '('")
        self.widths[-1] += self.last_width

    def _atom(self, char: str) -> str:
        if char == "\\":
            return self._escape()
        if char == "[":
            return self._emit(self._bracket(1))
        if char in "]}":
            raise self._error(f"a '{char}' that closes nothing; the character itself is written '\\{char}'")
        self.at += 1
        return char if char in ".^$|)" else _quoted_char(char)

    def _group(self) -> str:
        after = self.pattern[self.at + 1 : self.at + 3]
        if after.startswith("?") and after != "?:":
            look = after[1:] in ("=", "!", "<")
            raise self._error("look-around is not supported" if look else "'(?' is not XPath's, except '(?:'")
        length = 3 if after == "?:" else 1
        self.at += length
        return self.pattern[self.at - length : self.at]

    def _quantifier(self, repeatable: bool) -> str:
        if not repeatable:
            raise self._error(f"nothing that '{self.pattern[self.at]}' can repeat")
        start = self.at
        if self.pattern[start] == "{":
            found = _QUANTITY.match(self.pattern, start)
            if found is None:
                raise self._error("'{' begins a quantity like {2}, {2,} or {2,5}; the character itself is '\\{'")
            least, most = int(found[1]), int(found[3]) if found[3] else None
            if max(least, most or 0) > MAX_REPEAT:
                raise self._error(f"a repetition may be at most {MAX_REPEAT}")
            if most is not None and most < least:
                raise self._error(f"a quantity from {least} to {most} is empty")
            self.at = found.end()
            self.widths[-1] += self.last_width * (max(least, most or 0) - 1)
        else:
            self.at += 1
        if self.pattern[self.at : self.at + 1] == "?":
            self.at += 1
        return self.pattern[start : self.at]

    def _escape(self) -> str:
        single, codes = self._escaped()
        return _quoted_char(single) if codes is None else self._emit(codes)

    def _escaped(self) -> tuple[str, CodeSet | None]:
        """What the escape at this place stands for: one character, or a set of them."""
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter in _SINGLE:
            self.at += 2
            return _SINGLE[letter], None
        if letter and letter in "sSiIcCdDwW":
            self.at += 2
            return letter, codesets.escape_class(letter)
        if letter and letter in "pP":
            found = _CATEGORY.match(self.pattern, self.at + 2)
            if found is None:
                raise self._error(f"'\\{letter}' needs a category or block, like '\\{letter}{{Lu}}'")
            try:
                codes = codesets.category(found[1])
            except ValueError as error:
                raise self._error(str(error)) from None
            self.at = found.end()
            return letter, codesets.complement(codes) if letter == "P" else codes
        if letter.isdecimal():
            raise self._error("back-references are not supported")
        raise self._error(f"'\\{letter}' is not an escape of XPath regular expressions")

    def _emit(self, codes: CodeSet) -> str:
        if not codes:
            return "[^\\x{0}-\\x{10FFFF}]"
        ranges = "".join(f"\\x{{{a:X}}}" if a == z else f"\\x{{{a:X}}}-\\x{{{z:X}}}" for a, z in codes)
        return f"(?-i:[{ranges}])" if self.any_case else f"[{ranges}]"

    def _bracket(self, depth: int) -> CodeSet:
        """The set of the bracket expression at this place; escapes keep their case, characters follow flag `i`."""
        if depth > _MAX_DEPTH:
            raise self._error(f"character classes are nested more than {_MAX_DEPTH} deep")
        self.at += 1
        negated = self.pattern[self.at : self.at + 1] == "^"
        self.at += negated
        plain: list[tuple[int, int]] = []
        exact: list[tuple[int, int]] = []
        without: CodeSet = ()
        while self.pattern[self.at : self.at + 1] != "]":
            if self.pattern.startswith("-[", self.at) and (plain or exact):
                self.at += 1
                without = self._bracket(depth + 1)
                if self.pattern[self.at : self.at + 1] != "]":
                    raise self._error("a subtracted class is the last thing in its class")
                break
            first, codes = self._bracket_char()
            if codes is not None:
                exact += codes
                continue
            plain.append((ord(first), ord(self._range_end(first))))
        if not plain and not exact:
            raise self._error("a character class without characters")
        self.at += 1
        codes = codesets.union(plain)
        if self.any_case:
            codes = codesets.any_case(codes)
        codes = codesets.union([*codes, *exact])
        if negated:
            codes = codesets.complement(codes)
        return codesets.difference(codes, without) if without else codes

    def _bracket_char(self) -> tuple[str, CodeSet | None]:
        char = self.pattern[self.at : self.at + 1]
        if not char:
            raise self._error("a '[' without its ']'")
        if char == "[":
            raise self._error("a '[' inside a character class is written '\\['")
        if char == "\\":
            return self._escaped()
        self.at += 1
        return char, None

    def _range_end(self, first: str) -> str:
        """The last character of the range that `first` begins: itself, where no range follows."""
        ahead = self.pattern[self.at : self.at + 2]
        if len(ahead) < 2 or ahead[0] != "-" or ahead[1] in "][":
            return first
        self.at += 1
        last, codes = self._bracket_char()
        if codes is not None:
            raise self._error(f"'\\{last}' cannot end a range of characters")
        if last < first:
            raise self._error(f"the range of characters from '{first}' to '{last}' is empty")
        return last

    def _error(self, reason: str) -> ValueError:
        return ValueError(f"regular expression, character {self.at + 1}: {reason}")


def _without_space(pattern: str) -> str:
    """Flag `x`: white space outside character classes does not count."""
    out: list[str] = []
    depth = 0
    escaped = False
    for char in pattern:
        if char in _SPACE and not depth:
            continue
        out.append(char)
        if not escaped:
            depth += {"[": 1, "]": -1}.get(char, 0)
            depth = max(depth, 0)
        escaped = char == "\\" and not escaped
    return "".join(out)
