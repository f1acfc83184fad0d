"""The workload of the EventCloud benchmark on disk: events whole and quad by quad, subscriptions compiled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tidings.bench.measure import refuse
from tidings.bench.spark_world import table
from tidings.bench.workloads.eventcloud import Parameters, Workload, generate, quads_of
from tidings.match.fast import Fast
from tidings.match.fast.sharded import Sharded
from tidings.ontology import Ontology

Pairs: TypeAlias = frozenset[tuple[str, str]]
"""Of subscription and event."""


@dataclass(frozen=True, slots=True)
class World:
    """`whole` and `quads` are tables of the same events; `pairs` is what is to be found, as one process finds it."""

    parameters: Parameters
    whole: Path
    quads: Path
    pairs: Pairs
    root: Path
    work: Workload

    @staticmethod
    def of(parameters: Parameters, root: Path, seed: int) -> World:
        work = generate(parameters, seed)
        engine = Fast(Ontology.empty())
        engine.add_many(work.forms())
        engine.save(root / "index")
        found = [match for event in work.events for match in engine.match(event, refuse)]
        pairs = frozenset((match.subscription, match.event) for match in found)
        if len(pairs) != len(work.events):
            raise RuntimeError(f"{len(pairs):,} of {len(work.events):,} events match, each of which is made to")
        whole = table(work.events, root / "whole")
        return World(parameters, whole, table(quads_of(work.events, seed), root / "quads"), pairs, root, work)

    @property
    def index(self) -> Path:
        return self.root / "index"

    def sharded(self, shards: int) -> Path:
        """The subscriptions compiled in so many shards, by the load of some of the events."""
        folder = self.root / f"index-{shards}"
        if not folder.exists():
            bodies = [event.body for event in self.work.events[:1_000]]
            Sharded.of(shards, self.work.forms(), Ontology.empty(), bodies).save(folder)
        return folder
