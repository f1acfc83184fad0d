"""Subscriptions: text → form (`parse`) and form → text (`to_text`), three dialects, one internal form (`pattern`)."""

from __future__ import annotations

from tidings.errors import UsageError
from tidings.lang.gtopss import parse_gtopss, print_gtopss
from tidings.lang.ops import parse_ops, print_ops
from tidings.lang.pattern import Dialect, Query
from tidings.lang.print_sparql import print_sparql
from tidings.lang.shapes import Shapes

__all__ = ["Dialect", "Query", "parse", "to_text"]

_sparql = Shapes()


def parse(text: str, dialect: Dialect = "sparql", *, source: str | None = None, base: str | None = None) -> Query:
    """The form of a subscription. `source` is what errors call it, `base` what its relative IRIs are resolved against.

    >>> parse("ASK { ?x a <http://e.x/Notebook> }").form
    'ASK'
    """
    match dialect:
        case "sparql":
            return _sparql.parse(text, source, base)
        case "ops":
            return parse_ops(text, source, base)
        case "gtopss":
            return parse_gtopss(text, source, base)
    raise UsageError(f"unknown dialect {dialect!r}: there are sparql, ops and gtopss")


def to_text(query: Query) -> str:
    """Text in the query's own dialect that parses to the same form, unless it outgrows what a subscription may have."""
    match query.dialect:
        case "sparql":
            return print_sparql(query)
        case "ops":
            return print_ops(query)
        case "gtopss":
            return print_gtopss(query)
