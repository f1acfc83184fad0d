"""Going through a form: its patterns, its expressions, the variables in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tidings.lang.pattern import (
    Aggregate,
    Block,
    Call,
    Const,
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
)


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly inside, without those of EXISTS."""
    match pattern:
        case Join(parts=parts) | Union(choices=parts):
            return parts
        case LeftJoin(left=left, right=right) | Minus(left=left, right=right):
            return left, right
        case Filter(pattern=inner) | Extend(pattern=inner) | Graph(pattern=inner):
            return (inner,)
        case Query(where=where, values=values):
            return (where,) if values is None else (where, values)
    return ()


def expressions(pattern: Pattern) -> tuple[Expr, ...]:
    """The expressions directly in a pattern, not in those inside it."""
    match pattern:
        case Block(filters=filters) | Filter(filters=filters) | LeftJoin(conditions=filters):
            return filters
        case Extend(expr=expr):
            return (expr,)
        case Query():
            columns = [p.expr for p in pattern.projection or () if p.expr is not None]
            keys = [g.expr for g in pattern.group or ()] + [o.expr for o in pattern.order]
            return (*columns, *keys, *pattern.having)
    return ()


def patterns(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern and everything in it, also what stands inside EXISTS."""
    yield pattern
    for child in children(pattern):
        yield from patterns(child)
    for expr in expressions(pattern):
        for part in subexpressions(expr):
            if isinstance(part, Exists):
                yield from patterns(part.pattern)


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it; the pattern of an EXISTS is not entered."""
    yield expr
    if isinstance(expr, Call):
        for arg in expr.args:
            yield from subexpressions(arg)
    elif isinstance(expr, Aggregate) and expr.arg is not None:
        yield from subexpressions(expr.arg)


def expression_variables(expr: Expr) -> Iterator[Var]:
    """The variables an expression looks at; those of an EXISTS pattern count, since the outer solution enters it."""
    for part in subexpressions(expr):
        match part:
            case Var():
                yield part
            case FtContains(var=var) | Constraint(var=var):
                yield var
            case Exists(pattern=pattern):
                yield from all_variables(pattern)


def all_variables(pattern: Pattern) -> Iterator[Var]:
    """Every variable that occurs in a pattern, in scope or not."""
    for part in patterns(pattern):
        match part:
            case Block():
                nodes = [n for t in part.triples for n in (t.s, t.p, t.o)]
                nodes += [n for path in part.paths for n in (path.s, path.o)]
                nodes += [c.node for c in part.classes]
                yield from (n for n in nodes if isinstance(n, Var))
            case Extend(var=var):
                yield var
            case Graph(name=Var() as name):
                yield name
            case Values(vars=vars):
                yield from vars
        for expr in expressions(part):
            if not isinstance(expr, Exists):
                yield from expression_variables(expr)


def conjuncts(filters: Iterable[Expr]) -> Iterator[Expr]:
    """The filters, `&&` taken apart: all of them hold, or the solution is dropped."""
    for expr in filters:
        if isinstance(expr, Call) and expr.op == "&&":
            yield from conjuncts(expr.args)
        else:
            yield expr


def substitute(expr: Expr, mapping: Mapping[Var, Node]) -> Expr | None:
    """The expression with its variables replaced; None where it holds what a replacement may not enter."""
    match expr:
        case Var():
            node = mapping.get(expr)
            return node if node is None or isinstance(node, Var) else Const(node)
        case Const():
            return expr
        case Call(op=op, args=args):
            parts = [substitute(arg, mapping) for arg in args]
            return None if None in parts else Call(op, tuple(p for p in parts if p is not None))
        case FtContains(var=var, text=text):
            node = mapping.get(var)
            return FtContains(node, text) if isinstance(node, Var) else None
        case Constraint(var=var, op=op, value=value):
            node = mapping.get(var)
            return Constraint(node, op, value) if isinstance(node, Var) else None
    return None
