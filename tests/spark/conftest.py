"""One Spark session for all tests here, and those of Kafka: it takes long to start."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from tests.kafka.jars import Absent, jars
from tests.support import ROOT

from tidings.spark.sessions import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    # The daemon is found there, and the workers have what is tested here, whatever is installed.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    options = {"spark.python.daemon.module": "tests.spark.daemon", **_kafka()}
    running = session("tests", master="local[2]", options=options)
    yield running
    running.stop()


def _kafka() -> dict[str, str]:
    """What Spark needs for Kafka, where it can be had: a session that has begun cannot be given it."""
    try:
        return {"spark.jars": ",".join(map(str, jars("spark")))}
    except Absent:
        return {}
