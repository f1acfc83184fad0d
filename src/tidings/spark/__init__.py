"""The pipeline on Spark: events and subscriptions as tables, matched by the same index as in one process."""

from __future__ import annotations

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
)
from tidings.spark.matching import hits, match, notifications_in
from tidings.spark.session import session

__all__ = [
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
    "session",
    "subscriptions",
]
