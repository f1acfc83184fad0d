"""A history of one matcher: subscriptions come and go, it is merged, saved, opened, given another ontology, and asked.

Replayed, it is compared with the oracle at every question. A history is plain data, so that it can be made smaller.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from tests.contract import ways

from tidings.index.names import ALL_BITS
from tidings.lang import parse
from tidings.lang.pattern import Dialect, Query
from tidings.match.base import Failure
from tidings.match.matcher import Matcher
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import XSD_DATETIME, Triple, literal

BUDGET = 20_000
NOW = literal("2016-08-05T20:00:00Z", XSD_DATETIME)
OPTIONS: dict[str, Any] = {"budget": BUDGET, "now": NOW}

_ontology = lru_cache(maxsize=8)(Ontology.of)

Step = tuple[str, ...]
"""("add", id) ("remove", id) ("merge",) ("save",) ("open",) ("ontology", number) ("ask", way)"""
Pair = tuple[str, str]


@dataclass(frozen=True)
class History:
    """What happens to a matcher. The first ontology is there from the start."""

    ontologies: tuple[tuple[Triple, ...], ...]
    subscriptions: Mapping[str, tuple[Dialect, str]]
    events: tuple[Event, ...]
    steps: tuple[Step, ...]
    weak: int = ALL_BITS
    merge_at: int = ways.NEVER

    @cached_property
    def queries(self) -> dict[str, Query]:
        return {id: parse(text, dialect) for id, (dialect, text) in self.subscriptions.items()}


@dataclass(frozen=True)
class Difference:
    """Where `fast` and the oracle part: one subscription on one event, or whatever went wrong."""

    step: int
    about: str
    event: str | None = None
    subscription: str | None = None
    expected: bool | None = None


@dataclass(frozen=True)
class Verdict:
    """What the oracle says under one ontology. Pairs that it has no budget for are nobody's difference."""

    matches: frozenset[Pair]
    undecided: frozenset[Pair]


@dataclass
class Tally:
    """What a replay has gone through."""

    asked: int = 0
    matches: int = 0
    undecided: int = 0


class _Errors(logging.Handler):
    """The errors that are only logged: what goes wrong in a merge that nobody waits for."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))

    def __enter__(self) -> _Errors:
        logging.getLogger("tidings").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("tidings").removeHandler(self)


class Replay:
    """One run of a history, with `fast` on one side and what the oracle says on the other."""

    def __init__(self, history: History, folder: Path, tally: Tally) -> None:
        self._history = history
        self._folder = folder
        self._tally = tally
        self._ontologies = [_ontology(triples) for triples in history.ontologies]
        self._verdicts: dict[int, Verdict] = {}
        self._current = 0
        self._held: set[str] = set()
        self._failed: set[Pair] = set()
        self._saved: tuple[int, set[str]] | None = None
        self._matcher = Matcher(
            "fast",
            self._ontologies[0],
            on_failure=self._note,
            weak=history.weak,
            merge_at=history.merge_at,
            **OPTIONS,
        )

    def run(self) -> Difference | None:
        with _Errors() as logged:
            for number, step in enumerate(self._history.steps):
                try:
                    found = self._ask(number, step[1]) if step[0] == "ask" else self._change(step)
                except Exception:
                    return Difference(number, f"{step}: {traceback.format_exc()}")
                if found is not None:
                    return found
                if logged.texts:
                    return Difference(number, f"{step}, in the log: {logged.texts[0]}")
        return None

    def _note(self, failure: Failure) -> None:
        self._failed.add((failure.event, failure.subscription))

    def _change(self, step: Step) -> None:
        match step:
            case ("add", id) if id not in self._held:
                self._matcher.add(id, self._history.queries[id])
                self._held.add(id)
            case ("remove", id) if id in self._held:
                self._matcher.remove(id)
                self._held.remove(id)
            case ("merge",):
                ways.merge(self._matcher)
            case ("save",):
                self._matcher.save(self._folder)
                self._saved = self._current, set(self._held)
            case ("open",) if self._saved is not None:
                self._current, held = self._saved
                self._held = set(held)
                ontology = self._ontologies[self._current]
                self._matcher = Matcher.open(self._folder, ontology, verify=True, on_failure=self._note, **OPTIONS)
            case ("ontology", number) if int(number) < len(self._ontologies):
                self._current = int(number)
                self._matcher.replace_ontology(self._ontologies[self._current])

    def _ask(self, number: int, way: str) -> Difference | None:
        self._failed.clear()
        verdict = self._verdict()
        asked = ways.ASKS[way](self._matcher, self._history.events)
        found = {(event, id) for event, ids in asked.items() for id in ids}
        expected = {pair for pair in verdict.matches if pair[1] in self._held}
        self._tally.asked += len(self._held) * len(self._history.events)
        self._tally.matches += len(expected)
        self._tally.undecided += len(verdict.undecided)
        wrong = sorted((found ^ expected | self._failed) - verdict.undecided)
        if not wrong:
            return None
        event, id = wrong[0]
        what = "fails" if wrong[0] in self._failed else f"{'matches' if wrong[0] in found else 'does not match'}"
        return Difference(number, f"asked {way}, {id} {what} {event}", event, id, wrong[0] in expected)

    def _verdict(self) -> Verdict:
        """Of all subscriptions at once, held or not: they do not touch each other there."""
        if self._current not in self._verdicts:
            failed: set[Pair] = set()
            oracle = Matcher(
                "naive",
                self._ontologies[self._current],
                on_failure=lambda failure: failed.add((failure.event, failure.subscription)),
                **OPTIONS,
            )
            oracle.add_many(self._history.queries.items())
            asked = ways.objects(oracle, self._history.events)
            matches = frozenset((event, id) for event, ids in asked.items() for id in ids)
            self._verdicts[self._current] = Verdict(matches, frozenset(failed))
        return self._verdicts[self._current]


def replay(history: History, folder: Path, tally: Tally | None = None) -> Difference | None:
    return Replay(history, folder, tally or Tally()).run()
