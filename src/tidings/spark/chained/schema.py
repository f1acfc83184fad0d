"""What is told of events that come in parts: the rows of a stream that `following` makes."""

from __future__ import annotations

_COLUMNS = (
    "kind string, event string, subscription string, published {moment}, matched {moment}, body string, source string, "
    "line int, column int, reason string, bindings string, triples long, opened int"
)
TOLD = _COLUMNS.format(moment="timestamp")
"""`kind` is one of

    fired     a subscription is satisfied
    part      quads that came, in `body`
    late      quads that came when their event was closed; `reason` is how it was
    closed    the whole event, in `body`; `reason` is end or timeout
    problem   what could not be read, or failed, and the reason

`triples` is how many are in `body`; `opened` is 1 where an event was opened and -1 where one that had been opened by an
earlier batch is no longer open.
"""

TOLD_INSIDE = _COLUMNS.format(moment="long")
"""The same as the workers make it: moments are microseconds since 1970."""

NAMES = tuple(column.split()[0] for column in _COLUMNS.split(", "))

FIRED, PART, LATE, CLOSED, PROBLEM = "fired", "part", "late", "closed", "problem"
ENDED, TIMED_OUT, REFUSED = "end", "timeout", "refused"
