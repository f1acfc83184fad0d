"""The base of subscriptions in shards, as the driver makes it: see `versions`.

The plan of the shards is made for the first base, and goes along from one to the next; another number of shards wants
another plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from tidings.index.placing import Placing
from tidings.index.snapshot import write as write_arrays
from tidings.lang import parse, to_text
from tidings.lang.watched import Change
from tidings.match.fast import Fast
from tidings.match.fast.planning import SAMPLE, plan_shards
from tidings.match.fast.sharded import Placer, Sharded, save_routes, shard_name
from tidings.match.fast.times import Times, of_base
from tidings.ontology import Ontology
from tidings.spark.store import Store
from tidings.spark.versions import INDEX, TIMES, Version, apply, of_lines, set_name
from tidings.spark.workers import Opened, open_base, placing_of


def save_base(folder: Path, engine: Fast, times: Times) -> None:
    """Write an index, and from when and until when its subscriptions stand."""
    pairs = times.by_id(engine)
    engine.save(folder / INDEX)
    dated = of_base(engine, pairs)
    if dated.any:
        write_arrays(folder / TIMES, {"created": dated.created, "cancelled": dated.cancelled}, {})


def first_shards(changes: Iterable[Change], shards: int, ontology: Ontology) -> Callable[[Path], None]:
    """Have all these, in their order. What writes them into the folder of a base."""
    every = iter(changes)
    first = list(islice(every, SAMPLE))
    forms = [change.form or parse(change.query, change.dialect) for change in first if change.kind == "put"]
    whole = Sharded(plan_shards(shards, forms, ontology), ontology)
    parts = [Opened(engine, Times()) for engine in whole.engines]
    for change in chain(first, every):
        if change.kind == "put":
            shard = whole.add(change.id, change.form or parse(change.query, change.dialect))
            for number, part in enumerate(parts):
                if number != shard:
                    part.times.gone(change.id)
            parts[shard].times.put(change.id, change.created, change.cancelled)
        else:
            for part in parts:
                apply([change], *part)

    def write(folder: Path) -> None:
        for number, part in enumerate(parts):
            save_base(folder / shard_name(number), *part)
        _save_routes(folder, whole.placing, ontology)

    return write


def shards_again(version: Version, ontology: Ontology, *, renew: bool) -> Callable[[Path], None]:
    """The same shards with the changes of a version, one after the other. What writes them."""

    def write(folder: Path) -> None:
        placing = placing_of(version.folder)
        for number in range(placing.shards):
            part = _brought(version, number, placing)
            if renew:
                part.engine.replace_ontology(ontology)
            save_base(folder / shard_name(number), *part)
        _save_routes(folder, placing, ontology)

    return write


def changes_of(version: Version) -> Iterator[Change]:
    """All that stands in a version, as if it were new: to be placed otherwise."""
    placing = placing_of(version.folder) if version.shards else None
    for number in range(placing.shards) if placing is not None else (None,):
        engine, times = _brought(version, number, placing)
        pairs = times.by_id(engine)
        for id, query in engine.queries():
            created, cancelled = pairs.get(id, (None, None))
            yield Change("put", id, to_text(query), query.dialect, created, cancelled, form=query)


def placer_of(version: Version, ontology: Ontology) -> Placer:
    return Placer(placing_of(version.folder), ontology)


def _brought(version: Version, shard: int | None, placing: Placing | None) -> Opened:
    """A base, or a shard of it, with all changes of a version."""
    store = Store(version.folder)
    place = version.folder if shard is None else store.place(shard_name(shard))
    part = open_base(place, usage=None if placing is None else placing.usage)
    for number in range(1, version.changes + 1):
        apply(of_lines(store.read(set_name(number)), shard), *part)
    return part


def _save_routes(folder: Path, placing: Placing, ontology: Ontology) -> None:
    save_routes(folder, placing, ontology, (folder / shard_name(n) / INDEX for n in range(placing.shards)))
