"""The verifier: whether a subscription matches an event, and its solutions. What a match is, is decided here.

A `Prepared` subscription is compiled once; `solve` and `matches` compile and evaluate in one go. Every evaluation is
exact, deterministic, and bounded by a budget of steps, and of seconds where somebody waits; exceeding it raises
`BudgetExceeded`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from tidings.errors import EvaluationError
from tidings.lang.pattern import Node, Query, TriplePattern, Var
from tidings.match.base import Answer, Solution
from tidings.match.meaning import Meaning
from tidings.match.plan import plan_select
from tidings.match.run import DEFAULT_BUDGET, Run
from tidings.match.select import kept, row_key
from tidings.rdf.terms import XSD_DATETIME, Term, Triple, blank, format_triple, is_iri, is_literal, literal

__all__ = ["DEFAULT_BUDGET", "Prepared", "current_time", "matches", "solve"]

_ONE_EMPTY: tuple[Solution, ...] = ({},)


class Prepared:
    """A subscription, ready to be evaluated on any event."""

    def __init__(self, query: Query) -> None:
        self.query = query
        try:
            self._select = plan_select(query, nested=False)
        except RecursionError:
            raise _too_deep() from None

    def matches(
        self,
        meaning: Meaning,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        seconds: float | None = None,
    ) -> bool:
        """Whether there is a solution; it stops at the first."""
        run = Run(meaning, budget, _now(meaning, now), seconds)
        try:
            return next(self._select.rows(run, {}, ordered=False), None) is not None
        except RecursionError:
            raise _too_deep() from None

    def solve(
        self,
        meaning: Meaning,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        seconds: float | None = None,
    ) -> Answer | None:
        """All solutions; None where there are none."""
        if self.query.form == "ASK":
            return Answer(_ONE_EMPTY) if self.matches(meaning, budget=budget, now=now, seconds=seconds) else None
        run = Run(meaning, budget, _now(meaning, now), seconds)
        try:
            rows = kept(run, self._select.rows(run, {}))
        except RecursionError:
            raise _too_deep() from None
        if not rows:
            return None
        if not self.query.order:
            rows.sort(key=lambda row: row_key(self._select.projection, row))
        if self.query.form == "CONSTRUCT":
            return Answer(_ONE_EMPTY, _construct(run, self.query.template, rows))
        return Answer(tuple(rows))


def matches(query: Query, meaning: Meaning, *, budget: int = DEFAULT_BUDGET, now: Term | None = None) -> bool:
    """Whether the subscription matches the event."""
    return Prepared(query).matches(meaning, budget=budget, now=now)


def solve(query: Query, meaning: Meaning, *, budget: int = DEFAULT_BUDGET, now: Term | None = None) -> Answer | None:
    """What a notification of this subscription on this event carries; None where it does not match."""
    return Prepared(query).solve(meaning, budget=budget, now=now)


def current_time() -> Term:
    return literal(datetime.now(UTC).isoformat().replace("+00:00", "Z"), XSD_DATETIME)


def _now(meaning: Meaning, now: Term | None) -> Term:
    """What NOW() gives: when the event was published, else what the caller says, else the time it is."""
    published = meaning.event.published
    if published is not None:
        return literal(published, XSD_DATETIME)
    return current_time() if now is None else now


def _too_deep() -> EvaluationError:
    return EvaluationError("the subscription is nested too deeply to be evaluated")


# ------------------------------------------------------------------------------------------------------------ CONSTRUCT


def _construct(run: Run, template: tuple[TriplePattern, ...], rows: list[Solution]) -> str:
    """The triples made, as sorted N-Triples; a blank node of the template is a new one for each solution."""
    prefix = run.meaning.unused_label("c")
    made: set[Triple] = set()
    count = 0
    for row in rows:
        fresh: dict[str, Term] = {}
        for pattern in template:
            run.budget.spend(1)
            terms: list[Term] = []
            for place in (pattern.s, pattern.p, pattern.o):
                if isinstance(place, Var) and place.name.startswith("_:") and place.name not in fresh:
                    fresh[place.name] = blank(f"{prefix}{count}")
                    count += 1
                terms += _filled(place, row, fresh)
            made.update(_well_formed(terms))
    run.budget.spend(len(made))
    return "".join(sorted(map(format_triple, made)))


def _filled(place: Node, row: Solution, fresh: dict[str, Term]) -> Iterator[Term]:
    if not isinstance(place, Var):
        yield place
    elif place.name in fresh:
        yield fresh[place.name]
    elif place.name in row:
        yield row[place.name]


def _well_formed(terms: list[Term]) -> Iterator[Triple]:
    """The terms as a triple, where all three are bound and RDF allows them in their places."""
    if len(terms) == 3 and not is_literal(terms[0]) and is_iri(terms[1]):
        yield terms[0], terms[1], terms[2]
