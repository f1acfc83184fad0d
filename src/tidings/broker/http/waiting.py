"""What a stream says while there is nothing to say."""

from __future__ import annotations

BEAT = 15.0
"""Seconds of silence after which a stream says that it is still there."""

HERE = ": here\n\n"
STILL_HERE = ": still here\n\n"
