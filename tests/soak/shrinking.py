"""A history that shows a difference, made as small as it goes: fewer steps, subscriptions, statements, patterns."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tests.contract import ways
from tests.soak.history import Difference, History, replay
from tests.soak.mutate_queries import PATTERNS
from tests.soak.trees import places, put, valid

from tidings.errors import OntologyError
from tidings.index.names import ALL_BITS
from tidings.lang import parse, to_text
from tidings.lang.pattern import Query, Var
from tidings.rdf.event import Event

T = TypeVar("T")


class Shrinker:
    """Tries smaller histories for as long as it may, and keeps those that still differ."""

    def __init__(self, history: History, found: Difference, folder: Path, seconds: float) -> None:
        self.history = history
        self.found = found
        self._folder = folder
        self._end = time.monotonic() + seconds

    def run(self) -> None:
        steps = self.history.steps[: self.found.step + 1]
        self._try(steps=steps)
        self._plain()
        before: History | None = None
        while before != self.history and time.monotonic() < self._end:
            before = self.history
            self._fewer(lambda h: h.steps, lambda items: {"steps": tuple(items)})
            self._fewer(lambda h: tuple(h.subscriptions.items()), lambda items: {"subscriptions": dict(items)})
            self._fewer(lambda h: h.events, lambda items: {"events": tuple(items)})
            self._plain()
            self._smaller_ontologies()
            self._smaller_events()
            self._smaller_queries()

    def _try(self, **changes: Any) -> bool:
        if time.monotonic() > self._end:
            return False
        smaller = dataclasses.replace(self.history, **changes)
        try:
            found = replay(smaller, self._folder)
        except OntologyError:
            return False
        # What differs must go on to differ, and what raises to raise: else one bug turns into another on the way.
        if found is None or (found.subscription is None) != (self.found.subscription is None):
            return False
        self.history, self.found = smaller, found
        return True

    def _plain(self) -> None:
        """What nothing depends on: hashes as they are, no merges of its own, one ontology, asked with objects."""
        self._try(weak=ALL_BITS)
        self._try(merge_at=ways.NEVER)
        self._try(ontologies=self.history.ontologies[:1])
        self._try(ontologies=((),) * len(self.history.ontologies))
        self._try(steps=tuple(("ask", "objects") if step[0] == "ask" else step for step in self.history.steps))

    def _fewer(self, items: Callable[[History], Sequence[T]], change: Callable[[Sequence[T]], dict[str, Any]]) -> None:
        """Leaves out runs of items, long ones first."""
        size = len(items(self.history)) // 2
        while size:
            start = 0
            while start < len(items(self.history)):
                all_items = list(items(self.history))
                if not self._try(**change(all_items[:start] + all_items[start + size :])):
                    start += size
            size //= 2
        if len(items(self.history)) == 1:
            self._try(**change([]))

    def _smaller_ontologies(self) -> None:
        for number in range(len(self.history.ontologies)):

            def change(triples: Sequence[Any], number: int = number) -> dict[str, Any]:
                changed = list(self.history.ontologies)
                changed[number] = tuple(triples)
                return {"ontologies": tuple(changed)}

            self._fewer(lambda h, number=number: h.ontologies[number], change)

    def _smaller_events(self) -> None:
        for number in range(len(self.history.events)):

            def change(triples: Sequence[Any], number: int = number) -> dict[str, Any]:
                event = self.history.events[number]
                events = list(self.history.events)
                events[number] = Event.of(event.id, triples)
                return {"events": tuple(events)} if triples else {"events": self.history.events}

            self._fewer(lambda h, number=number: h.events[number].triples(), change)

    def _smaller_queries(self) -> None:
        for id in list(self.history.subscriptions):
            self._smaller_query(id)

    def _smaller_query(self, id: str) -> None:
        """The first smaller form that still differs, as long as there is one."""
        smaller = True
        while smaller:
            dialect, text = self.history.subscriptions[id]
            smaller = any(
                self._try(subscriptions={**self.history.subscriptions, id: (dialect, candidate)})
                for candidate in _smaller_texts(parse(text, dialect), len(text))
            )


def _smaller_texts(query: Query, length: int) -> Iterator[str]:
    seen = set()
    for candidate in _smaller_forms(query):
        form = valid(candidate)
        if form is not None and len(text := to_text(form)) < length and text not in seen:
            seen.add(text)
            yield text


def _smaller_forms(query: Query) -> Iterator[Query]:
    yield Query(query.dialect, "SELECT", query.where, distinct=query.dialect != "sparql")
    for place, node in places(query):
        if isinstance(node, PATTERNS):
            yield from (put(query, place, inner) for _, inner in places(node) if isinstance(inner, PATTERNS))
        if isinstance(node, tuple):
            yield from (put(query, place, node[:gone] + node[gone + 1 :]) for gone in range(len(node)))
        if dataclasses.is_dataclass(node) and place and place[-1] not in ("where",):
            fields = [getattr(node, field.name) for field in dataclasses.fields(node)]
            yield from (put(query, place, inner) for inner in fields if type(inner) is type(node))
        if isinstance(node, Var):
            yield put(query, place, Var("x"))
