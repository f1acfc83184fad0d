"""The recovery soak: a pipeline on a cluster, with kills at random moments. `make soak` runs it.

    python -m tests.soak.recovery [--way one-step] [--kills 50] [--seed N] [--output build/soak]

So many executors, Python workers and drivers are killed while a batch is under way, a few in each round; then what the
pipeline has written is compared with what one process finds. The folder of a round with a difference is kept, and the
exit code is then 1. Every second round has two executors instead of one.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests import quick_java
from tests.cluster.cluster import Absent, running
from tests.cluster.kills import KINDS, Ordeal
from tests.cluster.ways import Parts, Sharded
from tests.cluster.world import World

EACH_ROUND = 5
SHOWN = 20
WAYS = {"one-step": World, "shards": Sharded, "chained": Parts}
tell = partial(print, flush=True)


class Settings(NamedTuple):
    way: str
    kills: int
    seed: int
    output: Path


def arguments() -> Settings:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.recovery", description="kills, and what comes of them")
    parser.add_argument("--way", choices=WAYS, default="one-step")
    parser.add_argument("--kills", type=int, default=50, help="of each kind")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--output", type=Path, default=Path("build/soak"))
    given = parser.parse_args()
    return Settings(given.way, given.kills, given.seed, given.output)


def one_round(way: str, folder: Path, seed: int, kills: int, executors: int) -> tuple[Counter[str], list[str]]:
    """The kills that landed, and what is wrong then."""
    with running(folder / "spark", executors=executors) as cluster:
        world = WAYS[way](folder / "world", seed)
        ordeal = Ordeal(cluster, world, seed, kills, lambda text: tell(f"  {text}"))
        try:
            ordeal.run()
        except AssertionError as error:
            return ordeal.landed, [str(error)]
    return ordeal.landed, list(world.differences())


def main() -> int:
    settings = arguments()
    quick_java.begin()()
    start, landed, failed = time.time(), Counter[str](), 0
    tell(f"recovery of {settings.way}: seed {settings.seed}, {settings.kills} kills of each kind")
    sizes = [min(EACH_ROUND, settings.kills - done) for done in range(0, settings.kills, EACH_ROUND)]
    for number, size in enumerate(sizes):
        folder = (settings.output / f"recovery-{settings.seed}-{number}").resolve()
        shutil.rmtree(folder, ignore_errors=True)
        try:
            kills, problems = one_round(settings.way, folder, settings.seed + number, size, executors=1 + number % 2)
        except Absent as reason:
            tell(f"there is no cluster here: {reason}")
            return 2
        landed += kills
        for problem in problems[:SHOWN]:
            tell(problem)
        if problems:
            failed += 1
            tell(f"{len(problems)} differences; everything is in {folder}")
        else:
            shutil.rmtree(folder)
        tell(f"{(time.time() - start) / 60:5.1f} min: {_counts(landed)}, {failed} of {number + 1} rounds failed")
    return 1 if failed or landed != dict.fromkeys(KINDS, settings.kills) else 0


def _counts(landed: Counter[str]) -> str:
    return ", ".join(f"{landed[kind]} {kind}s" for kind in KINDS) + " killed"


if __name__ == "__main__":
    sys.exit(main())
