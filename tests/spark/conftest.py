"""One Spark session for all tests here: it takes long to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tidings.spark import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    running = session("tests", master="local[2]")
    yield running
    running.stop()
