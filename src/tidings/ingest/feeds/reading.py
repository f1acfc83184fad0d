"""One document of a feed, read: what it says of itself, and its items as events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from tidings.ingest.feeds.schedule import Hints


@dataclass(frozen=True, slots=True)
class Reading:
    """`version` is what it is written in (`rss20`, `atom10`, `rss10`, `json11` …), `hints` when to ask for it again;
    `batches` are the events of its items, as of a converter, and can be gone through once. `problem` is what is wrong
    with it where it could be read all the same.
    """

    version: str
    hints: Hints
    batches: Iterator[pa.RecordBatch]
    problem: str | None = None
