"""Memory is that of the largest event, whatever the size of the document. Measured on a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="the peak memory of a process is not known on this system")

SCRIPT = """
import io, resource, sys
from tidings.errors import EventError
from tidings.rdf.limits import Limits
from tidings.rdf.read import read_events

mode, size = sys.argv[1], int(sys.argv[2])
QUAD = b'<http://e.x/thing/%d> <http://e.x/property/%d> "some words that make a literal" <http://e.x/event/%d> .\\n'


class Made(io.RawIOBase):
    '''N-Quads that exist nowhere as a whole.'''

    def __init__(self):
        self.number = self.given = 0
        self.rest = b""

    def read(self, wanted):
        if not self.rest and self.given <= size:
            self.rest = self.more()
        piece, self.rest = self.rest[:wanted], self.rest[wanted:]
        return piece

    def more(self):
        lines = range(self.number, self.number + 2000)
        self.number += 2000
        events = (n // 10 if mode == "stream" else n * 7919 % 20011 for n in lines)
        data = b"".join(QUAD % (n, n % 100, event) for n, event in zip(lines, events))
        self.given += len(data)
        return data


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def fail(error: EventError):
    raise error


list(read_events(Made().more(), format="nq", report=lambda error: None))
before, count = peak(), 0
for event in read_events(Made(), format="nq", group=mode == "group", limits=Limits(spill=4 << 20), report=fail):
    count += 1
print(count, peak() - before)
"""


@pytest.mark.parametrize(("mode", "size", "events"), [("stream", 30_000_000, 20_000), ("group", 15_000_000, 20_000)])
def test_memory_does_not_grow_with_the_document(mode: str, size: int, events: int) -> None:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, mode, str(size)], capture_output=True, text=True, check=True, timeout=300
    )
    count, growth = map(int, run.stdout.split())
    assert count >= events
    assert growth < size // 2
