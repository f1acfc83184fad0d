"""What a stream says while there is nothing to say."""

from __future__ import annotations

import random

_LONGEST = 30.0

HERE = ": here\n\n"
STILL_HERE = ": still here\n\n"


def silence() -> float:
    """Seconds of silence after which a stream says that it is still there: not the same for all, or those that were
    opened together would all say so at once, and everybody else would wait for them.
    """
    return _LONGEST * (0.5 + 0.5 * random.random())
