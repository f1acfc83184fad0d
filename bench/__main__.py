"""`python -m bench` runs every benchmark, `python -m bench parsing` one; `--quick` at a hundredth of the size."""

from __future__ import annotations

import argparse

from bench import parsing
from bench.report import keep, show

BENCHMARKS = {"parsing": parsing.run}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; all if none is given"
    )
    options.add_argument("--quick", action="store_true", help="a hundredth of the size, to try things out; not kept")
    chosen = options.parse_args()
    unknown = [name for name in chosen.names if name not in BENCHMARKS]
    if unknown:
        options.error(f"no benchmark is called {unknown[0]}; there are {', '.join(BENCHMARKS)}")
    for name in chosen.names or BENCHMARKS:
        report = BENCHMARKS[name](0.01 if chosen.quick else 1.0)
        show(report)
        if not chosen.quick:
            print(f"kept in {keep(report)}")


if __name__ == "__main__":
    main()
