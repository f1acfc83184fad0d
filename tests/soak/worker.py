"""What one process of the soak does."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.soak.rounds import run


@dataclass(frozen=True)
class Settings:
    seed: int
    minutes: float
    workers: int
    output: Path
    only: int | None


def work(settings: Settings, place: int, deadline: float, results: Any) -> None:
    """Every so-manyth round until the time is up; one message a round."""
    number = place if settings.only is None else settings.only
    while time.time() < deadline:
        with tempfile.TemporaryDirectory() as folder:
            try:
                results.put(run(settings.seed, number, Path(folder), settings.output, deadline))
            except Exception:
                results.put(
                    (Counter({"errors": 1}), [f"round {number} of seed {settings.seed}: {traceback.format_exc()}"])
                )
        if settings.only is not None:
            return
        number += settings.workers
