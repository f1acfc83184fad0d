"""One broker for all tests here, and the Spark that the tests of it share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from tests.kafka.broker import Broker, running
from tests.kafka.client import Client
from tests.kafka.jars import Absent, jars
from tests.spark.conftest import spark

__all__ = ["spark"]


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    try:
        jars("spark")
        with running(tmp_path_factory.mktemp("kafka")) as started:
            yield started
    except Absent as reason:
        pytest.skip(f"there is no Kafka here: {reason}")


@pytest.fixture(scope="session")
def client(broker: Broker, spark: SparkSession) -> Client:
    return Client(spark, broker)
