"""Cells of a table as its description (CSVW) has them read: nulls, defaults, lists, and formats of values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import EventError
from tidings.ingest.rows.csvw_model import Column, Datatype
from tidings.ingest.rows.records import Cells
from tidings.ingest.rows.text import Ints
from tidings.ingest.rows.types import PATTERNS, XSD_DATE, XSD_TIME
from tidings.rdf.terms import XSD_DATETIME, XSD_STRING

_TEXTS = {"string", "json", "xml", "html", "any", "anyAtomicType"}
_INTEGERS = {"integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "unsignedLong"}
_INTEGERS |= {"unsignedInt", "unsignedShort", "unsignedByte", "nonPositiveInteger", "negativeInteger"}
_NUMBERS = _INTEGERS | {"decimal", "double", "float"}
_TEMPORAL = {"date": XSD_DATE, "time": XSD_TIME, "dateTime": XSD_DATETIME}
_ZONE = r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
_LOOKS = {
    **dict.fromkeys(_INTEGERS, r"[+-]?[0-9]+"),
    "decimal": r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)",
    "double": r"(?:[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN)",
    "boolean": "(?:true|false|1|0)",
    "date": PATTERNS[XSD_DATE] + _ZONE,
    "time": _CLOCK + _ZONE,
    "dateTime": PATTERNS[XSD_DATETIME],
    "dateTimeStamp": PATTERNS[XSD_DATETIME].removesuffix("?"),
    "gYear": r"-?[0-9]{4,}" + _ZONE,
    "gYearMonth": r"-?[0-9]{4,}-(?:0[1-9]|1[0-2])" + _ZONE,
    "hexBinary": "(?:[0-9A-Fa-f]{2})*",
    "duration": r"-?P(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?",
}
_LOOKS["float"] = _LOOKS["double"]
_NEGATIVE = {"nonNegativeInteger": r"\+?[0-9]+|-0+", "positiveInteger": r"\+?0*[1-9][0-9]*"}
_LOOKS |= _NEGATIVE | {"nonPositiveInteger": r"-[0-9]+|\+?0+", "negativeInteger": r"-0*[1-9][0-9]*"}
_LOOKS |= {name: _NEGATIVE["nonNegativeInteger"] for name in _INTEGERS if name.startswith("unsigned")}

_FIELDS = {
    "yyyy": "(?P<year>-?[0-9]{4})",
    "MM": "(?P<month>[0-9]{2})",
    "M": "(?P<month>[0-9]{1,2})",
    "dd": "(?P<day>[0-9]{2})",
    "d": "(?P<day>[0-9]{1,2})",
    "HH": "(?P<hour>[0-9]{2})",
    "mm": "(?P<minute>[0-9]{2})",
    "ss": "(?P<second>[0-9]{2})",
    "XXX": "(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})",
    "X": "(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})",
}
_TOKENS = re.compile(r"yyyy|MM|M|dd|d|HH|mm|ss|\.?S+|XXX|XX|X|'[^']*'|[A-Za-z]|.")
_NONE = pa.scalar(None, pa.string())


@dataclass(frozen=True, slots=True)
class Described:
    """Reads the cells of one column."""

    column: Column
    trim: str = "false"

    def __call__(self, text: pa.Array) -> tuple[Cells, ...]:
        text = self._normal(_trimmed(pc.fill_null(text, ""), self.trim))
        text = self._defaulted(text)
        if self.column.separator is None:
            return self._values(pc.if_else(self._is_null(text), _NONE, text), None)
        lists = pc.split_pattern(pc.if_else(self._is_null(text), _NONE, text), self.column.separator)
        rows = np.asarray(pc.list_parent_indices(lists)).astype(np.int64)
        items = pc.list_flatten(lists)
        if self.column.datatype.base not in ("string", "any", "anyAtomicType"):
            items = pc.utf8_trim_whitespace(items)
        items = self._defaulted(items)
        return self._values(pc.if_else(self._is_null(items), _NONE, items), rows)

    def _normal(self, text: pa.Array) -> pa.Array:
        base = self.column.datatype.base
        if base in _TEXTS:
            return text
        text = pc.replace_substring_regex(text, "[\r\n\t]", " ")
        return (
            text if base == "normalizedString" else pc.utf8_trim_whitespace(pc.replace_substring_regex(text, " +", " "))
        )

    def _defaulted(self, text: pa.Array) -> pa.Array:
        return pc.if_else(pc.equal(text, ""), self.column.default, text) if self.column.default else text

    def _is_null(self, text: pa.Array) -> pa.Array:
        return pc.is_in(text, value_set=pa.array(self.column.null, pa.string()))

    def _values(self, text: pa.Array, rows: Ints | None) -> tuple[Cells, ...]:
        datatype = self.column.datatype
        if datatype.iri == XSD_STRING and datatype.format is None:
            return (Cells(text, None, rows=rows),)
        values = formatted(text, datatype)
        other = pc.if_else(values.is_valid(), _NONE, text)
        cells = [Cells(values, None if datatype.iri == XSD_STRING else datatype.iri, rows=rows)]
        return tuple(cells + ([Cells(other, None, rows=rows)] if other.null_count < len(other) else []))


def _trimmed(text: pa.Array, trim: str) -> pa.Array:
    if trim == "true":
        return pc.utf8_trim_whitespace(text)
    if trim == "start":
        return pc.utf8_ltrim_whitespace(text)
    return pc.utf8_rtrim_whitespace(text) if trim == "end" else text


def formatted(text: pa.Array, datatype: Datatype) -> pa.Array:
    """The values as XML Schema writes them; null where a cell is none of the datatype."""
    base, format = datatype.base, datatype.format
    if format is not None and base == "boolean":
        true, _, false = str(format).partition("|")
        return pc.if_else(pc.equal(text, true), "true", pc.if_else(pc.equal(text, false), "false", _NONE))
    if format is not None and base in _NUMBERS:
        text = _number(text, format)
    elif format is not None and base in _TEMPORAL:
        text = _temporal(text, str(format), base)
    elif format is not None:
        return _matching(text, _compiles(str(format)))
    if base not in _LOOKS:
        return text
    return _matching(text, _LOOKS[base])


def check_format(datatype: Datatype) -> None:
    """An `EventError` where the format cannot be read."""
    formatted(pa.array([""], pa.string()), datatype)


def _matching(text: pa.Array, pattern: str) -> pa.Array:
    return pc.if_else(pc.match_substring_regex(text, f"^(?:{pattern})$"), text, _NONE)


def _compiles(pattern: str) -> str:
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        raise EventError(f"the format '{pattern}' is no pattern that is read here", source="mapping") from error
    return pattern


def _number(text: pa.Array, format: Any) -> pa.Array:
    said = format if isinstance(format, dict) else {"pattern": format}
    group, point = said.get("groupChar", "," if "pattern" in said else None), said.get("decimalChar", ".")
    unknown = set(said) - {"pattern", "groupChar", "decimalChar"}
    if unknown or not isinstance(point, str) or not isinstance(group, str | None):
        raise EventError(f"the format {format!r} of a number is not read here", source="mapping")
    if said.get("pattern") is not None:
        text = _matching(text, _number_pattern(str(said["pattern"]), group or ",", point))
    if group:
        text = pc.replace_substring(text, group, "")
    return text if point == "." else pc.replace_substring(text, point, ".")


@lru_cache(maxsize=256)
def _number_pattern(pattern: str, group: str, point: str) -> str:
    """`#,##0.00`: zeros are digits that must be, `#` ones that may; groups are of the size of the last one."""
    match = re.fullmatch(r"([+-]?)([#0,]+)(?:\.(0*)(#*))?(?:E([+-]?)(0+))?", pattern)
    if match is None:
        raise EventError(f"the pattern '{pattern}' of a number is not read here", source="mapping")
    least = match[2].count("0")
    size = len(match[2].rpartition(",")[2]) if "," in match[2] else 0
    whole = f"[0-9]{{{least},}}"
    if size:
        whole = rf"(?:[0-9]{{1,{size}}}(?:{re.escape(group)}[0-9]{{{size}}})+|[0-9]{{{min(least, size)},{size}}})"
    least_fraction, most = len(match[3] or ""), len(match[3] or "") + len(match[4] or "")
    fraction = rf"{re.escape(point)}[0-9]{{{max(least_fraction, 1)},{most}}}" if most else ""
    fraction = f"(?:{fraction})" + ("" if least_fraction else "?") if fraction else ""
    exponent = rf"[eE][+-]?[0-9]{{{len(match[6])},}}" if match[6] else ""
    return rf"[+-]?{whole}{fraction}{exponent}"


def _temporal(text: pa.Array, format: str, base: str) -> pa.Array:
    found = pc.extract_regex(text, f"^{_temporal_pattern(format)}$")
    names = [field.name for field in found.type]

    def part(name: str, default: str, width: int = 2) -> Any:
        return pc.utf8_lpad(pc.struct_field(found, name), width, "0") if name in names else default

    def optional(name: str) -> Any:
        return pc.struct_field(found, name) if name in names else ""

    pieces: list[Any] = []
    if base != "time":
        pieces += [part("year", "0000", 4), "-", part("month", "01"), "-", part("day", "01")]
    if base == "dateTime":
        pieces.append("T")
    if base != "date":
        pieces += [part("hour", "00"), ":", part("minute", "00"), ":", part("second", "00"), optional("fraction")]
    joined = pc.binary_join_element_wise(*pieces, "", null_handling="emit_null")
    zone = (
        pc.replace_substring_regex(optional("zone"), r"^([+-][0-9]{2})([0-9]{2})$", r"\1:\2") if "zone" in names else ""
    )
    return pc.binary_join_element_wise(joined, zone, "", null_handling="emit_null")


@lru_cache(maxsize=256)
def _temporal_pattern(format: str) -> str:
    parts = []
    for token in _TOKENS.findall(format):
        if token in _FIELDS:
            parts.append(_FIELDS[token])
        elif token == "XX":
            parts.append(_FIELDS["X"])
        elif token.endswith("S"):
            digits = len(token.lstrip("."))
            parts.append(rf"(?P<fraction>(?:\.[0-9]{{1,{digits}}})?)")
        elif token.isalpha() and token != "T":
            raise EventError(f"'{token}' in the format '{format}' is not read here", source="mapping")
        else:
            parts.append(re.escape(token.strip("'") if len(token) > 1 else token))
    return "".join(parts)
