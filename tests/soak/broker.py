"""The soak of the broker: a server under load, killed at random moments. `make soak` runs it.

    python -m tests.soak.broker [--kills 200] [--each 10] [--seed N] [--only ROUND] [--output build/soak]

In rounds of so many kills, each with a folder of its own; every fourth has a small database, from which old events go
meanwhile. After each kill what the server says is compared with what it has to say. The folder of a round with a
difference is kept, and the exit code is then 1; `--seed` and `--only` have that round once more.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from functools import partial
from pathlib import Path

from tests.broker.ordeal.run import Load, Ordeal

SHOWN = 20
tell = partial(print, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.broker", description="kills, and what comes of them")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--each", type=int, default=10, help="kills in a round")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--only", type=int, help="the number of the one round to run")
    parser.add_argument("--output", type=Path, default=Path("build/soak"))
    return parser.parse_args()


def main() -> int:
    given = arguments()
    start, killed, failed = time.time(), 0, 0
    tell(f"kills of a broker: seed {given.seed}, {given.kills} kills")
    sizes = [min(given.each, given.kills - done) for done in range(0, given.kills, given.each)]
    for number, size in enumerate(sizes):
        if given.only not in (None, number):
            continue
        folder = (given.output / f"broker-{given.seed}-{number}").resolve()
        shutil.rmtree(folder, ignore_errors=True)
        # There is room for more than comes from one kill to the next: what went before it was looked at cannot be
        # told from what was lost.
        load = Load(keep=1_000_000, least=300, pause=0.0) if number % 4 == 3 else Load()
        problems = Ordeal(folder, given.seed + number, load, lambda text: tell(f"  {text}")).run(size)
        killed += size
        for problem in problems[:SHOWN]:
            tell(problem)
        if problems:
            failed += 1
            tell(f"{len(problems)} problems; everything is in {folder}")
        else:
            shutil.rmtree(folder)
        tell(f"{(time.time() - start) / 60:5.1f} min: {killed} kills, {failed} of {number + 1} rounds failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
