"""Subscriptions in and out, events through the kernels, and the verifier where these ask it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from tidings.errors import EvaluationError
from tidings.index.folding import shared_folder
from tidings.index.kernels.join import YES
from tidings.index.names import ALL_BITS
from tidings.index.rules import rules_of
from tidings.index.scanner import Scanner, padded
from tidings.index.store import Store
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Failure, Match, Report
from tidings.match.meaning import Meaning
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.verify import Prepared, current_time
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term

_MERGE_AT = 5_000


class Fast:
    """An `Engine` that takes every subscription. `merge_at` is how many filings may wait before they are merged with
    the others; `weak` cuts hashes down, for tests of what collisions do.
    """

    name = "fast"

    def __init__(
        self,
        ontology: Ontology,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        merge_at: int = _MERGE_AT,
        weak: int = ALL_BITS,
    ) -> None:
        self._ontology = ontology
        self._universal = ontology.resource_classes
        self._budget = budget
        self._now = now or current_time()
        self._merge_at = merge_at
        self._store = Store(ontology, weak)
        self._scanner = Scanner(self._store.names, shared_folder())
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._queries: dict[int, Query] = {}
        self._prepared: dict[int, Prepared] = {}
        self._counts = {"events": 0, "visited": 0, "candidates": 0, "asked": 0, "matches": 0, "failures": 0}

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, id: str, query: Query) -> None:
        """Take a subscription; one of the same id is replaced."""
        if id in self._numbers:
            self.remove(id)
        number = len(self._ids)
        self._store.add(number, rules_of(query, self._universal))
        self._ids.append(id)
        self._numbers[id] = number
        self._queries[number] = query

    def remove(self, id: str) -> None:
        number = self._numbers.pop(id)
        self._store.remove(number)
        del self._queries[number]
        self._prepared.pop(number, None)

    def match(self, event: Event, report: Report) -> list[Match]:
        """The subscriptions that match, by id; those that fail are reported. Bindings are computed when asked for."""
        if self._store.unmerged > self._merge_at:
            self._store.merge()
        data = event.body.encode()
        stops = np.array([len(data)], np.int64)
        found = self._scanner.run(padded(data), stops, self._store.index(), trusted=True, quads=False)
        meaning = Meaning(event, self._ontology)
        numbers: set[int] = set()
        asked: set[int] = set()
        for _, number, answer in found.answers.tolist():
            (numbers if answer == YES else asked).add(number)
        if found.odd:
            # No text that the package writes is odd; should one be, nobody misses a match for it.
            asked = set(self._queries)
        self._counts["events"] += 1
        self._counts["visited"] += found.visited
        self._counts["candidates"] += found.candidates
        numbers |= {number for number in sorted(asked - numbers) if self._verified(number, meaning, report)}
        self._counts["matches"] += len(numbers)
        matches = [self._match(event, number, meaning) for number in numbers]
        return sorted(matches, key=lambda match: match.subscription)

    def stats(self) -> Mapping[str, int | float]:
        """Events; filings visited and candidates decided; subscriptions that the verifier was asked about; matches and
        failures; rules, those of them that every event must be tried on, and atoms.
        """
        return {
            **self._counts,
            "rules": self._store.rules,
            "unindexed": self._store.unindexed,
            "atoms": self._store.atoms,
        }

    def _match(self, event: Event, number: int, meaning: Meaning) -> Match:
        return Match(event.id, self._ids[number], event.source, partial(self._answer, number, meaning))

    def _verified(self, number: int, meaning: Meaning, report: Report) -> bool:
        self._counts["asked"] += 1
        try:
            return self._prepare(number).matches(meaning, budget=self._budget, now=self._now)
        except EvaluationError as error:
            self._counts["failures"] += 1
            report(Failure(meaning.event.id, self._ids[number], str(error)))
            return False

    def _prepare(self, number: int) -> Prepared:
        found = self._prepared.get(number)
        if found is None:
            found = self._prepared[number] = Prepared(self._queries[number])
        return found

    def _answer(self, number: int, meaning: Meaning) -> Answer:
        answer = self._prepare(number).solve(meaning, budget=self._budget, now=self._now)
        assert answer is not None, "a match has a solution"
        return answer
