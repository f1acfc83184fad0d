"""What RTF and iBroker have in common: queries as conjunctions of tuples, one recipient for the parts of a split query.

How tuples are stored and which queries an event makes candidates is each matcher's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Generic, Protocol, TypeVar

from tidings.errors import EvaluationError
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Failure, Match, Report
from tidings.match.fulltext import Words
from tidings.match.meaning import Meaning
from tidings.match.rtf.joining import Row, Table, joins
from tidings.match.rtf.size import Size
from tidings.match.rtf.text import Text, keeps_distances
from tidings.match.rtf.tuples import QueryTuple, Shared, conjunctions
from tidings.match.run import DEFAULT_BUDGET, Budget
from tidings.match.verify import Prepared, current_time
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term, Triple


class Stored(Protocol):
    """A query as it is stored: a subscription, or one alternative of it."""

    @property
    def subscription(self) -> str: ...


class StoredPart(Protocol):
    """A tuple of it."""

    @property
    def shared(self) -> Shared: ...


Q = TypeVar("Q", bound=Stored)
P = TypeVar("P", bound=StoredPart)


class Publication(ABC, Generic[Q, P]):
    """One event on its way through a matcher. All marks are kept here, so nothing is left over for the next one."""

    def __init__(self, counts: dict[str, int], published: bool) -> None:
        self.counts = counts
        self.published = published

    @abstractmethod
    def candidates(self) -> Iterable[Q]:
        """The stored queries to look at."""

    @abstractmethod
    def tuples(self, query: Q) -> Iterable[P]:
        """The tuples of a stored query, in order."""

    @abstractmethod
    def table(self, stored: P, budget: Budget) -> set[Row]:
        """The rows of the triples that match a tuple, cut down to what it shares; empty where none does."""

    @abstractmethod
    def fitting(self, stored: P, budget: Budget) -> Iterable[Triple]:
        """These triples."""

    def satisfies(self, query: Q, budget: Budget) -> bool:
        """Whether every tuple is matched and, which the paper leaves out, they are all matched together."""
        tables = []
        for stored in self.tuples(query):
            rows = self.table(stored, budget)
            if not rows:
                return False
            tables.append(Table(stored.shared.columns, rows))
        if self.published:
            return True
        self.counts["joins"] += 1
        return joins(tables, budget)

    def keeps(self, text: Text, words: Words, budget: Budget) -> bool:
        """Word distances and unwanted words, checked where the wanted words are known to be there."""

        def spend(steps: int) -> None:
            self.counts["positions_checked"] += steps
            budget.spend(steps)

        return keeps_distances(text, words, spend)


class TupleEngine(ABC, Generic[Q, P]):
    """An `Engine` over conjunctions of tuples. What is added under a known id replaces what was there."""

    name: str

    def __init__(
        self,
        ontology: Ontology,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        published: bool = False,
    ) -> None:
        self._ontology = ontology
        self._budget = budget
        self._now = now or current_time()
        # What is stored is the same either way, so this may be changed between events.
        self.published = published
        self.resets = True
        self._queries: dict[str, Query] = {}
        self._stored: dict[str, list[Q]] = {}
        self._tuples = 0
        self._last_tid = 0
        self._size: Size | None = None
        self._counts = dict.fromkeys(("events", "candidates", "matches", "failures", "joins", "positions_checked"), 0)

    @abstractmethod
    def _store(self, subscription: str, tuples: tuple[QueryTuple, ...]) -> Q: ...

    @abstractmethod
    def _discard(self, query: Q) -> int:
        """Forgets a stored query, and says how many tuples it had."""

    @abstractmethod
    def _publish(self, meaning: Meaning) -> Publication[Q, P]: ...

    @abstractmethod
    def _measure(self, size: Size) -> None:
        """Adds what is stored."""

    def __len__(self) -> int:
        return len(self._queries)

    def __contains__(self, id: object) -> bool:
        return id in self._queries

    def add(self, id: str, query: Query) -> None:
        splits = conjunctions(self.name, query)
        if id in self._queries:
            self.remove(id)
        self._queries[id] = query
        self._stored[id] = [self._store(id, tuples) for tuples in splits]
        self._tuples += sum(map(len, splits))
        self._size = None

    def remove(self, id: str) -> None:
        del self._queries[id]
        self._tuples -= sum(self._discard(query) for query in self._stored.pop(id))
        self._size = None

    def match(self, event: Event, report: Report) -> list[Match]:
        """The subscriptions that match, by id; those that fail are reported. Bindings are computed when asked for."""
        meaning = Meaning(event, self._ontology)
        found, failed = self._decide(self._publish(meaning))
        self._counts["events"] += 1
        self._counts["matches"] += len(found)
        self._counts["failures"] += len(failed)
        for id in sorted(failed):
            report(Failure(event.id, id, failed[id]))
        answer = self._answer
        return [Match(event.id, id, event.source, partial(answer, self._queries[id], meaning)) for id in sorted(found)]

    def _decide(self, publication: Publication[Q, P]) -> tuple[set[str], dict[str, str]]:
        """The subscriptions that match and, with the reason, those that fail. The parts of one share its budget."""
        found: set[str] = set()
        failed: dict[str, str] = {}
        budgets: dict[str, Budget] = {}
        for query in publication.candidates():
            id = query.subscription
            if id in found:
                continue
            self._counts["candidates"] += 1
            budget = budgets.get(id)
            if budget is None:
                budget = budgets[id] = Budget(self._budget)
            try:
                if publication.satisfies(query, budget):
                    found.add(id)
                    failed.pop(id, None)
                elif not self.resets:
                    break
            except EvaluationError as error:
                failed[id] = str(error)
        return found, failed

    def _answer(self, query: Query, meaning: Meaning) -> Answer:
        """What the verifier finds; nothing where only the published algorithm sees a match."""
        return Prepared(query).solve(meaning, budget=self._budget, now=self._now) or Answer(())

    def _next_tid(self) -> int:
        self._last_tid += 1
        return self._last_tid

    def stats(self) -> Mapping[str, int | float]:
        queries = sum(map(len, self._stored.values()))
        if self._size is None:
            self._size = self._sized()
        return {**self._counts, "queries": queries, "tuples": self._tuples, **self._size.figures()}

    def _sized(self) -> Size:
        size = Size()
        size.own(self._stored, *self._stored.values())
        size.share(*self._stored)
        self._measure(size)
        return size
