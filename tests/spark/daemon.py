"""Where the Python workers of Spark come from, in tests: a process that has imported everything, and the kernels.

Spark asks it for a worker for every plan of a source and every state; each would otherwise import it all again.
"""

from __future__ import annotations

import pandas as pd
import pyspark.worker
from pyspark.daemon import manager

import tidings.spark.feeds.source
import tidings.spark.source
import tidings.spark.stage
import tidings.spark.workers
from tidings import Matcher

__all__ = ["pd", "pyspark", "tidings"]


def _load_kernels() -> None:
    matcher = Matcher()
    matcher.add("one", "SELECT ?s { ?s <e:p> ?o }")
    matcher.match_nquads(b"<e:s> <e:p> <e:o> <e:g> .\n")


if __name__ == "__main__":
    _load_kernels()
    manager()
