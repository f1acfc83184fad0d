"""Numbers in literals, as far as a double is sure to tell them apart; the rest is left to the verifier."""

from __future__ import annotations

import numpy as np

from tidings.index.arrays import Bytes
from tidings.index.kernels.jit import inlined
from tidings.index.layout import EQUAL, FALSE, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL, TRUE, UNSURE
from tidings.rdf.numbers import INTEGER_TYPES
from tidings.rdf.terms import XSD_DECIMAL, XSD_DOUBLE, XSD_FLOAT, XSD_INTEGER

# What `Names.number` says about a datatype; kinds of integers that have bounds come behind these.
NOT_A_NUMBER, INTEGER, DECIMAL, DOUBLE, FLOAT = 0, 1, 2, 3, 4
_BOUNDED = {datatype: bounds for datatype, bounds in INTEGER_TYPES.items() if bounds != (None, None)}
KINDS = {XSD_INTEGER: INTEGER, XSD_DECIMAL: DECIMAL, XSD_DOUBLE: DOUBLE, XSD_FLOAT: FLOAT} | {
    datatype: FLOAT + 1 + n for n, datatype in enumerate(_BOUNDED)
}
"""By datatype."""

_LEAST = np.full(max(KINDS.values()) + 1, -np.inf)
_MOST = np.full(_LEAST.size, np.inf)
for _datatype, (_least, _most) in _BOUNDED.items():
    _LEAST[KINDS[_datatype]] = -np.inf if _least is None else _least
    _MOST[KINDS[_datatype]] = np.inf if _most is None else _most

_MOST_DIGITS = 15
_CLOSE = 1e-6
_PLUS, _MINUS, _POINT = 43, 45, 46
# Between these a whole number is a single-precision number as well, and no other number is nothing to it.
_FLOAT_LEAST, _FLOAT_MOST = 1e-30, 2.0**24


@inlined
def parsed(data: Bytes, start: int, end: int, kind: int) -> tuple[bool, float]:
    """Whether `data[start:end]` is a plain number of at most 15 digits, and about which one.

    What does not fit its datatype has no value, and is left to the verifier like all else that is not plain.
    """
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
        elif byte == _POINT and not point and DECIMAL <= kind <= FLOAT:
            point = True
        else:
            break
        at += 1
    if digits == 0 or digits > _MOST_DIGITS:
        return False, 0.0
    if at < end and DOUBLE <= kind <= FLOAT and (data[at] | 32) == 101:
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
    if kind == FLOAT and value != 0.0 and not _FLOAT_LEAST <= value <= _FLOAT_MOST:
        return False, 0.0
    if negative:
        value = -value
    return _LEAST[kind] <= value <= _MOST[kind], value


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
