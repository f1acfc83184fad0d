"""Subscriptions in shards, in this process; and the folder they are kept in.

    shards.json          which of the folders below counts, of how many shards and subscriptions
    made-<random>/       placing.json: where a subscription lives (`index.placing`)
                         router/: which shards an event is sent to
                         shard-<n>/: a compiled index like any other

The folder below is complete before `shards.json` names it, and the ones before are removed after that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import NamedTuple

import pyarrow as pa

from tidings.errors import SnapshotError
from tidings.index.placing import Placing
from tidings.index.routing import Filer, Under
from tidings.index.snapshot import MANIFEST
from tidings.lang.pattern import Query
from tidings.match.fast.engine import Fast
from tidings.match.fast.keeping import open_kept
from tidings.match.fast.planning import SAMPLE, plan_shards
from tidings.match.fast.router import Filed, Router, save_router
from tidings.match.fast.routes import replication
from tidings.ontology import Ontology

SHARDS, PLACING, ROUTER = "shards.json", "placing.json", "router"
_MADE = "made-"
_NO_MERGE = 1 << 62
_FORMAT = 1


def shard_name(number: int) -> str:
    return f"shard-{number}"


class Sharded:
    """Each subscription is in one shard."""

    def __init__(self, placing: Placing, ontology: Ontology) -> None:
        self.placing = placing
        self.ontology = ontology
        self.engines = [Fast(ontology, merge_at=_NO_MERGE, usage=placing.usage) for _ in range(placing.shards)]
        self._placer = Placer(placing, ontology)

    @classmethod
    def of(
        cls,
        shards: int,
        rows: Iterable[tuple[str, Query]],
        ontology: Ontology,
        bodies: Iterable[str] = (),
        total: int | None = None,
    ) -> Sharded:
        """All of these, by a plan that the first of them are the sample for, and the bodies of some events."""
        every = iter(rows)
        first = list(islice(every, SAMPLE))
        placing = plan_shards(shards, [query for _, query in first], ontology, list(bodies), total)
        sharded = cls(placing, ontology)
        for id, query in chain(first, every):
            sharded.add(id, query)
        return sharded

    def __len__(self) -> int:
        return sum(map(len, self.engines))

    def add(self, id: str, query: Query) -> int:
        """Take a subscription in place of one of the same id. Its shard."""
        shard, _ = self._placer.place(id, query)
        for number, engine in enumerate(self.engines):
            if number != shard and id in engine:
                engine.remove(id)
        self.engines[shard].add(id, query)
        return shard

    def remove(self, id: str) -> None:
        for engine in self.engines:
            if id in engine:
                engine.remove(id)

    def replication(self, bodies: Sequence[str]) -> float:
        """To how many shards events of these bodies are sent, on average."""
        router = Router.of(self.ontology, [Filed.of(n, engine.merge()) for n, engine in enumerate(self.engines)])
        return replication(router, len(self.engines), pa.array(bodies, pa.string()))

    def save(self, folder: Path) -> None:
        """Keep them in a folder, in place of what is there."""
        with replacing(folder, self.placing.shards) as made:
            for number, engine in enumerate(self.engines):
                engine.save(made / shard_name(number))
            save_routes(made, self.placing, self.ontology, (made / shard_name(n) for n in range(len(self.engines))))


class Placer:
    """Tells where subscriptions live, and what they are filed under there."""

    def __init__(self, placing: Placing, ontology: Ontology) -> None:
        self._placing = placing
        self._filer = Filer(ontology.resource_classes, placing.usage)

    def place(self, id: str, query: Query) -> tuple[int, Under]:
        under = self._filer.under(query)
        return self._placing.shard(id, under), under


def save_routes(folder: Path, placing: Placing, ontology: Ontology, indices: Iterable[Path]) -> None:
    """Write what belongs to shards whose indices are there, by number."""
    filed = (Filed.of(number, open_kept(index).segment) for number, index in enumerate(indices))
    save_plan(folder, placing, ontology, filed)


def save_plan(folder: Path, placing: Placing, ontology: Ontology, filed: Iterable[Filed]) -> None:
    """The same, of shards of which one knows what is filed."""
    save_router(folder / ROUTER, ontology, filed)
    (folder / PLACING).write_bytes(placing.to_bytes())


# ---------------------------------------------------------------------------------------------------------- the folder


class Kept(NamedTuple):
    """What is in a folder of shards."""

    folder: Path
    shards: int
    subscriptions: int


def is_sharded(folder: Path) -> bool:
    return (folder / SHARDS).is_file()


def open_sharded(folder: Path, ontology: Ontology | None = None, *, verify: bool = False) -> Kept:
    """What is there. An ontology that is named must be theirs; with `verify` all data are read and compared."""
    try:
        said = json.loads((folder / SHARDS).read_bytes())
        known, made = said["format"], folder / str(said["at"])
        kept = Kept(made, int(said["shards"]), int(said["subscriptions"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SnapshotError(folder, f"its {SHARDS} cannot be read: {error}", "compile it again") from error
    if known != _FORMAT or not made.is_dir():
        raise SnapshotError(folder, "its shards are not there, or of another format", "compile it again")
    for number in range(kept.shards):
        index = open_kept(made / shard_name(number), verify=verify)
        if ontology is not None and not index.fits(ontology):
            problem = "it was compiled with another ontology"
            raise SnapshotError(folder, problem, "open it without one, or compile it with this one")
    return kept


def placing_in(folder: Path) -> Placing:
    """Of a folder that has the shards."""
    return Placing.of_bytes((folder / PLACING).read_bytes())


@contextmanager
def replacing(folder: Path, shards: int) -> Iterator[Path]:
    """A folder to write shards into, which takes the place of what is in `folder` in the end, or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{_MADE}{token_hex(16)}"
    made.mkdir()
    try:
        yield made
        _name(folder, made, shards)
    except BaseException:
        rmtree(made, ignore_errors=True)
        raise
    for older in folder.glob(f"{_MADE}*"):
        if older != made:
            rmtree(older, ignore_errors=True)
    _remove_unsharded(folder)


def _name(folder: Path, made: Path, shards: int) -> None:
    beside = folder / f"{SHARDS}.new"
    subscriptions = sum(open_kept(made / shard_name(number)).segment.living() for number in range(shards))
    said = {"format": _FORMAT, "at": made.name, "shards": shards, "subscriptions": subscriptions}
    with open(beside, "wb") as file:
        file.write(json.dumps(said).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, folder / SHARDS)


def _remove_unsharded(folder: Path) -> None:
    """An index without shards that was there before them."""
    (folder / MANIFEST).unlink(missing_ok=True)
    for data in folder.glob("data-*.bin"):
        data.unlink(missing_ok=True)


def remove_sharded(folder: Path) -> None:
    """Shards that were there before an index without them."""
    (folder / SHARDS).unlink(missing_ok=True)
    for made in folder.glob(f"{_MADE}*"):
        rmtree(made, ignore_errors=True)
