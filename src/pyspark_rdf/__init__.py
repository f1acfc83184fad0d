"""Spark looks for data sources in packages of such a name, so `format("rdf")` needs no registration."""

from __future__ import annotations

from tidings.spark.source import RdfSource as DefaultSource

__all__ = ["DefaultSource"]
