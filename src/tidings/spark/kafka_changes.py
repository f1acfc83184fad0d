"""Changes of subscriptions from a topic of Kafka: a log, see `lang.watched`.

A message has one or more rows of JSON, each a change; one without a value cancels the subscription that is its key.
Those about one subscription have to be in one partition, as they are where its id is the key.

How far one is, is kept with the subscriptions themselves, so that a message is taken once. A look asks the brokers how
far the topic goes; there is a job only where something is new.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidings.errors import SubscriptionError, UsageError
from tidings.lang.rows import Report, Row, row_of_json
from tidings.lang.watched import Change, Standing, changes_of_log
from tidings.spark.kafka import Topic, need_package

_MOST = 100_000
"""So many messages of a partition are in the driver's memory at a time."""


class Part(NamedTuple):
    """Offsets of a partition, from the first one to the last one and one more."""

    first: int
    end: int


class TopicSource:
    """The changes of a topic."""

    def __init__(self, spark: SparkSession, topic: Topic) -> None:
        need_package(spark, topic)
        self._spark = spark
        self._topic = topic
        self._ends = Ends(spark, topic)

    def changes(self, standing: Standing, report: Report) -> Iterator[Change]:
        """What is new. Where the brokers do not answer this is a `ConnectionError`, and not taken for nothing new."""
        there = self._ends.now()
        taken = self._taken(standing)
        left = {number: self._left(number, part, taken.get(number), report) for number, part in there.items()}
        while left := {number: part for number, part in left.items() if part.first < part.end}:
            upto = {number: Part(part.first, min(part.end, part.first + _MOST)) for number, part in left.items()}
            yield from self._read(upto, report)
            left = {number: Part(upto[number].end, part.end) for number, part in left.items()}
        # At the very end: whoever comes to grief before has taken nothing.
        for number, part in there.items():
            if taken.get(number) != part.end:
                yield Change("taken", f"{self._topic.name}#{number}@{part.end}")

    def _taken(self, standing: Standing) -> Mapping[int, int]:
        """How far one is in each partition. What older looks said of that is forgotten."""
        pattern = re.compile(rf"{re.escape(self._topic.name)}#(\d+)@(\d+)")
        ends: dict[int, int] = {}
        said = [match for name in standing.taken if (match := pattern.fullmatch(name))]
        for match in said:
            ends[int(match[1])] = max(ends.get(int(match[1]), 0), int(match[2]))
        standing.taken.difference_update(match[0] for match in said if int(match[2]) < ends[int(match[1])])
        return ends

    def _left(self, number: int, there: Part, taken: int | None, report: Report) -> Part:
        """What is still to be taken of a partition."""
        if taken is None:
            return there
        place = f"{self._topic.place}#{number}"
        if taken > there.end:
            raise UsageError(
                f"{place} ends at offset {there.end}, and {taken} were taken: is it another topic of the same name? "
                "Begin with a new checkpoint, or name the old one"
            )
        if taken < there.first:
            lost = f"the changes from offset {taken} to {there.first - 1} were deleted before they were taken"
            report(SubscriptionError(lost, source=place))
        return Part(max(taken, there.first), there.end)

    def _read(self, parts: Mapping[int, Part], report: Report) -> Iterator[Change]:
        name = self._topic.name
        firsts, ends = ({str(number): part[at] for number, part in parts.items()} for at in (0, 1))
        reader = self._topic.to_read(self._spark.read).option("assign", json.dumps({name: list(parts)}))
        reader = reader.option("startingOffsets", json.dumps({name: firsts}))
        reader = reader.option("endingOffsets", json.dumps({name: ends}))
        try:
            table = reader.load().select("partition", "offset", "key", "value").toArrow()
        except (Py4JJavaError, PySparkException) as error:
            raise ConnectionError(f"{self._topic.place} cannot be read: {str(error).splitlines()[0]}") from error
        for batch in table.sort_by([("partition", "ascending"), ("offset", "ascending")]).to_batches():
            for number, offset, key, value in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                source = f"{self._topic.place}#{number}@{offset}"
                if value is None:
                    yield from _cancelled(key, source, report)
                else:
                    yield from changes_of_log(_rows(value, source, report), report)


def _cancelled(key: bytes | None, source: str, report: Report) -> Iterator[Change]:
    try:
        if not key:
            raise SubscriptionError("the message has no value, and no key that says what is cancelled", source=source)
        yield Change("gone", key.decode())
    except UnicodeDecodeError as error:
        report(SubscriptionError(f"the key is not UTF-8: byte 0x{error.object[error.start]:02X}", source=source))
    except SubscriptionError as error:
        report(error)


def _rows(value: bytes, source: str, report: Report) -> Iterator[Row]:
    for number, line in enumerate(value.split(b"\n"), 1):
        if line.strip():
            try:
                yield row_of_json(line, source, number)
            except SubscriptionError as error:
                report(error)


class Ends:
    """How far a topic goes, as its brokers say, through Kafka's own client in Spark's process."""

    def __init__(self, spark: SparkSession, topic: Topic) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._kafka = jvm.org.apache.kafka
        self._maps = jvm.java.util.HashMap
        self._topic = topic
        self._client: Any = None

    def now(self) -> Mapping[int, Part]:
        """The partitions by number. What is in a transaction that is not done yet does not count."""
        try:
            if self._client is None:
                self._client = self._kafka.clients.admin.AdminClient.create(self._topic.for_clients())
            described = self._client.describeTopics([self._topic.name]).allTopicNames().get()
            numbers = sorted(each.partition() for each in described.get(self._topic.name).partitions())
            spec = self._kafka.clients.admin.OffsetSpec
            firsts, ends = self._offsets(numbers, spec.earliest()), self._offsets(numbers, spec.latest())
        except Py4JJavaError as error:
            raise ConnectionError(f"{self._topic.place}: {_cause(error)}") from error
        return {number: Part(first, end) for number, first, end in zip(numbers, firsts, ends, strict=True)}

    def _offsets(self, numbers: list[int], spec: Any) -> list[int]:
        places = [self._kafka.common.TopicPartition(self._topic.name, number) for number in numbers]
        asked = self._maps()
        for place in places:
            asked.put(place, spec)
        level = self._kafka.common.IsolationLevel.READ_COMMITTED
        answer = self._client.listOffsets(asked, self._kafka.clients.admin.ListOffsetsOptions(level)).all().get()
        return [int(answer.get(place).offset()) for place in places]


def _cause(error: Py4JJavaError) -> str:
    """The innermost reason that Java gives."""
    reason = error.java_exception
    while reason.getCause() is not None:
        reason = reason.getCause()
    return str(reason.toString())
