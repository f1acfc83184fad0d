"""Which subscriptions are conjunctions without negation: those that more quads can satisfy and never undo.

Such a subscription may be decided while its event is still coming in. Taken are triple patterns, classes and filters
that hold together, also where GRAPH or braces part them; everything else is refused, by its name:

- what asks for something not to be there: MINUS, (NOT) EXISTS, `!=` as is-a of G-ToPSS;
- what is no conjunction: OPTIONAL, UNION, property paths other than links, VALUES, BIND, sub-selects;
- what is about all solutions, or about time: GROUP BY, HAVING, aggregates, OFFSET, LIMIT 0, NOW().
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidings.errors import SubscriptionError
from tidings.lang.pattern import (
    Aggregate,
    Block,
    Call,
    Constraint,
    Exists,
    Expr,
    Extend,
    Filter,
    FtContains,
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
from tidings.rdf.terms import is_iri

STRATEGY = "chained"


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All of a subscription in one block. `graphs` are the names of GRAPH: variables stand for the event's name, and
    a term has to be it.
    """

    block: Block
    graphs: tuple[Node, ...] = ()


class _Refused(Exception):
    """With the name of what is not taken."""


def conjunction(query: Query, id: str) -> Conjunction:
    """The subscription of this id as a conjunction; a `SubscriptionError` names what is none."""
    try:
        _check_query(query)
        found = _flat(query.where, frozenset(variables(query.where)))
        _check_filters(found)
        return found
    except _Refused as refused:
        reason = f"subscription '{id}': the strategy {STRATEGY} does not take {refused}"
    except RecursionError:
        reason = f"subscription '{id}': it is nested too deeply for the strategy {STRATEGY}"
    raise SubscriptionError(reason, hint="match it with the strategy one-step", id=id)


def _check_query(query: Query) -> None:
    named = {
        "GROUP BY": query.group is not None,
        "HAVING": bool(query.having),
        "VALUES": query.values is not None,
        "LIMIT 0": query.limit == 0,
        "OFFSET": bool(query.offset),
    }
    for name, there in named.items():
        if there:
            raise _Refused(name)
    for expr in [p.expr for p in query.projection or () if p.expr is not None] + [key.expr for key in query.order]:
        _check_expr(expr)


def _flat(pattern: Pattern, every: frozenset[Var]) -> Conjunction:
    """`every` are the variables of the whole query."""
    match pattern:
        case Block(paths=paths, filters=filters):
            if paths:
                raise _Refused("property paths that are more than links in a row")
            _check_scope(filters, pattern, every)
            return Conjunction(pattern)
        case Graph(name=name, pattern=inner):
            found = _flat(inner, every)
            return Conjunction(found.block, (name, *found.graphs))
        case Filter(pattern=inner, filters=filters):
            _check_scope(filters, pattern, every)
            return _joined([_flat(inner, every), Conjunction(Block(filters=filters))])
        case Join(parts=parts):
            return _joined([_flat(part, every) for part in parts])
        case LeftJoin():
            raise _Refused("OPTIONAL")
        case Union():
            raise _Refused("UNION")
        case Minus():
            raise _Refused("MINUS")
        case Extend():
            raise _Refused("BIND")
        case Values():
            raise _Refused("VALUES")
        case Query():
            raise _Refused("sub-selects")
    raise AssertionError(f"not a pattern: {pattern!r}")


def _joined(found: list[Conjunction]) -> Conjunction:
    blocks = [each.block for each in found]
    return Conjunction(
        Block(
            triples=tuple(triple for block in blocks for triple in block.triples),
            filters=tuple(filter for block in blocks for filter in block.filters),
            classes=tuple(part for block in blocks for part in block.classes),
            injective=any(block.injective for block in blocks),
        ),
        tuple(name for each in found for name in each.graphs),
    )


def _check_scope(filters: tuple[Expr, ...], pattern: Pattern, every: frozenset[Var]) -> None:
    """A filter sees its own group alone, so that it may not be moved where it sees more."""
    elsewhere = every.difference(variables(pattern))
    for filter in filters:
        for part in _parts(filter):
            for var in _own(part):
                if var in elsewhere:
                    raise _Refused(f"a FILTER on ?{var.name}, which another group binds")


def _own(expr: Expr) -> Iterator[Var]:
    if isinstance(expr, Var):
        yield expr
    elif isinstance(expr, FtContains | Constraint):
        yield expr.var


def _check_filters(found: Conjunction) -> None:
    if not found.block.triples:
        raise _Refused("a query without triple patterns")
    for filter in found.block.filters:
        if not isinstance(filter, Constraint):
            _check_expr(filter)
        elif filter.op == "!=" and is_iri(filter.value):
            raise _Refused(f"the constraint ?{filter.var.name} != {filter.value}: is-a")


def _check_expr(expr: Expr) -> None:
    for part in _parts(expr):
        match part:
            case Exists(negated=negated):
                raise _Refused("NOT EXISTS" if negated else "EXISTS")
            case Aggregate(op=op):
                raise _Refused(f"the aggregate {op}")
            case Call(op="NOW"):
                raise _Refused("NOW()")
            case Constraint():
                raise _Refused("a constraint inside of an expression")


def _parts(expr: Expr) -> Iterator[Expr]:
    """The expression, and all in it."""
    todo = [expr]
    while todo:
        part = todo.pop()
        yield part
        if isinstance(part, Call):
            todo += part.args
