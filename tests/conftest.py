"""Settings for every test: generated cases have no deadline, since machines differ, and print how to be repeated."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# The quick profile takes the same cases every time, so that a red run is about the change; the soak finds new ones.
settings.register_profile(
    "quick", deadline=None, print_blob=True, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", settings.get_profile("quick"), derandomize=False, max_examples=20_000)
settings.load_profile("soak" if os.environ.get("TIDINGS_SOAK") else "quick")
