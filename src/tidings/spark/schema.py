"""The tables of the pipeline: their columns in Spark, and the same in Arrow for the workers."""

from __future__ import annotations

import pyarrow as pa

EVENTS = "event string, published timestamp, body string, source string"
"""Events. `body` is sorted, canonical N-Triples; `published` is null where nobody said when."""

FILES = "path string, modificationTime timestamp, length long, content binary"
"""What Spark tells of a file."""

READ = f"{EVENTS}, line int, column int, reason string"
"""What reading gives: an event, or, where there is a reason, a problem."""

HITS = (
    "subscription string, event string, published timestamp, matched timestamp, bindings string, reason string, "
    "candidates long, source string"
)
"""What matching gives: a match; or, where there is a reason, a subscription or an event that failed; or how many
candidates were looked at since the last row of this kind. `source` is null unless it is asked for."""

_MOMENT = pa.timestamp("us", "UTC")
_EVENTS = [("event", pa.string()), ("published", _MOMENT), ("body", pa.string()), ("source", pa.string())]
READ_ROWS = pa.schema([*_EVENTS, ("line", pa.int32()), ("column", pa.int32()), ("reason", pa.string())])
HIT_ROWS = pa.schema(
    [
        ("subscription", pa.string()),
        ("event", pa.string()),
        ("published", _MOMENT),
        ("matched", _MOMENT),
        ("bindings", pa.string()),
        ("reason", pa.string()),
        ("candidates", pa.int64()),
        ("source", pa.string()),
    ]
)
NOTIFICATION_ROWS = pa.schema(
    [
        ("notification", pa.string()),
        ("subscription", pa.string()),
        ("event", pa.string()),
        ("published", _MOMENT),
        ("matched", _MOMENT),
        ("bindings", pa.string()),
    ]
)
REJECT_ROWS = pa.schema(
    [
        ("kind", pa.string()),
        ("source", pa.string()),
        ("line", pa.int32()),
        ("column", pa.int32()),
        ("event", pa.string()),
        ("subscription", pa.string()),
        ("reason", pa.string()),
    ]
)
