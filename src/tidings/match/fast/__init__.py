"""`fast`: all subscriptions compiled into flat arrays, which an event meets as numbers.

index/                     the arrays and the kernels over them
engine                     subscriptions in and out, events through the kernels, and the verifier where these ask it
"""

from __future__ import annotations

from tidings.match.fast.engine import Fast

__all__ = ["Fast"]
