"""The `gtopss` dialect: the graph patterns of Petrovic, Liu and Jacobsen's G-ToPSS.

    PREFIX : <http://e.x/bib#>
    (?y, author, "Arno Jacobsen", {?y <= Publication}, {})
    (?y, conference, SIGMOD)
    (SIGMOD, year, ?x, {}, {?x > 1999})

Each is (subject, property, object, {constraints on the subject}, {constraints on the object}); empty sets may be left
out from the end. Where a constraint's value is an IRI, the operator is is-a.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from tidings.lang.pattern import Block, Constraint, Node, Query, TriplePattern, Var
from tidings.lang.print_expressions import print_node
from tidings.lang.terms import LITERALS
from tidings.lang.tuples import TupleParser
from tidings.rdf.terms import Term

_Op: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
_OPERATORS: Mapping[str, _Op] = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def parse_gtopss(text: str, source: str | None = None, base: str | None = None) -> Query:
    return GtopssParser(text, source, base).query()


class GtopssParser(TupleParser):
    def query(self) -> Query:
        self.prologue()
        triples: list[TriplePattern] = []
        filters: list[Constraint] = []
        while self.kinds[self.i] != "end":
            self._tuple(triples, filters)
        if not triples:
            raise self.unexpected("a tuple: (subject, property, object, {…}, {…})")
        return Query("gtopss", "SELECT", Block(tuple(triples), filters=tuple(filters)), distinct=True)

    def _tuple(self, triples: list[TriplePattern], filters: list[Constraint]) -> None:
        if not self.take("("):
            raise self.unexpected("(", "the end of the text", hint="tuples follow each other with no sign between them")
        subject = self.node("the subject", literals=False)
        self.separator()
        property: Node = self.var() if self.kinds[self.i] == "var" else self.property()
        self.separator()
        object = self.node("the object")
        triples.append(TriplePattern(subject, property, object))
        if self.take(","):
            filters += self._constraints("subject", subject, object)
            if self.take(","):
                filters += self._constraints("object", object, subject)
        self.close()

    def _constraints(self, place: str, node: Node, other: Node) -> list[Constraint]:
        if not self.take("{"):
            raise self.unexpected("{", hint=f"constraints on the {place} stand in braces, {{}} where there are none")
        found: list[Constraint] = []
        while not self.take("}"):
            if found and not self.take(","):
                raise self.unexpected(",", "}")
            found.append(self._constraint(place, node, other))
        return found

    def _constraint(self, place: str, node: Node, other: Node) -> Constraint:
        if self.kinds[self.i] != "var":
            raise self.unexpected("a constraint such as ?x < 5")
        if not isinstance(node, Var):
            raise self.error(f"the {place} is no variable, so it cannot be constrained")
        at = self.i
        var = self.var()
        if var != node:
            swapped = "the constraints on the subject come first, then those on the object" if var == other else None
            reason = f"this constraint is on ?{var.name}, but the {place} is ?{node.name}"
            raise self.error(reason, at=at, hint=swapped)
        op = _OPERATORS.get(self.kinds[self.i])
        if op is None:
            raise self.unexpected(*_OPERATORS)
        self.i += 1
        return Constraint(var, op, self._value())

    def _value(self) -> Term:
        kind = self.kinds[self.i]
        if kind == "var" or kind == "blank":
            hint = "a variable in two tuples joins them"
            raise self.error("a constraint compares with a literal or an IRI", hint=hint)
        return self.literal() if kind in LITERALS else self.name("a literal or an IRI")


def print_gtopss(query: Query) -> str:
    """Text that parses to the same form."""
    block = query.where
    assert isinstance(block, Block)
    sets = _placed(block)
    lines = []
    for i, triple in enumerate(block.triples):
        members = [print_node(node) for node in (triple.s, triple.p, triple.o)]
        members += ["{" + ", ".join(sets.get(2 * i + side, ())) + "}" for side in (0, 1)]
        lines.append(f"({', '.join(members)})")
    return "\n".join(lines) + "\n"


def _placed(block: Block) -> dict[int, list[str]]:
    """The constraints as text, by their place: two sets for each triple. Each goes to the first place of its variable
    that is not before the place of the constraint before it, which keeps their order."""
    places = [node for triple in block.triples for node in (triple.s, triple.o)]
    sets: dict[int, list[str]] = {}
    at = 0
    for constraint in block.filters:
        assert isinstance(constraint, Constraint), "a gtopss subscription has no other filters"
        at = places.index(constraint.var, at)
        sets.setdefault(at, []).append(f"?{constraint.var.name} {constraint.op} {print_node(constraint.value)}")
    return sets
