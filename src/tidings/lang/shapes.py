"""Many subscriptions, few shapes: a text that differs from earlier ones only in its names and words is not parsed.

A text is cut into runs and slots. A slot is an IRI, a prefixed name, or the inside of a plain "string"; a run is all
the whole tokens between two slots. Texts with the same declarations and the same runs have the same form, but for what
is in the slots. So the second time a shape is seen it is parsed with marks in its slots, and the form that comes out
is the template for all that follow. Whatever is not plain (a name that does not resolve, a string without words where
words are needed) goes to the parser, which alone decides what is wrong and says where.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from tidings.errors import SubscriptionError
from tidings.lang.expressions import REGEXES
from tidings.lang.filling import Fill, filler
from tidings.lang.fulltext import phrase
from tidings.lang.lexer import IRI, OTHER, PNAME, PREFIX, SIMPLE, SPACE, STRING, VAR, WORD, check_characters
from tidings.lang.pattern import Call, FtPhrase, Query
from tidings.lang.sparql import parse_sparql
from tidings.lang.terms import TermParser
from tidings.rdf.terms import Term, escape, iri_text, literal

# Bounds on what is remembered, and on the texts it is worth it for; all together some tens of megabytes.
_MAX_TEXT = 4_096
_MAX_SHAPES = 1 << 20
_MAX_PROLOGUES = 16
_MAX_NAMES = 16_384

# The same tokens in the same order as the lexer has them, so that both cut a text in the same places.
_PLAIN = r'"[^"\\\r\n]++"'
_CUT = re.compile(
    rf"""((?: [ \n]*+(?: {VAR} | {SIMPLE} | {SPACE} | (?!{PNAME}|{IRI}|{_PLAIN})(?:{WORD}|{STRING}|{OTHER}) ))*+[ \n]*+)
    (?: ({PNAME}|{IRI}) | "([^"]++)" | \Z )""",
    re.VERBOSE | re.DOTALL,
)
_PROLOGUE = re.compile(
    rf"(?:{SPACE}*+(?:(?i:PREFIX){SPACE}++{PREFIX}{SPACE}*+{IRI}|(?i:BASE){SPACE}*+{IRI}))*+", re.VERBOSE | re.DOTALL
)
_MARK = "tidingsslot"
_NAME_MARK = re.compile(rf"<urn:{_MARK}:(\d+)>")
_LITERAL_MARK = re.compile(rf'"{_MARK}(\d+)"(?:\^\^<urn:{_MARK}:(\d+)>|(@.*)?)')

_Key: TypeAlias = tuple[object, ...]


class _NotPlain(Exception):
    """This text needs the parser."""


class _Names(dict[str, Term]):
    """From the text of a name to its term, under the declarations of one prologue."""

    def __init__(self, prologue: str, base: str | None) -> None:
        super().__init__()
        self._declared = TermParser(prologue, base=base)
        self._declared.prologue()

    def __missing__(self, text: str) -> Term:
        parser = TermParser(text, base=self._declared.base)
        parser.prefixes = self._declared.prefixes
        try:
            term = parser.iri()
        except SubscriptionError:
            raise _NotPlain from None
        if len(self) >= _MAX_NAMES:
            self.clear()
        self[text] = term
        return term


_Fill: TypeAlias = Fill[Sequence[str], _Names]
"""Makes a part of a form from the slots of a text and the names it declares."""


class Shapes:
    """A parser of SPARQL subscriptions that remembers shapes. It gives what `parse_sparql` gives, sooner."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str | None], _Names] = {}
        self._templates: dict[_Key, _Fill | None] = {}
        self._size = 0

    def parse(self, text: str, source: str | None = None, base: str | None = None) -> Query:
        check_characters(text, source)
        query = self._from_template(text, base) if len(text) <= _MAX_TEXT else None
        return query or parse_sparql(text, source, base)

    def _from_template(self, text: str, base: str | None) -> Query | None:
        match = _PROLOGUE.match(text)
        assert match is not None, "nothing is a prologue too"
        runs, names, strings = zip(*_CUT.findall(text, match.end()), strict=True)
        key = match[0], base, runs, tuple(map(bool, names)), tuple(map(bool, strings))
        if key not in self._templates:
            self._remember(key, None, len(text))
            return None
        fill = self._templates.get(key)
        try:
            declared = self._declared(match[0], base)
            if fill is None:
                fill = _template(match[0], base, runs, names, strings)
                self._remember(key, fill, len(text))
            query = fill([name or string for name, string in zip(names, strings, strict=True)], declared)
        except _NotPlain:
            return None
        assert isinstance(query, Query)
        return query

    def _remember(self, key: _Key, fill: _Fill | None, size: int) -> None:
        """Keep a template, or that the shape was seen; `size` is that of the text, and the bound is on all of them."""
        self._size += size
        if self._size > _MAX_SHAPES:
            self._templates.clear()
            self._size = size
        self._templates[key] = fill

    def _declared(self, prologue: str, base: str | None) -> _Names:
        found = self._names.get((prologue, base))
        if found is None:
            if len(self._names) >= _MAX_PROLOGUES:
                self._names.clear()
            try:
                found = self._names[prologue, base] = _Names(prologue, base)
            except SubscriptionError:
                raise _NotPlain from None
        return found


# ------------------------------------------------------------------------------------------------------------ templates


def _template(
    prologue: str, base: str | None, runs: Sequence[str], names: Sequence[str], strings: Sequence[str]
) -> _Fill:
    """What fills the shape of this text."""
    text = prologue
    for n, (run, name, string) in enumerate(zip(runs, names, strings, strict=True)):
        if _MARK in run:
            return _refuse
        text += run + (f"<urn:{_MARK}:{n}>" if name else f'"{_MARK}{n}"' if string else "")
    try:
        query = parse_sparql(text, base=base)
        return filler(query, _leaf, _above) or (lambda slots, names: query)
    except (SubscriptionError, _NotPlain):
        return _refuse


def _refuse(slots: Sequence[str], names: _Names) -> object:
    raise _NotPlain


def _leaf(node: object) -> _Fill | None:
    """What makes this from the slots, where it is a mark or has one in it."""
    if isinstance(node, str):
        return _text_filler(node) if _MARK in node else None
    return _phrase_filler(node) if isinstance(node, FtPhrase) else None


def _above(node: object, fill: _Fill) -> _Fill:
    """A regular expression has to be looked at."""
    if isinstance(node, Call) and node.op in REGEXES:
        raise _NotPlain
    return fill


def _text_filler(text: str) -> _Fill:
    """A term: an IRI in a slot, or a literal whose text, and perhaps datatype, is."""
    if found := _NAME_MARK.fullmatch(text):
        index = int(found[1])
        return lambda slots, names: names[slots[index]]
    found = _LITERAL_MARK.fullmatch(text)
    if found is None:
        raise _NotPlain
    lexical, tag = int(found[1]), found[3] or ""
    if found[2] is None:
        return lambda slots, names: Term(f'"{escape(slots[lexical])}"{tag}')
    datatype = int(found[2])
    return lambda slots, names: literal(slots[lexical], iri_text(names[slots[datatype]]))


def _phrase_filler(marked: FtPhrase) -> _Fill | None:
    if not marked.text.startswith(_MARK):
        return None
    index = int(marked.text.removeprefix(_MARK))

    def fill(slots: Sequence[str], names: _Names) -> object:
        found = phrase(slots[index])
        if not found.words:
            raise _NotPlain
        return found

    return fill
