"""`naive`: the verifier on every subscription, one after the other. Slow, exact, and the oracle of all others."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from functools import partial

from tidings.errors import EvaluationError
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Failure, Match, Report
from tidings.match.meaning import Meaning
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.verify import Prepared, current_time
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term


class Naive:
    """An `Engine` that takes every subscription.

    `budget` are the steps that one subscription may take on one event; `now` is what NOW() gives for events that do
    not say when they were published, by default the time at which this matcher was made.
    """

    name = "naive"

    def __init__(self, ontology: Ontology, *, budget: int = DEFAULT_BUDGET, now: Term | None = None) -> None:
        self._ontology = ontology
        self._budget = budget
        self._now = now or current_time()
        self._subscriptions: dict[str, Prepared] = {}
        self._ids: list[str] = []
        self._counts = {"events": 0, "candidates": 0, "matches": 0, "failures": 0}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: object) -> bool:
        return id in self._subscriptions

    def add(self, id: str, query: Query) -> None:
        """Take a subscription; one of the same id is replaced."""
        prepared = Prepared(query)
        if id not in self._subscriptions:
            insort(self._ids, id)
        self._subscriptions[id] = prepared

    def remove(self, id: str) -> None:
        del self._subscriptions[id]
        self._ids.remove(id)

    def match(self, event: Event, report: Report) -> list[Match]:
        """The subscriptions that match, by id; those that fail are reported. Bindings are computed when asked for."""
        meaning = Meaning(event, self._ontology)
        found: list[Match] = []
        for id in self._ids:
            prepared = self._subscriptions[id]
            try:
                if prepared.matches(meaning, budget=self._budget, now=self._now):
                    found.append(Match(event.id, id, event.source, partial(self._answer, prepared, meaning)))
            except EvaluationError as error:
                self._counts["failures"] += 1
                report(Failure(event.id, id, str(error)))
        self._counts["events"] += 1
        self._counts["candidates"] += len(self._ids)
        self._counts["matches"] += len(found)
        return found

    def stats(self) -> Mapping[str, int | float]:
        """Events seen, candidates examined (every subscription on every event), matches and failures."""
        return dict(self._counts)

    def _answer(self, prepared: Prepared, meaning: Meaning) -> Answer:
        answer = prepared.solve(meaning, budget=self._budget, now=self._now)
        assert answer is not None, "a match has a solution"
        return answer
