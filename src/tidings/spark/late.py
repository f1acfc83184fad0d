"""Subscriptions that come after events they should have been told of: these are matched with the archive, once.

A subscription that says when it was created stands from that moment on, whenever it arrives: an event that was
published since may be in the archive already. One that is `retroactive` asks for the archive, from a moment on.

Changes that bring such ones are noted under a number before they count (`changing`). When they do, which is from some
batch on, the events before that batch are looked at, and what is found is written as a batch of its own under that
number: again as a whole and once. It is a time in milliseconds, so that Spark's own batches never get there. What the
same subscription was told when it stood earlier is not told again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidings.delivery.notification import notification_ids
from tidings.lang.watched import Change, is_late
from tidings.match.fast import Fast
from tidings.match.fast.times import Times
from tidings.ontology import Ontology
from tidings.spark.archive.find import Finder
from tidings.spark.archive.layout import Archive, Before, File, Span
from tidings.spark.schema import NOTIFICATION_ROWS
from tidings.spark.stage import matched
from tidings.spark.store import Store
from tidings.spark.tables import BatchTable
from tidings.spark.versions import apply
from tidings.spark.workers import Opened
from tidings.spark.writing import Failure

_COLUMNS = ["event", "published", "accepted", "body"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Told(NamedTuple):
    """The notifications of late subscriptions, and what failed."""

    rows: pa.Table
    failures: Sequence[Failure]


@dataclass(frozen=True)
class _Group:
    """Subscriptions that look at the same stretch of time."""

    those: Opened
    span: Span
    dated: bool
    """Only events count that say when they were published."""


class Newest:
    """When the newest event of a file was published, for all files that were looked at: none of them gets newer."""

    def __init__(self) -> None:
        self._known: dict[str, datetime | None] = {}

    def is_before(self, finder: Finder, file: File, moment: datetime) -> bool:
        """Whether all its events that say so were published before this moment."""
        if file.name not in self._known:
            self._known[file.name] = finder.newest(file)
        newest = self._known[file.name]
        return newest is not None and newest < moment


def late_notifications(
    changes: Sequence[Change], ontology: Ontology, archive: Archive, before: Before, newest: Newest, *, bindings: bool
) -> Told:
    """What the subscriptions put by these changes are to be told of the events before a batch."""
    tables: list[pa.Table] = []
    failures: list[Failure] = []
    for group in _groups(changes, ontology):
        with Finder(archive, group.span) as finder:
            events = _events(finder, before, newest if group.dated else None)
            for hits in matched(group.those, events, bindings=bindings):
                wrong = hits.filter(pc.is_valid(hits["reason"]))
                failures += zip(*(wrong[name].to_pylist() for name in ("event", "subscription", "reason")), strict=True)
                good = hits.filter(pc.and_(pc.is_valid(hits["subscription"]), pc.is_null(hits["reason"])))
                if good.num_rows:
                    tables.append(_notifications(good))
    return Told(pa.concat_tables([NOTIFICATION_ROWS.empty_table(), *tables]), failures)


def _groups(changes: Sequence[Change], ontology: Ontology) -> Iterator[_Group]:
    """What was put last under an id counts, and when it ended."""
    by_span: defaultdict[tuple[int | None, int | None], set[str]] = defaultdict(set)
    since: dict[str, int] = {}
    last = {change.id: change for change in changes if change.kind == "put"}
    ends = {change.id: change.cancelled for change in changes if change.kind in ("put", "end")}
    for change in filter(is_late, last.values()):
        if change.retroactive is not None:
            by_span[change.retroactive, ends[change.id]].add(change.id)
        else:
            assert change.created is not None
            since[change.id] = change.created
    for bounds, ids in by_span.items():
        yield _Group(_opened(changes, ids, ontology, timed=False), Span(*map(_moment, bounds)), dated=False)
    if since:
        first = _moment(min(since.values()))
        yield _Group(_opened(changes, set(since), ontology, timed=True), Span(first, None), dated=True)


def _opened(changes: Sequence[Change], ids: set[str], ontology: Ontology, *, timed: bool) -> Opened:
    engine, times = Fast(ontology), Times()
    apply((change for change in changes if change.id in ids), engine, times)
    return Opened(engine, times if timed else Times())


def _moment(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def _events(finder: Finder, before: Before, newest: Newest | None) -> Iterator[pa.RecordBatch]:
    """With `newest`, only of those that say when they were published."""
    since = finder.span.since
    for file in finder.files(before):
        if newest is not None and since is not None and newest.is_before(finder, file, since):
            continue
        for table in finder.events_of(file, _COLUMNS, before):
            rows = table if newest is None else table.filter(pc.is_valid(table["published"]))
            yield from rows.combine_chunks().to_batches()


def _notifications(hits: pa.RecordBatch) -> pa.Table:
    ids = notification_ids(hits["subscription"].to_pylist(), hits["event"].to_pylist())
    columns = [pa.array(ids, pa.string()), *(hits[name] for name in NOTIFICATION_ROWS.names[1:])]
    return pa.table(columns, schema=NOTIFICATION_ROWS)


def only_new(rows: pa.Table, told: BatchTable, own: int) -> pa.Table:
    """Less those that are in a table already, in another batch than their own; and each once."""
    wanted = set(rows["notification"].to_pylist())
    before: set[str] = set()
    for number in told.batches() if wanted else ():
        if number != own:
            before |= _ids(told, number) & wanted
    fresh: list[int] = []
    for place, id in enumerate(rows["notification"].to_pylist()):
        if id not in before:
            before.add(id)
            fresh.append(place)
    return rows.take(pa.array(fresh, pa.int64()))


def _ids(table: BatchTable, batch: int) -> set[str]:
    store = Store(table.place(batch))
    found: set[str] = set()
    for name in store.names():
        if name.endswith(".parquet"):
            place, files = store.opened(name)
            found.update(pq.read_table(place, filesystem=files, columns=["notification"])["notification"].to_pylist())
    return found
