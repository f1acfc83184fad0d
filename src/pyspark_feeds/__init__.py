"""Spark looks for data sources in packages of such a name, so `format("feeds")` needs no registration."""

from __future__ import annotations

from tidings.spark.feeds.source import FeedSource as DefaultSource

__all__ = ["DefaultSource"]
