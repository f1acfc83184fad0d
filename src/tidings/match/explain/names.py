"""Short text for people: terms under prefixes, conditions as they would be written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tidings.lang.pattern import Constraint, Dialect, Expr, Node, Path, Pattern, Query, TriplePattern, Var
from tidings.lang.print_expressions import print_expression, print_path
from tidings.lang.print_sparql import print_sparql
from tidings.lang.terms import TermParser
from tidings.lang.tuples import TupleParser
from tidings.match.base import Solution
from tidings.match.explain.provenance import Step
from tidings.ontology import Ontology
from tidings.rdf.terms import (
    RDF_TYPE,
    XSD,
    XSD_BOOLEAN,
    XSD_DATETIME,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_INTEGER,
    XSD_STRING,
    Term,
    Triple,
    iri,
    iri_text,
    is_iri,
    is_literal,
    parts,
)

_LONGEST_STRING = 60
_LONGEST_PATTERN = 72
_LONGEST_LIST = 6
_LOCAL = re.compile(r"[\w](?:[\w.-]*[\w-])?")
# The terms inside printed text, which are as in N-Triples, and the variables that the text did not name.
_TERM = re.compile(r'"(?:[^"\\]|\\.)*+"(?:@[\w-]+|\^\^<[^>]*>)?|<[^<>"{}|^`\\\s]*>', re.DOTALL)
_PLAIN = {
    XSD_INTEGER: re.compile(r"[+-]?\d{1,40}"),
    XSD_DECIMAL: re.compile(r"[+-]?(?:\d{1,40}|\d{0,40}\.\d{1,40})"),
    XSD_DOUBLE: re.compile(r"[+-]?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20})[eE][+-]?\d{1,4}"),
    XSD_BOOLEAN: re.compile(r"true|false"),
    # Not as one would write them in a query, but nothing else looks like this.
    XSD_DATETIME: re.compile(r"-?\d{4,9}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d)?"),
    f"{XSD}date": re.compile(r"-?\d{4,9}-\d\d-\d\d(?:Z|[+-]\d\d:\d\d)?"),
}


class Names:
    """Names for one ontology; `prefixes` (prefix → namespace) are those of the subscription's text, and go first."""

    def __init__(self, ontology: Ontology, prefixes: Mapping[str, str] | None = None) -> None:
        self._ontology = ontology
        # The longest namespace that fits gives the shortest name.
        self._prefixes = sorted((prefixes or {}).items(), key=lambda item: (-len(item[1]), item))

    def term(self, term: Term) -> str:
        if is_iri(term):
            return self._iri(term)
        return self._literal(term) if is_literal(term) else term

    def _iri(self, term: Term) -> str:
        text = iri_text(term)
        for prefix, namespace in self._prefixes:
            if text.startswith(namespace) and _LOCAL.fullmatch(text, len(namespace)):
                return f"{prefix}:{text[len(namespace) :]}"
        label = self._ontology.label(term)
        # A bare local name would not tell two namespaces apart.
        return label if ":" in label else term

    def _literal(self, term: Term) -> str:
        lexical, datatype, language = parts(term)
        if datatype in _PLAIN and _PLAIN[datatype].fullmatch(lexical):
            return lexical
        short = lexical if len(lexical) <= _LONGEST_STRING else f"{lexical[:_LONGEST_STRING]}…"
        quoted = '"' + short.replace("\n", " ") + '"'
        if language:
            return f"{quoted}@{language}"
        return quoted if datatype == XSD_STRING else f"{quoted}^^{self._iri(iri(datatype))}"

    def node(self, node: Node) -> str:
        if not isinstance(node, Var):
            return self.term(node)
        if node.name.startswith("*"):
            return "*"
        return f"[{node.name[2:]}]" if node.hidden else f"?{node.name}"

    def predicate(self, node: Node) -> str:
        return "a" if node == RDF_TYPE else self.node(node)

    def triple(self, triple: Triple | TriplePattern) -> str:
        s, p, o = (triple.s, triple.p, triple.o) if isinstance(triple, TriplePattern) else triple
        return f"{self.node(s)} {self.predicate(p)} {self.node(o)}"

    def path(self, path: Path) -> str:
        return self._shortened(print_path(path))

    def expression(self, expr: Expr) -> str:
        if isinstance(expr, Constraint):
            return f"?{expr.var.name} {expr.op} {self.term(expr.value)}"
        return self._shortened(print_expression(expr, _group))

    def pattern(self, pattern: Pattern) -> str:
        """One line for a group, cut where it is long."""
        text = " ".join(self._shortened(_group(pattern)).split())
        return text if len(text) <= _LONGEST_PATTERN else f"{text[:_LONGEST_PATTERN]}…"

    def _shortened(self, text: str) -> str:
        return _TERM.sub(lambda found: self.term(Term(found[0])), text)

    def steps(self, steps: Iterable[Step]) -> list[str]:
        """`a ⊑ b ⊑ c`: one line for each hierarchy that is climbed."""
        lines: list[str] = []
        end: Term | None = None
        for step in steps:
            if step.lower == end:
                lines[-1] += f" {step.relation} {self.term(step.upper)}"
            else:
                lines.append(f"{self.term(step.lower)} {step.relation} {self.term(step.upper)}")
            end = step.upper
        return lines

    def row(self, solution: Solution) -> str:
        """The named variables of a solution, with their values."""
        named = {name: term for name, term in solution.items() if not Var(name).hidden}
        return ", ".join(f"?{name} = {self.term(term)}" for name, term in named.items())

    def several(self, terms: Iterable[Term]) -> str:
        """A list of names, cut where it is long."""
        names = list(dict.fromkeys(map(self.term, terms)))
        more = f" and {len(names) - _LONGEST_LIST} more" if len(names) > _LONGEST_LIST else ""
        return ", ".join(names[:_LONGEST_LIST]) + more


def declared_prefixes(text: str, dialect: Dialect) -> dict[str, str]:
    """The prefixes that the text of a subscription declares, with their namespaces."""
    parser = TermParser(text) if dialect == "sparql" else TupleParser(text)
    parser.prologue()
    return parser.prefixes


def _group(pattern: Pattern) -> str:
    """The pattern in braces."""
    text = print_sparql(Query("sparql", "ASK", pattern))
    return text[text.index("{") :]
