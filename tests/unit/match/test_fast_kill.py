"""Whenever a process is killed that saves, merges or compiles, the folder holds the index from before or the new one,
and that answers right."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.contract import ways
from tests.support import ROOT
from tests.unit.match import fast_writer

from tidings.match.matcher import Matcher
from tidings.rdf.event import Event
from tidings.rdf.terms import XSD_INTEGER, iri, literal

KILLS = 15
LONGEST = 0.25

EVENTS = [
    Event.of(
        f"urn:event:{number}",
        [
            (iri("http://e.x/s"), iri(f"http://e.x/p{(number * 3 + n) % fast_writer.PROPERTIES}"), value)
            for n, value in enumerate(
                literal(str(v % fast_writer.VALUES), XSD_INTEGER) for v in range(number, number + 3)
            )
        ],
    )
    for number in range(6)
]


class Writer:
    """The process that forks writers; see fast_writer.py."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, str(Path(fast_writer.__file__)), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            cwd=ROOT,
        )
        self.generation = 0
        self.child = 0
        assert self._line() == "ready"

    def start(self, command: str) -> int:
        """The process that writes now."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command} {self.generation}\n")
        self.child = int(self._line().removeprefix("writer "))
        return self.child

    def wait(self) -> None:
        """Until a generation is written."""
        self.generation = int(self._line().removeprefix("done "))

    def end(self) -> str:
        """How the writer ended; what is there is the last generation that it told of, or the one after."""
        while (line := self._line()).startswith("done "):
            self.generation = int(line.removeprefix("done "))
        matcher = Matcher.open(self.folder, verify=True, on_failure=ways.no_failure)
        found = fast_writer.generation_of(matcher, self.generation)
        assert found in (self.generation, self.generation + 1)
        self.generation = found
        assert_right(matcher, found)
        return line

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


def assert_right(matcher: Matcher, generation: int) -> None:
    """The subscriptions of this generation and no others, from objects and from bytes."""
    oracle = Matcher("naive")
    oracle.add_many(fast_writer.texts(generation).items())
    expected = ways.objects(oracle, EVENTS)
    assert len(matcher) == len(oracle)
    assert ways.objects(matcher, EVENTS) == expected
    assert ways.batch(matcher, EVENTS) == expected


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    writer = Writer(tmp_path / "index")
    yield writer
    if writer.child:
        with suppress(ProcessLookupError):
            os.kill(writer.child, signal.SIGKILL)
    writer.process.kill()
    writer.process.communicate()


@pytest.mark.parametrize("command", fast_writer.WRITERS)
def test_killed_at_random_moments(command: str, writer: Writer) -> None:
    moments = random.Random(command)
    for _ in range(KILLS):
        process = writer.start(command)
        time.sleep(moments.uniform(0, LONGEST))
        os.kill(process, signal.SIGKILL)
        assert writer.end() == "dead"
    # However slow the machine is, one of them gets through in the end.
    before = writer.generation
    process = writer.start(command)
    writer.wait()
    os.kill(process, signal.SIGKILL)
    assert writer.end() == "dead"
    assert writer.generation > before
