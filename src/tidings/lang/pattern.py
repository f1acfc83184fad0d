"""The one internal form of a subscription, whatever its dialect: a frozen, typed tree.

    Query           what is asked: form, projection, modifiers, and its
    └── Pattern     where: Block, Join, LeftJoin, Union, Minus, Filter, Extend, Graph, Values, Query (a sub-select)
        └── Expr    Var, Const, Call, Exists, Aggregate, FtContains, Constraint

`Block` is the conjunctive core: triple patterns, paths, classes of vertices and filters that hold together. A query
whose `where` is one Block without paths is conjunctive, which is what indexes are made of; `core()` finds it.

Variables that the text does not name are hidden: blank nodes of a query are `Var("_:0")`, `Var("_:1")`, …, and
wildcards are `Var("*0")`, `Var("*1")`, …, each numbered in order of appearance. No hidden variable is projected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tidings.rdf.terms import Term

Dialect: TypeAlias = Literal["sparql", "ops", "gtopss"]
Form: TypeAlias = Literal["SELECT", "ASK", "CONSTRUCT"]


@dataclass(frozen=True, slots=True)
class Var:
    """A variable; the name is without its question mark."""

    name: str

    @property
    def hidden(self) -> bool:
        return self.name[0] in "_*" and (self.name[0] == "*" or self.name.startswith("_:"))


Node: TypeAlias = Term | Var
"""A place in a pattern. A `Term` is a plain string at run time, so `isinstance(node, Var)` tells the two apart."""


# ---------------------------------------------------------------------------------------------------------------- paths


@dataclass(frozen=True, slots=True)
class Link:
    """One property."""

    iri: Term


@dataclass(frozen=True, slots=True)
class Inverse:
    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    steps: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    choices: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`path?` (0, 1), `path*` (0, None) or `path+` (1, None)."""

    path: Path
    least: Literal[0, 1]
    most: Literal[1] | None


@dataclass(frozen=True, slots=True)
class Negated:
    """`!(…)`: any property but these; `inverse` are those written with `^`."""

    forward: tuple[Term, ...]
    inverse: tuple[Term, ...]


Path: TypeAlias = Link | Inverse | Sequence | Alternative | Repeat | Negated


# ------------------------------------------------------------------------------------------------------------ full text


@dataclass(frozen=True, slots=True)
class FtPhrase:
    """One quoted string: its words, in a row. `text` is kept as written, so that it prints back."""

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FtAnd:
    items: tuple[FtExpr, ...]


@dataclass(frozen=True, slots=True)
class FtOr:
    items: tuple[FtExpr, ...]


@dataclass(frozen=True, slots=True)
class FtNot:
    item: FtExpr


@dataclass(frozen=True, slots=True)
class FtNear:
    """`left ftNEAR[least, most] right`; chains associate to the left."""

    left: FtExpr
    least: int
    most: int
    right: FtExpr


FtExpr: TypeAlias = FtPhrase | FtAnd | FtOr | FtNot | FtNear


# ---------------------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Const:
    term: Term


@dataclass(frozen=True, slots=True)
class Call:
    """An operator, a built-in, or a function named by an IRI.

    Operators: `||` and `&&` (two or more arguments), `!`, `=`, `!=`, `<`, `<=`, `>`, `>=`, `+`, `-`, `*`, `/`,
    `u+`, `u-`, `IN`, `NOT IN` (the first argument against the rest). Built-ins by their name in capitals as in the
    SPARQL 1.1 grammar (`STR`, `BOUND`, `IF`, `COALESCE`, `REGEX`, `SAMETERM`, `ISIRI`, `ENCODE_FOR_URI`, …; `URI` is
    `IRI`, `ISURI` is `ISIRI`). Functions and casts by their IRI in brackets.
    """

    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    pattern: Pattern
    negated: bool


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`COUNT`, `SUM`, `MIN`, `MAX`, `AVG`, `SAMPLE`, `GROUP_CONCAT`; `arg` None is `COUNT(*)`."""

    op: str
    distinct: bool
    arg: Expr | None
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class FtContains:
    var: Var
    text: FtExpr


@dataclass(frozen=True, slots=True)
class Constraint:
    """A G-ToPSS constraint: a value comparison where `value` is a literal, is-a where it is an IRI."""

    var: Var
    op: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Term


Expr: TypeAlias = Var | Const | Call | Exists | Aggregate | FtContains | Constraint


# ------------------------------------------------------------------------------------------------------------- patterns


@dataclass(frozen=True, slots=True)
class TriplePattern:
    s: Node
    p: Node
    o: Node


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A path that is more than links in a row: sequences of links and inverses are triple patterns already."""

    s: Node
    path: Path
    o: Node


