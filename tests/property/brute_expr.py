"""SPARQL expressions for the brute-force checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tests.property import brute_text
from tests.property import brute_values as values
from tests.property import model as m
from tests.property.brute_values import TypeProblem

Row = Mapping[str, m.RdfTerm]
ExistsTest = Callable[[m.Group, Row], bool]


def holds(expr: object, row: Row, exists: ExistsTest) -> bool:
    """What a FILTER asks: an error is false."""
    try:
        return values.truth(evaluate(expr, row, exists))
    except TypeProblem:
        return False


def evaluate(expr: object, row: Row, exists: ExistsTest) -> m.RdfTerm:
    """The value of an expression, or TypeProblem."""

    def value(inner: object) -> m.RdfTerm:
        return evaluate(inner, row, exists)

    match expr:
        case m.V(name):
            if name not in row:
                raise TypeProblem(f"?{name} is unbound")
            return row[name]
        case m.Iri() | m.Lit() | m.Blank():
            return expr
        case ("||", left, right):
            return m.boolean(_either(left, right, row, exists))
        case ("&&", left, right):
            return m.boolean(not _either(("!", left), ("!", right), row, exists))
        case ("!", inner):
            return m.boolean(not values.truth(value(inner)))
        case ("=", left, right):
            return m.boolean(values.equal(value(left), value(right)))
        case ("!=", left, right):
            return m.boolean(not values.equal(value(left), value(right)))
        case ("<" | "<=" | ">" | ">=" as op, left, right):
            return m.boolean(values.less(value(left), value(right), op))
        case ("+" | "-" | "*" | "/" as op, left, right):
            return values.arithmetic(op, value(left), value(right))
        case ("neg", inner):
            return values.arithmetic("-", m.integer(0), value(inner))
        case ("in", item, *items):
            return m.boolean(_member(value(item), items, row, exists))
        case ("not in", item, *items):
            return m.boolean(not _member(value(item), items, row, exists))
        case ("exists", m.Group() as group):
            return m.boolean(exists(group, row))
        case ("not exists", m.Group() as group):
            return m.boolean(not exists(group, row))
        case ("ft", m.V() as var, tree):
            found = value(var)
            return m.boolean(isinstance(found, m.Lit) and brute_text.contains(found.lexical, tree))
        case ("BOUND", m.V(name)):
            return m.boolean(name in row)
        case ("IF", condition, yes, no):
            return value(yes) if values.truth(value(condition)) else value(no)
        case ("COALESCE", *items):
            for item in items:
                try:
                    return value(item)
                except TypeProblem:
                    continue
            raise TypeProblem("nothing to coalesce")
        case (str(name), *args):
            return _function(name, [value(a) for a in args])
    raise TypeError(expr)


def _either(left: object, right: object, row: Row, exists: ExistsTest) -> bool:
    """Or, with three truth values: an error counts only where the other side does not decide."""
    problems = []
    for side in (left, right):
        try:
            if values.truth(evaluate(side, row, exists)):
                return True
        except TypeProblem as problem:
            problems.append(problem)
    if problems:
        raise problems[0]
    return False


def _member(item: m.RdfTerm, items: list[object], row: Row, exists: ExistsTest) -> bool:
    """IN is a chain of `=` joined by `||`."""
    problem = None
    for other in items:
        try:
            if values.equal(item, evaluate(other, row, exists)):
                return True
        except TypeProblem as error:
            problem = error
    if problem:
        raise problem
    return False


def _function(name: str, args: list[m.RdfTerm]) -> m.RdfTerm:
    first = args[0]
    match name:
        case "sameTerm":
            return m.boolean(args[0] == args[1])
        case "isIRI":
            return m.boolean(isinstance(first, m.Iri))
        case "isBlank":
            return m.boolean(isinstance(first, m.Blank))
        case "isLiteral":
            return m.boolean(isinstance(first, m.Lit))
        case "isNumeric":
            found = values.value_of(first) if isinstance(first, m.Lit) else None
            return m.boolean(found is not None and found.space == "number")
        case "STR" if isinstance(first, m.Iri):
            return m.Lit(first.value)
        case "STR" if isinstance(first, m.Lit):
            return m.Lit(first.lexical)
        case "LANG" if isinstance(first, m.Lit):
            return m.Lit(first.language.lower())
        case "DATATYPE" if isinstance(first, m.Lit):
            return m.Iri(first.datatype)
        case "STRLEN" if isinstance(first, m.Lit) and _is_string(first):
            return m.integer(len(first.lexical))
        case "regex" if isinstance(first, m.Lit) and _is_string(first) and isinstance(args[1], m.Lit):
            return m.boolean(re.search(args[1].lexical, first.lexical) is not None)
    raise TypeProblem(f"{name}({first})")


def _is_string(term: m.Lit) -> bool:
    return bool(term.language) or term.datatype == m.XSD + "string"
