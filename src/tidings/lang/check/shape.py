"""Problems of a query's shape: products, variables that never bind, conditions that every event meets."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from tidings.lang.check.problems import Finding
from tidings.lang.check.walk import children, expression_variables, expressions, patterns, subexpressions
from tidings.lang.pattern import (
    Block,
    Call,
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
    Repeat,
    TriplePattern,
    Union,
    Var,
    variables,
)
from tidings.lang.print_expressions import print_node
from tidings.rdf.terms import RDF_TYPE, is_literal

# ------------------------------------------------------------------------------------------------------------- products


def products(query: Query) -> Iterator[Finding]:
    """Groups whose patterns fall into parts that nothing links: each solution of one is paired with each of the others.

    A variable links, and so does a filter over variables of both parts, or a resource that both speak about.
    """
    for scope in _scopes(query.where):
        if isinstance(scope, Block) and not scope.paths and len({triple.s for triple in scope.triples}) <= 1:
            continue
        groups = _linked(_items(scope))
        if len(groups) > 1:
            parts = " × ".join("{" + " ".join(map(print_node, group)) + "}" for group in groups)
            message = f"the patterns fall into {len(groups)} parts that share no variable: {parts}"
            yield Finding("cartesian-product", message, "every combination of their solutions is a solution")


def _scopes(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern, and those inside whose solutions are made on their own: UNION's choices and sub-selects."""
    yield pattern
    for part in patterns(pattern):
        if isinstance(part, Union):
            yield from part.choices
        elif isinstance(part, Query):
            yield part.where


def _items(pattern: Pattern) -> Iterator[tuple[bool, tuple[Node, ...]]]:
    """What is joined, each with the nodes it may be linked by; a filter links (False) but has no solutions itself."""
    match pattern:
        case Block():
            yield from ((True, _ends(triple)) for triple in pattern.triples)
            yield from ((True, (path.s, path.o)) for path in pattern.paths)
        case Join() | Filter() | Extend():
            for part in children(pattern):
                yield from _items(part)
        case LeftJoin(left=left, right=right):
            yield from _items(left)
            yield True, variables(right)
        case Minus(left=left):
            yield from _items(left)
        case Graph(name=name, pattern=inner):
            # There is one graph, so its name makes no link between the patterns in it, only to what is outside.
            first = next(iter(variables(inner)), None)
            yield from _items(inner)
            if isinstance(name, Var):
                yield True, (name,) if first is None else (name, first)
        case _:
            yield True, variables(pattern)
            return
    target = (pattern.var,) if isinstance(pattern, Extend) else ()
    for expr in expressions(pattern):
        yield False, (*expression_variables(expr), *target)


def _ends(triple: TriplePattern) -> tuple[Node, ...]:
    """The nodes by which a triple is linked: a property, a class or a literal does not make two things one subject."""
    ends: list[Node] = [triple.s]
    if isinstance(triple.p, Var):
        ends.append(triple.p)
    if isinstance(triple.o, Var) or not (is_literal(triple.o) or triple.p == RDF_TYPE):
        ends.append(triple.o)
    return tuple(ends)


def _linked(items: Iterable[tuple[bool, tuple[Node, ...]]]) -> list[list[Var]]:
    """The named variables of each connected part that has solutions of its own (one without variables has one)."""
    root: dict[Node, Node] = {}

    def find(node: Node) -> Node:
        root.setdefault(node, node)
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    solving: dict[Node, None] = {}
    for solves, nodes in items:
        for a, b in pairwise(nodes):
            root[find(a)] = find(b)
        if solves:
            solving.update(dict.fromkeys(n for n in nodes if isinstance(n, Var)))
    parts: dict[Node, list[Var]] = {}
    for node in solving:
        if isinstance(node, Var):
            parts.setdefault(find(node), []).append(node)
    return [[v for v in part if not v.hidden] or part for part in parts.values()]


# ------------------------------------------------------------------------------------------- variables that never bind


def never_bound(query: Query) -> Iterator[Finding]:
    """Columns, and variables of a CONSTRUCT template, that no pattern binds."""
    for part in patterns(query):
        if isinstance(part, Query):
            yield from _unbound_columns(part)


