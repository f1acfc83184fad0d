"""Questions to the verifier about parts of a subscription. What is true is decided there, never here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tidings.lang.pattern import Expr, Extend, Filter, Join, Pattern, Projection, Query, Values, Var, variables
from tidings.match.base import Solution
from tidings.match.explain.names import Names
from tidings.match.meaning import Meaning
from tidings.match.verify import solve
from tidings.ontology import Ontology
from tidings.rdf.terms import Term

# No text can name a variable that begins with a space.
_VALUE = Var(" value")


@dataclass(frozen=True, slots=True)
class Probe:
    """One event's meaning, and the ways to ask about it."""

    meaning: Meaning
    ontology: Ontology
    names: Names
    event: str
    budget: int
    now: Term | None

    def solutions(self, pattern: Pattern, given: Solution | None = None, limit: int = 1) -> list[Solution]:
        """Up to `limit` solutions over all variables of `pattern`, hidden ones too, that agree with `given`."""
        scope = variables(pattern)
        fixed = restricted(given or {}, scope)
        where: Pattern = Join((values(fixed), pattern)) if fixed else pattern
        # Hidden variables are never projected, so each gets a name under which it is.
        shown = {v: Var(f" {v.name}") if v.hidden else v for v in scope}
        for var, name in shown.items():
            where = Extend(where, name, var) if var.hidden else where
        rows = self.rows(Query("sparql", "SELECT", where, tuple(map(Projection, shown.values())), limit=limit))
        return [{v.name: row[name.name] for v, name in shown.items() if name.name in row} for row in rows]

    def has(self, pattern: Pattern, given: Solution | None = None) -> bool:
        return bool(self.solutions(pattern, given))

    def rows(self, query: Query) -> list[Solution]:
        answer = solve(query, self.meaning, budget=self.budget, now=self.now)
        return list(answer.bindings) if answer else []

    def value(self, expr: Expr, solution: Solution) -> Term | None:
        """The value of an expression under a solution; None where it is an error."""
        where = Extend(values(solution), _VALUE, expr)
        return self.rows(Query("sparql", "SELECT", where, (Projection(_VALUE),)))[0].get(_VALUE.name)

    def holds(self, expr: Expr, solution: Solution) -> bool:
        return self.has(Filter(values(solution), (expr,)))


def values(solution: Mapping[str, Term]) -> Values:
    """The solution as inline data of one row."""
    return Values(tuple(map(Var, solution)), (tuple(solution.values()),))


def restricted(solution: Solution, scope: Iterable[Var]) -> Solution:
    """The part of the solution about these variables."""
    return {v.name: solution[v.name] for v in scope if v.name in solution}
