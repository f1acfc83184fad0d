"""Filters that cannot hold together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tidings.lang.check.facts import Facts, IsBelow
from tidings.lang.check.problems import Finding
from tidings.lang.check.walk import children, expressions, subexpressions
from tidings.lang.pattern import (
    Block,
    Call,
    Const,
    Constraint,
    Exists,
    Expr,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Query,
    Union,
    Var,
)
from tidings.lang.print_expressions import print_expression
from tidings.rdf.terms import Term

Label = Callable[[Term], str]

_INFIX = frozenset(["=", "!=", "<", "<=", ">", ">=", "&&", "||"])


def contradictions(query: Query, is_below: IsBelow, label: Label) -> Iterator[Finding]:
    """Groups with filters that no solution passes. At the top that means that no event ever matches."""
    for name, pattern, more in _scopes("", query.where):
        opposed = Facts([*more, *_filters(pattern)], is_below).contradiction()
        if opposed:
            shown = " and ".join(dict.fromkeys(_shown(expr, label) for expr in opposed))
            verb = "contradict each other" if len(opposed) > 1 else "never holds"
            outcome = f"so {name} never has a solution" if name else "so no event matches"
            yield Finding("contradictory-filter", f"{shown} {verb}, {outcome}")


def _scopes(
    name: str, pattern: Pattern, more: tuple[Expr, ...] = ()
) -> Iterator[tuple[str, Pattern, tuple[Expr, ...]]]:
    """The pattern, and every one in it that may fail without the whole failing, with what a message calls it and the
    further filters on it."""
    yield name, pattern, more
    todo = [pattern]
    while todo:
        part = todo.pop()
        match part:
            case LeftJoin(left=left, right=right, conditions=conditions):
                todo.append(left)
                yield from _scopes("an OPTIONAL", right, conditions)
            case Minus(left=left, right=right):
                todo.append(left)
                yield from _scopes("a MINUS", right)
            case Union(choices=choices):
                for choice in choices:
                    yield from _scopes("a choice of a UNION", choice)
            case Query(where=where):
                yield from _scopes("a sub-select", where)
            case _:
                todo.extend(children(part))
        for expr in expressions(part):
            for sub in subexpressions(expr):
                if isinstance(sub, Exists):
                    yield from _scopes("the pattern of an EXISTS", sub.pattern)


def _filters(pattern: Pattern) -> Iterator[Expr]:
    """The filters that every solution of the pattern passes, whichever part they stand in. They see the same values:
    a filter that holds has its variables bound, and a join does not change them."""
    match pattern:
        case Block(filters=filters):
            yield from filters
        case Filter(pattern=inner, filters=filters):
            yield from filters
            yield from _filters(inner)
        case Join(parts=parts):
            for part in parts:
                yield from _filters(part)
        case Extend(pattern=inner) | Graph(pattern=inner) | LeftJoin(left=inner) | Minus(left=inner):
            yield from _filters(inner)


def _shown(expr: Expr, label: Label) -> str:
    match expr:
        case Constraint(var=var, op=op, value=value):
            return f"?{var.name} {op} {label(value)}"
        case Call(op=op, args=(a, b)) if op in _INFIX:
            return f"{_shown(a, label)} {op} {_shown(b, label)}"
        case Const(term=term):
            return label(term)
        case Var(name=name):
            return f"?{name}"
    return print_expression(expr, lambda pattern: "{ … }")
