"""One Spark session for all tests here: it takes long to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tidings.spark.sessions import OURS, session

OPTIONS = "spark.driver.extraJavaOptions"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""What is run once or twice is not worth much compiling."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    running = session("tests", master="local[2]", options={OPTIONS: f"{OURS[OPTIONS]} {QUICK}"})
    yield running
    running.stop()
