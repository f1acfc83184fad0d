"""Step 1 of RTF: a query becomes conjunctions of tuples (S, P, O, {F}), one for each choice that its `ftOR`s leave.

What Definition 1 of the paper has no place for is refused, by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tidings.errors import UnsupportedError
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
    TriplePattern,
    Union,
    Values,
    Var,
)
from tidings.match.rtf.text import Text, TooManySplits, alternatives

MOST_SPLITS = 256
"""A query whose disjunctions make more queries than this is refused: there are exponentially many."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What the other tuples of its query ask of a tuple, and it of itself.

    `columns` are the variables that other tuples have as well, `places` where a triple holds them (0 the subject, 1 the
    predicate, 2 the object), and `same` the pairs of places that one variable fills.
    """

    columns: tuple[str, ...]
    places: tuple[int, ...]
    same: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class QueryTuple:
    """(S, P, O, {F}) of Definition 1."""

    s: Node
    p: Node
    o: Node
    text: Text | None
    shared: Shared


def conjunctions(matcher: str, query: Query) -> list[tuple[QueryTuple, ...]]:
    """The query as conjunctions of tuples, any of which makes it match."""
    block = _block(matcher, query)
    filters = [(f.var, f.text) for expr in block.filters for f in _fulltext(matcher, expr)]
    objects = {triple.o for triple in block.triples}
    for var, _ in filters:
        if var not in objects:
            raise UnsupportedError(matcher, f"ftcontains on ?{var.name}, which is not the object of a triple pattern")
    try:
        splits = alternatives(filters, MOST_SPLITS)
    except TooManySplits:
        raise UnsupportedError(matcher, f"disjunctions that split into more than {MOST_SPLITS} queries") from None
    except RecursionError:
        raise UnsupportedError(matcher, "full-text expressions nested this deeply") from None
    occurrences = Counter(name for triple in block.triples for name in _names(triple))
    shared = [_shared(triple, occurrences) for triple in block.triples]
    return [
        tuple(QueryTuple(t.s, t.p, t.o, _text(t, split), s) for t, s in zip(block.triples, shared, strict=True))
        for split in splits
    ]


def _text(triple: TriplePattern, split: dict[Var, Text]) -> Text | None:
    return split.get(triple.o) if isinstance(triple.o, Var) else None


# ------------------------------------------------------------------------------------------------------------ variables


def _names(triple: TriplePattern) -> set[str]:
    return {place.name for place in (triple.s, triple.p, triple.o) if isinstance(place, Var)}


def _shared(triple: TriplePattern, occurrences: Counter[str]) -> Shared:
    first: dict[str, int] = {}
    same = []
    for number, place in enumerate((triple.s, triple.p, triple.o)):
        if isinstance(place, Var):
            if place.name in first:
                same.append((first[place.name], number))
            first.setdefault(place.name, number)
    joined = {name: number for name, number in first.items() if occurrences[name] > 1}
    return _kept(Shared(tuple(joined), tuple(joined.values()), tuple(same)))


@lru_cache(maxsize=4096)
def _kept(shared: Shared) -> Shared:
    """Most subscriptions join alike: one object for all of them."""
    return shared


# ------------------------------------------------------------------------------------------------------------- refusals


def _block(matcher: str, query: Query) -> Block:
    """The triple patterns and filters, where there is nothing else in the query that decides a match."""
    for construct in _foreign(query):
        raise UnsupportedError(matcher, construct)
    block = query.where
    assert isinstance(block, Block), "nothing else is left"
    return block


def _foreign(query: Query) -> Iterator[str]:
    """What RTF's queries do not have. Solution modifiers that cannot empty an answer are no part of the matching."""
    if query.dialect != "sparql":
        yield f"the dialect '{query.dialect}'"
    if query.form == "CONSTRUCT":
        yield "CONSTRUCT"
    if query.group is not None:
        yield "GROUP BY"
    if query.having:
        yield "HAVING"
    if query.values is not None:
        yield "VALUES"
    if query.limit == 0:
        yield "LIMIT 0"
    if query.offset:
        yield "OFFSET"
    yield from (f"{_name(p.expr)} in SELECT" for p in query.projection or () if p.expr is not None)
    yield from (f"{_name(key.expr)} in ORDER BY" for key in query.order if not isinstance(key.expr, Var))
    yield from _foreign_pattern(query.where)


def _foreign_pattern(pattern: Pattern) -> Iterator[str]:
    match pattern:
        case Block(paths=paths, triples=triples):
            if paths:
                yield "property paths"
            if not triples:
                yield "a query without triple patterns"
        case LeftJoin():
            yield "OPTIONAL"
        case Union():
            yield "UNION"
        case Minus():
            yield "MINUS"
        case Extend():
            yield "BIND"
        case Graph():
            yield "GRAPH"
        case Values():
            yield "VALUES"
        case Query():
            yield "sub-selects"
        case Filter(pattern=inner):
            yield from _foreign_pattern(inner)
        case Join(parts=parts):
            yield from (name for part in parts if not isinstance(part, Block) for name in _foreign_pattern(part))
            yield "groups inside groups"


def _fulltext(matcher: str, expr: Expr) -> Iterator[FtContains]:
    """The filter as `ftcontains` conditions that all have to hold; any other filter is refused."""
    todo = [expr]
    while todo:
        part = todo.pop()
        if isinstance(part, FtContains):
            yield part
        elif isinstance(part, Call) and part.op == "&&":
            todo += reversed(part.args)
        else:
            raise UnsupportedError(matcher, f"{_name(part)} in FILTER")


def _name(expr: Expr) -> str:
    match expr:
        case Call(op=op):
            return op
        case Exists(negated=negated):
            return "NOT EXISTS" if negated else "EXISTS"
        case Aggregate(op=op):
            return f"the aggregate {op}"
        case FtContains():
            return "ftcontains"
        case Constraint():
            return "a constraint"
        case Var():
            return "a bare variable"
    return "a constant"
