"""Numbers in literals, as far as a double is sure to tell them apart; the rest is left to the verifier."""

from __future__ import annotations

import numpy as np

from tidings.index.arrays import Bytes
from tidings.index.kernels.jit import inlined
from tidings.index.layout import EQUAL, FALSE, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL, TRUE, UNSURE

# What `Names.number` says about a datatype.
NOT_A_NUMBER, INTEGER, DECIMAL, DOUBLE = 0, 1, 2, 3

_MOST_DIGITS = 15
_CLOSE = 1e-6
_PLUS, _MINUS, _POINT = 43, 45, 46


@inlined
def parsed(data: Bytes, start: int, end: int, kind: int) -> tuple[bool, float]:
    """Whether `data[start:end]` is a plain number of at most 15 digits, and about which one."""
    at = start
    negative = False
    if at < end and (data[at] == _PLUS or data[at] == _MINUS):
        negative = data[at] == _MINUS
        at += 1
    digits, value, scale, point = 0, 0.0, 1.0, False
    while at < end:
        byte = data[at]
        if 48 <= byte <= 57:
            value = value * 10.0 + (byte - 48)
            digits += 1
            if point:
                scale *= 10.0
        elif byte == _POINT and not point and kind != INTEGER:
            point = True
        else:
            break
        at += 1
    if digits == 0 or digits > _MOST_DIGITS:
        return False, 0.0
    if at < end and kind == DOUBLE and (data[at] | 32) == 101:
        at += 1
        down = False
        if at < end and (data[at] == _PLUS or data[at] == _MINUS):
            down = data[at] == _MINUS
            at += 1
        power, figures = 0, 0
        while at < end and 48 <= data[at] <= 57:
            power = power * 10 + (data[at] - 48)
            figures += 1
            at += 1
        if figures == 0 or figures > 2:
            return False, 0.0
        for _ in range(power):
            if down:
                scale *= 10.0
            else:
                value *= 10.0
    if at != end:
        return False, 0.0
    value /= scale
    return True, -value if negative else value


@inlined
def compared(value: float, comparison: int, other: float) -> int:
    """TRUE or FALSE; UNSURE where the two are so close that their exact values must decide."""
    if abs(value - other) <= _CLOSE * max(abs(value), abs(other)):
        if value != other or value != np.floor(value) or abs(value) > 1e15:
            return UNSURE
        return TRUE if comparison in (LESS_OR_EQUAL, GREATER_OR_EQUAL, EQUAL) else FALSE
    if comparison == EQUAL:
        return FALSE
    if comparison in (LESS, LESS_OR_EQUAL):
        return TRUE if value < other else FALSE
    if comparison in (GREATER, GREATER_OR_EQUAL):
        return TRUE if value > other else FALSE
    return TRUE
