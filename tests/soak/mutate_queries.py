"""Subscriptions made from others: fitted to an event, then changed a little, many times over.

Every change gives a form that may be wrong (a variable bound twice, a filter on nothing); only what prints as text that
parses again is kept. The terms put in come from the event, so that a good part of what comes out matches it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from tests.soak.drawing import NAMES, OPERATORS, Kit, condition, fitted, pattern_from
from tests.soak.trees import places, put, valid

from tidings.lang.pattern import (
    Aggregate,
    Alternative,
    Block,
    Call,
    Const,
    Constraint,
    Exists,
    Extend,
    Filter,
    Graph,
    GroupKey,
    Inverse,
    Join,
    LeftJoin,
    Link,
    Minus,
    Negated,
    OrderKey,
    Path,
    PathPattern,
    Pattern,
    Projection,
    Query,
    Repeat,
    TriplePattern,
    Union,
    Values,
    Var,
    variables,
)
from tidings.lang.pattern import Sequence as Steps
from tidings.rdf.terms import XSD_INTEGER, Term, is_blank, literal

PATTERNS = Block | Join | LeftJoin | Union | Minus | Filter | Extend | Graph | Values


# -------------------------------------------------------------------------------------------------------------- changes

Change = Callable[[Kit, Query], Query]


def _any(kit: Kit, query: Query, wanted: Callable[[Any], bool]) -> tuple[Any, Any] | None:
    found = [(place, node) for place, node in places(query) if wanted(node)]
    return kit.dice.choice(found) if found else None


def swap_term(kit: Kit, query: Query) -> Query:
    found = [
        (place, node)
        for place, node in places(query)
        if isinstance(node, str) and place[-1] in ("s", "p", "o", "term", "iri", "cls", "value") and node[:1] in '<"'
    ]
    if not found:
        return query
    place, node = kit.dice.choice(found)
    return put(query, place, kit.like(Term(node), place[-1] in ("p", "iri")))


def swap_operator(kit: Kit, query: Query) -> Query:
    found = _any(kit, query, lambda n: isinstance(n, Call | Constraint) and n.op in OPERATORS)
    return put(query, (*found[0], "op"), kit.dice.choice(OPERATORS)) if found else query


def term_to_variable(kit: Kit, query: Query) -> Query:
    found = _any(kit, query, lambda n: isinstance(n, TriplePattern))
    if not found:
        return query
    end = kit.dice.choice(["s", "o", "o", "p"])
    return put(query, (*found[0], end), kit.dice.choice([*NAMES, Var("*9")]))


def variable_to_term(kit: Kit, query: Query) -> Query:
    found = _any(kit, query, lambda n: isinstance(n, TriplePattern))
    if not found:
        return query
    s, p, o = kit.triple()
    end, term = kit.dice.choice([("s", s), ("p", p), ("o", o)])
    return query if is_blank(term) else put(query, (*found[0], end), term)


def merge_variables(kit: Kit, query: Query) -> Query:
    """One variable becomes another everywhere, or in one place."""
    names = [(place, node) for place, node in places(query) if isinstance(node, Var)]
    if not names:
        return query
    place, var = kit.dice.choice(names)
    other = kit.dice.choice([node for _, node in names] + NAMES)
    if kit.dice.random() < 0.5:
        return put(query, place, other)
    for each, node in names:
        if node == var:
            query = put(query, each, other)
    return query


def drop(kit: Kit, query: Query) -> Query:
    """A triple, filter, part, choice or operand less."""
    found = _any(kit, query, lambda n: isinstance(n, tuple) and len(n) > 0)
    if not found:
        return query
    place, items = found
    gone = kit.dice.randrange(len(items))
    return put(query, place, items[:gone] + items[gone + 1 :])


def repeat_triple(kit: Kit, query: Query) -> Query:
    found = _any(kit, query, lambda n: isinstance(n, Block) and n.triples)
    if not found:
        return query
    place, block = found
    copied = kit.dice.choice(block.triples)
    if kit.dice.random() < 0.7:
        copied = dataclasses.replace(copied, **{kit.dice.choice(["s", "o"]): kit.dice.choice(NAMES)})
    return put(query, (*place, "triples"), (*block.triples, copied))


def add_filter(kit: Kit, query: Query) -> Query:
    found = _any(kit, query, lambda n: isinstance(n, Block) and (n.triples or n.paths))
    if not found:
        return query
    place, block = found
    names = [v for v in variables(block) if not v.hidden]
    return put(query, (*place, "filters"), (*block.filters, condition(kit, names)))


def path_for_triple(kit: Kit, query: Query) -> Query:
    found = _any(kit, query, lambda n: isinstance(n, Block) and any(not isinstance(t.p, Var) for t in n.triples))
    if not found:
        return query
    place, block = found
    triple = kit.dice.choice([t for t in block.triples if not isinstance(t.p, Var)])
    new = PathPattern(triple.s, path(kit, triple.p), triple.o)
    left = tuple(t for t in block.triples if t is not triple)
    return put(query, place, dataclasses.replace(block, triples=left, paths=(*block.paths, new)))


def path(kit: Kit, iri: Term, depth: int = 2) -> Path:
    kind = kit.dice.randrange(6) if depth else 0
    if kind == 0:
        return Link(iri)
    if kind == 1:
        return Inverse(path(kit, iri, depth - 1))
    if kind == 2:
        return Steps((path(kit, iri, depth - 1), path(kit, kit.property(), depth - 1)))
    if kind == 3:
        return Alternative((path(kit, iri, depth - 1), path(kit, kit.property(), depth - 1)))
    if kind == 4:
        return kit.dice.choice(
            [Repeat(path(kit, iri, depth - 1), 0, 1), Repeat(Link(iri), 0, None), Repeat(Link(iri), 1, None)]
        )
    return Negated((kit.property(),), (iri,) if kit.dice.random() < 0.5 else ())


def wrap(kit: Kit, query: Query) -> Query:
    """Something around a part of the pattern: every operator of the algebra."""
    found = _any(kit, query, lambda n: isinstance(n, PATTERNS))
    if not found:
        return query
    place, inner = found
    other: Pattern = pattern_from(kit, 2)
    if kit.others and kit.dice.random() < 0.4:
        other = fitted(kit, kit.dice.choice(kit.others)).where
    names = [v for v in variables(inner) if not v.hidden] or NAMES
    name = kit.dice.choice([Var("g"), Var("g"), Term(f"<{kit.event}>"), Term("<http://e.x/nowhere>")])
    made: list[Callable[[], Pattern]] = [
        lambda: LeftJoin(inner, other),
        lambda: LeftJoin(other, inner),
        lambda: LeftJoin(inner, Block(getattr(other, "triples", ())), (condition(kit, names),)),
        lambda: Union((inner, other)),
        lambda: Union((inner, other, pattern_from(kit, 2))),
        lambda: Minus(inner, other),
        lambda: Join((inner, other)),
        lambda: Filter(inner, (Exists(other, kit.dice.random() < 0.6),)),
        lambda: Filter(inner, (condition(kit, names),)),
        lambda: Graph(name, inner),
        lambda: Query("sparql", "SELECT", inner, limit=kit.dice.choice([None, 1, 2]), distinct=kit.dice.random() < 0.5),
        lambda: Query("sparql", "SELECT", inner, tuple(Projection(v) for v in names[:2])),
        lambda: Extend(inner, Var(f"k{kit.dice.randrange(99)}"), condition(kit, names)),
        lambda: Join((Values((names[0],), ((kit.dice.choice(kit.resources),), (None,))), inner)),
        lambda: Join(
            (inner, Values((names[0],), tuple((t,) for t in kit.dice.sample(kit.resources, 1) + kit.literals[:1])))
        ),
    ]
    return put(query, place, kit.dice.choice(made)())


def unwrap(kit: Kit, query: Query) -> Query:
    """A part of the pattern instead of the whole."""
    found = _any(kit, query, lambda n: isinstance(n, PATTERNS))
    if not found:
        return query
    place, node = found
    inner = [n for _, n in places(node) if isinstance(n, PATTERNS) and n is not node]
    return put(query, place, kit.dice.choice(inner)) if inner else query


def change_head(kit: Kit, query: Query) -> Query:
    names = [v for v in variables(query.where) if not v.hidden] or NAMES[:1]
    var = kit.dice.choice(names)
    plain = dataclasses.replace(query, form="SELECT", projection=None, group=None, having=(), order=(), template=())
    count = Aggregate(kit.dice.choice(["COUNT", "COUNT", "MIN", "MAX", "SUM", "SAMPLE"]), kit.dice.random() < 0.5, var)
    few = Call(kit.dice.choice(OPERATORS), (count, Const(literal("2", XSD_INTEGER))))
    kind = kit.dice.randrange(8)
    match kind:
        case 0:
            return dataclasses.replace(plain, form="ASK", distinct=False, reduced=False)
        case 1:
            return dataclasses.replace(plain, limit=kit.dice.choice([0, 1, 3]))
        case 2:
            return dataclasses.replace(plain, offset=kit.dice.choice([1, 2, 5]))
        case 3:
            return dataclasses.replace(plain, projection=(Projection(Var("n"), count),))
        case 4:
            return dataclasses.replace(plain, projection=(Projection(var),), group=(GroupKey(var),), having=(few,))
        case 5:
            return dataclasses.replace(
                plain, values=Values((var,), ((kit.dice.choice(kit.resources),), (kit.triple()[1],)))
            )
        case 6:
            return dataclasses.replace(plain, order=(OrderKey(var, True),), distinct=True, limit=2)
    template = (TriplePattern(var, kit.property(), kit.dice.choice(names)),)
    return dataclasses.replace(plain, form="CONSTRUCT", template=template, distinct=False, reduced=False)


ANYWHERE: list[Change] = [
    swap_term,
    swap_operator,
    term_to_variable,
    variable_to_term,
    merge_variables,
    drop,
    repeat_triple,
]
SPARQL: list[Change] = [
    *ANYWHERE,
    add_filter,
    add_filter,
    path_for_triple,
    wrap,
    wrap,
    wrap,
    unwrap,
    change_head,
]


def mutated(kit: Kit, query: Query, times: int) -> Query:
    """The subscription after so many changes that worked."""
    for _ in range(times):
        change = kit.dice.choice(SPARQL if query.dialect == "sparql" else ANYWHERE)
        query = valid(change(kit, query)) or query
    return query
