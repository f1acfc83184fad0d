"""Records of trees as mappings from references to values, as mappings in RML want them.

A reference in JSON is a part of JSONPath from the record on (`name`, `address.city`, `tags[*]`), in XML of XPath
(`@id`, `title`, `author/name`, `author/@id`, `text()`, `.`; a name stands for that name in any namespace). It stands
for no value, one or many; containers and nulls are no values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.trees import json_records, xml_records
from tidings.ingest.trees.json_records import Number
from tidings.ingest.trees.paths import SEPARATOR, Step, json_path, takes_name, takes_place, xml_path
from tidings.ingest.trees.xml_records import Element

Value: TypeAlias = str | int | Decimal | float | bool

HALF = "half a character: a surrogate that stands alone is no text"
_path = lru_cache(maxsize=1024)(json_path)


class JsonRecord(Mapping[str, "Value | list[Value]"]):
    """A JSON record. `record[reference]` is a value, a list where there are several, a KeyError where there is none."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def all(self, reference: str) -> list[Any]:
        """The values of a reference as they were read; numbers as their text."""
        return [value for value in self.reached(reference, _path) if is_scalar(value)]

    def reached(self, reference: str, steps: Callable[[str], Sequence[Step]]) -> list[Any]:
        """What a reference leads to, containers and nulls too; `steps` gives those of its path."""
        if isinstance(self._value, tuple):
            # A member may be called what would otherwise be a path.
            own = [value for name, value in self._value if name == reference]
            if own:
                return own
        values = [self._value]
        for step in steps(reference):
            values = [inner for value in values for inner in _inner(value, step)]
        return values

    def __getitem__(self, reference: str) -> Value | list[Value]:
        values: list[Value] = [_native(value) for value in self.all(reference)]
        if not values:
            raise KeyError(reference)
        return values[0] if len(values) == 1 else values

    def __iter__(self) -> Iterator[str]:
        """The members that are values."""
        if isinstance(self._value, tuple):
            yield from (name for name, value in self._value if is_scalar(value))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def is_scalar(value: Any) -> bool:
    return value is not None and not isinstance(value, tuple | list)


def _native(value: Any) -> Value:
    if not isinstance(value, Number):
        return value  # type: ignore[no-any-return]
    if "e" in value or "E" in value:
        return float(value)
    # Python makes no integer of more than 4,300 digits.
    return Decimal(value) if "." in value or len(value) > 4_000 else int(value)


def _inner(value: Any, step: Step) -> list[Any]:
    if isinstance(value, tuple):
        return [inner for name, inner in value if takes_name(step, name)]
    if isinstance(value, list):
        return [inner for place, inner in enumerate(value) if takes_place(step, place)]
    return []


class XmlRecord(Mapping[str, "str | list[str]"]):
    """An XML record; see `JsonRecord`."""

    __slots__ = ("_element",)

    def __init__(self, element: Element) -> None:
        self._element = element

    def all(self, reference: str) -> list[str]:
        elements = [self._element]
        *before, last = reference.split("/")
        for name in before:
            elements = [child for element in elements for child in _children(element, name)]
        if last.startswith("@"):
            return [
                value
                for element in elements
                for name, value in element.attributes.items()
                if last[1:] in ("*", name.rpartition(SEPARATOR)[2])
            ]
        if last == "text()":
            return [child for element in elements for child in element.children if isinstance(child, str)]
        return [text_of(child) for element in elements for child in _children(element, last)]

    def __getitem__(self, reference: str) -> str | list[str]:
        values = self.all(reference)
        if not values:
            raise KeyError(reference)
        return values[0] if len(values) == 1 else values

    def __iter__(self) -> Iterator[str]:
        """The attributes, and the child elements that have text alone."""
        yield from dict.fromkeys(f"@{name.rpartition(SEPARATOR)[2]}" for name in self._element.attributes)
        children = [child for child in self._element.children if isinstance(child, Element)]
        plain = (child for child in children if not any(isinstance(inner, Element) for inner in child.children))
        yield from dict.fromkeys(child.name.rpartition(SEPARATOR)[2] for child in plain)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _children(element: Element, name: str) -> list[Element]:
    if name in ("", "."):
        return [element]
    children = (child for child in element.children if isinstance(child, Element))
    return [child for child in children if name in ("*", child.name.rpartition(SEPARATOR)[2])]


def text_of(element: Element) -> str:
    """All text in an element, at any depth."""
    pieces: list[str] = []
    todo: list[Element | str] = [element]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            pieces.append(item)
        else:
            todo += reversed(item.children)
    return "".join(pieces)


def records(input: Input, how: How, report: Report, *, format: str) -> Iterator[tuple[int, JsonRecord | XmlRecord]]:
    """The records of a JSON or XML document, which `how.record` leads to, with their numbers from 1."""
    if format not in ("json", "xml"):
        raise UsageError(f"'{format}' is no tree; json and xml are")
    try:
        if format == "json":
            path = None if how.record is None else json_path(how.record)
            for each in json_records.found(input, path, how.limits):
                yield each.number, JsonRecord(each.value)
            return
        steps = None if how.record is None else xml_path(how.record)
        for one in xml_records.found(input, steps, how.limits):
            if isinstance(one.value, EventError):
                report(one.value)
            else:
                yield one.number, XmlRecord(one.value)
    except EventError as error:
        report(error)
