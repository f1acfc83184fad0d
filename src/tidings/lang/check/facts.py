"""What the filters of a group say together: whether they can all hold, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tidings.lang.check.comparisons import Comparison, comparison_of, contradicts, holds, implies, selects_xsd
from tidings.lang.check.walk import conjuncts
from tidings.lang.pattern import (
    Call,
    Const,
    Constraint,
    Expr,
    FtAnd,
    FtContains,
    FtExpr,
    FtNear,
    FtNot,
    FtOr,
    FtPhrase,
    Var,
)
from tidings.rdf.terms import Term, is_iri

MAX_STEPS = 2_000
"""How many pairs are looked at for one question; beyond that nothing is claimed."""

IsBelow = Callable[[Term, Term], bool]


class Facts:
    """A conjunction of filters. `is_below` is the class hierarchy, for G-ToPSS's is-a."""

    def __init__(self, filters: Iterable[Expr], is_below: IsBelow) -> None:
        self.filters = tuple(conjuncts(filters))
        self._is_below = is_below
        self._known = frozenset(self.filters)
        self._comparisons: dict[Var, list[tuple[Comparison, Expr]]] = {}
        self._classes: dict[Var, list[Constraint]] = {}
        self._texts: dict[Var, list[FtExpr]] = {}
        self._choices: list[tuple[Expr, ...]] = []
        for expr in self.filters:
            self._take(expr)

    def _take(self, expr: Expr) -> None:
        comparison = comparison_of(expr)
        if comparison is not None:
            self._comparisons.setdefault(comparison.var, []).append((comparison, expr))
            return
        match expr:
            case Constraint(var=var):
                self._classes.setdefault(var, []).append(expr)
            case FtContains(var=var, text=text):
                self._texts.setdefault(var, []).append(text)
            case Call(op="||", args=args):
                self._choices.append(args)
            case Call(op="IN", args=(Var() as var, *values)) if len(values) <= MAX_STEPS:
                self._choices.append(tuple(Call("=", (var, value)) for value in values))

    # ------------------------------------------------------------------------------------------------ contradictions

    def contradiction(self) -> tuple[Expr, ...] | None:
        """Filters that cannot hold together, or one that cannot hold at all; None where none are found."""
        for expr in self.filters:
            if isinstance(expr, Const) and expr.term == _FALSE:
                return (expr,)
        return self._opposed_comparisons() or self._opposed_classes() or self._impossible_choice()

    def _opposed_comparisons(self) -> tuple[Expr, ...] | None:
        for comparisons in self._comparisons.values():
            steps = 0
            for i, (a, later) in enumerate(comparisons):
                for b, earlier in comparisons[:i]:
                    if (steps := steps + 1) > MAX_STEPS:
                        return None
                    if contradicts(a, b):
                        return earlier, later
        return None

    def _opposed_classes(self) -> tuple[Expr, ...] | None:
        """A literal is no class, and what is directly below a class is not both so and not."""
        for var, constraints in self._classes.items():
            valued = self._comparisons.get(var)
            if valued:
                return valued[0][1], constraints[0]
            equal = {c.value for c in constraints if c.op == "="}
            for constraint in constraints:
                if constraint.op == "!=" and constraint.value in equal:
                    return Constraint(var, "=", constraint.value), constraint
        return None

    def _impossible_choice(self) -> tuple[Expr, ...] | None:
        """`a || b` where each of a and b contradicts what else must hold."""
        rest = [expr for expr in self.filters if not (isinstance(expr, Call) and expr.op in ("||", "IN"))]
        budget = MAX_STEPS
        for choice in self._choices:
            budget -= len(choice) * (len(rest) + 1)
            if budget < 0:
                return None
            if choice and all(Facts([*rest, option], self._is_below).contradiction() for option in choice):
                return Call("||", choice), *rest[:3]
        return None

    # --------------------------------------------------------------------------------------------------- implication

    def imply(self, expr: Expr) -> bool:
        """Whether the expression holds wherever all the filters do; False where that is not found out."""
        if expr in self._known:
            return True
        comparison = comparison_of(expr)
        if comparison is not None and any(implies(c, comparison) for c, _ in self._comparisons.get(comparison.var, ())):
            return True
        match expr:
            case Call(op="&&", args=args):
                return all(self.imply(arg) for arg in args)
            case Call(op="||", args=args) if any(self.imply(arg) for arg in args):
                return True
            case Call(op="IN", args=(Var() as var, *values)):
                return any(self.imply(Call("=", (var, value))) for value in values)
            case Call(op=op, args=(Const(term=a), Const(term=b))) if op in _COMPARING and holds(a, op, b):
                return True
            case Constraint(var=var) if any(self._is_a(c, expr) for c in self._classes.get(var, ())):
                return True
            case FtContains(var=var, text=text) if any(text_implies(t, text) for t in self._texts.get(var, ())):
                return True
        return any(self._all_options_imply(choice, expr) for choice in self._choices[:8])

    def _all_options_imply(self, choice: tuple[Expr, ...], expr: Expr) -> bool:
        return 0 < len(choice) <= 16 and all(Facts((option,), self._is_below).imply(expr) for option in choice)

    def is_xsd_literal(self, var: Var) -> bool:
        """Whether a comparison that only values of XSD's types pass is among the filters on the variable."""
        return any(selects_xsd(c) for c, _ in self._comparisons.get(var, ()))

    def _is_a(self, a: Constraint, b: Constraint) -> bool:
        """Below C, and so below what C is below. The other operators carry no further: the event may state sub-class
        relations of its own, even cyclic ones, and an instance of an equivalent class is not one of the class."""
        if not is_iri(a.value) or not is_iri(b.value):
            return False
        if a.op in ("<", "<=") and b.op == "<=":
            return self._is_below(a.value, b.value)
        return a.value == b.value and (a.op == b.op or (a.op, b.op) == (">", ">="))


