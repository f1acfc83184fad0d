"""The pipeline on Spark: events and subscriptions as tables, matched by the same index as in one process.

What is named here is loaded when it is first asked for: a worker that only reads documents does without the matcher.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidings.spark.chained.pipeline import ChainedPipeline
    from tidings.spark.changing import Subscriptions, subscriptions
    from tidings.spark.events import (
        documents_from,
        events_from,
        events_in,
        problems_in,
        read_document_stream,
        read_documents,
        read_event_stream,
        read_events,
        read_parts,
    )
    from tidings.spark.feeds.tables import read_feed_stream, read_feeds
    from tidings.spark.matching import hits, match, notifications_in
    from tidings.spark.pipeline import Pipeline, Sinks
    from tidings.spark.sessions import session

__all__ = [
    "ChainedPipeline",
    "Pipeline",
    "Sinks",
    "Subscriptions",
    "documents_from",
    "events_from",
    "events_in",
    "hits",
    "match",
    "notifications_in",
    "problems_in",
    "read_document_stream",
    "read_documents",
    "read_event_stream",
    "read_events",
    "read_feed_stream",
    "read_feeds",
    "read_parts",
    "session",
    "subscriptions",
]

_MODULES = {
    "chained.pipeline": ("ChainedPipeline",),
    "changing": ("Subscriptions", "subscriptions"),
    "feeds.tables": ("read_feed_stream", "read_feeds"),
    "matching": ("hits", "match", "notifications_in"),
    "pipeline": ("Pipeline", "Sinks"),
    "sessions": ("session",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULE_OF.get(name, 'events')}"), name)
    globals()[name] = found
    return found
