"""The necessary condition of a subscription: what E* must have for there to be any match.

Whenever the verifier finds a match, the condition holds; the converse is not asked for. It is at most about as large
as the subscription: nothing is multiplied out, a disjunction stays one.

A pattern is read in *scopes*. All parts of a scope take part in every solution, under the same bindings: what is
joined, the left sides of OPTIONAL and MINUS, what FILTER, BIND or GRAPH is about. So what a filter says of a variable
is said of all its places in the scope: `?v = <c>` makes them constants, `ftcontains(?v, "word")` asks the objects for
the word. The choices of a UNION, a sub-select and the pattern of an EXISTS are scopes of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from tidings.index.atoms import ALWAYS, NEVER, All, Atom, Condition, Kind, Some, simplified
from tidings.lang.pattern import (
    Aggregate,
    Alternative,
    Block,
    Call,
    ClassOf,
    Const,
    Exists,
    Expr,
    Extend,
    Filter,
    FtAnd,
    FtContains,
    FtExpr,
    FtNear,
    FtNot,
    FtOr,
    FtPhrase,
    Graph,
    Inverse,
    Join,
    LeftJoin,
    Link,
    Minus,
    Negated,
    Node,
    Path,
    PathPattern,
    Pattern,
    Query,
    Repeat,
    Sequence,
    TriplePattern,
    Union,
    Values,
    Var,
    variables,
)
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import HOME, RDF_TYPE, Term, is_literal
from tidings.rdf.values import Tagged, truth, value_of

__all__ = ["EVERY_RESOURCE", "necessary", "simplified"]

EVERY_RESOURCE = frozenset(THINGS)
"""The classes of every resource where the ontology has none above them."""

# What a filter asks is asked of so many places of its variable: the condition stays in proportion to the subscription.
_MOST_PLACES = 16
# Of so many classes of a variable, each of its places as an object is asked for the class as well.
_MOST_CLASSES = 4
# A variable that no text can name.
_NAMELESS = Var("*")


def necessary(query: Query, universal: frozenset[Term] = EVERY_RESOURCE) -> Condition:
    """What holds of E* whenever the subscription matches; `universal` are the classes that every resource has."""
    try:
        return simplified(_query(query, {}, universal, nested=False))
    except RecursionError:
        return ALWAYS


# -------------------------------------------------------------------------------------------------------------- queries


def _query(query: Query, known: Mapping[Var, Term], universal: frozenset[Term], *, nested: bool) -> Condition:
    """Of nothing, an aggregate over everything still gives a row in a sub-select, but no match at the top."""
    values = query.values
    if query.limit == 0 or (values is not None and not values.rows):
        return NEVER
    if _grouped(query):
        having = _scope(Filter(Block(), query.having), {}, universal)
        if nested and query.group is None:
            return having
        return All((_scope(query.where, {}, universal), having))
    where = Filter(query.where, query.having) if query.having else query.where
    if nested:
        seen = _passed_on(query)
        known = {var: term for var, term in known.items() if var in seen}
    return _scope(where if values is None else Join((where, values)), known, universal)


def _grouped(query: Query) -> bool:
    if query.group is not None:
        return True
    columns = [column.expr for column in query.projection or () if column.expr is not None]
    return any(map(_aggregates, (*columns, *query.having, *(key.expr for key in query.order))))


def _aggregates(expr: Expr) -> bool:
    return isinstance(expr, Aggregate) or (isinstance(expr, Call) and any(map(_aggregates, expr.args)))


def _passed_on(query: Query) -> frozenset[Var]:
    """The variables that a query without groups projects as its pattern binds them."""
    computed = {column.var for column in query.projection or () if column.expr is not None}
    return frozenset(variables(query)) - computed


# --------------------------------------------------------------------------------------------------------------- scopes


def _scope(pattern: Pattern, known: Mapping[Var, Term], universal: frozenset[Term]) -> Condition:
    """Of a pattern whose variables, where a solution binds them, have the values `known`."""
    parts = list(_parts(pattern))
    constants = dict(known)
    for var, term in _facts(parts):
        if constants.setdefault(var, term) != term:
            return NEVER
    return _Scope(parts, constants, universal).condition()


def _parts(pattern: Pattern) -> Iterator[Pattern]:
    """The parts of the pattern's scope, in order."""
    todo = [pattern]
    while todo:
        part = todo.pop()
        yield part
        match part:
            case Join(parts=parts):
                todo += reversed(parts)
            case LeftJoin(left=inner) | Minus(left=inner):
                todo.append(inner)
            case Filter(pattern=inner) | Extend(pattern=inner) | Graph(pattern=inner):
                todo.append(inner)


