"""What was asked of shards and of the archive, and what was measured: on this machine's cores, in one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tidings.bench.history import history
from tidings.bench.report import Row
from tidings.bench.settings import Settings
from tidings.bench.spark_shards import measure
from tidings.bench.spark_world import Made
from tidings.bench.workloads import eventcloud
from tidings.bench.workloads.fast import nanopubs
from tidings.bench.workloads.fast.base import Forms
from tidings.bench.workloads.rtf_paper import corpus
from tidings.match.fast.sharded import Sharded
from tidings.ontology import Ontology
from tidings.rdf.event import Event

_SHARDS = 8
_GIB = 1 << 30
_WORKER = 4 * _GIB
_REPLAY = 0.8
_SHARE = 0.05
_MATCHES = 10


@dataclass(frozen=True, slots=True)
class Sizes:
    subscriptions: int
    events: int
    placed: int
    """Subscriptions of the workloads whose replication is told."""
    routed: int
    archived: int
    new: int
    """Subscriptions that are run over the archive."""


FULL = Sizes(10_000_000, 10_000, 20_000, 2_000, 1_000_000, 1_000)
QUICK = Sizes(20_000, 1_000, 500, 200, 20_000, 100)


def asked(settings: Settings, root: Path) -> Iterator[Row]:
    """The rows of a table: what, asked, measured, verdict, more."""
    sizes = QUICK if settings.quick else FULL
    for what, wanted, measured, held, more in _lines(sizes, settings, root):
        verdict = {True: "held", False: "missed", None: ""}[held]
        yield {
            "what": what,
            "asked": wanted,
            "measured": measured,
            "verdict": "not at full size" if settings.quick and held is not None else verdict,
            "more": more,
        }


def _lines(sizes: Sizes, settings: Settings, root: Path) -> Iterator[tuple[str, str, str, bool | None, str]]:
    settings.tell(f"{sizes.archived:,} events into an archive, and out of it")
    past = history(Made.of(corpus(), sizes.new, _MATCHES, settings.seed), root / "past", sizes.archived, settings.tell)
    yield (
        f"replay of {past.events:,} archived events through {past.subscriptions:,} subscriptions",
        f"at least {_REPLAY} of the pipeline",
        f"{past.replay / past.pipeline:.2f}",
        past.replay >= _REPLAY * past.pipeline,
        f"replay {past.replay:,.0f}, pipeline {past.pipeline:,.0f} events a second; compacting {past.compacting:.0f} s",
    )
    for query in past.asked:
        yield (
            f"a query for {query.what}",
            f"reads less than {_SHARE:.0%} of the bytes",
            f"{query.share:.2%}",
            query.share < _SHARE and query.found == 1,
            f"of {past.bytes / 1e6:,.0f} MB, {query.seconds:.2f} s, {query.found} found",
        )
    for name, forms, ontology, events in _workloads(sizes, settings.seed):
        settings.tell(f"replication: {name}")
        mean = Sharded.of(_SHARDS, forms, ontology, [event.body for event in events]).replication(
            [event.body for event in events]
        )
        yield f"shards that an event is sent to: {name}", "told", f"{mean:.2f} of {_SHARDS}", None, ""
    settings.tell(f"{sizes.subscriptions:,} subscriptions in {_SHARDS} shards")
    found = measure(sizes.subscriptions, _SHARDS, sizes.events, root / "shards")
    most = max([*found.peak_after_compiling, *found.peak_after_matching])
    yield (
        f"{found.subscriptions:,} subscriptions in {_SHARDS} shards, {found.events:,} events",
        f"no worker over {_WORKER // _GIB} GB",
        f"{most / _GIB:.2f} GB",
        most <= _WORKER,
        f"compiled in {found.compile_seconds:,.0f} s to {found.index_bytes / 1e9:.1f} GB, matched in "
        f"{found.match_seconds:,.1f} s, {found.matches:,} matches, {found.replication:.2f} shards an event",
    )


def _workloads(sizes: Sizes, seed: int) -> Iterator[tuple[str, Forms, Ontology, list[Event]]]:
    made = Made.of(corpus(), sizes.placed, _MATCHES, seed)
    yield f"RTF, {sizes.placed:,} subscriptions", made.forms(), made.world.ontology, made.events(sizes.routed)
    published, origin = nanopubs.stream(months=1)
    work = nanopubs.workload("nanopublications", published, origin, sizes.placed, 3, sizes.routed, seed=seed)
    yield f"nanopublications, {sizes.placed:,} subscriptions", work.forms(), work.ontology, list(work.events)
    paths = eventcloud.generate(eventcloud.Parameters(sizes.routed, 60), seed)
    yield "EventCloud, 60 subscriptions", iter(paths.forms()), Ontology.empty(), list(paths.events)
