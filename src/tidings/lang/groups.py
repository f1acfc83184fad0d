"""Groups: what stands between braces, as the algebra of SPARQL 1.1, 18.2.2, reads it.

A group of triples and filters is one Block. Anything else joins, extends or subtracts from what stands before it, and
the filters of the group go around the whole. A group that holds nothing but another one is that other one, so the
form does not depend on idle braces; only OPTIONAL looks at which braces a filter stood in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tidings.lang.expressions import BUILT_INS
from tidings.lang.pattern import (
    Block,
    Expr,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    Pattern,
    Query,
    Union,
    Values,
    Var,
    variables,
)
from tidings.lang.terms import LITERALS
from tidings.lang.triples import Triples, TriplesParser
from tidings.rdf.terms import Term

_ELEMENTS = ("a triple", "FILTER", "OPTIONAL", "MINUS", "GRAPH", "BIND", "VALUES", "{", "}")


class Bound(NamedTuple):
    """A variable that BIND gives a value, and where in the text."""

    var: Var
    place: int


@dataclass(slots=True)
class _Group:
    """A group while it is read. `steps` is what brings variables into scope, in the order of the text."""

    parts: list[Pattern] = field(default_factory=list)
    filters: list[Expr] = field(default_factory=list)
    steps: list[Pattern | Bound] = field(default_factory=list)
    binds: bool = False

    def add(self, part: Pattern) -> None:
        self.parts.append(part)
        self.steps.append(part)


class GroupParser(TriplesParser):
    """Group graph patterns; sub-selects are for a parser of queries to say (`sub_select`)."""

    def __init__(self, text: str, source: str | None = None, base: str | None = None) -> None:
        super().__init__(text, source, base)
        self._scopes: list[list[Pattern | Bound]] = []

    def sub_select(self) -> Query:
        raise self.error("a sub-select has no place here")

    def exists_pattern(self) -> Pattern:
        return self.group()

    def group(self) -> Pattern:
        return filtered(*self.group_parts())

    def group_parts(self) -> tuple[Pattern, list[Expr]]:
        """A group as its pattern and the filters that stand directly in it."""
        self.expect("{")
        self.enter(2)
        if self.kinds[self.i] == "SELECT":
            query = self.sub_select()
            self._close("}")
            return query, []
        outer, self.into = self.into, Triples()
        outer_rule, self.no_aggregate = self.no_aggregate, "in a pattern"
        group = _Group()
        self._elements(group)
        self._close(*([] if self.texts[self.i - 1] in (".", "{") else ["."]), *_ELEMENTS)
        pattern = self._before(group)
        if group.binds:
            self._scopes.append(group.steps)
        self.into, self.no_aggregate = outer, outer_rule
        return pattern, group.filters

    def check_binds(self) -> None:
        """BIND gives a value to a variable that has none so far in its group. For a form whose height is known."""
        for steps in self._scopes:
            scope: set[Var] = set()
            for step in steps:
                if not isinstance(step, Bound):
                    scope.update(variables(step))
                elif step.var in scope:
                    reason = f"?{step.var.name} already has a value here, BIND cannot give it another"
                    raise self.error(reason, at=step.place)
                else:
                    scope.add(step.var)

    def _close(self, *expected: str) -> None:
        if self.kinds[self.i] != "}":
            raise self.unexpected(*expected)
        self.i += 1
        self.leave(2)

    def _elements(self, group: _Group) -> None:
        while True:
            if self.at_triples():
                self.same_subject()
                if not self.take(".") and self.at_triples():
                    raise self.unexpected(".", ";", ",", hint="a dot ends the triples of a subject")
                continue
            kind = self.kinds[self.i]
            if kind == "FILTER":
                self.i += 1
                group.filters.append(self.constraint())
            elif not self._element(kind, group):
                return
            self.take(".")

    def _element(self, kind: str, group: _Group) -> bool:
        """One element that ends the basic graph pattern before it; False where there is none."""
        if kind in ("{", "OPTIONAL", "MINUS", "BIND", "GRAPH", "VALUES"):
            before = self._before(group)
        match kind:
            case "{":
                group.add(self._union())
            case "OPTIONAL":
                self.i += 1
                right, conditions = self.group_parts()
                group.parts = [LeftJoin(before, right, tuple(conditions))]
                group.steps.append(right)
            case "MINUS":
                self.i += 1
                group.parts = [Minus(before, self.group())]
            case "BIND":
                self.i += 1
                group.parts = [self._bind(before, group)]
            case "GRAPH":
                self.i += 1
                if self.kinds[self.i] not in ("var", "iri", "pname"):
                    raise self.unexpected("var", "iri")
                name: Node = self.var() if self.kinds[self.i] == "var" else self.iri()
                group.add(Graph(name, self.group()))
            case "VALUES":
                self.i += 1
                group.add(self.inline_data())
            case "SERVICE":
                raise self.error("SERVICE is not available in subscriptions", hint="an event is matched by itself")
            case _:
                if kind in BUILT_INS:
                    raise self.unexpected(*_ELEMENTS, hint="a condition needs FILTER in front")
                return False
        return True

    def _before(self, group: _Group) -> Pattern:
        """What stands before the current element, as one pattern; the triples read so far become a Block."""
        if self.into.triples or self.into.paths:
            group.add(self.into.block())
            self.into = Triples()
        return joined(group.parts)

    def _union(self) -> Pattern:
        first = self.group()
        choices = [first]
        while self.take("UNION"):
            choices.append(self.group())
        return Union(tuple(choices)) if len(choices) > 1 else first

    def _bind(self, before: Pattern, group: _Group) -> Extend:
        self.expect("(")
        self.enter()
        expr = self.expression()
        if not self.take("AS"):
            raise self.unexpected("AS", "an operator")
        var = self.var()
        group.steps.append(Bound(var, self.i - 1))
        group.binds = True
        self.expect(")")
        self.leave()
        return Extend(before, var, expr)

    # ---------------------------------------------------------------------------------------------------------- VALUES

    def inline_data(self) -> Values:
        """What follows VALUES: `?x { … }` or `(?x ?y) { (…) … }`."""
        single = self.kinds[self.i] == "var"
        names: list[Var] = []
        if single:
            names.append(self.var())
        else:
            if not self.take("("):
                raise self.unexpected("var", "(")
            while not self.take(")"):
                if (var := self.var()) in names:
                    raise self.error(f"?{var.name} is here twice", at=self.i - 1)
                names.append(var)
        self.expect("{")
        rows: list[tuple[Term | None, ...]] = []
        while not self.take("}"):
            rows.append((self._value(),) if single else self._row(len(names)))
        return Values(tuple(names), tuple(rows))

    def _row(self, width: int) -> tuple[Term | None, ...]:
        start = self.i
        if not self.take("("):
            raise self.unexpected("(", "}")
        row: list[Term | None] = []
        while not self.take(")"):
            row.append(self._value())
        if len(row) != width:
            raise self.error(f"this row has {len(row)} values, but there are {width} variables", at=start)
        return tuple(row)

    def _value(self) -> Term | None:
        kind = self.kinds[self.i]
        if kind == "UNDEF":
            self.i += 1
            return None
        if kind in LITERALS:
            return self.literal()
        if kind not in ("iri", "pname"):
            raise self.unexpected("an IRI, a literal or UNDEF")
        return self.iri()


def joined(parts: Sequence[Pattern]) -> Pattern:
    if len(parts) == 1:
        return parts[0]
    return Join(tuple(parts)) if parts else Block()


def filtered(pattern: Pattern, filters: Sequence[Expr]) -> Pattern:
    if not filters:
        return pattern
    if isinstance(pattern, Block | Filter):
        return replace(pattern, filters=(*pattern.filters, *filters))
    return Filter(pattern, tuple(filters))
