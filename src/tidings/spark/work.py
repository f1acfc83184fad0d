"""What is done with the new events of a batch, in one of two ways: `spread` over the cluster, or `here`, by the driver.

A job costs Spark a good part of a second, however little there is to do. So a small batch, of which the driver has all
it needs, is done by itself: with the same stage that the workers run, and into the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tidings.spark.records import Problem, Record
from tidings.spark.standing import AGAIN, Sorted
from tidings.spark.tables import BatchTable

REJECTS = "kind string, source string, line int, column int, event string, subscription string, reason string"


class Reject(NamedTuple):
    """A row of what was rejected; see `REJECTS`."""

    kind: str
    source: str | None
    line: int | None
    column: int | None
    event: str | None
    subscription: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Tables:
    archive: BatchTable
    notifications: BatchTable
    rejected: BatchTable


@dataclass(frozen=True, slots=True)
class Task:
    """A batch, and what is to be done with it."""

    number: int
    record: Record
    found: Sorted
    tables: Tables
    bindings: bool


class Work(Protocol):
    """Each of these does nothing where it was done before."""

    def archive(self) -> None: ...

    def match(self) -> Mapping[str, int]:
        """Write the notifications. How many candidates there were, matches and failures."""

    def reject(self) -> None:
        """Write what was rejected, of matching too: that comes first."""


def told_by_driver(task: Task) -> list[Reject]:
    """Events that are there already, and subscriptions that could not be taken."""
    conflicts = [Reject("event", source, None, None, id, None, AGAIN % id) for id, source in task.found.conflicts]
    return conflicts + [_subscription(problem) for problem in task.record.problems]


def _subscription(problem: Problem) -> Reject:
    return Reject("subscription", problem.source, problem.line, None, None, problem.subscription, problem.reason)


def failed(event: str | None, subscription: str | None, reason: str) -> Reject:
    """A subscription failed on an event, or the event is none."""
    return Reject("event" if subscription is None else "evaluation", None, None, None, event, subscription, reason)
