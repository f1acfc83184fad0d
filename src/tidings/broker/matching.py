"""The subscriptions that are active, in one engine, each under its number; and what their matches carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from tidings.broker.log import NONE_MATCHED, Numbers
from tidings.broker.subscriptions import Standing
from tidings.errors import EvaluationError
from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Report
from tidings.match.fast import Fast
from tidings.match.fast.bodies import match_bodies
from tidings.match.meaning import Meaning
from tidings.match.verify import Prepared
from tidings.ontology import Ontology
from tidings.rdf.event import Event


class Matching:
    """Subscriptions that fail on an event are told to `failed`, by their number."""

    def __init__(self, ontology: Ontology, failed: Report) -> None:
        self.engine = Fast(ontology)
        self._failed = failed

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
        if not len(self.engine):
            return [NONE_MATCHED] * len(events)
        ids = pa.array([event.id for event in events], pa.string())
        bodies = pa.array([event.body for event in events], pa.string())
        found = match_bodies(self.engine, ids, bodies, _refuse, self._failed, lambda row: events[row].published)
        numbers = found.subscriptions.cast(pa.uint32()).to_numpy()
        bounds = np.searchsorted(found.rows, np.arange(len(events) + 1))
        return [numbers[low:high] for low, high in pairwise(bounds.tolist())]

    def answer(self, form: Query, event: Event) -> Answer | None:
        """What a notification of this carries; None where it does not match by what is known now."""
        return Prepared(form).solve(Meaning(event, self.engine.ontology))


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
