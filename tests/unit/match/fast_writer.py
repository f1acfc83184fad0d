"""A process that keeps snapshots of `fast`, to be killed at it: `python fast_writer.py FOLDER`.

It reads one command a line (`save`, `merge` or `compile`), and forks a child that writes one generation after the other
in that way until somebody kills it. It prints `writer PID`, then `done G` for every generation that was written, then
`dead`. What a generation holds follows from its number.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from tidings.cli import app
from tidings.match.matcher import Matcher

SUBSCRIPTIONS = 120
PROPERTIES = 7
VALUES = 5


def texts(generation: int) -> dict[str, str]:
    """Every subscription changes from one generation to the next, most by what they ask and some by their name."""
    found = {f"generation {generation}": "ASK { ?s ?p ?o }"}
    for number in range(SUBSCRIPTIONS):
        wanted = f"<http://e.x/p{(number + generation) % PROPERTIES}> {number * (generation + 1) % VALUES}"
        id = f"s{number}" if number % 10 else f"s{number} of {generation}"
        found[id] = f"SELECT * {{ ?x {wanted} . OPTIONAL {{ ?x <http://e.x/q> ?y }} }}"
    return found


def generation_of(matcher: Matcher, near: int) -> int:
    (found,) = [g for g in range(max(0, near - 1), near + 2) if f"generation {g}" in matcher]
    return found


# -------------------------------------------------------------------------------------------------------------- writers


def save(folder: Path, generation: int) -> None:
    """A new matcher, saved over what is there."""
    matcher = Matcher()
    matcher.add_many(texts(generation).items())
    matcher.save(folder)


def merge(folder: Path, generation: int) -> None:
    """What is there, changed one by one with merges on the side, and saved over itself."""
    matcher = Matcher.open(folder, merge_at=10)
    new = texts(generation)
    for id in texts(generation - 1):
        matcher.remove(id)
    for id, text in new.items():
        matcher.add(id, text)
    matcher.save(folder)


def compile(folder: Path, generation: int) -> None:
    file = folder.with_suffix(".ndjson")
    rows = [{"id": id, "query": text} for id, text in texts(generation).items()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    try:
        app.main(["compile", str(file), "-o", str(folder), "--quiet"])
    except SystemExit as ended:
        if ended.code:
            raise


WRITERS: dict[str, Callable[[Path, int], None]] = {"save": save, "merge": merge, "compile": compile}


def tell(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def write_on(folder: Path, write: Callable[[Path, int], None], generation: int) -> None:
    while True:
        generation += 1
        write(folder, generation)
        tell(f"done {generation}")


def main() -> None:
    folder = Path(sys.argv[1])
    save(folder, 0)
    tell("ready")
    for line in sys.stdin:
        command, generation = line.split()
        child = os.fork()
        if child == 0:
            tell(f"writer {os.getpid()}")
            try:
                write_on(folder, WRITERS[command], int(generation))
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        _, status = os.waitpid(child, 0)
        tell("dead" if os.WIFSIGNALED(status) else "failed")


if __name__ == "__main__":
    main()