def _facts(parts: Iterable[Pattern]) -> Iterator[tuple[Var, Term]]:
    """The variables that have the same value in every solution."""
    for part in parts:
        match part:
            case Block(filters=filters) | Filter(filters=filters):
                for expr in filters:
                    yield from _constants(expr)
            case Extend(var=var, expr=Const(term=term)):
                yield var, term
            case Values(vars=vars, rows=(row,)):
                yield from ((var, cell) for var, cell in zip(vars, row, strict=True) if cell is not None)


def _constants(expr: Expr) -> Iterator[tuple[Var, Term]]:
    if isinstance(expr, Call) and expr.op == "&&":
        for arg in expr.args:
            yield from _constants(arg)
    elif (pair := _equality(expr)) is not None:
        yield pair


def _equality(expr: Expr) -> tuple[Var, Term] | None:
    """The variable and the one term it has wherever the expression is true."""
    match expr:
        case Call(op="=" | "SAMETERM" as op, args=(Var() as var, Const(term=term))):
            pass
        case Call(op="=" | "SAMETERM" as op, args=(Const(term=term), Var() as var)):
            pass
        case Call(op="IN" as op, args=(Var() as var, Const(term=term))):
            pass
        case _:
            return None
    return (var, term) if op == "SAMETERM" or _only_itself(term) else None


def _only_itself(term: Term) -> bool:
    """Whether `=` is true of the term and no other: of strings, and of literals whose value nobody knows."""
    return not is_literal(term) or isinstance(value_of(term), str | Tagged | None)


# --------------------------------------------------------------------------------------------------------------- places


@dataclass(frozen=True, slots=True)
class _Word:
    """Stands where a literal with this word does."""

    text: str


@dataclass(frozen=True, slots=True)
class _Choice:
    """The places of a variable in a union: those in one of the choices."""

    choices: tuple[tuple[_Place, ...], ...]


_Place: TypeAlias = TriplePattern | PathPattern | _Choice
_Value: TypeAlias = Term | _Word | None
_Given: TypeAlias = Mapping[Var, Term | _Word]


