"""Expressions, compiled once into closures: `Eval` gives a term, `Test` a truth value, None is SPARQL's error.

Here are the forms that decide themselves which arguments they evaluate, and how errors flow through them (SPARQL 1.1,
17.2 to 17.4.1); the plain functions are in `functions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tidings.lang.pattern import Aggregate, Call, Const, Constraint, Exists, Expr, FtContains, Pattern, Var
from tidings.match import fulltext
from tidings.match.base import Solution
from tidings.match.constraints import satisfies
from tidings.match.functions import FUNCTIONS, Function
from tidings.match.run import Eval, Run, Test
from tidings.rdf.terms import Term, iri_text, is_literal
from tidings.rdf.values import CASTS, boolean, cast, compare, equal, truth

ExistsTest: TypeAlias = Callable[[Pattern], Test]
"""Compiles the pattern of an EXISTS; this module does not know what patterns are made of."""

_COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">="])
_TESTS = _COMPARISONS | {"||", "&&", "!", "IN", "NOT IN", "BOUND"}


def compile_expr(expr: Expr, exists: ExistsTest) -> Eval:
    """The expression, giving a term."""
    match expr:
        case Var(name=name):
            return lambda run, row: row.get(name)
        case Const(term=term):
            return lambda run, row: term
        case Call(op="IF", args=(condition, yes, no)):
            return _if(compile_test(condition, exists), compile_expr(yes, exists), compile_expr(no, exists))
        case Call(op="COALESCE", args=args):
            return _coalesce([compile_expr(arg, exists) for arg in args])
        case Call(op=op, args=args) if op not in _TESTS:
            return _apply(_function(op), [compile_expr(arg, exists) for arg in args])
        case Aggregate():
            raise AssertionError("aggregates are computed with their groups, before expressions")
    return _as_term(compile_test(expr, exists))


def compile_test(expr: Expr, exists: ExistsTest) -> Test:
    """The expression as a condition: its effective boolean value."""
    match expr:
        case Call(op="||" | "&&" as op, args=args):
            return _logical([compile_test(arg, exists) for arg in args], decisive=op == "||")
        case Call(op="!", args=(arg,)):
            return _not(compile_test(arg, exists))
        case Call(op="IN" | "NOT IN" as op, args=(item, *choices)):
            found = _in(compile_expr(item, exists), [compile_expr(choice, exists) for choice in choices])
            return _not(found) if op == "NOT IN" else found
        case Call(op="BOUND", args=(Var(name=name),)):
            return lambda run, row: name in row
        case Call(op=op, args=(left, right)) if op in _COMPARISONS:
            return _comparison(op, compile_expr(left, exists), compile_expr(right, exists))
        case Exists(pattern=pattern, negated=negated):
            return _not(exists(pattern)) if negated else exists(pattern)
        case FtContains():
            return _fulltext(expr)
        case Constraint():
            return _constraint(expr)
    return _truth(compile_expr(expr, exists))


def size(expr: Expr) -> int:
    """How many steps one evaluation of the expression counts for, apart from the texts it handles."""
    return 1 + sum(map(size, expr.args)) if isinstance(expr, Call) else 1


def _function(op: str) -> Function:
    if op[0] == "<":
        datatype = iri_text(Term(op))
        if datatype in CASTS:
            return lambda run, arg: cast(arg, datatype)
        return lambda run, *args: None
    return FUNCTIONS[op]


def _apply(function: Function, args: list[Eval]) -> Eval:
    match args:
        case [one]:

            def unary(run: Run, row: Solution) -> Term | None:
                a = one(run, row)
                return None if a is None else function(run, a)

            return unary
        case [one, two]:

            def binary(run: Run, row: Solution) -> Term | None:
                a = one(run, row)
                b = two(run, row)
                return None if a is None or b is None else function(run, a, b)

            return binary

    def nary(run: Run, row: Solution) -> Term | None:
        values = [arg(run, row) for arg in args]
        return None if None in values else function(run, *values)

    return nary


def _as_term(test: Test) -> Eval:
    def evaluate(run: Run, row: Solution) -> Term | None:
        state = test(run, row)
        return None if state is None else boolean(state)

    return evaluate


def _truth(value: Eval) -> Test:
    def test(run: Run, row: Solution) -> bool | None:
        term = value(run, row)
        return None if term is None else truth(term)

    return test


def _not(test: Test) -> Test:
    def negated(run: Run, row: Solution) -> bool | None:
        state = test(run, row)
        return None if state is None else not state

    return negated


def _logical(tests: list[Test], decisive: bool) -> Test:
    """`||` where True is decisive, `&&` where False is: one decisive operand outweighs errors in the others."""

    def test(run: Run, row: Solution) -> bool | None:
        result: bool | None = not decisive
        for operand in tests:
            state = operand(run, row)
            if state is decisive:
                return decisive
            if state is None:
                result = None
        return result

    return test


def _in(item: Eval, choices: list[Eval]) -> Test:
    def test(run: Run, row: Solution) -> bool | None:
        wanted = item(run, row)
        result: bool | None = False
        for choice in choices:
            term = choice(run, row)
            same = None if wanted is None or term is None else equal(wanted, term)
            if same:
                return True
            if same is None:
                result = None
        return result

    return test


def _comparison(op: str, left: Eval, right: Eval) -> Test:
    def test(run: Run, row: Solution) -> bool | None:
        a = left(run, row)
        b = right(run, row)
        return None if a is None or b is None else compare(op, a, b)

    return test


def _if(condition: Test, yes: Eval, no: Eval) -> Eval:
    def evaluate(run: Run, row: Solution) -> Term | None:
        state = condition(run, row)
        if state is None:
            return None
        return yes(run, row) if state else no(run, row)

    return evaluate


def _coalesce(choices: list[Eval]) -> Eval:
    def evaluate(run: Run, row: Solution) -> Term | None:
        for choice in choices:
            term = choice(run, row)
            if term is not None:
                return term
        return None

    return evaluate


def _fulltext(expr: FtContains) -> Test:
    name, text = expr.var.name, expr.text

    def test(run: Run, row: Solution) -> bool | None:
        node = row.get(name)
        if node is None:
            return None
        if not is_literal(node):
            return False
        run.budget.text(len(node))
        return fulltext.contains(run.meaning.words(node), text, run.budget.spend)

    return test


def _constraint(expr: Constraint) -> Test:
    name, op, value = expr.var.name, expr.op, expr.value

    def test(run: Run, row: Solution) -> bool | None:
        node = row.get(name)
        return None if node is None else satisfies(node, op, value, run.meaning)

    return test
