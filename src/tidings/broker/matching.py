"""The subscriptions that are active, in one engine, each under its number; and what their matches carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tidings.broker.figures import Figures
from tidings.broker.log import NONE_MATCHED, Numbers
from tidings.broker.subscriptions import Standing
from tidings.errors import EvaluationError
from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Report
from tidings.match.fast import Fast
from tidings.match.fast.bodies import Column, match_column
from tidings.match.meaning import Meaning
from tidings.match.verify import Prepared
from tidings.ontology import Ontology
from tidings.rdf.event import Event


@dataclass(frozen=True, slots=True)
class Effort:
    """What one subscription may take on one event: steps, which bound its memory, too, and seconds."""

    steps: int = 1_000_000
    seconds: float = 5.0


class Matching:
    """Subscriptions that fail on an event are told to `failed`, by their number."""

    def __init__(
        self, ontology: Ontology, failed: Report, effort: Effort | None = None, figures: Figures | None = None
    ) -> None:
        self._effort = effort or Effort()
        self._figures = figures or Figures()
        self.engine = Fast(
            ontology, budget=self._effort.steps, seconds=self._effort.seconds, verifying=self._figures.verifying
        )
        self._failed = failed

    def __len__(self) -> int:
        return len(self.engine)

    def put_many(self, those: Iterable[Standing]) -> None:
        self.engine.add_many((str(each.number), form_of(each)) for each in those)

    def put(self, number: int, form: Query) -> None:
        self.engine.add(str(number), form)

    def take(self, number: int) -> None:
        """If it is there."""
        if str(number) in self.engine:
            self.engine.remove(str(number))

    def match(self, events: Sequence[Event]) -> list[Numbers]:
        """For each event, the numbers of what it matches."""
        if not len(self.engine) or not events:
            return [NONE_MATCHED] * len(events)
        before = self.engine.candidates
        found = match_column(self.engine, Column.of_events(events), _refuse, self._failed)
        self._figures.candidates.add((self.engine.candidates - before) / len(events), len(events))
        # One by one: what Arrow needs to begin with takes longer than the few that there are.
        numbers = np.fromiter(map(int, found.subscriptions.to_pylist()), np.uint32, len(found.subscriptions))
        bounds = np.searchsorted(found.rows, np.arange(len(events) + 1))
        return [numbers[low:high] for low, high in pairwise(bounds.tolist())]

    def answer(self, prepared: Prepared, event: Event) -> Answer | None:
        """What a notification of this carries; None where it does not match by what is known now."""
        meaning = Meaning(event, self.engine.ontology)
        return prepared.solve(meaning, budget=self._effort.steps, seconds=self._effort.seconds)


class Elsewhere(Matching):
    """Where events are matched elsewhere: which subscriptions are active, and nothing of what they ask for."""

    def __init__(
        self, ontology: Ontology, failed: Report, effort: Effort | None = None, figures: Figures | None = None
    ) -> None:
        super().__init__(ontology, failed, effort, figures)
        self._active: set[int] = set()

    def __len__(self) -> int:
        return len(self._active)

    def put_many(self, those: Iterable[Standing]) -> None:
        self._active.update(each.number for each in those)

    def put(self, number: int, form: Query) -> None:
        self._active.add(number)

    def take(self, number: int) -> None:
        self._active.discard(number)


def warm_up() -> None:
    """Have everything loaded and compiled that the first match needs, so that nobody has to wait for it."""
    warm = Matching(Ontology.empty(), lambda failure: None)
    warm.put(1, parse("SELECT * { ?s <urn:p> ?o FILTER(?o > 1) }"))
    one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    warm.match([Event("urn:e", f"<urn:s> <urn:p> {one} .\n"), Event("urn:f", "<urn:s> <urn:p> <urn:o> .\n")])


def form_of(standing: Standing) -> Query:
    return parse(standing.query, standing.dialect, source=standing.id)


def _refuse(row: int, error: Exception) -> None:
    raise EvaluationError(f"an event that was accepted cannot be read: {error}")
