"""What Spark did while something was done: its stages, and the bytes that went from task to task, as Spark tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

T = TypeVar("T")

_RUN = "COMPLETE"


@dataclass(frozen=True, slots=True)
class Counted(Generic[T]):
    """What came of it; the seconds it took; the stages that were run, and the bytes that these wrote for others.

    Bytes are those that were written, which are compressed.
    """

    result: T
    seconds: float
    stages: int
    moved: int


def counted(spark: SparkSession, work: Callable[[], T]) -> Counted[T]:
    """Do some work, while the session does nothing else."""
    inside: Any = spark.sparkContext._jsc.sc()
    first = int(inside.dagScheduler().nextStageId())
    begun = perf_counter()
    result = work()
    seconds = perf_counter() - begun
    inside.listenerBus().waitUntilEmpty()
    run = list(_moved(inside.statusStore(), range(first, int(inside.dagScheduler().nextStageId()))))
    return Counted(result, seconds, len(run), sum(run))


def _moved(store: Any, stages: Iterable[int]) -> Iterator[int]:
    """What each of these stages wrote for others, if it was run; some are skipped, or given up before they begin."""
    for number in stages:
        with suppress(Py4JJavaError):
            stage = store.lastStageAttempt(number)
            if stage.status().toString() == _RUN:
                yield int(stage.shuffleWriteBytes())
