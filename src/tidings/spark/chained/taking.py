"""Subscriptions that are conjunctions, out of all that there are: the others are refused, each by name."""

from __future__ import annotations

from collections.abc import Iterator

from tidings.errors import SubscriptionError
from tidings.lang import parse
from tidings.lang.conjunctive import Conjunction, conjunction
from tidings.lang.rows import Report
from tidings.lang.watched import Change, Source, Standing
from tidings.spark.versions import Version
from tidings.spark.workers import opened


class ConjunctiveSource:
    """A source of subscriptions without those that are refused. What had the id of one of these stays."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._told: set[tuple[str, bytes]] = set()

    def changes(self, standing: Standing, report: Report) -> Iterator[Change]:
        for change in self._source.changes(standing, report):
            if change.kind != "put" or self._taken(change, report):
                yield change

    def _taken(self, change: Change, report: Report) -> bool:
        try:
            conjunction(change.form or parse(change.query, change.dialect), change.id)
        except SubscriptionError as error:
            if (change.id, change.digest) not in self._told:
                self._told.add((change.id, change.digest))
                report(error)
            return False
        return True


def conjunctions(version: Version) -> dict[str, Conjunction]:
    """The subscriptions of a version; a `SubscriptionError` where one of them is no conjunction."""
    return {id: conjunction(query, id) for id, query in opened(version).engine.queries()}
