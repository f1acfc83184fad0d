"""A session has the executors that it asks for, each a process; and what they do is counted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.support import IN_SOAK

pytestmark = IN_SOAK
# A process can have one session, and the one of the tests may have another.
SCRIPT = """
import json, os, sys, time
from tidings.spark.counted import counted
from tidings.spark.standalone import executors

def pids(batches):
    import pyarrow as pa
    for batch in batches:
        time.sleep(0.5)
        yield pa.record_batch([pa.array([os.getppid()] * batch.num_rows)], names=["pid"])

with executors(sys.argv[1], 2) as spark:
    rows = spark.range(0, 8, 1, 8).mapInArrow(pids, "pid long")
    found = counted(spark, lambda: len(rows.distinct().collect()))
    still = counted(spark, lambda: spark.range(10).count())
    print(json.dumps([found.result, found.stages, found.moved, still.result]))
"""


def test_so_many_executors_are_so_many_processes(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "session.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "session.py"), cluster.url]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    processes, stages, moved, rows = json.loads(ran.stdout.splitlines()[-1])
    assert (processes, rows) == (2, 10)
    assert stages == 2
    assert moved > 0
