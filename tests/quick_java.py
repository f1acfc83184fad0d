"""Java that starts in half the time: its classes, and those of Spark, are read and checked once for all tests.

Tests start some forty Javas. What a first one has loaded is written into an archive which the others map; where that
cannot be had, they start as they always do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from tests.support import ROOT
from tidings.errors import UsageError
from tidings.spark.java import OPTIONS, QUICK_TO_START, java_home, quiet_home

_SILENT = "-Xshare:auto -Xlog:disable -Xlog:all=error:stderr"
_PATIENCE = 180.0


def begin() -> Callable[[], None]:
    """Have the archive made, if there is none, while other things are done; what is given back waits for it."""
    os.environ[OPTIONS] = QUICK_TO_START
    folder = ROOT / "build" / "java"
    maker = None
    if find_spec("pyspark") and not _ready(folder):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / "made.log").open("wb") as log:
                # The kernels are being compiled elsewhere.
                environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
                command = [sys.executable, "-m", "tests.quick_java", str(folder)]
                maker = subprocess.Popen(
                    command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
                )

    def wait() -> None:
        if maker is not None:
            try:
                maker.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                maker.kill()
        if find_spec("pyspark") and _ready(folder):
            os.environ[OPTIONS] = f"{_use(folder)} {QUICK_TO_START}"

    return wait


def _ready(folder: Path) -> bool:
    with suppress(OSError, UsageError):
        return (folder / "of").read_text() == _of()
    return False


def _of() -> str:
    """What the archive is of: another Java, or another Spark, needs another."""
    import pyspark

    jars = sorted((jar.name, jar.stat().st_mtime_ns) for jar in (Path(pyspark.__file__).parent / "jars").iterdir())
    java = (Path(java_home()) / "bin" / "java").resolve()
    return sha256(repr((jars, str(java), java.stat().st_mtime_ns)).encode()).hexdigest()


def _use(folder: Path) -> str:
    return f"-XX:SharedArchiveFile={folder / 'base.jsa'}:{folder / 'spark.jsa'} {_SILENT}"


def _make(folder: Path) -> None:
    base, top, of = folder / "base.jsa", folder / "spark.jsa", _of()
    for old in (folder / "of", base, top):
        old.unlink(missing_ok=True)
    java = Path(quiet_home(java_home())) / "bin" / "java"
    os.environ[OPTIONS] = ""
    subprocess.run([java, "-Xshare:dump", f"-XX:SharedArchiveFile={base}"], check=True)
    os.environ[OPTIONS] = f"-XX:SharedArchiveFile={base} {_SILENT} {QUICK_TO_START}"
    _usual_work(folder / "work", f"-XX:ArchiveClassesAtExit={top}")
    if top.exists():
        (folder / "of").write_text(of)


def _usual_work(folder: Path, option: str) -> None:
    """A bit of what the tests do with Spark, so that its classes are loaded; it is over when Java has ended."""
    from pyspark import SparkContext

    from tidings.cli.app import app
    from tidings.spark.sessions import OURS, session

    driver = "spark.driver.extraJavaOptions"
    spark = session("quick", master="local[2]", options={driver: f"{OURS[driver]} {option}"})
    (folder / "in").mkdir(parents=True, exist_ok=True)
    (folder / "asked").mkdir(exist_ok=True)
    (folder / "asked" / "one.rq").write_text("SELECT ?s { ?s <e:p> ?o }")
    (folder / "in" / "one.nq").write_text("<e:s> <e:p> <e:o> <e:g> .\n")
    places = ["--events", str(folder / "in"), "--subscriptions", str(folder / "asked"), "--once"]
    for strategy in ("one-step", "chained"):
        own = ["--checkpoint", str(folder / strategy), "--notifications", str(folder / f"{strategy}-told")]
        with suppress(SystemExit):
            app(["pipeline", "--strategy", strategy, *places, *own])
    rows = spark.read.parquet(str(folder / "one-step-told"))
    rows.groupBy("event").count().join(rows, "event").orderBy("event").collect()
    gateway = SparkContext._gateway
    spark.stop()
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(_PATIENCE)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
