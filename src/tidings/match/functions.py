"""The built-in functions of SPARQL 1.1 whose arguments are all evaluated first; the others are in `expressions`.

A function takes the run and its arguments as terms, and gives a term, or None for SPARQL's error. Strings are sequences
of code points. Dates and times answer for the fields they have, so YEAR takes an xsd:date too.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias
from urllib.parse import quote

import pyoxigraph as ox

from tidings.lang.terms import resolve
from tidings.match.run import MAX_TEXT, Run
from tidings.rdf import numbers
from tidings.rdf.numbers import Kind, Number
from tidings.rdf.regex import Regex, compile_regex
from tidings.rdf.temporal import XSD_DAYTIME, Moment, format_zone, format_zone_duration
from tidings.rdf.terms import RDF_LANGSTRING, Term, iri, iri_text, is_blank, is_iri, is_literal, literal, parts
from tidings.rdf.values import Tagged, boolean, number_of, value_of

Function: TypeAlias = Callable[..., Term | None]

_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*")
# RE2 takes, at worst, some twenty nanoseconds for each character and each place of the pattern.
_REGEX_WORK_A_STEP = 64
_REPLACED_PIECE = 5


# -------------------------------------------------------------------------------------------------------------- helpers


def string_of(term: Term) -> tuple[str, str | None] | None:
    """The text and language of a string literal; None for any other term."""
    value = value_of(term)
    if isinstance(value, str):
        return value, None
    return (value.text, value.language) if isinstance(value, Tagged) else None


def simple_of(term: Term) -> str | None:
    """The text of a string literal without a language."""
    value = value_of(term)
    return value if isinstance(value, str) else None


def made(run: Run, text: str, language: str | None = None) -> Term:
    """A new string literal, whose length counts."""
    run.budget.text(len(text))
    return literal(text, None, language)


def _compatible(a: Term, b: Term) -> tuple[str, str | None, str] | None:
    """Both texts and the first one's language, where the two may be compared (SPARQL 1.1, 17.4.3.1.2)."""
    first, second = string_of(a), string_of(b)
    if first is None or second is None:
        return None
    return (first[0], first[1], second[0]) if second[1] in (None, first[1]) else None


def _number(count: int) -> Term:
    return numbers.to_term(numbers.integer(count))


# ---------------------------------------------------------------------------------------------------------------- terms


def _str(run: Run, a: Term) -> Term | None:
    if is_iri(a):
        return literal(iri_text(a))
    return literal(parts(a).lexical) if is_literal(a) else None


def _lang(run: Run, a: Term) -> Term | None:
    return literal(parts(a).language or "") if is_literal(a) else None


def _datatype(run: Run, a: Term) -> Term | None:
    return iri(parts(a).datatype) if is_literal(a) else None


def _langmatches(run: Run, tag: Term, wanted: Term) -> Term | None:
    language, wide = simple_of(tag), simple_of(wanted)
    if language is None or wide is None:
        return None
    language, wide = language.lower(), wide.lower()
    return boolean(bool(language) if wide == "*" else language == wide or language.startswith(f"{wide}-"))


def _iri(run: Run, a: Term, base: Term | None = None) -> Term | None:
    if is_iri(a):
        return a
    text = simple_of(a)
    if text is None:
        return None
    run.budget.text(len(text))
    absolute = _valid_iri(text)
    if absolute is None and base is not None and is_iri(base):
        return _valid_iri(resolve(iri_text(base), text))
    return absolute


def _valid_iri(text: str) -> Term | None:
    try:
        return iri(ox.NamedNode(text).value)
    except ValueError:
        return None


def _bnode(run: Run, a: Term | None = None) -> Term | None:
    if a is None:
        return run.new_blank(None)
    label = simple_of(a)
    return None if label is None else run.new_blank(label)


def _strdt(run: Run, a: Term, datatype: Term) -> Term | None:
    text = simple_of(a)
    if text is None or not is_iri(datatype) or iri_text(datatype) == RDF_LANGSTRING:
        return None
    return literal(text, iri_text(datatype))


