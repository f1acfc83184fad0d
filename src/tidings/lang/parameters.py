"""The parameters of a template: of which kind each is, and how a value becomes a term.

Values come from JSON, from cells and options, which are strings, or from Python. A value becomes one term, and never
text that is read as anything else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, NoReturn, TypeAlias, get_args

from tidings.errors import ParameterError, SubscriptionError, UsageError
from tidings.lang.fulltext import phrase
from tidings.lang.terms import LITERALS, TermParser, is_absolute
from tidings.rdf.temporal import XSD_DATE
from tidings.rdf.terms import (
    XSD_BOOLEAN,
    XSD_DATETIME,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_INTEGER,
    Term,
    escape,
    literal,
)
from tidings.rdf.values import parse_value

Kind: TypeAlias = Literal["iri", "string", "words", "integer", "number", "boolean", "date", "dateTime", "term"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MAX_VALUE = 65_536
"""Characters of a value."""
MAX_NOTE = 1_000
"""Characters of a description."""

_WANTED: Mapping[Kind, str] = {
    "iri": "an absolute IRI such as http://example.org/a",
    "string": "a string",
    "words": "a string with a word in it",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "date": "a date such as 2026-05-01",
    "dateTime": "a moment such as 2026-05-01T12:00:00Z",
    "term": 'an IRI or a literal: <http://example.org/a>, "text"@en, 5, or an object as in SPARQL\'s JSON results',
}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?[0-9]*\.[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+")
_LANGUAGE = re.compile(r"[A-Za-z]+(?:-[A-Za-z0-9]+)*")
_MOST_BITS = 10_000


class _NotOfKind(ValueError):
    """The value is none of its kind; the message, where there is one, says why."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`default` is a value, as JSON has it; None where one has to be given."""

    kind: Kind
    default: object = None
    description: str | None = None

    @staticmethod
    def of(name: str, given: object) -> Parameter:
        """From its declaration: its kind, or an object with that as `kind`. A `UsageError` says what is wrong."""
        if isinstance(given, Parameter):
            return given
        members = given if isinstance(given, Mapping) else {"kind": given}
        for member in members:
            if member not in ("kind", "default", "description"):
                raise UsageError(
                    f"parameter '{name}': there is no '{member!s:.100}'; there are kind, default and description"
                )
            if members[member] is None:
                raise UsageError(f"parameter '{name}': its {member} is null; leave it out")
        kind = next((known for known in KINDS if known == members.get("kind")), None)
        if kind is None:
            raise UsageError(f"parameter '{name}': its kind is one of {', '.join(KINDS)}")
        default = members.get("default")
        if default is not None:
            default = as_json(default)
            term_of(name, kind, default)
        return Parameter(kind, default, checked_note(members.get("description"), f"parameter '{name}'"))

    def told(self) -> dict[str, object]:
        given = {"kind": self.kind, "default": self.default, "description": self.description}
        return {name: value for name, value in given.items() if value is not None}


def checked_note(given: object, where: str) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or len(given) > MAX_NOTE or not _is_whole(given):
        raise UsageError(f"{where}: the description is a text of up to {MAX_NOTE:,} characters")
    return given


