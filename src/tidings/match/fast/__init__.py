"""`fast`: all subscriptions compiled into flat arrays, which an event meets as numbers.

index/                     the arrays and the kernels over them
engine                     subscriptions in and out, events through the kernels, and the verifier where these ask it
lane, text, table, stream  N-Quads bytes straight to answers
"""

from __future__ import annotations

from tidings.match.fast.engine import Fast

__all__ = ["Fast"]