def _unbound_columns(query: Query) -> Iterator[Finding]:
    scope = {*variables(query.where), *(query.values.vars if query.values else ())}
    scope.update(key.var for key in query.group or () if key.var is not None)
    for column in query.projection or ():
        if column.expr is None and column.var not in scope:
            message = f"?{column.var.name} is asked for, but nothing binds it"
            yield Finding("never-bound", message, _near(column.var, scope))
        for var in dict.fromkeys(_needed(column.expr) if column.expr is not None else ()):
            if var not in scope:
                message = f"the column ?{column.var.name} is made from ?{var.name}, which nothing binds"
                yield Finding("never-bound", message, _near(var, scope))
        scope.add(column.var)
    template = chain.from_iterable((t.s, t.p, t.o) for t in query.template)
    for node in dict.fromkeys(template):
        if isinstance(node, Var) and not node.hidden and node not in scope:
            message = f"?{node.name} stands in the CONSTRUCT template, but nothing binds it"
            yield Finding("never-bound", message, _near(node, scope) or "a triple with an unbound variable is not made")


def unbound_in_filters(query: Query) -> Iterator[Finding]:
    """Filters over a variable that their group does not bind: they fail, whatever the event says."""
    return _unbound_in_filters(query, frozenset())


def _unbound_in_filters(pattern: Pattern, outer: frozenset[Var]) -> Iterator[Finding]:
    """`outer` are the variables that an EXISTS around the pattern brings in."""
    for child in children(pattern):
        yield from _unbound_in_filters(child, outer)
    scope = outer | set(variables(pattern))
    if isinstance(pattern, Block | Filter | LeftJoin):
        for expr in expressions(pattern):
            for var in dict.fromkeys(_needed(expr)):
                if var not in scope:
                    message = f"a filter looks at ?{var.name}, which its group does not bind, so it never holds"
                    yield Finding("unbound-in-filter", message, _near(var, scope))
    for expr in expressions(pattern):
        for part in subexpressions(expr):
            if isinstance(part, Exists):
                yield from _unbound_in_filters(part.pattern, scope)


def _needed(expr: Expr) -> Iterator[Var]:
    """The variables without which an expression has no value."""
    match expr:
        case Var() | FtContains(var=Var()):
            yield expr if isinstance(expr, Var) else expr.var
        case Call(op="BOUND" | "COALESCE" | "||"):
            return
        case Call(op="IF" | "IN" | "NOT IN", args=args):
            yield from _needed(args[0])
        case Call(args=args):
            for arg in args:
                yield from _needed(arg)


def _near(var: Var, scope: Iterable[Var]) -> str | None:
    near = difflib.get_close_matches(var.name, [v.name for v in scope if not v.hidden], 1)
    return f"did you mean ?{near[0]}?" if near else None


# -------------------------------------------------------------------------------------------------- matches everything


def matches_everything(query: Query) -> Iterator[Finding]:
    """A condition that any event with a triple meets, or one that none does."""
    if query.limit == 0:
        yield Finding("never-matches", "LIMIT 0 leaves no solution, so no event matches", None)
    elif _always(query):
        what = "its pattern is empty" if query.where == Block() else "no pattern of it asks for anything in particular"
        yield Finding("matches-everything", f"every event matches: {what}", None)


def _always(pattern: Pattern) -> bool:
    """Whether any event with a triple gives the pattern a solution; False where it is not plain to see."""
    match pattern:
        case Block():
            ends = [n for path in pattern.paths for n in (path.s, path.o)]
            return (
                not pattern.filters
                and not pattern.injective
                and all(isinstance(path.path, Repeat) and path.path.least == 0 for path in pattern.paths)
                and all(isinstance(n, Var) for n in ends)
                and _any_triple(pattern.triples)
                and not set(ends) & {n for t in pattern.triples for n in _nodes(t)}
            )
        case LeftJoin(left=inner) | Extend(pattern=inner) | Graph(name=Var(), pattern=inner):
            return not (isinstance(pattern, Graph) and pattern.name in variables(inner)) and _always(inner)
        case Union(choices=choices):
            return any(_always(choice) for choice in choices)
        case Join(parts=parts):
            shared = sum(len(variables(part)) for part in parts) > len(variables(pattern))
            return not shared and all(_always(part) for part in parts)
        case Query():
            plain = not pattern.having and pattern.values is None and pattern.limit != 0 and not pattern.offset
            return plain and _always(pattern.where)
    return False


def _nodes(triple: TriplePattern) -> tuple[Node, Node, Node]:
    return triple.s, triple.p, triple.o


def _any_triple(triples: tuple[TriplePattern, ...]) -> bool:
    """Whether one and the same triple, whichever, satisfies all: every variable then stands in one kind of place."""
    place: dict[Var, int] = {}
    for triple in triples:
        for at, node in enumerate(_nodes(triple)):
            if not isinstance(node, Var) or place.setdefault(node, at) != at:
                return False
    return True
