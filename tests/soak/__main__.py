"""The differential soak: `fast` against the oracle, for as long as there is time. `make soak` runs it, and `recovery`.

    python -m tests.soak [--minutes 30] [--seed N] [--workers 2] [--output build/soak] [--only ROUND]

Everything in a round follows from the seed and the round's number. A difference is made small and written as a case
file; the exit code is then 1. Of what is counted, pairs are a subscription and an event that was put to it in some way,
undecided those that the oracle has no budget for, documents those with mistakes in them, and guarded the cases in which
the oracle itself was compared with brute force.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import queue
import random
import sys
import time
from collections import Counter
from pathlib import Path

from tests.soak.themes import absent
from tests.soak.worker import Settings, work

DEFAULT_MINUTES = float(os.environ.get("TIDINGS_SOAK_MINUTES", "30"))
TOLD_EVERY = 30.0


def arguments() -> Settings:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="fast against the oracle")
    parser.add_argument("--minutes", type=float, default=DEFAULT_MINUTES)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("build/soak"))
    parser.add_argument("--only", type=int, help="this round alone")
    given = parser.parse_args()
    return Settings(given.seed, given.minutes, given.workers, given.output, given.only)


def summary(total: Counter[str], seconds: float) -> str:
    counts = ", ".join(f"{total[name]:,} {name}" for name in SHOWN)
    return f"{seconds / 60:5.1f} min: {counts}"


SHOWN = [
    "rounds",
    "histories",
    "subscriptions",
    "events",
    "pairs",
    "matches",
    "undecided",
    "documents",
    "guarded",
    "differences",
]


def main() -> int:
    settings = arguments()
    print(f"soak: seed {settings.seed}, {settings.minutes:g} minutes, {settings.workers} processes", flush=True)
    for name in absent():
        print(f"without {name}: its data sets are not here; set TIDINGS_DATA to their folder", flush=True)
    start = time.time()
    deadline = math.inf if settings.only is not None else start + settings.minutes * 60
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    count = 1 if settings.only is not None else settings.workers
    workers = [context.Process(target=work, args=(settings, n, deadline, results)) for n in range(count)]
    for worker in workers:
        worker.start()
    total: Counter[str] = Counter()
    problems: list[str] = []
    told = start
    while any(worker.is_alive() for worker in workers) or not results.empty():
        try:
            counts, found = results.get(timeout=1.0)
        except queue.Empty:
            counts, found = Counter(), []
        total += counts
        problems += found
        for problem in found:
            print(problem, flush=True)
        if time.time() - told > TOLD_EVERY:
            told = time.time()
            print(summary(total, told - start), flush=True)
    lost = [worker.exitcode for worker in workers if worker.exitcode]
    print(f"seed {settings.seed}, {summary(total, time.time() - start)}")
    if lost:
        print(f"processes ended with {lost}")
    if problems:
        print(f"case files are in {settings.output.resolve()}")
    return 1 if problems or lost or not total["histories"] else 0


if __name__ == "__main__":
    sys.exit(main())
