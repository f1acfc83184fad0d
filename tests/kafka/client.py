"""A client of a broker for the tests: Kafka's own, in Spark's process. It shares nothing with what is tested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from tests.kafka.broker import Broker

_BYTES = "org.apache.kafka.common.serialization.ByteArray"
_SECONDS = 30


class Received(NamedTuple):
    key: str | None
    value: str | None
    headers: Mapping[str, str]


class Client:
    def __init__(self, spark: SparkSession, broker: Broker) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._broker = broker
        self._serializer = {"key.serializer": f"{_BYTES}Serializer", "value.serializer": f"{_BYTES}Serializer"}
        self._producer = self._made()
        self._admin = self._jvm.org.apache.kafka.clients.admin.AdminClient.create(self._servers())

    def create(self, topic: str, partitions: int = 1) -> str:
        """Have a topic; its address."""
        described = self._jvm.org.apache.kafka.clients.admin.NewTopic(topic, partitions, 1)
        self._admin.createTopics([described]).all().get()
        return self._broker.place(topic)

    def grow(self, topic: str, partitions: int) -> None:
        more = self._jvm.org.apache.kafka.clients.admin.NewPartitions.increaseTo(partitions)
        self._admin.createPartitions({topic: more}).all().get()

    def send(
        self,
        topic: str,
        value: str | bytes | None,
        key: str | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        *,
        partition: int | None = None,
        moment: int | None = None,
    ) -> int:
        """The offset it got; `moment` is in milliseconds since 1970."""
        record = self._record(topic, value, key, headers, partition, moment)
        return int(self._producer.send(record).get().offset())

    def send_together(self, topic: str, values: list[str], *, commit: bool) -> None:
        """In a transaction."""
        producer = self._made({"transactional.id": f"{topic}-{commit}"})
        producer.initTransactions()
        producer.beginTransaction()
        for value in values:
            producer.send(self._record(topic, value)).get()
        (producer.commitTransaction if commit else producer.abortTransaction)()
        producer.close()

    def received(self, topic: str) -> list[Received]:
        """All that is there."""
        kinds = {"key.deserializer": f"{_BYTES}Deserializer", "value.deserializer": f"{_BYTES}Deserializer"}
        consumer = self._jvm.org.apache.kafka.clients.consumer.KafkaConsumer(self._servers() | kinds)
        try:
            parts = [
                self._jvm.org.apache.kafka.common.TopicPartition(topic, each.partition())
                for each in consumer.partitionsFor(topic)
            ]
            consumer.assign(parts)
            consumer.seekToBeginning(parts)
            ends, firsts = consumer.endOffsets(parts), consumer.beginningOffsets(parts)
            left = sum(ends.get(part) - firsts.get(part) for part in parts)
            found: list[Received] = []
            while len(found) < left:
                polled = consumer.poll(self._jvm.java.time.Duration.ofSeconds(_SECONDS))
                assert not polled.isEmpty(), "what is there comes"
                records = polled.iterator()
                while records.hasNext():
                    found.append(_received(records.next()))
            return found
        finally:
            consumer.close()

    def _made(self, settings: Mapping[str, str] | None = None) -> Any:
        given = {**self._servers(), **self._serializer, **(settings or {})}
        return self._jvm.org.apache.kafka.clients.producer.KafkaProducer(given)

    def _servers(self) -> dict[str, str]:
        return {"bootstrap.servers": self._broker.server}

    def _record(
        self,
        topic: str,
        value: str | bytes | None,
        key: str | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        partition: int | None = None,
        moment: int | None = None,
    ) -> Any:
        record = self._jvm.org.apache.kafka.clients.producer.ProducerRecord(
            topic, partition, None if moment is None else self._jvm.java.lang.Long(moment), _bytes(key), _bytes(value)
        )
        for name, said in (headers or {}).items():
            record.headers().add(name, _bytes(said))
        return record


def _bytes(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def _received(record: Any) -> Received:
    headers = {each.key(): bytes(each.value()).decode() for each in record.headers().toArray()}
    key, value = (None if each is None else bytes(each).decode() for each in (record.key(), record.value()))
    return Received(key, value, headers)
