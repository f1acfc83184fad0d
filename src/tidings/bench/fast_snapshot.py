"""Snapshots: how long one takes to write and to open, and what two processes hold that open the same one.

Run as a module, it is one of these processes: it opens the snapshot, matches, and says what it holds once the other
one has come as far.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tidings.bench.fast_filled import Filled
from tidings.errors import UnsupportedError, UsageError
from tidings.lang import parse
from tidings.match.matcher import Matcher

_PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Seconds, and bytes: of the folder, and what two processes hold together that have opened it, each page of the
    machine's memory counted once (None where the system does not tell)."""

    saving: float
    opening: float
    first_answer: float
    size: int
    together: int | None


def snapshot(filled: Filled, rounds: int) -> Snapshot | None:
    """None where the matcher has no snapshots."""
    save: Callable[[str], object] | None = getattr(filled.matcher, "save", None)
    opener = _opener()
    if save is None or opener is None:
        return None
    with TemporaryDirectory(prefix="tidings-bench-") as folder:
        place = Path(folder, "snapshot")
        begun = time.perf_counter()
        try:
            save(str(place))
        except (UnsupportedError, UsageError):
            return None
        saving = time.perf_counter() - begun
        openings, answers = [], []
        for _ in range(rounds):
            begun = time.perf_counter()
            opened = opener(str(place))
            openings.append(time.perf_counter() - begun)
            found = opened.match_nquads(filled.data).num_rows
            answers.append(time.perf_counter() - begun)
            if found != filled.answers():
                raise RuntimeError(
                    f"{opened.name}: the snapshot gives {found:,} matches, and should {filled.answers():,}"
                )
            del opened
        events = Path(folder, "events.nq")
        events.write_bytes(filled.data)
        size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
        together = _together(filled.matcher.name, place, events)
    return Snapshot(saving, statistics.median(openings), statistics.median(answers), size, together)


def _opener() -> Callable[[str], Matcher] | None:
    return getattr(Matcher, "open", None)


def _together(name: str, folder: Path, events: Path) -> int | None:
    """What the processes hold of the snapshot, and what else they took to answer from it."""
    if not Path("/proc/self/smaps_rollup").exists():
        return None
    command = [sys.executable, "-m", "tidings.bench.fast_snapshot", name, str(folder), str(events)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(_PROCESSES)
    ]
    try:
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()
        for process in running:
            assert process.stdin is not None
            process.stdin.write("tell\n")
            process.stdin.flush()
        # All are alive until the last has told: a page is shared only as long as somebody shares it.
        told = [process.stdout.readline() for process in running if process.stdout is not None]
    finally:
        for process in running:
            process.communicate()
    if not all(told):
        raise RuntimeError("a process that opened the snapshot ended before it told what it holds")
    return sum(map(int, told))


# ------------------------------------------------------------------------------------------------- one of the processes


def main(name: str, folder: str, events: str) -> None:
    data = Path(events).read_bytes()
    warm = Matcher(name)
    warm.add("one", parse("ASK { ?s ?p ?o }"))
    warm.match_nquads(data[: data.index(b"\n") + 1])
    before = _own()
    opener = _opener()
    assert opener is not None
    opened = opener(folder)
    opened.match_nquads(data)
    print("ready", flush=True)
    sys.stdin.readline()
    print(_own() - before + _mapped(folder), flush=True)
    sys.stdin.readline()


def _own() -> int:
    """Bytes that are nobody else's and no file's."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss_Anon:"))


def _mapped(folder: str) -> int:
    """Our share of the pages that are mapped from files in this folder."""
    share, ours = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition(":")
        if name == "Pss":
            share += int(rest.split()[0]) * 1024 if ours else 0
        elif "-" in line.split(" ", 1)[0]:
            ours = folder in line
    return share


if __name__ == "__main__":
    main(*sys.argv[1:])
