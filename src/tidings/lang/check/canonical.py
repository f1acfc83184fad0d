"""The condition of a subscription in a form that does not depend on names and order.

Two subscriptions with one form match the same events. Columns, their order and LIMIT are left out: they decide what a
notification carries, not whether there is one. The form is a text; variables in it are numbered. The numbering is made
by colour refinement: a variable's colour is what the form looks like from where it stands, and variables that still
look alike are told apart by trying each, within a bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from tidings.lang.check.walk import all_variables, children, conjuncts
from tidings.lang.pattern import (
    Aggregate,
    Alternative,
    Block,
    Call,
    ClassOf,
    Const,
    Constraint,
    Exists,
    Expr,
    Extend,
    Filter,
    FtAnd,
    FtContains,
    FtNear,
    FtNot,
    FtOr,
    FtPhrase,
    Graph,
    GroupKey,
    Inverse,
    Join,
    LeftJoin,
    Link,
    Minus,
    Negated,
    OrderKey,
    PathPattern,
    Pattern,
    Projection,
    Query,
    Repeat,
    Sequence,
    TriplePattern,
    Union,
    Values,
    Var,
    core,
)

MAX_WORK = 1_000_000
"""How many characters are written to find the numbering of one subscription: half a second at most."""
MAX_TOTAL_WORK = 100_000_000
"""And for all together."""

Condition = tuple[Pattern, tuple[GroupKey, ...] | None, tuple[Expr, ...], Values | None, Query | None]


def condition(query: Query) -> Condition:
    """What decides whether there is a match. With OFFSET or LIMIT 0, everything does."""
    block = core(query)
    if block is not None:
        return block, None, (), None, None
    whole = query if query.offset or query.limit == 0 else None
    return query.where, query.group, query.having, query.values, whole


def rough_form(condition: Condition) -> str:
    """A form that is the same for equal conditions, and often for others: variables are all one."""
    return _Writer({}).text(condition)


def plain_form(condition: Condition) -> str:
    """A form that tells the order of patterns, but not the names of variables, apart."""
    names: dict[Var, str] = {}
    for var in _variables(condition):
        names.setdefault(var, f"?{len(names)}")
    return _Writer(names, ordered=True).text(condition)


class CanonicalForms:
    """Canonical forms, as long as the work for all together allows."""

    def __init__(self) -> None:
        self._left = MAX_TOTAL_WORK

    def form(self, condition: Condition) -> str | None:
        """The form; None where there is too much of it, or where its variables look too much alike."""
        numbering = _Numbering(condition, min(self._left, MAX_WORK))
        try:
            return numbering.least(dict.fromkeys(_variables(condition), "?0"))
        except _TooMuch:
            return None
        finally:
            self._left -= numbering.work


def _variables(condition: Condition) -> list[Var]:
    where, group, having, values, whole = condition
    shell = whole or Query("sparql", "SELECT", where, group=group, having=having, values=values)
    return [*all_variables(shell), *(v for key in group or () if (v := key.var) is not None)]


class _TooMuch(Exception):
    """The bound on the work is reached."""


class _Numbering:
    """The search for the numbering of one condition's variables."""

    def __init__(self, condition: Condition, max_work: int) -> None:
        self.work = 0
        self._max_work = max_work
        self._condition = condition
        self._size = len(plain_form(condition))

    def least(self, colours: dict[Var, str]) -> str:
        """The least form over all numberings that agree with the colours and tell every variable apart."""
        colours = self._refined(colours)
        alike: dict[str, list[Var]] = {}
        for var, colour in colours.items():
            alike.setdefault(colour, []).append(var)
        open_classes = [colour for colour, members in alike.items() if len(members) > 1]
        if not open_classes:
            return self._form(colours)
        chosen = min(open_classes, key=lambda colour: (len(alike[colour]), colour))
        return min(self.least(colours | {var: chosen + "!"}) for var in alike[chosen])

    def _refined(self, colours: dict[Var, str]) -> dict[Var, str]:
        """Colours split until what stands around a variable no longer tells more apart."""
        count = len(set(colours.values()))
        while True:
            views = {v: (colour, self._form(colours | {v: "?·"})) for v, colour in colours.items()}
            ranks = {view: f"?{rank}" for rank, view in enumerate(sorted(set(views.values())))}
            colours = {v: ranks[view] for v, view in views.items()}
            if len(ranks) == count or len(ranks) == len(colours):
                return colours
            count = len(ranks)

    def _form(self, colours: dict[Var, str]) -> str:
        self.work += self._size
        if self.work > self._max_work:
            raise _TooMuch
        return _Writer(colours).text(self._condition)


# ----------------------------------------------------------------------------------------------------------------- text

_MIRRORED = {">": "<", ">=": "<="}
_COMMUTATIVE = frozenset({"&&", "||", "=", "!=", "+", "*", "SAMETERM"})


class _Writer:
    """A value as text, variables by `names`; parts whose order means nothing are sorted, unless `ordered`."""

    def __init__(self, names: Mapping[Var, str], ordered: bool = False) -> None:
        self._names = names
        self._ordered = ordered

    def text(self, value: object) -> str:
        if isinstance(value, Var):
            return self._names.get(value, "?")
        if isinstance(value, tuple):
            return f"({' '.join(map(self.text, value))})"
        kind = type(value)
        if kind not in _FIELDS:
            return repr(value)
        if not self._ordered:
            if isinstance(value, Block):
                return self._block(value)
            if isinstance(value, Join | Union):
                return f"{kind.__name__}({' '.join(sorted(map(self.text, children(value))))})"
        if isinstance(value, Call):
            return self._call(value)
        return f"{kind.__name__}({' '.join([self.text(getattr(value, name)) for name in _FIELDS[kind]])})"

    def _block(self, block: Block) -> str:
        groups: tuple[tuple[object, ...], ...] = (
            block.triples,
            block.paths,
            tuple(conjuncts(block.filters)),
            block.classes,
        )
        parts = [" ".join(sorted({self.text(item) for item in group})) for group in groups]
        return f"Block({block.injective} {' | '.join(parts)})"

    def _call(self, call: Call) -> str:
        op, parts = call.op, [self.text(arg) for arg in call.args]
        if op in _MIRRORED:
            op, parts = _MIRRORED[op], parts[::-1]
        if op in _COMMUTATIVE and not self._ordered:
            parts.sort()
        return f"{op}({' '.join(parts)})"


_FORMS = (
    *(Link, Inverse, Sequence, Alternative, Repeat, Negated, FtPhrase, FtAnd, FtOr, FtNot, FtNear),
    *(Const, Call, Exists, Aggregate, FtContains, Constraint, TriplePattern, PathPattern, ClassOf),
    *(Block, Join, LeftJoin, Union, Minus, Filter, Extend, Graph, Values, Projection, GroupKey, OrderKey, Query),
)
# How a full-text phrase was written means nothing, its words do.
_FIELDS = {form: tuple(f.name for f in fields(form)) for form in _FORMS} | {FtPhrase: ("words",)}
