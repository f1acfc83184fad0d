"""The figures of a batch, and the table of them: one small JSON file each, which says that the batch is done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from tidings.spark.records import Record
from tidings.spark.store import Store, claim

_MOST_FILES = 1_000


@dataclass(frozen=True, slots=True)
class Figures:
    """`lag` is from when the newest event was published, or its file written, to when its notifications were there.

    `put` and `cancelled` are changes of subscriptions that came with the batch, `subscriptions` how many stood then,
    `late` the notifications since the batch before of subscriptions that came after their events.
    Of shards, `replication` is how many of them an event was sent to, on average, and `load` the candidates of each.
    """

    batch: int
    started: str
    events: int
    candidates: int
    matches: int
    rejects: int
    subscriptions: int
    put: int
    cancelled: int
    lag: float | None
    seconds: Mapping[str, float]
    late: int = 0
    replication: float | None = None
    load: Mapping[str, int] | None = None
    chained: Mapping[str, int] | None = None
    """Of events that come in parts: see `chained.figures`."""

    @staticmethod
    def of(
        number: int,
        record: Record,
        events: pa.Table,
        counts: Mapping[str, int],
        rejects: int,
        seconds: Mapping[str, float],
    ) -> Figures:
        """`events` are (event, source, published)."""
        newest = _newest(events)
        lag = None if newest is None else max(0.0, round((datetime.now(UTC) - newest).total_seconds(), 3))
        return Figures(
            batch=number,
            started=record.accepted,
            events=len(events),
            candidates=counts["candidates"],
            matches=counts["matches"],
            rejects=rejects,
            subscriptions=record.standing,
            put=record.put,
            cancelled=record.gone,
            lag=lag,
            seconds={name: round(spent, 4) for name, spent in seconds.items()},
            replication=round(counts["sent"] / max(1, len(events)), 3) if "sent" in counts else None,
            load={name: each for name, each in counts.items() if name.startswith("shard-")} or None,
        )


class FigureTable:
    """A folder that Spark reads with `spark.read.json`."""

    def __init__(self, folder: str) -> None:
        self._store = Store(folder)

    def claim(self, owner: str) -> None:
        claim(self._store, owner, in_use=any(name.endswith(".json") for name in self._store.names()))

    def has(self, batch: int) -> bool:
        return self._store.is_file(_name(batch))

    def last_before(self, batch: int) -> Figures | None:
        names = [name for name in self._store.names() if name.endswith(".json") and name < _name(batch)]
        return Figures(**json.loads(self._store.read(names[-1]))) if names else None

    def write(self, figures: Figures) -> None:
        self._store.write(_name(figures.batch), json.dumps(asdict(figures)).encode() + b"\n")

    def __iter__(self) -> Iterator[Figures]:
        """All that are there, in order."""
        for name in self._store.names():
            if name.endswith(".json"):
                yield Figures(**json.loads(self._store.read(name)))


def _name(batch: int) -> str:
    return f"{batch:010}.json"


def _newest(events: pa.Table) -> datetime | None:
    """When the newest event was published; or its file written, as far as the files are on this machine."""
    if not len(events):
        return None
    published: datetime | None = pc.max(events["published"]).as_py()
    if published is not None:
        return published.astimezone(UTC)
    written = []
    for source in pc.unique(events["source"])[:_MOST_FILES].to_pylist():
        try:
            written.append(Path(source.removeprefix("file://")).stat().st_mtime)
        except (OSError, ValueError):
            continue
    return datetime.fromtimestamp(max(written), UTC) if written else None
