"""Names as the text of a subscription writes them, and where it does: for messages only, so made when one is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from tidings.errors import Span, SubscriptionError
from tidings.lang.pattern import Dialect
from tidings.lang.terms import TermParser
from tidings.lang.tuples import TupleParser
from tidings.rdf.terms import (
    XSD_BOOLEAN,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_INTEGER,
    Term,
    iri_text,
    is_iri,
    is_literal,
    parts,
)

_BARE = frozenset([XSD_INTEGER, XSD_DECIMAL, XSD_DOUBLE, XSD_BOOLEAN])


class Places:
    """The names of one subscription."""

    def __init__(self, text: str, dialect: Dialect, other: Callable[[Term], str]) -> None:
        """`other` names what the text does not."""
        self._text = text
        self._dialect = dialect
        self._other = other

    @cached_property
    def _read(self) -> tuple[dict[Term, int], TermParser]:
        parser: TermParser = TermParser(self._text) if self._dialect == "sparql" else TupleParser(self._text)
        places: dict[Term, int] = {}
        while parser.kinds[parser.i] != "end":
            start = parser.i
            term = _name(parser)
            if term is not None:
                places.setdefault(term, start)
            parser.i = max(parser.i, start + 1)
        return places, parser

    def span(self, term: Term) -> Span | None:
        """Where the name first stands."""
        places, parser = self._read
        return parser.span(places[term]) if term in places else None

    def label(self, term: Term) -> str:
        """The term with a prefix that the text declares, as the text has it in full, or else by another name."""
        if is_literal(term):
            lexical, datatype, _ = parts(term)
            return lexical if datatype in _BARE else term
        if not is_iri(term):
            return term
        full = iri_text(term)
        prefixes = [(ns, name) for name, ns in self._read[1].prefixes.items() if ns and full.startswith(ns)]
        if not prefixes:
            return term if term in self._read[0] else self._other(term)
        namespace, prefix = max(prefixes, key=lambda item: len(item[0]))
        return f"{prefix}:{full[len(namespace) :]}"


def _name(parser: TermParser) -> Term | None:
    """The name at the current token, if there is one; declarations are taken in on the way."""
    kind = parser.kinds[parser.i]
    try:
        if kind in ("PREFIX", "BASE"):
            parser.prologue()
        elif kind in ("iri", "pname"):
            return parser.iri()
        elif kind.isupper() and isinstance(parser, TupleParser):
            return parser.name("")
    except SubscriptionError:
        return None
    return None