@dataclass(frozen=True, slots=True)
class ClassOf:
    """An OPS vertex and a class it must have; the class of a literal is its datatype."""

    node: Node
    cls: Term


@dataclass(frozen=True, slots=True)
class Block:
    """A conjunction: every triple, path, class and filter holds under one solution.

    `injective` marks OPS: the nodes of `triples` map to different event vertices, and a triple is an arc of the event
    that is not itself an rdf:type statement. In SPARQL a Block is a basic graph pattern with the filters of its group.
    """

    triples: tuple[TriplePattern, ...] = ()
    paths: tuple[PathPattern, ...] = ()
    filters: tuple[Expr, ...] = ()
    classes: tuple[ClassOf, ...] = ()
    injective: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """The parts in the order of the text; nested joins are flattened only where the text has no braces."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL. `conditions` are the filters directly inside the optional group: they see both sides."""

    left: Pattern
    right: Pattern
    conditions: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Union:
    choices: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Filter:
    """Filters over a pattern that is more than a Block (a Block holds its own)."""

    pattern: Pattern
    filters: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND."""

    pattern: Pattern
    var: Var
    expr: Expr


@dataclass(frozen=True, slots=True)
class Graph:
    name: Node
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Values:
    """Inline data; None is UNDEF."""

    vars: tuple[Var, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Projection:
    """One column: a variable, or an expression under a name."""

    var: Var
    expr: Expr | None = None


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One GROUP BY condition; an expression without AS has no variable."""

    expr: Expr
    var: Var | None = None


@dataclass(frozen=True, slots=True)
class OrderKey:
    expr: Expr
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A subscription, or (as a Pattern, always SELECT) a sub-select.

    `projection` None is `SELECT *`; `ops` and `gtopss` have it, and `distinct`, since their answer is a set over all
    variables. `group` None is no GROUP BY; a query without one whose projection, HAVING or ORDER BY holds an Aggregate
    has one implicit group. `values` is the VALUES block behind the query.
    """

    dialect: Dialect
    form: Form
    where: Pattern
    projection: tuple[Projection, ...] | None = None
    distinct: bool = False
    reduced: bool = False
    group: tuple[GroupKey, ...] | None = None
    having: tuple[Expr, ...] = ()
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    values: Values | None = None
    template: tuple[TriplePattern, ...] = ()


Pattern: TypeAlias = Block | Join | LeftJoin | Union | Minus | Filter | Extend | Graph | Values | Query


def core(query: Query) -> Block | None:
    """The conjunctive core, where the whole condition of the query is one: a Block without paths, nothing around it.

    Solution modifiers do not decide whether there is a match, except grouping, HAVING, VALUES, LIMIT 0 and OFFSET.
    """
    plain = query.group is None and not query.having and query.values is None and query.limit != 0 and not query.offset
    where = query.where
    while isinstance(where, Graph) and isinstance(where.name, Var) and isinstance(where.pattern, Block):
        if where.name in variables(where.pattern):
            return None
        where = where.pattern
    return where if plain and isinstance(where, Block) and not where.paths else None


def variables(pattern: Pattern) -> tuple[Var, ...]:
    """The variables in scope (SPARQL 1.1, 18.2.1), named ones and hidden ones, in order of appearance."""
    return tuple(dict.fromkeys(_variables(pattern)))


def _variables(pattern: Pattern) -> list[Var]:
    match pattern:
        case Block(triples=triples, paths=paths, classes=classes):
            nodes = [n for t in triples for n in (t.s, t.p, t.o)]
            nodes += [n for path in paths for n in (path.s, path.o)]
            nodes += [c.node for c in classes]
            return [n for n in nodes if isinstance(n, Var)]
        case Join(parts=parts) | Union(choices=parts):
            return [v for part in parts for v in _variables(part)]
        case LeftJoin(left=left, right=right):
            return _variables(left) + _variables(right)
        case Minus(left=inner) | Filter(pattern=inner):
            return _variables(inner)
        case Extend(pattern=inner, var=var):
            return [*_variables(inner), var]
        case Graph(name=name, pattern=inner):
            return ([name] if isinstance(name, Var) else []) + _variables(inner)
        case Values(vars=vars):
            return list(vars)
        case Query(projection=None, where=where, values=values):
            scope = _variables(where) + (list(values.vars) if values else [])
            return [v for v in scope if not v.hidden]
        case Query(projection=projection) if projection is not None:
            return [p.var for p in projection]
    raise AssertionError(f"not a pattern: {pattern!r}")
