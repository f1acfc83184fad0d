"""The archive under load: how fast what was is run through again, and how little is read to find a few events in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from tidings.bench.spark_world import Made
from tidings.lang import parse
from tidings.ontology import Ontology
from tidings.rdf.event import Event, to_nquads
from tidings.spark import session
from tidings.spark.archive.ask import answers
from tidings.spark.archive.compact import compact
from tidings.spark.archive.find import Finder
from tidings.spark.archive.layout import Archive
from tidings.spark.assembly import Places, assemble
from tidings.spark.figures import Figures
from tidings.spark.history import archived
from tidings.spark.tables import BatchTable
from tidings.spark.versions import Version
from tidings.spark.writing import write_matches

_DOCUMENT = 10_000
_DRAWN = 50_000
"""So many events are drawn; the others are the same under other names, each with a number of its own."""

_SERIAL = "http://tidings.example/serial"
_PATIENCE = 3_600.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query read of the archive, and what it found."""

    what: str
    found: int
    share: float
    """Of all bytes, those that the process read, by the system's own count."""
    seconds: float


@dataclass(frozen=True, slots=True)
class History:
    """Events a second, of the pipeline and of a replay with the same subscriptions."""

    events: int
    subscriptions: int
    pipeline: float
    replay: float
    compacting: float
    bytes: int
    asked: tuple[Asked, ...]


def history(made: Made, root: Path, events: int, tell: Callable[[str], None]) -> History:
    root.mkdir()
    tell(f"{events:,} events as documents")
    _documents(made, root / "in", events)
    index = made.compiled(root / "index")
    tell("the pipeline")
    live = _pipeline(root, index, events)
    spark = session("tidings bench", master="local[2]")
    archive = Archive(str(root / "archive"))
    tell("compacting the archive")
    begin = time.perf_counter()
    compact(spark, archive)
    compacting = time.perf_counter() - begin
    tell("replay")
    begin = time.perf_counter()
    rows = archived(spark, archive.folder)
    write_matches(rows, Version(str(index), bare=True), BatchTable(root / "again"), 0, timed=False)
    again = events / (time.perf_counter() - begin)
    asked = tuple(_asked(archive, what, text) for what, text in _queries(events))
    with Finder(archive) as finder:
        size = finder.touched.bytes
    return History(events, made.count, live, again, compacting, size, asked)


def _documents(made: Made, folder: Path, count: int) -> None:
    folder.mkdir()
    drawn = made.events(min(count, _DRAWN))
    for start in range(0, count, _DOCUMENT):
        these = (
            _numbered(drawn[number % len(drawn)], number) for number in range(start, min(start + _DOCUMENT, count))
        )
        (folder / f"{start:09}.nq").write_bytes(b"".join(map(to_nquads, these)))


def _numbered(event: Event, number: int) -> Event:
    id = f"{event.id}/{number}"
    lines = sorted([*event.body.splitlines(), f'<{id}> <{_SERIAL}> "n{number}" .'])
    return Event(id, "".join(f"{line}\n" for line in lines))


def _pipeline(root: Path, index: Path, events: int) -> float:
    """Events a second, from when the stream is started to when it ends."""
    told: list[Figures] = []
    places = Places(
        str(root / "in"), str(index), str(root / "out"), str(root / "checkpoint"), archive=str(root / "archive")
    )
    spark = session("tidings bench", master="local[2]")
    pipeline, read = assemble(spark, places, Ontology.empty(), {}, max_files=20, compiled=True, listener=told.append)
    begin = time.perf_counter()
    pipeline.start(read, {"availableNow": True})
    if not pipeline.wait(_PATIENCE):
        raise RuntimeError("the pipeline did not come to its end")
    took = time.perf_counter() - begin
    if sum(figures.events for figures in told) != events:
        raise RuntimeError("the pipeline did not read all events")
    return events / took


def _queries(events: int) -> Iterator[tuple[str, str]]:
    number = events // 3
    yield "one event, by a predicate and an object", f'SELECT ?x {{ ?x <{_SERIAL}> "n{number}" }}'
    yield "one event, by its id", ""


def _asked(archive: Archive, what: str, text: str) -> Asked:
    if not text:
        with Finder(archive) as finder:
            first = next(iter(finder.all_events(["event"])))["event"][0].as_py()
        text = f"SELECT * {{ GRAPH <{first}> {{ ?s ?p ?o }} }}"
    query = parse(text, "sparql")
    # What is read once per process, kernels and the like, is no part of it.
    for _ in range(2):
        before, begin = _read_so_far(), time.perf_counter()
        with Finder(archive) as finder:
            found = sum(_matches(rows) for rows in answers(finder, query, Ontology.empty()))
            size = finder.touched.bytes
        took, read = time.perf_counter() - begin, _read_so_far() - before
    return Asked(what, found, read / size, took)


def _matches(rows: pa.RecordBatch) -> int:
    return int(rows.num_rows - rows["event"].null_count)


def _read_so_far() -> int:
    """Bytes that this process has read from files, in the cache or not."""
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith("rchar:"):
            return int(line.split()[1])
    raise RuntimeError("the system does not count what is read")
