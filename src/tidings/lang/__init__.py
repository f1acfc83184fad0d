"""Subscriptions: text → form (`parse`) and form → text (`to_text`), three dialects, one internal form (`pattern`)."""

from __future__ import annotations

from tidings.errors import UsageError
from tidings.lang.gtopss import parse_gtopss, print_gtopss
from tidings.lang.lexer import check_length
from tidings.lang.ops import parse_ops, print_ops
from tidings.lang.pattern import Dialect, Query
from tidings.lang.print_sparql import print_sparql
from tidings.lang.shapes import Shapes
from tidings.lang.terms import TermParser
from tidings.lang.tuples import TupleParser

__all__ = ["Dialect", "Query", "check_text", "parse", "parse_kept", "to_text"]

_LONG = 4_096
"""A text as short as that cannot become very long when it is written out."""

_sparql = Shapes()


def parse(text: str, dialect: Dialect = "sparql", *, source: str | None = None, base: str | None = None) -> Query:
    """The form of a subscription. `source` is what errors call it, `base` what its relative IRIs are resolved against.

    >>> parse("ASK { ?x a <http://e.x/Notebook> }").form
    'ASK'
    """
    check_text(text, dialect, source, base)
    return _parsed(text, dialect, source, base)


def check_text(text: str, dialect: Dialect, source: str | None = None, base: str | None = None) -> None:
    """That it is not too long, as it is or written out."""
    check_length(text, source)
    if len(text) > _LONG:
        (TermParser if dialect == "sparql" else TupleParser)(text, source, base).check_written()


def parse_kept(text: str, dialect: Dialect) -> Query:
    """The form of a text that `to_text` gave, which may be longer than one from elsewhere may be."""
    return _parsed(text, dialect, None, None)


def _parsed(text: str, dialect: Dialect, source: str | None, base: str | None) -> Query:
    match dialect:
        case "sparql":
            return _sparql.parse(text, source, base)
        case "ops":
            return parse_ops(text, source, base)
        case "gtopss":
            return parse_gtopss(text, source, base)
    raise UsageError(f"unknown dialect {dialect!r}: there are sparql, ops and gtopss")


def to_text(query: Query) -> str:
    """Text in the query's own dialect that parses to the same form. It has no prefixes, so it may be too long for
    `parse`; `parse_kept` takes it.
    """
    match query.dialect:
        case "sparql":
            return print_sparql(query)
        case "ops":
            return print_ops(query)
        case "gtopss":
            return print_gtopss(query)
