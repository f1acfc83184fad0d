"""The workload of the Spark benchmark on disk: subscriptions as rows and compiled, events as a table of rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.bench.workloads.fast import rtf
from tidings.bench.workloads.fast.base import Forms
from tidings.bench.workloads.rtf_paper import Corpus
from tidings.lang import to_text
from tidings.match.fast import Fast
from tidings.rdf.event import Event, to_nquads

_SAMPLE = 2_000
_FILES = 8
_COLUMNS = pa.schema(
    [("event", pa.string()), ("published", pa.timestamp("us", "UTC")), ("body", pa.string()), ("source", pa.string())]
)


@dataclass(frozen=True, slots=True)
class Made:
    """RTF's world: `forms` are the subscriptions, drawn so that about `matches` of `count` match an event."""

    world: rtf.World
    count: int
    matches: float
    seed: int
    skew: float

    @staticmethod
    def of(source: Corpus, count: int, matches: float, seed: int) -> Made:
        world = rtf.flat(source)
        sample = rtf.publications(world, _SAMPLE, seed=seed)
        return Made(world, count, matches, seed, rtf.solve(world, matches / count, sample))

    def forms(self, count: int | None = None, seed: int | None = None) -> Forms:
        drawn = rtf.subscriptions(self.world, count or self.count, self.skew, seed=seed or self.seed)
        return ((f"s{number:07}", query) for number, query in enumerate(drawn))

    def compiled(self, folder: Path) -> Path:
        engine = Fast(self.world.ontology)
        engine.add_many(self.forms())
        engine.save(folder)
        return folder

    def rows(self, path: Path, changed: int = 0) -> Path:
        """The subscriptions as NDJSON; so many of the first ones are others than they were."""
        beside = path.with_suffix(".new")
        others = self.forms(changed, self.seed + 1) if changed else iter(())
        with beside.open("w", encoding="utf-8") as file:
            for id, query in self.forms():
                _, other = next(others, (id, query))
                file.write(json.dumps({"id": id, "query": to_text(other)}, ensure_ascii=False) + "\n")
        return beside.rename(path)

    def events(self, count: int) -> list[Event]:
        return rtf.publications(self.world, count, seed=self.seed)


def table(events: Sequence[Event], folder: Path) -> Path:
    """The events as Parquet, in some files of equal size."""
    folder.mkdir(parents=True)
    each = -(-len(events) // _FILES)
    for number in range(_FILES):
        part = events[number * each : (number + 1) * each]
        columns = [[e.id for e in part], [None] * len(part), [e.body for e in part], ["bench"] * len(part)]
        pq.write_table(pa.table(columns, schema=_COLUMNS), folder / f"{number}.parquet")
    return folder


def documents(events: Sequence[Event], size: int) -> Iterator[bytes]:
    """The events as N-Quads, so many to a document."""
    for start in range(0, len(events), size):
        yield b"".join(map(to_nquads, events[start : start + size]))
