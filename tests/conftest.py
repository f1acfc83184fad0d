"""Settings for every test: generated cases have no deadline, since machines differ, and print how to be repeated."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests import quick_java

# The quick profile takes the same cases every time, so that a red run is about the change; the soak finds new ones.
settings.register_profile(
    "quick", deadline=None, print_blob=True, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("quick"), derandomize=False, max_examples=20_000)
settings.load_profile("soak" if os.environ.get("TIDINGS_SOAK") else "quick")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Make what takes long before the workers begin, so that they need not all do it, nor wait for it within a test."""
    if not hasattr(session.config, "workerinput"):
        from tidings import Matcher

        wait_for_java = quick_java.begin()
        matcher = Matcher()
        matcher.add("one", "SELECT ?s { ?s <e:p> ?o }")
        matcher.match_nquads(b"<e:s> <e:p> <e:o> <e:g> .\n")
        wait_for_java()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no worker is left with it when the others are done."""
    items.sort(key=lambda item: "cluster" not in item.path.parts)
