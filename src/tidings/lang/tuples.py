"""What `ops` and `gtopss` share: their subscriptions are tuples in parentheses, written as in the papers.

Over SPARQL's terms and expressions, a text may have `//` comments, the signs `≤ ≥ ≠`, and bare names, which stand in
the namespace of the empty prefix or, where there is none, are relative to BASE. The prefixes of the RDF vocabularies
are declared from the start. A variable is never followed by an IRI, so `?x<3` needs no space to be a comparison.
"""

from __future__ import annotations

import re

from tidings.errors import Span
from tidings.lang.expressions import ExpressionParser
from tidings.lang.pattern import Const, Expr, Node
from tidings.lang.terms import LITERALS
from tidings.rdf.terms import DAML, OWL, RDF, RDF_TYPE, RDFS, XSD, Term, blank

PREDECLARED = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "owl": OWL, "daml": DAML}

_KEYWORDS = LITERALS | {"EXISTS", "NOT"}

# One sign for each way to write an operator, all of the same length as what they stand for: places stay what they are.
_LESS = "\ue000"
_SIGNS = {_LESS: "<", "≤": "<=", "≥": ">=", "≠": "!="}
_REWRITTEN = re.compile(
    r"""(?P<kept> "{3}(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3} | '{3}(?:[^'\\]|\\.|'{1,2}(?!'))*+'{3}
          | "(?:[^"\\\r\n]|\\.)*+" | '(?:[^'\\\r\n]|\\.)*+' | <[^<>"{}|^`\\\x00-\x20]*+> | \#[^\r\n]*+ )
      | (?P<comment> //[^\r\n]*+ )
      | (?P<compared> [?$]\w++\s*+ ) < (?P<equal> =? )""",
    re.VERBOSE | re.DOTALL,
)


class TupleParser(ExpressionParser):
    """Terms, bare names and separators of the tuple dialects."""

    def __init__(self, text: str, source: str | None = None, base: str | None = None) -> None:
        self._written = text
        super().__init__(_REWRITTEN.sub(_rewrite, text), source, base)
        for i, token in enumerate(self.texts):
            if token in _SIGNS:
                self.texts[i] = self.kinds[i] = _SIGNS[token]
        self.prefixes.update(PREDECLARED)
        self.no_aggregate = "here"

    def span(self, index: int | None = None, inside: int = 0) -> Span:
        place = super().span(index, inside)
        lines = self._written.split("\n", place.line)
        return Span(place.line, place.column, lines[place.line - 1].rstrip("\r"))

    def node(self, what: str, literals: bool = True) -> Node:
        """A variable or a term; `what` says which place it is for, in a message."""
        kind = self.kinds[self.i]
        if kind == "var":
            return self.var()
        if kind == "blank":
            return blank(self.next()[2:])
        if kind in LITERALS:
            if not literals:
                raise self.error(f"a literal cannot be {what}")
            return self.literal()
        return self.name(f"{what}: a variable or a term")

    def name(self, what: str) -> Term:
        """An IRI, in angle brackets, with a prefix, or as a bare name."""
        kind = self.kinds[self.i]
        if kind in ("iri", "pname"):
            return self.iri()
        if kind.isupper():
            return self._bare_name()
        raise self.unexpected(what)

    def property(self) -> Term:
        """Like a name; `a` is rdf:type, as it is in SPARQL."""
        if self.texts[self.i] == "a":
            self.i += 1
            return RDF_TYPE
        return self.name("a property")

    def primary(self) -> Expr:
        kind = self.kinds[self.i]
        if kind.isupper() and kind not in _KEYWORDS and self.kinds[self.i + 1] != "(":
            return Const(self._bare_name())
        return super().primary()

    def _bare_name(self) -> Term:
        word = self.texts[self.i]
        if "" in self.prefixes:
            term = self._expanded(f":{word}")
        elif self.base is not None:
            term = self._resolved(word)
        else:
            hint = "declare the namespace of bare names first: PREFIX : <http://…>"
            raise self.error(f"the name '{word}' has no prefix, and there is no default one", hint=hint)
        self.i += 1
        return term

    def separator(self, *more: str) -> None:
        """The comma between the members of a tuple."""
        if not self.take(","):
            raise self.unexpected(",", *more)

    def close(self) -> None:
        if not self.take(")"):
            raise self.unexpected(")")


def _rewrite(match: re.Match[str]) -> str:
    if match["comment"]:
        return "#" + match[0][1:]
    if match["compared"]:
        return match["compared"] + ("≤ " if match["equal"] else _LESS)
    return match[0]
