"""The matches of a document in N-Quads that is read as it comes, event by event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, cast

import numpy as np

from tidings.errors import EventError
from tidings.index.kernels.gather import rows_that
from tidings.index.kernels.join import YES
from tidings.match.base import Report
from tidings.match.fast.engine import Fast, View
from tidings.match.fast.lane import Batch, Lane, ReportError, Tell, say, verified
from tidings.match.fast.text import FedText
from tidings.rdf.event import Event
from tidings.rdf.limits import Limits
from tidings.rdf.lines import line_batches
from tidings.rdf.seen import SeenEvents
from tidings.rdf.sources import Document


@dataclass(frozen=True, slots=True)
class Hits:
    """The subscriptions that match an event, by id."""

    event: str
    subscriptions: list[str]


Told: TypeAlias = list[tuple[list[Tell], Hits | None]]
"""By event: what there is to tell before it, and its matches, unless the event was dropped."""


def match_document(
    engine: Fast, document: Document, limits: Limits, seen: SeenEvents, report: ReportError, failed: Report
) -> Iterator[Hits]:
    """The events of a document by graph, with their matches. `seen` knows the events before it, and takes the new."""
    try:
        stream = document.open()
    except EventError as error:
        report(error)
        return
    with stream:
        text = FedText(line_batches(stream, limits))
        lane = _StreamLane(engine, text, document.name, limits, seen, report, failed)
        for several in lane.results():
            for tells, hits in several:
                say(tells)
                if hits is not None:
                    yield hits


class _StreamLane(Lane[Told]):
    def _taken(self, view: View, batch: Batch) -> Told:
        spoilt = self._spoilt(batch)
        events: list[Event | None] = []
        tells: list[list[Tell]] = []
        for number in range(batch.size):
            with self._holding() as held:
                drafts = [] if spoilt[number] else [batch.draft(number)]
                events.append(next(self._finisher.events(drafts), None))
            tells.append(held)
        ids = self._ids(view, batch, events, tells)
        hits = [None if event is None else Hits(event.id, sorted(ids[n])) for n, event in enumerate(events)]
        self._engine.count(events=len(hits) - hits.count(None), matches=sum(map(len, ids)))
        return list(zip(tells, hits, strict=True))

    def _matched(self, events: Iterator[Event]) -> Iterator[Told]:
        for event in events:
            matches = self._engine.match(event, self._fail)
            yield [([], Hits(event.id, [match.subscription for match in matches]))]

    def _ids(self, view: View, batch: Batch, events: list[Event | None], tells: list[list[Tell]]) -> list[list[str]]:
        """The ids of what matches, by event; failures are added to what there is to tell."""
        answers = batch.answers
        kept = np.array([event is not None for event in events], np.uint8)
        places, numbers = np.empty(len(answers), np.int32), np.empty(len(answers), np.int32)
        size = rows_that(answers.reshape(-1), YES, np.arange(batch.size, dtype=np.int32), kept, places, numbers)
        found = view.ids(numbers[:size]).to_pylist()
        bounds = np.searchsorted(places[:size], np.arange(batch.size + 1)).tolist()
        ids = [found[first:last] for first, last in pairwise(bounds)]
        if size < len(answers):
            with self._holding() as held:
                for place, those in verified(view, answers, kept, lambda n: cast(Event, events[n]), self._fail):
                    ids[place] += [view.id(number) for number in those]
                    tells[place] += held
                    held.clear()
        return ids
