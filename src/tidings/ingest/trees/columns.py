"""Records of trees as columns of text, which a mapping is applied to as to those of tables: a column is a reference.

What a record has for its references is taken out of it as soon as it is read, and the tree is let go. A reference that
leads to an array stands for the values in it, as in JSON lines. In XML a text that is empty is no value, as in CSV.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from tidings.errors import EventError, Span, UsageError
from tidings.ingest.base import Input, Report
from tidings.ingest.rows.records import Cells, Records
from tidings.ingest.trees import json_records, xml_records
from tidings.ingest.trees.facade import refuse_twice
from tidings.ingest.trees.json_records import Number
from tidings.ingest.trees.paths import Step, json_path, xml_path
from tidings.ingest.trees.records import HALF, JsonRecord, XmlRecord, is_scalar
from tidings.rdf.limits import Limits
from tidings.rdf.terms import XSD_BOOLEAN, XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER

_RECORDS = 1_000
_CHARACTERS = 4 << 20
_VALUE = 64
"""What a value costs beside its text, about."""

_NAME = r"[^/{}\[\]@()*:\s.][^/{}\[\]@()*:\s]*"
_IN_XML = re.compile(rf"(?:(?:\.|\*|{_NAME})/)*(?:\.|\*|{_NAME}|@(?:\*|{_NAME})|text\(\))")
_NO_NAME = re.compile(r"[\[\]*()?'\"]|\.\.")


def columns(
    input: Input, kind: str, path: str | None, references: Iterable[str], limits: Limits, report: Report
) -> Iterator[Records]:
    """The records of a JSON or XML document that the path leads to, some at a time; a `UsageError` for references that
    are not understood. A record that is wrong is told, and costs no other.
    """
    wanted = tuple(references)
    for each in wanted:
        check_reference(each, kind)
    gathered = _Gathered(wanted)
    try:
        for number, line, values in (_json if kind == "json" else _xml)(input, path, wanted, limits):
            if isinstance(values, EventError):
                report(values)
                continue
            gathered.add(number, line, values)
            if gathered.full:
                yield gathered.taken()
    except EventError as error:
        report(error)
    if gathered.some:
        yield gathered.taken()


def check_reference(reference: str, kind: str) -> None:
    if kind == "json":
        _steps(reference)
    elif _IN_XML.fullmatch(reference) is None:
        hint = "write for instance @id, title, author/name or text(); a name stands for that name in any namespace"
        raise UsageError(f"the reference '{reference}' is not understood; {hint}")


@lru_cache(maxsize=1024)
def _steps(reference: str) -> Sequence[Step]:
    try:
        return json_path(reference)
    except UsageError:
        # Names with spaces in them need no brackets in a reference.
        if _NO_NAME.search(reference):
            raise
        return tuple(reference.removeprefix("$.").split("."))


def _json(
    input: Input, path: str | None, references: Sequence[str], limits: Limits
) -> Iterator[tuple[int, int, list[list[Any]] | EventError]]:
    steps = None if path is None else json_path(path)
    for found in json_records.found(input, steps, limits):
        try:
            _check(found.value, limits)
            record = JsonRecord(found.value)
            values = [_scalars(reference, record.reached(reference, _steps)) for reference in references]
            "".join(value for each in values for value in each if isinstance(value, str)).encode()
        except EventError as error:
            yield found.number, found.line, _at(error.reason, found.line, input, error.hint)
        except UnicodeEncodeError:
            yield found.number, found.line, _at(HALF, found.line, input)
        else:
            yield found.number, found.line, values


def _at(reason: str, line: int, input: Input, hint: str | None = None) -> EventError:
    return EventError(reason, span=Span(line), source=input.name, hint=hint)


def _check(value: Any, limits: Limits) -> None:
    todo = [(value, 1)]
    while todo:
        container, depth = todo.pop()
        if isinstance(container, tuple):
            refuse_twice(container)
            inside = [value for _, value in container if isinstance(value, tuple | list)]
        elif isinstance(container, list):
            inside = [value for value in container if isinstance(value, tuple | list)]
        else:
            continue
        if depth > limits.max_depth:
            raise EventError(f"nested more than {limits.max_depth} deep")
        todo += [(each, depth + 1) for each in inside]


def _scalars(reference: str, found: list[Any]) -> list[Any]:
    values: list[Any] = []
    for each in found:
        if not isinstance(each, list):
            values += [each] if is_scalar(each) else []
            continue
        for inner in each:
            if isinstance(inner, tuple | list):
                what = "objects" if isinstance(inner, tuple) else "arrays"
                hint = f"say what of them, for instance {reference}[*].name or {reference}[*][0]"
                raise EventError(f"'{reference}' is an array of {what}", hint=hint)
            values += [] if inner is None else [inner]
    return values


def _xml(
    input: Input, path: str | None, references: Sequence[str], limits: Limits
) -> Iterator[tuple[int, int, list[list[Any]] | EventError]]:
    steps = None if path is None else xml_path(path)
    for found in xml_records.found(input, steps, limits):
        if isinstance(found.value, EventError):
            yield found.number, found.line, found.value
        else:
            record = XmlRecord(found.value)
            values = [[text for text in record.all(reference) if text] for reference in references]
            yield found.number, found.line, values


class _Gathered:
    """The values of some records, by reference and datatype."""

    def __init__(self, references: tuple[str, ...]) -> None:
        self._references = references
        self._start()

    def _start(self) -> None:
        self._numbers: list[int] = []
        self._lines: list[int] = []
        self._size = 0
        self._found: list[dict[str | None, tuple[list[int], list[str]]]] = [{} for _ in self._references]
        self._several = [False] * len(self._references)

    @property
    def some(self) -> bool:
        return bool(self._numbers)

    @property
    def full(self) -> bool:
        return len(self._numbers) >= _RECORDS or self._size >= _CHARACTERS

    def add(self, number: int, line: int, values: list[list[Any]]) -> None:
        row = len(self._numbers)
        self._numbers.append(number)
        self._lines.append(line)
        for place, several in enumerate(values):
            self._several[place] = self._several[place] or len(several) > 1
            for value in several:
                datatype, text = _typed(value)
                rows, texts = self._found[place].setdefault(datatype, ([], []))
                rows.append(row)
                texts.append(text)
                self._size += len(text) + _VALUE

    def taken(self) -> Records:
        """What there is so far; then there is nothing."""
        lines = self._lines
        made = {
            reference: tuple(self._cells(place, datatype) for datatype in self._found[place])
            for place, reference in enumerate(self._references)
        }
        records = Records(np.array(self._numbers), made, lambda row: Span(lines[row]))
        self._start()
        return records

    def _cells(self, place: int, datatype: str | None) -> Cells:
        rows, texts = self._found[place][datatype]
        plain = datatype is not None
        if self._several[place]:
            return Cells(pa.array(texts, pa.string()), datatype, plain, np.array(rows, np.int64))
        one: list[str | None] = [None] * len(self._numbers)
        for row, text in zip(rows, texts, strict=True):
            one[row] = text
        return Cells(pa.array(one, pa.string()), datatype, plain)


def _typed(value: Any) -> tuple[str | None, str]:
    """The datatype of a value, none for a string, and its text."""
    if isinstance(value, Number):
        if "e" in value or "E" in value:
            return XSD_DOUBLE, value
        return XSD_DECIMAL if "." in value else XSD_INTEGER, value
    if isinstance(value, bool):
        return XSD_BOOLEAN, "true" if value else "false"
    return None, value
