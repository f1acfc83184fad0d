"""What the events must have that a query can have solutions in: what to look up in the archive before it is asked.

An event's quads are what was published; a query is about E*, what they mean. So a property is looked up with all below
it, and a class with all below it. What a look-up cannot tell is left to the matcher: it may find too much, never too
little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from tidings.index.atoms import All, Atom, Condition, Kind, Some
from tidings.index.conditions import necessary
from tidings.index.rules import mandatory
from tidings.lang.pattern import (
    Block,
    Call,
    Const,
    Constraint,
    Expr,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    Pattern,
    Query,
    Var,
)
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE, Term, iri_text, is_iri
from tidings.rdf.values import number_of
from tidings.spark.archive.find import Lookup, Range, Wanted

_MOST = 10_000
"""Properties and classes in one look-up."""

# Floats are compared as floats, with about seven digits: a bound leaves them as much room.
_ROOM = 1e-6
_LEAST = 1e-37
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def events_named(query: Query) -> frozenset[str] | None:
    """The only events that the query can have solutions in, where it names their graph."""
    names: set[Term] = set()
    variables: set[Var] = set()
    equal: dict[Var, Term] = {}
    for part in _scope(query.where):
        if isinstance(part, Graph):
            if isinstance(part.name, Var):
                variables.add(part.name)
            else:
                names.add(part.name)
        for expr in part.filters if isinstance(part, Block | Filter) else ():
            for each in _conjuncts(expr):
                match each:
                    case Call(op="=" | "SAMETERM", args=(Var() as var, Const(term=term))):
                        equal[var] = term
                    case Call(op="=" | "SAMETERM", args=(Const(term=term), Var() as var)):
                        equal[var] = term
    names |= {equal[var] for var in variables if var in equal}
    return frozenset(iri_text(name) for name in names if is_iri(name)) if names else None


def _scope(pattern: Pattern) -> Iterator[Pattern]:
    """The parts that take part in every solution."""
    yield pattern
    match pattern:
        case Join(parts=parts):
            for part in parts:
                yield from _scope(part)
        case LeftJoin(left=inner) | Minus(left=inner):
            yield from _scope(inner)
        case Filter(pattern=inner) | Extend(pattern=inner) | Graph(pattern=inner):
            yield from _scope(inner)


def cheapest(query: Query, ontology: Ontology, cost: Callable[[Wanted], int]) -> Wanted | None:
    """What to look up for a query; None where nothing would tell."""
    found = _Wanted(ontology, cost)
    return found.best([found.of(necessary(query, ontology.resource_classes)), *found.ranges(query)])


class _Wanted:
    def __init__(self, ontology: Ontology, cost: Callable[[Wanted], int]) -> None:
        self._ontology = ontology
        self._cost = cost

    def best(self, found: list[Wanted | None]) -> Wanted | None:
        there = [each for each in found if each is not None]
        return min(there, key=self._cost) if there else None

    def of(self, condition: Condition) -> Wanted | None:
        match condition:
            case Atom():
                lookup = self._atom(condition)
                return None if lookup is None else [lookup]
            case All(items=items):
                return self.best([self.of(item) for item in items])
            case Some(items=items):
                every = [self.of(item) for item in items]
                there = [lookup for each in every if each is not None for lookup in each]
                return None if None in every or len(there) > _MOST else there

    def _atom(self, atom: Atom) -> Lookup | None:
        match atom.kind:
            case Kind.PROPERTY | Kind.WORD | Kind.CLASS_O:
                return self._property(atom.first)
            case Kind.OBJECT:
                return self._object(Term(atom.first), Term(atom.second))
            case Kind.SUBJECT:
                found = self._property(atom.second)
                return None if found is None else found._replace(subject=atom.first)
        return None

    def _property(self, property: str) -> Lookup | None:
        """The ontology itself may add types to an event: these are in no quad."""
        below = self._ontology.subproperties(Term(property)) | {property}
        typed = RDF_TYPE in below and self._ontology.instances
        return None if typed or len(below) > _MOST else Lookup(frozenset(below))

    def _object(self, property: Term, object: Term) -> Lookup | None:
        below = self._ontology.subproperties(property) | {property}
        objects = frozenset((object,))
        if RDF_TYPE in below:
            objects |= self._ontology.subclasses(object)
            if any(not objects.isdisjoint(types) for types in self._ontology.instances.values()):
                return None
        return None if len(below) > _MOST or len(objects) > _MOST else Lookup(frozenset(below), objects)

    def ranges(self, query: Query) -> Iterator[Wanted]:
        """Of numbers that the query compares."""
        block = mandatory(query.where)
        bounds = _bounds(block)
        for triple in block.triples:
            if isinstance(triple.o, Var) and triple.o in bounds and not isinstance(triple.p, Var):
                found = self._property(triple.p)
                if found is not None:
                    yield [found._replace(numbers=bounds[triple.o])]


def _bounds(block: Block) -> Mapping[Var, Range]:
    found: dict[Var, Range] = {}
    for expr in block.filters:
        for each in _conjuncts(expr):
            compared = _comparison(each)
            if compared is not None:
                var, op, value = compared
                low, high = found.get(var, Range(-math.inf, math.inf))
                room = abs(value) * _ROOM + _LEAST if math.isfinite(value) else 0.0
                if op in ("<", "<=", "="):
                    high = min(high, value + room)
                if op in (">", ">=", "="):
                    low = max(low, value - room)
                found[var] = Range(low, high)
    return found


def _comparison(expr: Expr) -> tuple[Var, str, float] | None:
    """Of a variable and a number."""
    var: Node | Expr
    match expr:
        case Call(op=op, args=(Var() as var, Const(term=term))) if op in _TURNED:
            pass
        case Call(op=turned, args=(Const(term=term), Var() as var)) if turned in _TURNED:
            op = _TURNED[turned]
        case Constraint(var=var, op=op, value=term) if op in _TURNED:
            pass
        case _:
            return None
    number = number_of(term)
    if number is None or math.isnan(number.value):
        return None
    return var, op, float(number.value)


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Call) and expr.op == "&&":
        for arg in expr.args:
            yield from _conjuncts(arg)
    else:
        yield expr
