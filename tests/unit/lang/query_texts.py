"""Hypothesis strategy for SPARQL texts: every construct, in any combination the grammar allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

PROLOGUE = "PREFIX : <http://e.x/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"

_IRIS = (":a", ":b", "<http://e.x/c>", "xsd:int", ":a.b.c", r":d\-e")
_STRINGS = ('"w"', "'two words'", '"""long "one\n"""', r'"e\u0041\"\\"', '""', '"東京"', '"\t"')
_NUMBERS = ("0", "-5", "+1.50", ".5", "1e6", "-1.E+2", "true", "False")
_WORDS = ('"w"', "'Two words'", '"ß"', '"東京"', r'"a\"b"')
_ORDERS = ("", "", " ORDER BY ?x LIMIT 5", " ORDER BY (?x + 1) DESC(?y) ASC(?z) STR(?x) OFFSET 1")
_AGGREGATES = ("COUNT(*)", "SUM(DISTINCT ?y)", 'GROUP_CONCAT(?y ; SEPARATOR=", ")', "MAX(?y) + 1")


class _Writer:
    """Writes one text; `size` is how much more of what nests it may write."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw
        self._size = draw(st.integers(0, 12))
        self._names = 0

    def pick(self, *choices: str) -> str:
        return str(self._draw(st.sampled_from(choices)))

    def one(self, *writers: Callable[[], str]) -> str:
        writer: Callable[[], str] = self._draw(st.sampled_from(writers))
        return writer()

    def grow(self) -> bool:
        """Whether to nest once more."""
        self._size -= 1
        return self._size >= 0 and bool(self._draw(st.booleans()))

    def several(self, write: Callable[[], str], separator: str, least: int = 1, most: int = 3) -> str:
        return separator.join(write() for _ in range(self._draw(st.integers(least, most))))

    # ----------------------------------------------------------------------------------------------------------- terms

    def variable(self) -> str:
        return self.pick("?x", "?y", "?z", "$x")

    def iri(self) -> str:
        return self.pick(*_IRIS)

    def term(self) -> str:
        return self.one(
            self.iri,
            lambda: self.pick(*_NUMBERS),
            lambda: self.pick(*_STRINGS) + self.pick("", "", "@en-GB", "^^:a", "^^<http://e.x/c>"),
        )

    def full_text(self) -> str:
        if self.grow():
            several = self.several(self.full_text, self.pick(") ftAND (", ") ftOR ("))
            return self.pick(f"({several})", f"ftNOT ({several})")
        a, b = self.pick(*_WORDS), self.pick(*_WORDS)
        return self.pick(a, f"{a} ftNEAR[1,3] {b}", f"({a} ftOR {b} ftNEAR[0,0] {a}) ftNEAR[0,2] {b}")

    # ----------------------------------------------------------------------------------------------------- expressions

    def expression(self) -> str:
        if not self.grow():
            return self.one(
                self.variable,
                self.term,
                lambda: f"ftcontains({self.variable()}, {self.full_text()})",
                lambda: f"{self.pick('', 'NOT ')}EXISTS {self.group()}",
            )
        e = self.expression()
        return self.one(
            lambda: f"({e} {self.pick('||', '&&', '=', '<', '>=', '+', '-', '*', '/')} {self.expression()})",
            lambda: f"{self.pick('!', '-', '+ ', 'STR', 'STRLEN', 'isIRI', 'xsd:integer')}({e})",
            lambda: f"({e} {self.pick('IN', 'NOT IN')} ({self.several(self.expression, ', ', 0)}))",
            lambda: f"IF({e}, {self.expression()}, {self.term()})",
            lambda: f"{self.pick('CONCAT', 'COALESCE')}({self.several(self.expression, ', ', 0)})",
            lambda: f"REGEX({e}, {self.pick('?y', *_WORDS)})",
            lambda: f"({e} && {self.several(self.expression, ' && ', 2)})",
        )

    # --------------------------------------------------------------------------------------------------------- triples

    def path(self) -> str:
        if not self.grow():
            return self.pick(self.iri(), "a", "^:a", "!:a", "!(:a|^:b)")
        several = self.several(self.path, self.pick("/", "|"))
        return self.pick(f"({several})", f"({several}){self.pick('?', '*', '+')}", f"^({several})")

    def verb(self) -> str:
        return self.one(self.variable, self.iri, self.path, lambda: self.pick("a", "*"))

    def node(self) -> str:
        if not self.grow():
            return self.one(self.variable, self.term, lambda: self.pick("[]", "()", "*", "_:b", "_:c"))
        return self.one(lambda: f"[ {self.verb()} {self.node()} ]", lambda: f"( {self.several(self.node, ' ')} )")

    def triples(self) -> str:
        def properties() -> str:
            return f"{self.verb()} {self.several(self.node, ' , ', 1, 2)}"

        text = f"{self.node()} {self.several(properties, ' ; ', 1, 2)} ."
        self._names += 1
        return text.replace("_:b", f"_:b{self._names}").replace("_:c", f"_:c{self._names}")

    # ---------------------------------------------------------------------------------------------------------- groups

    def element(self) -> str:
        if not self.grow():
            return self.triples()
        kind = self.pick("OPTIONAL", "MINUS", "GRAPH ?g", "GRAPH :g", "", "FILTER", "UNION", "VALUES", "SELECT", "BIND")
        if kind == "FILTER":
            return f"FILTER({self.expression()})"
        if kind == "UNION":
            return self.several(self.group, " UNION ", 2)
        if kind == "VALUES":
            return f"VALUES (?x ?v) {{ ({self.term()} UNDEF) ({self.term()} {self.term()}) }}"
        if kind == "SELECT":
            return f"{{ SELECT {self.pick('*', '?x', 'DISTINCT ?y')} {self.group()} LIMIT 3 }}"
        if kind == "BIND":
            self._names += 1
            return f"BIND({self.expression()} AS ?new{self._names})"
        return f"{kind} {self.group()}"

    def group(self) -> str:
        return f"{{ {self.several(self.element, ' ', 0)} }}"

    # --------------------------------------------------------------------------------------------------------- queries

    def query(self) -> str:
        group, order = self.group(), self.pick(*_ORDERS)
        form = self.pick("plain", "computed", "grouped", "ask", "construct")
        if form == "computed":
            return f"SELECT ?x ({self.expression()} AS ?column) {group}{order}"
        if form == "grouped":
            aggregate = self.pick(*_AGGREGATES)
            keys = self.pick("?x", "?x ?y", "?x (STR(?z) AS ?k)", "?x (?y + ?z)", "STRLEN(?y) ?x")
            return f"SELECT ?x ({aggregate} AS ?n) WHERE {group} GROUP BY {keys} HAVING ({aggregate} > 1){order}"
        if form == "ask":
            return f"ASK {group}{self.pick('', ' VALUES ?x { 1 UNDEF }')}"
        if form == "construct":
            return f"CONSTRUCT {{ _:b :p {self.term()} . {self.variable()} {self.iri()} _:b }} WHERE {group}{order}"
        return f"SELECT {self.pick('*', '?x ?y', 'DISTINCT ?x', 'REDUCED *')} {group}{order}"


@st.composite
def queries(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    return PROLOGUE + _Writer(draw).query()