def _strlang(run: Run, a: Term, tag: Term) -> Term | None:
    text, language = simple_of(a), simple_of(tag)
    if text is None or language is None or not _LANGUAGE.fullmatch(language):
        return None
    return literal(text, None, language)


# -------------------------------------------------------------------------------------------------------------- numbers


def _rounding(mode: str) -> Function:
    def function(run: Run, a: Term) -> Term | None:
        number = number_of(a)
        return None if number is None else numbers.to_term(numbers.round_with(number, mode))

    return function


def _abs(run: Run, a: Term) -> Term | None:
    number = number_of(a)
    return None if number is None else numbers.to_term(numbers.absolute(number))


def arithmetic(op: str) -> Function:
    def function(run: Run, a: Term, b: Term) -> Term | None:
        x, y = number_of(a), number_of(b)
        if x is None or y is None:
            return None
        run.budget.text(len(a) + len(b))
        result = numbers.compute(op, x, y)
        return None if result is None else numbers.to_term(result)

    return function


def _minus(run: Run, a: Term) -> Term | None:
    number = number_of(a)
    return None if number is None else numbers.to_term(numbers.negate(number))


def _plus(run: Run, a: Term) -> Term | None:
    return a if number_of(a) is not None else None


# -------------------------------------------------------------------------------------------------------------- strings


def _strlen(run: Run, a: Term) -> Term | None:
    text = string_of(a)
    return None if text is None else _number(len(text[0]))


def _mapped(change: Callable[[str], str]) -> Function:
    def function(run: Run, a: Term) -> Term | None:
        text = string_of(a)
        return None if text is None else made(run, change(text[0]), text[1])

    return function


def _encode_for_uri(run: Run, a: Term) -> Term | None:
    text = string_of(a)
    return None if text is None else made(run, quote(text[0], safe=""))


def _concat(run: Run, *args: Term) -> Term | None:
    strings = [string_of(a) for a in args]
    texts = [s[0] for s in strings if s is not None]
    if len(texts) < len(strings):
        return None
    run.budget.text(sum(map(len, texts)))
    languages = {s[1] for s in strings if s is not None}
    return literal("".join(texts), None, languages.pop() if len(languages) == 1 else None)


def _comparing(holds: Callable[[str, str], bool]) -> Function:
    def function(run: Run, a: Term, b: Term) -> Term | None:
        both = _compatible(a, b)
        if both is None:
            return None
        run.budget.text(len(both[0]))
        return boolean(holds(both[0], both[2]))

    return function


def _strbefore(run: Run, a: Term, b: Term) -> Term | None:
    both = _compatible(a, b)
    if both is None:
        return None
    before, found, _ = both[0].partition(both[2]) if both[2] else ("", True, "")
    return made(run, before, both[1]) if found or not both[2] else literal("")


def _strafter(run: Run, a: Term, b: Term) -> Term | None:
    both = _compatible(a, b)
    if both is None:
        return None
    if not both[2]:
        return a
    _, found, after = both[0].partition(both[2])
    return made(run, after, both[1]) if found else literal("")


def _substr(run: Run, a: Term, start: Term, length: Term | None = None) -> Term | None:
    text, first = string_of(a), number_of(start)
    count = None if length is None else number_of(length)
    if text is None or first is None or (length is not None and count is None):
        return None
    begin = _rounded(first)
    end = math.inf if count is None else begin + _rounded(count)
    if math.isnan(begin) or math.isnan(end):
        return literal("", None, text[1])
    low = int(min(max(begin, 1), len(text[0]) + 1)) - 1
    high = int(min(max(end, 1), len(text[0]) + 1)) - 1
    return made(run, text[0][low:high], text[1])


def _rounded(number: Number) -> float:
    return float(numbers.round_with(number, "ROUND").value)


