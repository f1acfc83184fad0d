"""A Spark session: the one there is, as it is; or a local one that is set up for this package."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from tidings.errors import EngineError
from tidings.spark.java import OPTIONS, java_home, quiet_home

STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SUBMITTED = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "DATABRICKS_RUNTIME_VERSION")
"""One of these is set where somebody else starts Spark, and says how."""

_LOGGING = Path(__file__).with_name("log4j2.properties")
OURS = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    # Of these a file tells the first and the last, of the older kind it does not.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    STORE: ROCKS,
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Without checksums beside every file: Hadoop starts a process, chmod, for each file it makes.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
    "spark.ui.enabled": "false",
}


def session(
    name: str = "tidings", *, master: str | None = None, options: Mapping[str, str] | None = None
) -> SparkSession:
    """The active session, never changed; else a new one.

    Under spark-submit, Spark Connect or Databricks a new one is what they say. Otherwise it is local, on all cores or
    as `master` says, with `options` over what is set here.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    builder = SparkSession.builder.appName(name)
    if any(os.environ.get(variable) for variable in _SUBMITTED):
        return builder.getOrCreate()
    os.environ["JAVA_HOME"] = quiet_home(java_home())
    # The workers have to have what this process has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = master or os.environ.get("SPARK_MASTER") or "local[*]"
    settings = dict(OURS)
    if chosen.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= _LOCAL
    for key, value in {**settings, **(options or {})}.items():
        builder = builder.config(key, value)
    try:
        return builder.master(chosen).getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        given = os.environ.get(OPTIONS)
        more = f", with {OPTIONS}={given}" if given else ""
        problem = f"Java ended before Spark began, and has said why above ({os.environ['JAVA_HOME']}{more})"
        raise EngineError(problem) from error


def facts(spark: SparkSession) -> Mapping[str, str]:
    """What runs here."""
    jvm = spark.sparkContext._jvm
    java = "unknown" if jvm is None else str(jvm.java.lang.System.getProperty("java.version"))
    return {"Spark": f"{spark.version}, {spark.sparkContext.master}", "Java": java}
