"""A process that streams a file through its converter and tells what that took, as a line of JSON:

    python -m tidings.bench.ingest_stream FORMAT FILE

Memory is what the system says of this process, files that it has mapped included.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from tidings.errors import EventError
from tidings.ingest.base import How
from tidings.ingest.read import read_batches
from tidings.ingest.registry import converter

_STATUS = Path("/proc/self/status")
_FIELD = {name: re.compile(rf"^{name}:\s+(\d+) kB$", re.MULTILINE) for name in ("VmRSS", "VmHWM")}
_SAMPLES = 60


def refuse(error: EventError) -> None:
    """End the benchmark: there is nothing wrong with what it made."""
    raise error


def main(format: str, path: str) -> None:
    converter(format)
    size = Path(path).stat().st_size
    base = _memory("VmRSS")
    told: dict[str, object] = {"base": base, "size": size}
    read: list[float] = []
    memory: list[int] = []
    events = body = 0
    wall, cpu = time.perf_counter(), time.process_time()
    with open(path, "rb") as file:
        for batch in read_batches(file, How(), format=format, report=refuse):
            events += batch.num_rows
            body += batch.nbytes
            # Looking costs a tenth of a millisecond: seldom enough not to count.
            if file.tell() * _SAMPLES >= len(memory) * size:
                read.append(file.tell() / 1e6)
                memory.append(_memory("VmRSS"))
    told |= {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "events": events, "body": body}
    print(json.dumps(told | {"peak": _memory("VmHWM"), "read": read, "memory": memory}))


def _memory(name: str) -> int:
    """Bytes; none where the system does not tell."""
    found = _FIELD[name].search(_STATUS.read_text()) if _STATUS.exists() else None
    return int(found[1]) * 1024 if found else 0


if __name__ == "__main__":
    main(*sys.argv[1:])