def _pattern(run: Run, text: str, pattern: Term, flags: Term | None) -> Regex | None:
    source, marks = simple_of(pattern), "" if flags is None else simple_of(flags)
    if source is None or marks is None:
        return None
    try:
        regex = compile_regex(source, marks)
    except ValueError:
        return None
    run.budget.spend(len(text) * regex.width // _REGEX_WORK_A_STEP)
    return regex


def _regex(run: Run, a: Term, pattern: Term, flags: Term | None = None) -> Term | None:
    text = string_of(a)
    regex = None if text is None else _pattern(run, text[0], pattern, flags)
    return None if text is None or regex is None else boolean(regex.search(text[0]))


def _replace(run: Run, a: Term, pattern: Term, by: Term, flags: Term | None = None) -> Term | None:
    text, template = string_of(a), simple_of(by)
    if text is None or template is None:
        return None
    regex = _pattern(run, text[0], pattern, flags)
    if regex is None:
        return None
    pieces: list[str] = []
    length = 0
    try:
        for piece in regex.replaced(text[0], template):
            run.budget.spend(_REPLACED_PIECE)
            length += len(piece)
            if length > MAX_TEXT:
                break
            pieces.append(piece)
    except ValueError:
        return None
    run.budget.text(length)
    return literal("".join(pieces), None, text[1])


def _hash(name: str) -> Function:
    def function(run: Run, a: Term) -> Term | None:
        text = simple_of(a)
        if text is None:
            return None
        run.budget.text(len(text))
        return literal(hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest())

    return function


# ---------------------------------------------------------------------------------------------------------------- dates


def _field(name: str) -> Function:
    def function(run: Run, a: Term) -> Term | None:
        value = value_of(a)
        field = getattr(value, name) if isinstance(value, Moment) else None
        if field is None:
            return None
        return numbers.to_term(Number(Kind.DECIMAL if name == "second" else Kind.INTEGER, Decimal(field)))

    return function


def _timezone(run: Run, a: Term) -> Term | None:
    value = value_of(a)
    if not isinstance(value, Moment) or value.zone is None:
        return None
    return literal(format_zone_duration(value.zone), XSD_DAYTIME)


def _tz(run: Run, a: Term) -> Term | None:
    value = value_of(a)
    if not isinstance(value, Moment):
        return None
    return literal("" if value.zone is None else format_zone(value.zone))


FUNCTIONS: dict[str, Function] = {
    "STR": _str,
    "LANG": _lang,
    "DATATYPE": _datatype,
    "LANGMATCHES": _langmatches,
    "IRI": _iri,
    "BNODE": _bnode,
    "STRDT": _strdt,
    "STRLANG": _strlang,
    "SAMETERM": lambda run, a, b: boolean(a == b),
    "ISIRI": lambda run, a: boolean(is_iri(a)),
    "ISBLANK": lambda run, a: boolean(is_blank(a)),
    "ISLITERAL": lambda run, a: boolean(is_literal(a)),
    "ISNUMERIC": lambda run, a: boolean(number_of(a) is not None),
    "+": arithmetic("+"),
    "-": arithmetic("-"),
    "*": arithmetic("*"),
    "/": arithmetic("/"),
    "u+": _plus,
    "u-": _minus,
    "ABS": _abs,
    "CEIL": _rounding("CEIL"),
    "FLOOR": _rounding("FLOOR"),
    "ROUND": _rounding("ROUND"),
    "STRLEN": _strlen,
    "UCASE": _mapped(str.upper),
    "LCASE": _mapped(str.lower),
    "ENCODE_FOR_URI": _encode_for_uri,
    "CONCAT": _concat,
    "CONTAINS": _comparing(str.__contains__),
    "STRSTARTS": _comparing(str.startswith),
    "STRENDS": _comparing(str.endswith),
    "STRBEFORE": _strbefore,
    "STRAFTER": _strafter,
    "SUBSTR": _substr,
    "REGEX": _regex,
    "REPLACE": _replace,
    "MD5": _hash("md5"),
    "SHA1": _hash("sha1"),
    "SHA256": _hash("sha256"),
    "SHA384": _hash("sha384"),
    "SHA512": _hash("sha512"),
    "NOW": lambda run: run.now,
    "YEAR": _field("year"),
    "MONTH": _field("month"),
    "DAY": _field("day"),
    "HOURS": _field("hour"),
    "MINUTES": _field("minute"),
    "SECONDS": _field("second"),
    "TIMEZONE": _timezone,
    "TZ": _tz,
}
