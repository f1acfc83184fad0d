"""Subscriptions that are more than a conjunction, and yet match exactly where one has a solution.

What is optional never stands in the way of a match: only what is said about its variables does, that they are bound or
that they are not. So OPTIONAL becomes nothing or EXISTS, and MINUS becomes NOT EXISTS, where the right side is a plain
pattern: what EXISTS then asks is the same, since all that both sides share is bound on the left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidings.lang.pattern import (
    Block,
    Call,
    Exists,
    Expr,
    Filter,
    LeftJoin,
    Minus,
    Pattern,
    Query,
    Var,
    core,
    variables,
)

# The verifier goes through a right side, and fails where that takes too long; of so many patterns it does not.
_MOST_TRIPLES = 2


def reduced(query: Query) -> Block | None:
    """A conjunction that has a solution exactly where the subscription matches, if there is one."""
    block = core(query)
    if block is not None or core(replace(query, where=Block())) is None:
        return block
    try:
        found = _reduced(query.where)
    except RecursionError:
        return None
    return None if found is None else found.block


@dataclass(frozen=True, slots=True)
class _Reduced:
    """A solution of the block, and of each optional block what there is, is one of the pattern."""

    block: Block
    optional: tuple[Block, ...] = ()

    def own(self, right: Block) -> frozenset[Var]:
        """The variables of a right side that this block does not have."""
        return frozenset(variables(right)).difference(variables(self.block))

    @property
    def uncertain(self) -> frozenset[Var]:
        return frozenset(var for right in self.optional for var in self.own(right))

    def where(self, *filters: Expr) -> _Reduced:
        return replace(self, block=replace(self.block, filters=(*self.block.filters, *filters)))


def _reduced(pattern: Pattern) -> _Reduced | None:
    match pattern:
        case Block(paths=()):
            return _Reduced(pattern)
        case LeftJoin(left=left, right=Block() as right, conditions=()) if _plain(right):
            found = _reduced(left)
            if found is not None and found.uncertain.isdisjoint(variables(right)):
                return replace(found, optional=(*found.optional, right))
        case Minus(left=left, right=Block() as right) if _plain(right):
            found = _reduced(left)
            if found is not None and found.uncertain.isdisjoint(variables(right)):
                shared = not frozenset(variables(right)).isdisjoint(variables(found.block))
                return found.where(Exists(right, negated=True)) if shared else found
        case Filter(pattern=inner, filters=filters):
            found = _reduced(inner)
            return None if found is None else _filtered(found, filters)
    return None


def _plain(right: Block) -> bool:
    return right == Block(right.triples) and 0 < len(right.triples) <= _MOST_TRIPLES


def _filtered(found: _Reduced, filters: tuple[Expr, ...]) -> _Reduced | None:
    asked: list[Expr] = []
    for expr in _conjuncts(filters):
        exists = _bound(expr, found)
        if exists is None and not found.uncertain.isdisjoint(mentioned(expr)):
            return None
        asked.append(expr if exists is None else exists)
    return found.where(*asked)


def _conjuncts(filters: tuple[Expr, ...]) -> Iterator[Expr]:
    for expr in filters:
        if isinstance(expr, Call) and expr.op == "&&":
            yield from _conjuncts(expr.args)
        else:
            yield expr


def _bound(expr: Expr, found: _Reduced) -> Exists | None:
    """What `BOUND(?v)` or `!BOUND(?v)` asks, where ?v is a variable of an optional block."""
    match expr:
        case Call(op="!", args=(Call(op="BOUND", args=(Var() as var,)),)):
            negated = True
        case Call(op="BOUND", args=(Var() as var,)):
            negated = False
        case _:
            return None
    return next((Exists(right, negated) for right in found.optional if var in found.own(right)), None)


def mentioned(expr: object) -> frozenset[Var]:
    """The variables that an expression speaks of, wherever in it."""
    found: set[Var] = set()
    todo = [expr]
    while todo:
        part = todo.pop()
        if isinstance(part, Var):
            found.add(part)
        elif isinstance(part, tuple):
            todo += part
        else:
            todo += [getattr(part, name) for name in getattr(type(part), "__slots__", ())]
    return frozenset(found)
