"""Where notifications go: whoever takes them, and what he is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa


class Outlet(Protocol):
    """Somebody who takes notifications, batch by batch, each at least once.

    After a crash the last batch comes again, under its number and with the same ids, so that it can be told.
    """

    def deliver(self, batch: int, rows: Iterator[pa.RecordBatch]) -> None:
        """Take the notifications of a batch: notification, subscription, event, published, matched, bindings.

        Where this raises an error, the batch is not done, and comes again.
        """
