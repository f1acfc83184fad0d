"""From the form of a subscription to the nodes and closures that evaluate it. Done once for each subscription."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

from tidings.lang.pattern import (
    Aggregate,
    Block,
    Call,
    ClassOf,
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
    Pattern,
    Query,
    Union,
    Values,
    Var,
    variables,
)
from tidings.match.aggregates import Aggregation, Grouping
from tidings.match.algebra import (
    ExtendNode,
    FilterNode,
    GraphNode,
    JoinNode,
    LeftJoinNode,
    MinusNode,
    UnionNode,
    ValuesNode,
)
from tidings.match.base import Solution
from tidings.match.block import BlockNode
from tidings.match.expressions import compile_expr, compile_test, size
from tidings.match.nodes import Condition, Node
from tidings.match.run import Eval, Run, Test
from tidings.match.select import Column, Select, SelectNode

_SPACE = " "


def plan_pattern(pattern: Pattern) -> Node:
    match pattern:
        case Block(filters=filters, classes=classes):
            return BlockNode(pattern, [*map(_class_condition, classes), *_conditions(filters)])
        case Join(parts=parts):
            return _join([plan_pattern(part) for part in parts])
        case LeftJoin(left=left, right=right, conditions=conditions):
            return LeftJoinNode(plan_pattern(left), plan_pattern(right), _conditions(conditions))
        case Union(choices=choices):
            return UnionNode([plan_pattern(choice) for choice in choices])
        case Minus(left=left, right=right):
            return MinusNode(plan_pattern(left), plan_pattern(right))
        case Filter(pattern=inner, filters=filters):
            return FilterNode(plan_pattern(inner), _conditions(filters))
        case Extend(pattern=inner, var=var, expr=expr):
            return ExtendNode(plan_pattern(inner), var.name, _eval(expr), size(expr))
        case Graph(name=Var(name=variable), pattern=inner):
            return GraphNode(plan_pattern(inner), None, variable)
        case Graph(name=name, pattern=inner) if not isinstance(name, Var):
            return GraphNode(plan_pattern(inner), name, None)
        case Values():
            return ValuesNode(pattern)
        case Query():
            return _sub_select(pattern)
    raise AssertionError(f"not a pattern: {pattern!r}")


def plan_select(query: Query, *, nested: bool) -> Select:
    """The query up to its projected solutions. A nested one counts nothing as one empty group, as SPARQL does."""
    where = plan_pattern(query.where)
    query = _sampled(query)
    aggregates = list(dict.fromkeys(_aggregates(query)))
    names = {aggregate: f"\0{number}" for number, aggregate in enumerate(aggregates)}
    grouped = query.group is not None or bool(aggregates)
    values = None if query.values is None else ValuesNode(query.values)
    if values is not None and not grouped and not query.having:
        where, values = _join([where, values]), None
    columns = [(p.var.name, _without(p.expr, names)) for p in query.projection or () if p.expr is not None]
    return Select(
        where=where,
        grouping=_grouping(query, names, implicit=nested and query.group is None) if grouped else None,
        having=_conditions([_without(expr, names) for expr in query.having]),
        values=values,
        columns=[Column(name, _eval(expr), size(expr)) for name, expr in columns],
        order=[(_eval(_without(key.expr, names)), key.descending) for key in query.order],
        projection=tuple(dict.fromkeys(var.name for var in variables(query) if not var.hidden)),
        distinct=query.distinct,
        limit=query.limit,
        offset=query.offset,
    )


def _sub_select(query: Query) -> Node:
    select = plan_select(query, nested=True)
    computed = {p.var.name for p in query.projection or () if p.expr is not None}
    plain = frozenset(select.projection) - computed
    certain = plain & select.where.certain
    if select.grouping is not None:
        certain &= {key.expr.name for key in query.group or () if isinstance(key.expr, Var) and key.var is None}
    return SelectNode(select, plain, certain)


def _join(parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else JoinNode(parts)


# -------------------------------------------------------------------------------------------------------------- filters


def _eval(expr: Expr) -> Eval:
    return compile_expr(expr, _exists)


def _conditions(filters: Iterable[Expr]) -> list[Condition]:
    """`a && b` is two filters, so that each is applied as soon as it can be."""
    return [Condition(compile_test(f, _exists), names_in(f), size(f)) for g in filters for f in _conjuncts(g)]


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Call) and expr.op == "&&":
        for arg in expr.args:
            yield from _conjuncts(arg)
    else:
        yield expr


def _class_condition(part: ClassOf) -> Condition:
    node, cls = part.node, part.cls
    if isinstance(node, Var):
        name = node.name
        return Condition(lambda run, row: cls in run.meaning.classes(row[name]), frozenset([name]), 1)
    return Condition(lambda run, row: cls in run.meaning.classes(node), frozenset(), 1)


def _exists(pattern: Pattern) -> Test:
    """EXISTS: the solution's bindings become constants in the pattern, at every depth."""
    node = plan_pattern(pattern)
    names = sorted(names_in(pattern))

    def test(run: Run, row: Solution) -> bool:
        inner = run.under({name: row[name] for name in names if name in row})
        return next(node.rows(inner, {}), None) is not None

    return test


