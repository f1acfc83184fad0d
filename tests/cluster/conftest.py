"""One cluster for all tests here: it takes long to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.cluster.cluster import Absent, Cluster, running


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    try:
        with running(tmp_path_factory.mktemp("cluster") / "spark") as started:
            yield started
    except Absent as reason:
        pytest.skip(f"there is no cluster here: {reason}")