def _places(parts: Iterable[Pattern]) -> dict[Var, tuple[_Place, ...]]:
    """Where in a scope the variables stand, so that every solution binds them there."""
    found: dict[Var, list[_Place]] = {}
    for part in parts:
        match part:
            case Block(triples=triples, paths=paths):
                for triple in triples:
                    for var in {node for node in (triple.s, triple.p, triple.o) if isinstance(node, Var)}:
                        found.setdefault(var, []).append(triple)
                for path in paths:
                    for var in {node for node in (path.s, path.o) if isinstance(node, Var)}:
                        found.setdefault(var, []).append(path)
            case Union(choices=choices):
                tables = [_places(_parts(choice)) for choice in choices]
                share = max(1, _MOST_PLACES // len(choices))
                for var in set(tables[0]).intersection(*tables[1:]):
                    choice = _Choice(tuple(_limited(table[var], share) for table in tables))
                    found.setdefault(var, []).append(choice)
            case Query() if not _grouped(part):
                seen = _passed_on(part)
                for var, places in _places(_parts(part.where)).items():
                    if var in seen:
                        found.setdefault(var, []).extend(_seen_from_outside(place, seen) for place in places)
    return {var: limited for var, places in found.items() if (limited := _limited(places))}


def _seen_from_outside(place: _Place, seen: frozenset[Var]) -> _Place:
    """A place in a sub-select: variables that it keeps to itself may have the names of others."""

    def end(node: Node) -> Node:
        return _NAMELESS if isinstance(node, Var) and node not in seen else node

    match place:
        case TriplePattern(s=s, p=p, o=o):
            return TriplePattern(end(s), end(p), end(o))
        case PathPattern(s=s, path=path, o=o):
            return PathPattern(end(s), path, end(o))
        case _Choice(choices=choices):
            return _Choice(tuple(tuple(_seen_from_outside(inner, seen) for inner in choice) for choice in choices))


def _limited(places: Iterable[_Place], room: int = _MOST_PLACES) -> tuple[_Place, ...]:
    """As many of the places as there is room for: what is not asked is not needed."""
    kept: list[_Place] = []
    for place in places:
        size = _size(place)
        if size <= room:
            kept.append(place)
            room -= size
    return tuple(kept)


def _size(place: _Place) -> int:
    return sum(map(_size, (p for c in place.choices for p in c))) if isinstance(place, _Choice) else 1


def _at(place: _Place, given: _Given) -> Condition:
    """What one place asks for, with these values in it."""
    match place:
        case TriplePattern(s=s, p=p, o=o):
            return _triple(_value(s, given), _value(p, given), _value(o, given))
        case PathPattern(s=s, path=path, o=o):
            return _path(path, _value(s, given), _value(o, given))
        case _Choice(choices=choices):
            return Some(tuple(All(tuple(_at(place, given) for place in choice)) for choice in choices))


def _value(node: Node, given: _Given) -> _Value:
    return given.get(node) if isinstance(node, Var) else node


def _triple(s: _Value, p: _Value, o: _Value) -> Condition:
    if isinstance(s, _Word) or isinstance(p, _Word):
        return NEVER
    found: list[Atom] = []
    if s is not None:
        found.append(Atom(Kind.NODE_S, s) if p is None else Atom(Kind.SUBJECT, s, p))
    if isinstance(o, _Word):
        found.append(Atom(Kind.ANYWORD, o.text) if p is None else Atom(Kind.WORD, p, o.text))
    elif o is not None:
        found.append(Atom(Kind.NODE_O, o) if p is None else Atom(Kind.OBJECT, p, o))
    elif p is not None and s is None:
        found.append(Atom(Kind.PROPERTY, p))
    return found[0] if len(found) == 1 else All(tuple(found))


def _path(path: Path, s: _Value, o: _Value) -> Condition:
    """What a way along the path from `s` to `o` asks for. A path inside another is given one end at most, so that none
    is gone through more than twice."""
    match path:
        case Link(iri=p):
            return _triple(s, p, o)
        case Inverse(path=inner):
            return _path(inner, o, s)
        case Sequence(steps=steps):
            last = len(steps) - 1
            ends = [(s if n == 0 else None, o if n == last else None) for n in range(len(steps))]
            return All(tuple(_path(step, *pair) for step, pair in zip(steps, ends, strict=True)))
        case Alternative(choices=choices):
            return Some(tuple(_path(choice, s, o) for choice in choices))
        case Repeat(path=inner, least=least):
            if least == 0 and (s is None or o is None or isinstance(s, _Word) or isinstance(o, _Word) or s == o):
                return ALWAYS
            if s is None or o is None:
                return _path(inner, s, o)
            return All((_path(inner, s, None), _path(inner, None, o)))
        case Negated(forward=forward, inverse=inverse):
            ways = [(s, o)] if forward or not inverse else []
            ways += [(o, s)] if inverse else []
            return Some(tuple(_triple(start, None, end) for start, end in ways))


# -------------------------------------------------------------------------------------------------- what a scope needs


class _Scope:
    def __init__(self, parts: list[Pattern], known: Mapping[Var, Term], universal: frozenset[Term]) -> None:
        self._parts = parts
        self._known = known
        self._universal = universal

    @cached_property
    def _where(self) -> dict[Var, tuple[_Place, ...]]:
        return _places(self._parts)

    def condition(self) -> Condition:
        return All(tuple(item for part in self._parts for item in self._part(part)))

    def _part(self, part: Pattern) -> Iterator[Condition]:
        match part:
            case Block():
                yield from self._block(part)
            case Filter(filters=filters):
                yield from (self._filter(expr, True) for expr in filters)
            case Union(choices=choices):
                yield Some(tuple(_scope(choice, self._known, self._universal) for choice in choices))
            case Values():
                yield self._table(part)
            case Query():
                yield _query(part, self._known, self._universal, nested=True)

    def _block(self, block: Block) -> Iterator[Condition]:
        yield from (_at(triple, self._known) for triple in block.triples)
        yield from (_at(path, self._known) for path in block.paths)
        yield from self._classes(block)
        yield from (self._filter(expr, True) for expr in block.filters)

    def _classes(self, block: Block) -> Iterator[Condition]:
        """What has a class and is somewhere the object of a property, is so with its class."""
        classes: dict[Node, list[Term]] = {}
        for part in block.classes:
            classes.setdefault(part.node, []).append(part.cls)
        for triple in block.triples:
            if triple.p == RDF_TYPE and not isinstance(triple.o, Var):
                classes.setdefault(triple.s, []).append(triple.o)
        reached: set[Node] = set()
        for triple in block.triples if classes else ():
            property = _value(triple.p, self._known)
            if isinstance(triple.o, Var) and triple.o not in self._known and property not in (None, RDF_TYPE):
                asked = [cls for cls in classes.get(triple.o, ()) if cls not in self._universal][:_MOST_CLASSES]
                yield from (Atom(Kind.CLASS_O, str(property), cls) for cls in asked)
                reached.add(triple.o)
        subjects = {triple.s for triple in block.triples}
        yield from (self._class(part, part.node in subjects) for part in block.classes if part.node not in reached)

    def _class(self, part: ClassOf, resource: bool) -> Condition:
        """A subject is a resource; of any other variable, the class may be a literal's."""
        node = _value(part.node, self._known)
        if part.cls in self._universal or isinstance(node, _Word) or (node is not None and is_literal(node)):
            return ALWAYS
        if node == HOME:
            return Atom(Kind.HOME, part.cls)
        typed = _triple(node, RDF_TYPE, part.cls)
        return typed if resource or node is not None else Some((typed, Atom(Kind.LITERAL, part.cls)))

    def _table(self, values: Values) -> Condition:
        """One row of inline data fits, with its values at all places of its variables."""
        places = dict.fromkeys(place for var in values.vars for place in self._where.get(var, ()))
        asked = _limited(places)
        fitting: list[Condition] = []
        for row in values.rows:
            cells = {var: cell for var, cell in zip(values.vars, row, strict=True) if cell is not None}
            if all(self._known.get(var, cell) == cell for var, cell in cells.items()):
                given = {**self._known, **cells}
                fitting.append(All(tuple(_at(place, given) for place in asked)))
        return Some(tuple(fitting))

    def _given(self, var: Var, value: Term | _Word) -> Condition:
        """What follows where the variable has this value."""
        given = {**self._known, var: value}
        return All(tuple(_at(place, given) for place in self._where.get(var, ())))

    # -------------------------------------------------------------------------------------------------------- filters

    def _filter(self, expr: Expr, wanted: bool) -> Condition:
        """Where the expression is true; where it is false, if that is `wanted`. An error is neither."""
        match expr:
            case Call(op="&&" | "||" as op, args=args):
                items = tuple(self._filter(arg, wanted) for arg in args)
                return All(items) if (op == "&&") == wanted else Some(items)
            case Call(op="!", args=(arg,)):
                return self._filter(arg, not wanted)
            case Call(op="!=", args=args) if not wanted:
                return self._filter(Call("=", args), True)
            case Call(op="IN" | "NOT IN" as op, args=(item, *choices)) if (op == "IN") == wanted:
                return Some(tuple(self._filter(Call("=", (item, choice)), True) for choice in choices))
            case Call() if wanted:
                pair = _equality(expr)
                return ALWAYS if pair is None else self._given(*pair)
            case Exists(pattern=pattern, negated=negated) if negated != wanted:
                return _scope(pattern, {}, self._universal)
            case FtContains(var=var, text=text) if wanted:
                return self._text(var, text, True)
            case Const(term=term):
                return ALWAYS if truth(term) is wanted else NEVER
        return ALWAYS

    def _text(self, var: Var, text: FtExpr, wanted: bool) -> Condition:
        """Where the literal of the variable satisfies the expression, or where it does not."""
        match text:
            case FtAnd(items=items) | FtOr(items=items):
                parts = tuple(self._text(var, item, wanted) for item in items)
                return All(parts) if isinstance(text, FtAnd) == wanted else Some(parts)
            case FtNot(item=item):
                return self._text(var, item, not wanted)
            case FtPhrase(words=words) if wanted:
                return All(tuple(self._given(var, _Word(word)) for word in words))
            case FtNear(left=left, right=right) if wanted:
                return All((self._text(var, left, True), self._text(var, right, True)))
        return ALWAYS
