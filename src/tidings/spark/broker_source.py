"""`format("tidings-log")`: the log of a broker as a stream of events, in the order in which it accepted them.

An offset is the place of an event in the log; one that is new begins where all has been matched. The `source` of an
event is its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tidings.rdf.cloudevents import moment_of
from tidings.spark.broker_client import Broker, Logged, Refused, Remote
from tidings.spark.schema import READ, READ_ROWS

Offset: TypeAlias = dict[str, Any]

FORMAT = "tidings-log"
_WAIT = 0.5
"""Seconds for which the broker is asked to hold its answer while there is nothing new."""

_SHORTLY = 1.0
_STRETCH = 5_000
_ROWS = 1_000


class BrokerSource(DataSource):
    """The options are `url`, `token` and `maxEvents`, the most in a batch."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return READ

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return LogReader(Broker(self.options["url"], self.options.get("token")), int(self.options["maxEvents"]))


class Stretch(InputPartition):
    """The events behind a place, up to another one."""

    def __init__(self, after: int, upto: int) -> None:
        self.after = after
        self.upto = upto


class LogReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, broker: Broker, most: int) -> None:
        self._broker = broker
        self._most = most
        self._target: int | None = None

    def initialOffset(self) -> Offset:
        return {"place": Remote(self._broker).marks().matched}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._most)

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = Remote(self._broker).marks().last

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        place = int(start["place"])
        last = self._last(place)
        if not isinstance(limit, ReadAllAvailable):
            last = min(last, place + self._most)
        return {"place": max(last, place)}

    def _last(self, place: int) -> int:
        if self._target is not None:
            return self._target
        try:
            marks = Remote(self._broker, _SHORTLY).marks(place, _WAIT)
        except Refused:
            raise
        except ConnectionError:
            # It will be there again; until then there is nothing new.
            return place
        if marks.last < place:
            raise ValueError(
                f"the log of the broker ends at {marks.last}, and {place} events of it were taken: is it another "
                "broker, or was it restored? Begin with a new checkpoint"
            )
        return marks.last

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        # What has been matched meanwhile, by whomever, need not be matched again.
        first = max(int(start["place"]), Remote(self._broker).marks().matched)
        last = int(end["place"])
        return [Stretch(place, min(place + _STRETCH, last)) for place in range(first, last, _STRETCH)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Stretch)
        events = Remote(self._broker).events(partition.after, partition.upto)
        while some := list(islice(events, _ROWS)):
            yield _rows(some)


def _rows(events: Sequence[Logged]) -> pa.RecordBatch:
    size = len(events)
    columns: list[pa.Array] = [
        pa.array([each.id for each in events], pa.string()),
        pa.array([moment_of(each.published) if each.published else None for each in events], READ_ROWS.types[1]),
        pa.array([each.body for each in events], pa.string()),
        pa.array([str(each.place) for each in events], pa.string()),
        *(pa.nulls(size, kind) for kind in READ_ROWS.types[4:]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=READ_ROWS)
