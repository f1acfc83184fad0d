"""Columns of any Arrow type as columns of text with their datatypes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from tidings.errors import EventError, UsageError
from tidings.ingest.rows.records import Cells
from tidings.ingest.rows.text import Ints, lengths
from tidings.ingest.rows.types import XSD_DATE, XSD_TIME, hexadecimal
from tidings.rdf.limits import human
from tidings.rdf.terms import XSD, XSD_BOOLEAN, XSD_DATETIME, XSD_DECIMAL, XSD_DOUBLE, XSD_FLOAT, XSD_INTEGER

_HINT = "use --as json for trees"
_LARGEST = 256 << 20


def columns_of(name: str, array: pa.Array) -> Iterator[tuple[str, tuple[Cells, ...]]]:
    """A column, or of a structure its members, called `column.member`."""
    array = _plain(name, array)
    if pat.is_struct(array.type):
        for place in range(array.type.num_fields):
            field = array.type.field(place)
            yield from columns_of(f"{name}.{field.name}", pc.struct_field(array, place))
    elif _is_list(array.type):
        yield name, _of_list(name, array)
    else:
        yield name, _cells(name, array)


def _plain(name: str, array: pa.Array) -> pa.Array:
    """The array without what only says how it is kept."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if not pat.is_dictionary(array.type):
        return array
    size = int(decoded_sizes(array).sum())
    if size > _LARGEST:
        raise EventError(f"the column '{name}' has {human(size)} of text in few records, too much")
    return array.dictionary_decode()


def decoded_sizes(array: pa.Array) -> Ints:
    """How many bytes of text the dictionary of a column stands for in each record."""
    none = np.zeros(len(array), np.int64)
    if _is_list(array.type):
        inside = decoded_sizes(pc.list_flatten(array))
        return np.bincount(pc.list_parent_indices(array), weights=inside, minlength=len(array)).astype(np.int64)
    if not pat.is_dictionary(array.type) or not len(array.dictionary):
        return none
    if not (pat.is_string(array.type.value_type) or pat.is_binary(array.type.value_type)):
        return none
    sizes = lengths(array.dictionary)
    places = np.asarray(pc.fill_null(array.indices, 0)).astype(np.int64)
    return np.where(np.asarray(array.is_valid()), sizes[places], 0)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pat.is_list(kind) or pat.is_large_list(kind) or pat.is_fixed_size_list(kind))


def _of_list(name: str, array: pa.Array) -> tuple[Cells, ...]:
    rows = np.asarray(pc.list_parent_indices(array)).astype(np.int64)
    values = _plain(name, pc.list_flatten(array))
    if pat.is_nested(values.type):
        raise UsageError(f"the column '{name}' has {array.type}, which is no list of plain values; {_HINT}")
    return tuple(replace(cells, rows=rows) for cells in _cells(name, values))


def _cells(name: str, array: pa.Array) -> tuple[Cells, ...]:
    kind = array.type
    if pat.is_null(kind):
        return ()
    if pat.is_string(kind):
        return (Cells(array),)
    if pat.is_large_string(kind) or pat.is_string_view(kind):
        return (Cells(pc.cast(array, pa.string())),)
    if pat.is_integer(kind):
        return (Cells(pc.cast(array, pa.string()), XSD_INTEGER, plain=True),)
    if pat.is_floating(kind):
        return (_floats(array),)
    if pat.is_boolean(kind):
        return (Cells(pc.cast(array, pa.string()), XSD_BOOLEAN, plain=True),)
    if pat.is_decimal(kind):
        return (Cells(_decimals(array), XSD_DECIMAL, plain=True),)
    if pat.is_temporal(kind) and not pat.is_interval(kind):
        return (_temporal(array),)
    if pat.is_binary(kind) or pat.is_large_binary(kind) or pat.is_fixed_size_binary(kind) or pat.is_binary_view(kind):
        return (Cells(hexadecimal(array), f"{XSD}hexBinary", plain=True),)
    raise UsageError(f"the column '{name}' has {kind}, which cannot be read as values; {_HINT}")


def _floats(array: pa.Array) -> Cells:
    """The shortest text that is the same number."""
    if pat.is_float16(array.type):
        array = pc.cast(array, pa.float32())
    text = pc.cast(array, pa.string())
    if not pc.all(pc.is_finite(array)).as_py():
        text = pc.if_else(pc.is_nan(array), "NaN", text)
        text = pc.if_else(pc.is_inf(array), pc.if_else(pc.greater(array, 0), "INF", "-INF"), text)
    return Cells(text, XSD_FLOAT if pat.is_float32(array.type) else XSD_DOUBLE, plain=True)


def _decimals(array: pa.Array) -> pa.Array:
    text = pc.cast(array, pa.string())
    if not pc.any(pc.match_substring(text, "E")).as_py():
        return text
    return pa.array([None if cell is None else f"{Decimal(cell):f}" for cell in text.to_pylist()], pa.string())


def _temporal(array: pa.Array) -> Cells:
    kind = array.type
    if pat.is_date(kind):
        return Cells(pc.cast(pc.cast(array, pa.date32()), pa.string()), XSD_DATE, plain=True)
    if pat.is_time(kind):
        return Cells(_short(pc.cast(array, pa.string())), XSD_TIME, plain=True)
    if pat.is_duration(kind):
        return Cells(_durations(array), f"{XSD}dayTimeDuration", plain=True)
    # An instant is told in UTC, whatever the zone it is shown in.
    local = pc.cast(array, pa.timestamp(kind.unit)) if kind.tz is None else _in_utc(array)
    text = _short(pc.replace_substring(pc.cast(local, pa.string()), " ", "T"))
    if kind.tz is not None:
        text = pc.binary_join_element_wise(text, "Z", "", null_handling="emit_null")
    return Cells(text, XSD_DATETIME, plain=True)


def _in_utc(array: pa.Array) -> pa.Array:
    return array.view(pa.int64()).view(pa.timestamp(array.type.unit))


def _short(text: pa.Array) -> pa.Array:
    """A time without the zeros at the end of its fraction."""
    text = pc.replace_substring_regex(text, r"\.0+$", "")
    return pc.replace_substring_regex(text, r"(\.[0-9]*[1-9])0+$", r"\1")


_UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def _durations(array: pa.Array) -> pa.Array:
    digits = _UNITS[array.type.unit]
    cells = []
    for value in array.view(pa.int64()).to_pylist():
        seconds = None if value is None else f"{Decimal(abs(value)).scaleb(-digits).normalize():f}"
        cells.append(None if seconds is None else f"{'-' if value < 0 else ''}PT{seconds}S")
    return pa.array(cells, pa.string())
