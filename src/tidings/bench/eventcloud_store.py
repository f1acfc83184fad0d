"""Events stored without any subscription, by the pipelines themselves: one-step keeps them whole, chained quad by quad.

A round is a batch of a pipeline on a stream of all there is; its time is that of the batch, as the pipeline tells it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from tidings.bench.eventcloud_ways import CHAINED, ONE_STEP, Taken
from tidings.bench.spark_world import table
from tidings.bench.workloads.eventcloud import Parameters, generate, quads_of
from tidings.match.fast import Fast
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.spark.chained.pipeline import ChainedPipeline
from tidings.spark.compiled import Fixed
from tidings.spark.counted import Counted, counted
from tidings.spark.figures import Figures
from tidings.spark.pipeline import Pipeline, Sinks
from tidings.spark.schema import READ

STRATEGIES = (ONE_STEP, CHAINED)
_OPEN = timedelta(hours=1)
"""No event is closed meanwhile."""

_LOOK = 5.0


@dataclass(frozen=True, slots=True)
class Stored:
    """So many events, of so many quads each, and what storing them took, by strategy."""

    parameters: Parameters
    taken: dict[str, Taken]


class Storing:
    def __init__(self, spark: Any, root: Path, seed: int, tell: Callable[[str], None]) -> None:
        self._spark = spark
        self._root = root
        self._seed = seed
        self._tell = tell
        root.mkdir()
        Fast(Ontology.empty()).save(root / "index")

    def stored(self, parameters: Parameters, rounds: int) -> Stored:
        """Round by round, the strategies in turn."""
        place = self._root / f"{parameters.events}"
        events = generate(parameters, self._seed).events
        rows = {
            ONE_STEP: table(events, place / "whole"),
            CHAINED: table(quads_of(events, self._seed), place / "quads"),
        }
        lines = {(event.id, line) for event in events for line in _lines(event)}
        found: dict[str, list[Counted[int]]] = {name: [] for name in rows}
        for number in range(rounds):
            for name in STRATEGIES[:: -1 if number % 2 else 1]:
                self._tell(f"storing {parameters.events:,} events: {name}, round {number + 1} of {rounds}")
                out = place / f"{name}-{number}"
                found[name].append(self._round(name, rows[name], out))
                _check(name, out / "archive", lines)
                shutil.rmtree(out)
        shutil.rmtree(place)
        return Stored(parameters, {name: Taken.of(each) for name, each in found.items()})

    def _round(self, name: str, rows: Path, out: Path) -> Counted[int]:
        told: list[Figures] = []
        sinks = Sinks(
            archive=str(out / "archive"),
            notifications=str(out / "notifications"),
            rejected=str(out / "rejected"),
            figures=str(out / "figures"),
        )
        those, state = Fixed(str(self._root / "index")), str(out / "checkpoint")
        pipeline: Pipeline
        if name == CHAINED:
            pipeline = ChainedPipeline(self._spark, those, sinks, state, timeout=_OPEN, listener=told.append)
        else:
            # However few they are, the driver does not do it alone.
            pipeline = Pipeline(self._spark, those, sinks, state, small=0, listener=told.append)
        read = self._spark.readStream.schema(READ).parquet(str(rows))
        done = counted(self._spark, lambda: _run(pipeline, read))
        if len(told) != 1 or told[0].rejects:
            raise RuntimeError(
                f"storing with {name}: {len(told)} batches, {sum(each.rejects for each in told)} rejects"
            )
        return Counted(told[0].events, told[0].seconds["total"], done.stages, done.moved)


def _run(pipeline: Pipeline, read: Any) -> None:
    pipeline.start(read, {"availableNow": True})
    while not pipeline.wait(_LOOK):
        pass


def _lines(event: Event) -> list[str]:
    return event.body.splitlines()


def _check(name: str, archive: Path, lines: set[tuple[str, str]]) -> None:
    """What is stored is what there was, and nothing twice."""
    rows = ds.dataset(archive, format="parquet").to_table(columns=["event", "body"])
    pairs = zip(rows["event"].to_pylist(), rows["body"].to_pylist(), strict=True)
    found = [(event, line) for event, body in pairs for line in body.splitlines()]
    if len(found) != len(lines) or set(found) != lines:
        raise RuntimeError(f"storing with {name}: {len(found):,} quads are stored of {len(lines):,}")
