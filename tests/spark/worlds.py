"""Worlds for the tests here: what one process finds in them, and what the pipeline and a batch find."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.dataset as ds
from pyspark.sql import DataFrame, SparkSession

from tidings.errors import OntologyError
from tidings.lang import to_text
from tidings.lang.pattern import Query
from tidings.match.base import Failure
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event, to_nquads
from tidings.rdf.terms import Triple
from tidings.spark import read_document_stream, subscriptions
from tidings.spark.pipeline import Pipeline, Sinks
from tidings.spark.schema import EVENTS
from tidings.spark.stage import bindings_text

Answers = dict[tuple[str, str], Any]


@dataclass(frozen=True)
class World:
    ontology: Ontology
    queries: Mapping[str, Query]
    events: Sequence[Event]

    def answers(self) -> Answers:
        """What the oracle finds: the solutions by subscription and event. What it cannot decide is None."""
        oracle = Naive(self.ontology)
        for id, query in self.queries.items():
            oracle.add(id, query)
        found: Answers = {}

        def undecided(failure: Failure) -> None:
            found[failure.subscription, failure.event] = None

        for event in self.events:
            for match in oracle.match(event, undecided):
                found[match.subscription, match.event] = solutions(bindings_text(match))
        return found

    def rows(self, path: Path) -> Path:
        lines = ({"id": id, "query": to_text(query), "dialect": query.dialect} for id, query in self.queries.items())
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def table(self, spark: SparkSession, partitions: int) -> DataFrame:
        rows = [(event.id, None, event.body, "here") for event in self.events]
        table = spark.createDataFrame(rows, EVENTS)
        return table.coalesce(1) if partitions == 1 else table.repartition(partitions)

    def documents(self, folder: Path, dice: random.Random) -> None:
        """The events in files, some to each."""
        folder.mkdir()
        left, number = list(self.events), 0
        while left:
            size = dice.randint(1, 4)
            (folder / f"{number:04}.nq").write_bytes(b"".join(map(to_nquads, left[:size])))
            left, number = left[size:], number + 1


class Together:
    """Several worlds in one, as far as their ontologies go together: all subscriptions on all events, most of which
    they were not meant for.
    """

    def __init__(self) -> None:
        self._triples: list[Triple] = []
        self._queries: dict[str, Query] = {}
        self.events: dict[str, Event] = {}

    def takes(self, name: str, ontology: Iterable[Triple], queries: Mapping[str, Query], events: list[Event]) -> bool:
        """Whether it could take these in: no event may have the name of another."""
        triples = [*self._triples, *ontology]
        if not self.events.keys().isdisjoint(event.id for event in events):
            return False
        try:
            Ontology.of(triples)
        except OntologyError:
            return False
        self._triples = triples
        self._queries |= {f"{name}/{id}": query for id, query in queries.items()}
        self.events |= {event.id: event for event in events}
        return True

    def world(self) -> World:
        return World(Ontology.of(self._triples), self._queries, list(self.events.values()))


def solutions(text: str) -> Any:
    """As they are compared: rows in any order, what a CONSTRUCT makes as it is."""
    found = json.loads(text)
    rows = found["bindings"] if isinstance(found, dict) else found
    counted = sorted(json.dumps(row, sort_keys=True) for row in rows)
    return (counted, found["construct"]) if isinstance(found, dict) else counted


def found_in(rows: Sequence[Any]) -> Answers:
    """The rows of a table of notifications; the same one twice is an error."""
    found: Answers = {}
    for row in rows:
        assert (row.subscription, row.event) not in found, "a notification is there once"
        found[row.subscription, row.event] = solutions(row.bindings)
    return found


def streamed(spark: SparkSession, world: World, root: Path, dice: random.Random, small: int, *, stops: int) -> Answers:
    """What a pipeline finds, in batches of some files, when it is stopped and started so often."""
    inbox = root / "in"
    world.documents(inbox, dice)
    checkpoint = str(root / "checkpoint")
    sinks = Sinks(*(str(root / name) for name in ("archive", "notifications", "rejected", "figures")))
    files = sorted(inbox.iterdir())
    for path in files:
        path.rename(root / path.name)
    source = world.rows(root / "subscriptions.ndjson")
    for number in range(stops + 1):
        for path in files[number :: stops + 1]:
            (root / path.name).rename(path)
        those = subscriptions(source, folder=f"{checkpoint}/tidings/subscriptions", ontology=world.ontology)
        pipeline = Pipeline(spark, those, sinks, checkpoint, bindings=True, small=small)
        most = dice.randint(max(1, len(files) // 6), len(files) + 1)
        pipeline.start(read_document_stream(spark, inbox, max_files=most), {"availableNow": True})
        assert pipeline.wait(300)
    rows = ds.dataset(sinks.notifications, format="parquet").to_table().to_pylist()
    return found_in([SimpleNamespace(**row) for row in rows])
