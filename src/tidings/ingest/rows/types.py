"""Datatypes of text: what a column of a CSV file holds, by its look, and which cells are so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import UsageError
from tidings.ingest.rows.records import Cells
from tidings.ingest.rows.text import is_iri_text
from tidings.rdf.terms import XSD, XSD_BOOLEAN, XSD_DATETIME, XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER, XSD_STRING

XSD_DATE = f"{XSD}date"
XSD_TIME = f"{XSD}time"

_WHOLE = r"-?(?:0|[1-9][0-9]*)"
_NUMBER = rf"{_WHOLE}(?:\.[0-9]+)?"
_LEAP = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"
_DAY = (
    r"(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    rf"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP})"
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
_ZONE = r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"

PATTERNS: Mapping[str, str] = {
    XSD_INTEGER: _WHOLE,
    XSD_DECIMAL: _NUMBER,
    XSD_DOUBLE: rf"(?:{_NUMBER}(?:[eE][+-]?[0-9]+)?|-?INF|NaN)",
    XSD_BOOLEAN: "(?:true|false)",
    XSD_DATE: _DAY,
    XSD_DATETIME: f"{_DAY}T{_CLOCK}{_ZONE}",
}
"""Types by the look of their values, in the order in which they are tried. What fits is a value of the type."""

_GIVEN: Mapping[str, str] = {XSD_TIME: f"{_CLOCK}{_ZONE}", **PATTERNS}
_COMPILED = {datatype: re.compile(pattern) for datatype, pattern in PATTERNS.items()}


def type_of(values: Iterable[str]) -> str | None:
    """The type that all of these look like; None where they are strings, or there are none."""
    values = set(values)
    if not values:
        return None
    for datatype, pattern in _COMPILED.items():
        if all(pattern.fullmatch(value) for value in values):
            return datatype if values - {"NaN", "INF", "-INF"} else None
    return None


def named_type(name: str) -> str | None:
    """The datatype that a user calls so: a name of XML Schema, or an IRI; None for strings."""
    datatype = name if ":" in name else f"{XSD}{name}"
    if not is_iri_text(datatype):
        raise UsageError(f"'{name}' is no datatype; it is a name of XML Schema, as 'integer', or an IRI")
    return None if datatype == XSD_STRING else datatype


def typed(text: pa.Array, datatype: str | None) -> tuple[Cells, ...]:
    """A column that is of this type, but for the cells that do not fit: these are strings."""
    if datatype is None:
        return (Cells(text),)
    pattern = _GIVEN.get(datatype)
    if pattern is None:
        return (Cells(text, datatype),)
    fits = pc.match_substring_regex(text, f"^(?:{pattern})$")
    if text.null_count == len(text) or pc.all(fits).as_py():
        return (Cells(text, datatype, plain=True),)
    none = pa.scalar(None, pa.string())
    return Cells(pc.if_else(fits, text, none), datatype, plain=True), Cells(pc.if_else(fits, none, text))


def hexadecimal(data: pa.Array) -> pa.Array:
    """Bytes as upper-case hexadecimal text."""
    data = pc.cast(data, pa.large_binary())
    _, offsets, buffer = data.buffers()
    places = np.frombuffer(offsets, np.int64)[data.offset : data.offset + len(data) + 1]
    inside = np.frombuffer(buffer or b"", np.uint8)[places[0] : places[-1]] if len(data) else np.empty(0, np.uint8)
    pairs = np.empty((inside.size, 2), np.uint8)
    pairs[:, 0] = _DIGITS[inside >> 4]
    pairs[:, 1] = _DIGITS[inside & 15]
    ends = ((places - places[0]) * 2).astype(np.int64) if len(data) else np.zeros(1, np.int64)
    validity = pc.is_valid(data)
    text = pa.LargeStringArray.from_buffers(len(data), pa.py_buffer(ends), pa.py_buffer(pairs))
    return pc.cast(pc.if_else(validity, text, pa.scalar(None, pa.large_string())), pa.string())


_DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)
