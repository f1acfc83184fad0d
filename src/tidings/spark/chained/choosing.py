"""Which subscriptions a task matches with, and when the quads that it has came.

A batch of a stream that is run again has to have the version of the first time. A pipeline writes it down before any
task of the batch runs; a task knows the number of its batch, and reads the record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

from pyspark import TaskContext

from tidings.errors import EngineError

if TYPE_CHECKING:
    from tidings.spark.records import Tell
    from tidings.spark.versions import Version

_BATCH = "streaming.sql.batchId"


class Chosen(NamedTuple):
    version: Version
    accepted: datetime


Choose: TypeAlias = Callable[[int], Chosen]
"""From the time of a batch, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Always:
    """The same version for all batches."""

    version: Version

    def __call__(self, now: int) -> Chosen:
        return Chosen(self.version, datetime.fromtimestamp(now / 1_000, UTC))


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the records in this folder say of the batch that the task belongs to."""

    folder: str

    def __call__(self, now: int) -> Chosen:
        task = TaskContext.get()
        number = None if task is None else task.getLocalProperty(_BATCH)
        if number is None:
            raise EngineError("a task of a stream does not know its batch: this Spark is not one that is supported")
        # The driver starts a process to ask the operator for its state alone: it does without the matcher.
        from tidings.spark.records import Records

        record = Records(self.folder).of(int(number), _missing)
        return Chosen(record.version, record.time)


def _missing(report: Tell) -> NoReturn:
    raise EngineError("the batch has no record: its tasks were run before the pipeline began it")