_COMPARING = frozenset(["=", "!=", "<", "<=", ">", ">="])
_FALSE = Term('"false"^^<http://www.w3.org/2001/XMLSchema#boolean>')


# ------------------------------------------------------------------------------------------------------------ full text


def text_implies(a: FtExpr, b: FtExpr) -> bool:
    """Whether every text that `a` finds is one that `b` finds; False where that is not found out."""
    return _text_implies(a, b, [MAX_STEPS])


def _text_implies(a: FtExpr, b: FtExpr, budget: list[int]) -> bool:
    budget[0] -= 1
    if budget[0] < 0:
        return False

    def implied(x: FtExpr, y: FtExpr) -> bool:
        return _text_implies(x, y, budget)

    match a, b:
        case FtPhrase(words=long), FtPhrase(words=short):
            return any(long[i : i + len(short)] == short for i in range(len(long) - len(short) + 1))
        case FtNot(item=x), FtNot(item=y):
            return implied(y, x)
        case FtNear(), FtNear() if same_text(a.left, b.left) and same_text(a.right, b.right):
            return b.least <= a.least and a.most <= b.most
        case _, FtAnd(items=items):
            return all(implied(a, item) for item in items)
        case FtOr(items=items), _:
            return all(implied(item, b) for item in items)
    if isinstance(b, FtOr) and any(implied(a, item) for item in b.items):
        return True
    if isinstance(a, FtAnd):
        return any(implied(item, b) for item in a.items)
    if isinstance(a, FtNear):
        return implied(a.left, b) or implied(a.right, b)
    return False


def same_text(a: FtExpr, b: FtExpr) -> bool:
    """The same expression, however its phrases were written."""
    match a, b:
        case FtPhrase(), FtPhrase():
            return a.words == b.words
        case FtNear(), FtNear():
            return (a.least, a.most) == (b.least, b.most) and same_text(a.left, b.left) and same_text(a.right, b.right)
        case (FtAnd(items=x), FtAnd(items=y)) | (FtOr(items=x), FtOr(items=y)):
            return len(x) == len(y) and all(map(same_text, x, y))
        case FtNot(), FtNot():
            return same_text(a.item, b.item)
    return False
