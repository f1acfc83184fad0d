"""What a sample of a document has in it: its fields, the values they have, and which part of it is one record."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tidings.errors import EventError
from tidings.ingest.base import Input
from tidings.ingest.trees import json_records
from tidings.ingest.trees.json_records import Number
from tidings.ingest.trees.paths import SEPARATOR, json_path, xml_path
from tidings.ingest.trees.xml_records import Element
from tidings.ingest.trees.xml_records import found as xml_found
from tidings.rdf.limits import DEFAULT_LIMITS
from tidings.rdf.sources import Stream
from tidings.rdf.terms import XSD, XSD_BOOLEAN, XSD_DATETIME, XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER

_RECORDS = 1_000
_ZONE = r"(Z|[+-]\d\d:\d\d)?"
_FORMS = (
    (XSD_BOOLEAN, re.compile(r"true|false")),
    (XSD_INTEGER, re.compile(r"-?(0|[1-9]\d*)")),
    (XSD_DECIMAL, re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")),
    (XSD_DOUBLE, re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")),
    (f"{XSD}date", re.compile(r"\d{4}-[01]\d-[0-3]\d")),
    (XSD_DATETIME, re.compile(rf"\d{{4}}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(\.\d+)?{_ZONE}")),
)
_ADDRESS = re.compile(r"https?://[^\s<>\"{}|\\^`]+")
_PLAIN = re.compile(r"[^.\[\]'\"*\s/$]+")
_ARRAY = re.compile(rb'"([A-Za-z_]\w*)"\s*:\s*\[\s*\{')
_DELIMITERS = ",;\t|"


@dataclass(slots=True)
class Field:
    """A column, or what a reference in a tree stands for; `records` have it, `several` more than once."""

    name: str
    values: list[str] = field(default_factory=list)
    records: int = 0
    several: bool = False
    quoted: bool = False
    """Some value is a JSON string, which is never a number."""

    @property
    def datatype(self) -> str | None:
        """The narrowest datatype that all values have; None for strings."""
        if not self.values:
            return None
        candidates: Sequence[tuple[str, re.Pattern[str]]] = _FORMS[4:] if self.quoted else _FORMS
        return next((datatype for datatype, form in candidates if all(map(form.fullmatch, self.values))), None)

    @property
    def is_address(self) -> bool:
        return bool(self.values) and all(map(_ADDRESS.fullmatch, self.values))


@dataclass(frozen=True, slots=True)
class Sample:
    """The fields of a sample in their order, how many records it has, and the path of a record in a tree."""

    fields: list[Field]
    records: int
    path: str | None = None

    def key(self) -> Field | None:
        """The field that looks like the key: one that every record has, once, and no two the same."""
        once = [each for each in self.fields if each.records == self.records > 0 and not each.several]
        single = [each for each in once if len(set(each.values)) == self.records]
        named = [each for each in single if re.search(r"(^|[^a-z])(id|key|uuid|guid|isbn|doi)$", each.name.lower())]
        words = [each for each in single if each.datatype in (None, XSD_INTEGER)]
        plain = [each for each in words if not any(" " in value for value in each.values)]
        return next(iter(named or plain), None)


def sampled(data: bytes, format: str, record: str | None = None) -> Sample:
    """What is in the beginning of a document; an `EventError` where that cannot be read."""
    if format in ("csv", "tsv"):
        return _collected(_rows(data, format))
    if format == "jsonl":
        lines = [line for line in data.splitlines() if line.strip()]
        return _collected(_lines(lines))
    if format == "json":
        path = record or _json_path(data)
        found = _until_cut(lambda: json_records.found(_input(data), json_path(path), DEFAULT_LIMITS))
        return _collected((_json_fields(each.value) for each in found), path)
    path = record or _xml_path(data)
    elements = _until_cut(lambda: xml_found(_input(data), xml_path(path), DEFAULT_LIMITS))
    return _collected((_xml_fields(each.value) for each in elements if isinstance(each.value, Element)), path)


def _input(data: bytes) -> Input:
    return Input("sample", Stream("sample", io.BytesIO(data)))


def _until_cut(records: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """The records up to where the sample ends, which may be in the middle of one."""
    some = False
    try:
        for each in records():
            some = True
            yield each
    except EventError:
        if not some:
            raise


def _collected(records: Iterator[Iterator[tuple[str, str, bool]]], path: str | None = None) -> Sample:
    fields: dict[str, Field] = {}
    number = 0
    for number, record in enumerate(records, 1):
        here: Counter[str] = Counter()
        for name, value, quoted in record:
            each = fields.setdefault(name, Field(name))
            here[name] += 1
            each.quoted = each.quoted or quoted
            if value or quoted:
                each.values.append(value)
                each.records += here[name] == 1
                each.several = each.several or here[name] > 1
        if number == _RECORDS:
            break
    return Sample(list(fields.values()), number, path)


def _rows(data: bytes, format: str) -> Iterator[Iterator[tuple[str, str, bool]]]:
    text = data.decode("utf-8-sig", "replace")
    head = text.partition("\n")[0]
    delimiter = "\t" if format == "tsv" else max(_DELIMITERS, key=head.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names = next(rows, [])
    for row in rows:
        if row:
            yield ((name, value, False) for name, value in zip(names, row, strict=False))


def _lines(lines: list[bytes]) -> Iterator[Iterator[tuple[str, str, bool]]]:
    for number, line in enumerate(lines, 1):
        try:
            for each in json_records.found(_input(line), (), DEFAULT_LIMITS):
                yield _json_fields(each.value)
        except EventError:
            if number < len(lines) or number == 1:
                raise


def _json_fields(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str, bool]]:
    """The scalars of a record by the reference that leads to them."""
    if isinstance(value, tuple) and depth < 5:
        for key, inner in value:
            step = key if _PLAIN.fullmatch(key) else "['" + re.sub(r"(['\\])", r"\\\1", key) + "']"
            joined = f"{name}{'.' if name and step[0] != '[' else ''}{step}"
            yield from _json_fields(inner, joined, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _json_fields(inner, f"{name}[*]", depth + 1)
    elif value is not None and name and not isinstance(value, tuple):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        yield name, text, isinstance(value, str) and not isinstance(value, Number)


def _xml_fields(element: Element, name: str = "", depth: int = 0) -> Iterator[tuple[str, str, bool]]:
    prefix = f"{name}/" if name else ""
    for key, value in element.attributes.items():
        yield f"{prefix}@{key.rpartition(SEPARATOR)[2]}", value, False
    children = [child for child in element.children if isinstance(child, Element)]
    if not children and name and element.children:
        yield name, "".join(map(str, element.children)), False
    if depth < 5:
        for child in children:
            yield from _xml_fields(child, f"{prefix}{child.name.rpartition(SEPARATOR)[2]}", depth + 1)


def _json_path(data: bytes) -> str:
    """`$[*]` for an array, the member that is the longest array of objects, else the document."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return "$[*]"
    best, most = "$", 1
    for name in dict.fromkeys(_ARRAY.findall(data)):
        path = f"$.{name.decode()}[*]"
        count = sum(1 for _ in _some(data, path))
        if count > most:
            best, most = path, count
    return best


def _some(data: bytes, path: str) -> Iterator[Any]:
    """The records of a path, as far as there are any."""
    try:
        yield from json_records.found(_input(data), json_path(path), DEFAULT_LIMITS)
    except EventError:
        return


def _xml_path(data: bytes) -> str:
    """The child of the root, or a child of its children, that is there most often, if twice at least; else the root."""
    for above in ("/*", "/*/*"):
        names: Counter[str] = Counter()
        for each in _until_cut(partial(xml_found, _input(data), xml_path(f"{above}/*"), DEFAULT_LIMITS)):
            if isinstance(each.value, Element):
                names[each.value.name.rpartition(SEPARATOR)[2]] += 1
        for name, count in names.most_common(1):
            if count > 1:
                return f"{above}/{name}"
    return "/*"
