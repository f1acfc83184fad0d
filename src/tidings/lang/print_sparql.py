"""SPARQL forms as text: full IRIs, one triple a line, and the same form again when it is read."""

from __future__ import annotations

from itertools import groupby

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
    OrderKey,
    PathPattern,
    Pattern,
    Projection,
    Query,
    TriplePattern,
    Union,
    Values,
    Var,
)
from tidings.lang.print_expressions import (
    print_constraint,
    print_expression,
    print_node,
    print_path,
    print_property,
    print_term,
)

_INDENT = "  "


def print_sparql(query: Query) -> str:
    return "\n".join(_query(query)) + "\n"


# -------------------------------------------------------------------------------------------------------------- queries


def _query(query: Query) -> list[str]:
    lines = [*_head(query), "WHERE {", *_indented(_content(query.where)), "}"]
    if query.group is not None:
        keys = [_named(key.expr, key.var) if key.var else _key(key.expr) for key in query.group]
        lines.append(f"GROUP BY {' '.join(keys)}")
    if query.having:
        lines.append(f"HAVING {' '.join(print_constraint(expr, _group) for expr in query.having)}")
    if query.order:
        lines.append(f"ORDER BY {' '.join(_order(key) for key in query.order)}")
    if query.limit is not None:
        lines.append(f"LIMIT {query.limit}")
    if query.offset:
        lines.append(f"OFFSET {query.offset}")
    if query.values is not None:
        lines += _values(query.values)
    return lines


def _head(query: Query) -> list[str]:
    match query.form:
        case "SELECT":
            flag = " DISTINCT" if query.distinct else " REDUCED" if query.reduced else ""
            columns = "*" if query.projection is None else " ".join(map(_column, query.projection))
            return [f"SELECT{flag} {columns}"]
        case "CONSTRUCT":
            return ["CONSTRUCT {", *_indented([_triple(triple) for triple in query.template]), "}"]
        case "ASK":
            return ["ASK"]


def _column(column: Projection) -> str:
    return f"?{column.var.name}" if column.expr is None else _named(column.expr, column.var)


def _named(expr: Expr, var: Var) -> str:
    return f"({print_expression(expr, _group)} AS ?{var.name})"


def _key(expr: Expr) -> str:
    return f"?{expr.name}" if isinstance(expr, Var) else f"({print_expression(expr, _group)})"


def _order(key: OrderKey) -> str:
    if key.descending:
        return f"DESC({print_expression(key.expr, _group)})"
    return _key(key.expr)


# ------------------------------------------------------------------------------------------------------------- patterns


def _group(pattern: Pattern) -> str:
    """A group in braces inside an expression, on one line."""
    return f"{{ {' '.join(_content(pattern))} }}"


def _braced(pattern: Pattern, before: str = "") -> list[str]:
    content = _content(pattern)
    if not content:
        return [f"{before}{{}}"]
    return [f"{before}{{", *_indented(content), "}"]


def _content(pattern: Pattern) -> list[str]:
    """What stands between the braces of a group that is exactly this pattern."""
    match pattern:
        case Filter(pattern=inner, filters=filters):
            return _unfiltered(inner) + _filters(filters)
        case Block(filters=filters):
            return _block(pattern) + _filters(filters)
        case Query():
            return _query(pattern)
        case _:
            return _unfiltered(pattern)


def _unfiltered(pattern: Pattern) -> list[str]:
    """The same for what stands before filters or other elements of its group: nothing of it may spill into them."""
    match pattern:
        case Block(filters=()):
            return _block(pattern)
        case Join(parts=parts):
            return _join(parts)
        case LeftJoin(left=left, right=right, conditions=conditions):
            inner = _indented(_unfiltered(right) + _filters(conditions))
            return [*_unfiltered(left), "OPTIONAL {", *inner, "}"]
        case Minus(left=left, right=right):
            return _unfiltered(left) + _braced(right, "MINUS ")
        case Extend(pattern=inner, var=var, expr=expr):
            return [*_unfiltered(inner), f"BIND{_named(expr, var)}"]
        case Union(choices=choices):
            lines = _braced(choices[0])
            for choice in choices[1:]:
                lines[-1:] = _braced(choice, f"{lines[-1]} UNION ")
            return lines
        case Graph(name=name, pattern=inner):
            return _braced(inner, f"GRAPH {print_node(name)} ")
        case Values():
            return _values(pattern)
        case Block() | Filter() | Query():
            return _braced(pattern)


def _join(parts: tuple[Pattern, ...]) -> list[str]:
    """The parts in a row; braces around what would swallow a neighbour, or be swallowed by one."""
    lines: list[str] = []
    after_triples = False
    for number, part in enumerate(parts):
        triples = isinstance(part, Block) and part != Block() and not part.filters
        bare = isinstance(part, Union | Graph | Values) or (triples and not after_triples)
        if bare or (number == 0 and isinstance(part, LeftJoin | Minus | Extend)):
            lines += _unfiltered(part)
        else:
            lines += _braced(part)
        after_triples = triples and bare
    return lines


def _block(block: Block) -> list[str]:
    if not any(_is_wildcard(triple.p) for triple in block.triples):
        return [_triple(triple) for triple in block.triples] + [_path(p) for p in block.paths]
    # A wildcard that stands for one predicate of several triples must be written once: ?s * ?a, ?b
    shared = groupby(block.triples, key=lambda t: (t.s, t.p) if _is_wildcard(t.p) else t)
    return [_triple(*triples) for _, triples in shared] + [_path(p) for p in block.paths]


def _is_wildcard(node: Node) -> bool:
    return isinstance(node, Var) and node.name[0] == "*"


def _triple(first: TriplePattern, *rest: TriplePattern) -> str:
    """A triple, or several with the same subject and predicate."""
    verb = print_node(first.p) if isinstance(first.p, Var) else print_property(first.p)
    objects = ", ".join([print_node(triple.o) for triple in (first, *rest)]) if rest else print_node(first.o)
    return f"{print_node(first.s)} {verb} {objects} ."


def _path(pattern: PathPattern) -> str:
    return f"{print_node(pattern.s)} {print_path(pattern.path)} {print_node(pattern.o)} ."


def _filters(filters: tuple[Expr, ...]) -> list[str]:
    return [f"FILTER {print_constraint(expr, _group)}" for expr in filters]


def _values(values: Values) -> list[str]:
    names = " ".join(f"?{var.name}" for var in values.vars)
    rows = [f"({' '.join(print_term(term) if term else 'UNDEF' for term in row)})" for row in values.rows]
    return [f"VALUES ({names}) {{", *_indented(rows), "}"]


def _indented(lines: list[str]) -> list[str]:
    return [_INDENT + line for line in lines]