def as_json(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def wanted(kind: Kind) -> str:
    """What is expected of a value, in words."""
    return _WANTED[kind]


def term_of(name: str, kind: Kind, value: object) -> Term:
    """The term that a value stands for. A `ParameterError` names the parameter, and says what was expected."""
    if isinstance(value, str):
        if len(value) > MAX_VALUE:
            raise ParameterError(
                f"parameter '{name}': it has {len(value):,} characters, a value may have {MAX_VALUE:,}"
            )
        if not _is_whole(value):
            _refuse(name, kind, "half a character")
    try:
        return _TERMS[kind](value)
    except _NotOfKind as error:
        _refuse(name, kind, _shown(value), str(error))


def _refuse(name: str, kind: Kind, found: str, why: str = "") -> NoReturn:
    raise ParameterError(f"parameter '{name}': expected {_WANTED[kind]}, found {found}", hint=why or None)


def _shown(value: object) -> str:
    match value:
        case None:
            return "null; leave it out where it is not needed"
        case bool():
            return str(value).lower()
        case Mapping():
            return "an object"
        case str() if not value:
            return "an empty string"
        case str() | float() | Decimal() | date():
            text = str(value).replace("\n", "\\n")
            return f"'{text}'" if len(text) <= 60 else f"'{text[:59]}…'"
        case int():
            return "an integer"
        case list() | tuple():
            return "a list; a parameter has one value"
    return f"a {type(value).__name__}"


def _is_whole(text: str) -> bool:
    """Whether there is no half of a surrogate pair in it."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------------------- kinds


def _iri(value: object) -> Term:
    if not isinstance(value, str) or not is_absolute(value):
        raise _NotOfKind("write it in full, without a prefix and without angle brackets")
    return Term(f"<{value}>")


def _string(value: object) -> Term:
    if not isinstance(value, str):
        raise _NotOfKind
    return Term(f'"{escape(value)}"')


def _words(value: object) -> Term:
    if not isinstance(value, str) or not phrase(value).words:
        raise _NotOfKind
    return _string(value)


def _integer(value: object) -> Term:
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _MOST_BITS:
        value = str(value)
    if isinstance(value, str) and _INTEGER.fullmatch(text := value.strip()):
        return literal(text, XSD_INTEGER)
    raise _NotOfKind


def _number(value: object) -> Term:
    """As SPARQL reads what is written: 5 is an integer, 5.0 a decimal, 5e0 a double."""
    if isinstance(value, float) and math.isfinite(value):
        value = repr(value)
    elif isinstance(value, Decimal) and value.is_finite():
        value = format(value, "f") + ("" if "." in format(value, "f") else ".0")
    if isinstance(value, str):
        text = value.strip()
        for rule, datatype in ((_DECIMAL, XSD_DECIMAL), (_DOUBLE, XSD_DOUBLE)):
            if rule.fullmatch(text):
                return literal(text, datatype)
    return _integer(value)


def _boolean(value: object) -> Term:
    if value is True or value is False:
        return literal(str(value).lower(), XSD_BOOLEAN)
    if isinstance(value, str) and (text := value.strip().lower()) in ("true", "false"):
        return literal(text, XSD_BOOLEAN)
    raise _NotOfKind


def _moment(datatype: str, kind: type[date]) -> Callable[[object], Term]:
    def term(value: object) -> Term:
        text = value.isoformat() if type(value) is kind and isinstance(value, date) else value
        if not isinstance(text, str) or parse_value(text := text.strip(), datatype) is None:
            raise _NotOfKind
        return literal(text, datatype)

    return term


def _term(value: object) -> Term:
    match value:
        case bool():
            return _boolean(value)
        case int() | float() | Decimal():
            return _number(value)
        case datetime():
            return literal(value.isoformat(), XSD_DATETIME)
        case date():
            return literal(value.isoformat(), XSD_DATE)
        case Mapping():
            return _described_term(value)
        case str():
            return _written_term(value)
    raise _NotOfKind


def _written_term(text: str) -> Term:
    """A term as SPARQL writes it, in full."""
    try:
        parser = TermParser(text)
        term = parser.literal() if parser.kinds[0] in LITERALS else parser.iri()
        parser.expect_end()
    except SubscriptionError as error:
        raise _NotOfKind(error.reason) from error
    return term


def _described_term(given: Mapping[object, object]) -> Term:
    """As in SPARQL's JSON results, which is how bindings are told."""
    members = dict(given)
    kind, text = members.pop("type", None), members.pop("value", None)
    language, datatype = members.pop("xml:lang", None), members.pop("datatype", None)
    if members or not isinstance(text, str) or not _is_whole(text) or len(text) > MAX_VALUE:
        raise _NotOfKind("it has 'type' and 'value', and a literal may have 'xml:lang' or 'datatype'")
    if kind == "uri" and language is None and datatype is None:
        return _iri(text)
    if kind != "literal" or (language is not None and datatype is not None):
        raise _NotOfKind("its 'type' is 'uri' or 'literal'")
    if language is not None:
        if not isinstance(language, str) or len(language) > 100 or not _LANGUAGE.fullmatch(language):
            raise _NotOfKind("'xml:lang' is a language tag")
        return literal(text, language=language)
    if datatype is not None and not (
        isinstance(datatype, str) and len(datatype) <= MAX_VALUE and is_absolute(datatype)
    ):
        raise _NotOfKind("'datatype' is an absolute IRI")
    return literal(text, datatype)


_TERMS: Mapping[Kind, Callable[[object], Term]] = {
    "iri": _iri,
    "string": _string,
    "words": _words,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _moment(XSD_DATE, date),
    "dateTime": _moment(XSD_DATETIME, datetime),
    "term": _term,
}
