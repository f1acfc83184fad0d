"""Have subscriptions that came late know of what was before them, in the tables of a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from tidings.spark.archive.layout import Archive, Before
from tidings.spark.changing import Standings
from tidings.spark.late import Newest, late_notifications, only_new
from tidings.spark.schema import REJECT_ROWS
from tidings.spark.work import Tables, failed


class CatchUp:
    """`tell` gives the notifications of a batch to whoever wants them."""

    def __init__(
        self, subscriptions: Standings, tables: Tables, tell: Callable[[int], None], *, bindings: bool
    ) -> None:
        self._subscriptions = subscriptions
        self._tables = tables
        self._tell = tell
        self._bindings = bindings
        self._newest = Newest()

    def __call__(self, late: Sequence[int], coming: Before) -> int:
        """Tell the subscriptions of these changes of the events before the batch that is the first for them. How many
        notifications that were.
        """
        return sum(self._one(number, coming) for number in late)

    def _one(self, number: int, coming: Before) -> int:
        archive = Archive(self._tables.archive.folder)
        changes, known = self._subscriptions.late(number), self._subscriptions.ontology
        found = late_notifications(changes, known, archive, coming, self._newest, bindings=self._bindings)
        rows = only_new(found.rows, self._tables.notifications, number)
        if len(rows):
            self._tables.notifications.write_here(number, rows)
            self._tell(number)
        if found.failures:
            rejects = [failed(*each)._asdict() for each in found.failures]
            self._tables.rejected.write_here(number, pa.Table.from_pylist(rejects, REJECT_ROWS))
        self._subscriptions.forget(number)
        return len(rows)
