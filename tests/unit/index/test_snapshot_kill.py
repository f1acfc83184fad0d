"""Whenever a writer is killed, the folder holds the snapshot from before or the new one, in full."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import ROOT
from tests.unit.index import snapshot_writer
from tests.unit.index.snapshots import assert_same, data_file, names

from tidings.index.snapshot import verify, write

KILLS = 40


class Writer:
    """The process that forks writers; see snapshot_writer.py."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, str(Path(snapshot_writer.__file__)), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            cwd=ROOT,
        )
        self.generation = 0

    def start(self, command: str) -> int:
        """The process that writes now."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n")
        return int(self._line().removeprefix("writer "))

    def end(self) -> str:
        """How the writer ended; what it has done is what it said, and at most one generation more."""
        while (line := self._line()).startswith("done "):
            self.generation = int(line.removeprefix("done "))
        opened = verify(self.folder)
        found = opened.about["generation"]
        assert found in (self.generation, self.generation + 1)
        self.generation = int(str(found))
        assert_same(opened.arrays, snapshot_writer.arrays_of(self.generation))
        return line

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    writer = Writer(tmp_path / "snapshot")
    yield writer
    writer.process.kill()
    writer.process.communicate()


def assert_the_next_write_clears_up(writer: Writer) -> None:
    write(writer.folder, {}, {"last": True})
    assert verify(writer.folder).about == {"last": True}
    assert names(writer.folder) == {"manifest.json", "writer.lock", "data"}
    assert data_file(writer.folder).exists()


def test_killed_at_random_moments(writer: Writer) -> None:
    moments = random.Random(4)
    for _ in range(KILLS):
        process = writer.start("endless")
        time.sleep(moments.uniform(0, 0.1))
        os.kill(process, signal.SIGKILL)
        assert writer.end() == "dead"
    assert writer.generation > 0
    assert_the_next_write_clears_up(writer)


def test_killed_at_every_line(writer: Writer) -> None:
    number = 0
    replaced = []
    ended = "dead"
    while ended == "dead":
        number += 1
        before = writer.generation
        writer.start(f"line {number}")
        ended = writer.end()
        replaced.append(writer.generation > before)
    # Each line was the last one for some writer, until one got through: old, old, …, and from one line on new.
    assert ended == "ended"
    assert number > 50
    assert replaced == sorted(replaced)
    assert replaced.count(True) > 1
    assert_the_next_write_clears_up(writer)