def names_in(form: object) -> frozenset[str]:
    """Every variable that occurs anywhere in a form."""
    found: set[str] = set()
    todo = [form]
    while todo:
        part = todo.pop()
        if isinstance(part, Var):
            found.add(part.name)
        elif isinstance(part, tuple):
            todo += part
        else:
            todo += [getattr(part, field) for field in getattr(type(part), "__slots__", ())]
    return frozenset(found)


# ------------------------------------------------------------------------------------------------------------- grouping


def _grouping(query: Query, names: dict[Aggregate, str], implicit: bool) -> Grouping:
    keys: list[tuple[str | None, Eval]] = []
    for key in query.group or ():
        var = key.var or (key.expr if isinstance(key.expr, Var) else None)
        keys.append((None if var is None else var.name, _eval(key.expr)))
    aggregations = [
        Aggregation(
            name=name,
            op=aggregate.op,
            distinct=aggregate.distinct,
            arg=None if aggregate.arg is None else _eval(aggregate.arg),
            separator=_SPACE if aggregate.separator is None else aggregate.separator,
        )
        for aggregate, name in names.items()
    ]
    counted = frozenset(var.name for var in variables(query.where) if not var.hidden)
    return Grouping(keys, aggregations, counted, implicit)


def _sampled(query: Query) -> Query:
    """A variable that a group has no single value of stands for a sample in HAVING and ORDER BY (18.2.4.1)."""
    if query.group is None and not any(_aggregates(query)):
        return query
    keys = {key.var or key.expr for key in query.group or ()}
    named = keys | {projection.var for projection in query.projection or ()}
    having = tuple(_sampled_in(expr, keys) for expr in query.having)
    order = tuple(replace(key, expr=_sampled_in(key.expr, named)) for key in query.order)
    return replace(query, having=having, order=order)


def _sampled_in(expr: Expr, known: Set[Expr]) -> Expr:
    match expr:
        case Var():
            return expr if expr in known else Aggregate("SAMPLE", False, expr)
        case Call(args=args):
            return replace(expr, args=tuple(_sampled_in(arg, known) for arg in args))
    return expr


def _aggregates(query: Query) -> Iterator[Aggregate]:
    """The aggregates of the query itself, not of what is nested in it."""
    for expr in [p.expr for p in query.projection or () if p.expr is not None]:
        yield from _aggregates_in(expr)
    for expr in [*query.having, *(key.expr for key in query.order)]:
        yield from _aggregates_in(expr)


def _aggregates_in(expr: Expr) -> Iterator[Aggregate]:
    if isinstance(expr, Aggregate):
        yield expr
    elif isinstance(expr, Call):
        for arg in expr.args:
            yield from _aggregates_in(arg)


def _without(expr: Expr, names: dict[Aggregate, str]) -> Expr:
    """The expression with its aggregates replaced by the hidden variables that hold their values."""
    match expr:
        case Aggregate():
            return Var(names[expr])
        case Call(args=args):
            return replace(expr, args=tuple(_without(arg, names) for arg in args)) if names else expr
        case Exists() | FtContains() | Constraint():
            return expr
    return expr
