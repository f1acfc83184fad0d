"""Where a reader is in a stream of notifications, as a text that he keeps for us."""

from __future__ import annotations

import re
from typing import NamedTuple

from tidings.errors import UsageError

_FORM = re.compile(r"([1-9][0-9]{0,9})-([0-9]{1,18})")


class Cursor(NamedTuple):
    """Behind the notification of event `seq`, in a stream."""

    stream: int
    seq: int

    def __str__(self) -> str:
        return f"{self.stream}-{self.seq}"

    @staticmethod
    def of(text: str) -> Cursor:
        found = _FORM.fullmatch(text)
        if found is None:
            raise UsageError(f"{text!r:.100} is no place among notifications; take one that came with a notification")
        return Cursor(int(found[1]), int(found[2]))
