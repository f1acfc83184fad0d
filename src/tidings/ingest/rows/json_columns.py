"""JSON objects as columns of text.

The values of an array are several values of its member. The members of an object inside a record are columns called
`outer.inner`. Arrays of arrays or of objects are refused, record by record: they are trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.ingest.rows.records import Cells
from tidings.ingest.rows.text import Ints
from tidings.rdf.terms import XSD_BOOLEAN, XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER


class Number(str):
    """A number with a fraction or an exponent, as it is written."""

    __slots__ = ()


class Whole(str):
    """An integer of so many digits that it is kept as text."""

    __slots__ = ()


class Wanted:
    """Which members are to be columns: those of these names, by dots, or, without names, all; and never `without`."""

    def __init__(self, names: frozenset[str] | None, without: frozenset[str] = frozenset()) -> None:
        self._names = names
        self._without = without
        self._open = {name[:end] for name in names or () for end, each in enumerate(name) if each == "."}

    def column(self, name: str) -> bool:
        return (self._names is None or name in self._names) and name not in self._without

    def inside(self, name: str) -> bool:
        return self._names is None or name in self._open


ALL = Wanted(None)
SPARSE = 16
WIDE = 1_000
"""Objects become columns as long as there are no more, and at least one cell of `SPARSE` has a value."""


class Sparse(Exception):
    """The objects would make too many columns, or too empty ones."""


class Table:
    """Objects as columns. `wrong` says which of them cannot be, and why."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], max_depth: int, wanted: Wanted = ALL) -> None:
        self.columns: dict[str, list[Cells]] = {}
        self.wrong: dict[int, str] = {}
        self._depth = max_depth
        self._wanted = wanted
        self._add("", rows, np.arange(len(rows)), len(rows), 1)

    def _add(self, prefix: str, rows: Sequence[Mapping[str, Any]], of: Ints, count: int, depth: int) -> None:
        """The members of some objects; `of` are their places among all records, which are `count`."""
        if depth > self._depth:
            self.wrong.update(dict.fromkeys(of.tolist(), "the record is nested too deeply"))
            return
        names = tuple(rows[0]) if rows else ()
        same = all(map(names.__eq__, map(tuple, rows)))
        if not same:
            names = tuple(dict.fromkeys(chain.from_iterable(rows)))
        if self._wanted is ALL:
            if len(names) > WIDE or len(names) * len(rows) > SPARSE * (sum(map(len, rows)) + len(rows)):
                raise Sparse
        else:
            wanted = self._wanted
            names = tuple(x for x in names if wanted.column(prefix + x) or wanted.inside(prefix + x))
            same = False
        columns: Iterator[Sequence[Any]]
        if same:
            columns = zip(*(row.values() for row in rows), strict=True)
        else:
            columns = ([row.get(name) for row in rows] for name in names)
        every = len(of) == count
        for name, values in zip(names, columns, strict=True):
            self._column(prefix + name, values, of, count, depth, every=every)

    def _column(self, name: str, values: Sequence[Any], of: Ints, count: int, depth: int, *, every: bool) -> None:
        kinds = set(map(type, values)) - {type(None)}
        column, inside = self._wanted.column(name), self._wanted.inside(name)
        for kind in sorted(kinds, key=lambda each: each.__name__):
            if kind is dict:
                if not inside:
                    continue
                places = [place for place, value in enumerate(values) if type(value) is dict]
                self._add(f"{name}.", [values[place] for place in places], of[places], count, depth + 1)
            elif not column:
                continue
            elif kind is list:
                self._lists(name, values, of, count)
            else:
                only = values if len(kinds) == 1 else [value if type(value) is kind else None for value in values]
                for cells in _scalars(kind, only):
                    self._put(name, cells, None if every else of, count)

    def _lists(self, name: str, values: Sequence[Any], of: Ints, count: int) -> None:
        flat: list[Any] = []
        rows: list[int] = []
        for place, value in enumerate(values):
            if type(value) is list:
                flat += value
                rows += [int(of[place])] * len(value)
        where = np.array(rows, np.int64)
        kinds = set(map(type, flat)) - {type(None)}
        for kind in sorted(kinds, key=lambda each: each.__name__):
            if kind in (dict, list):
                of_kind = [row for row, value in zip(rows, flat, strict=True) if type(value) is kind]
                self.wrong.update(dict.fromkeys(of_kind, _array_of(name, kind)))
            else:
                only = [value if type(value) is kind else None for value in flat]
                for cells in _scalars(kind, only):
                    self._put(name, cells, where, count)

    def _put(self, name: str, cells: Cells, rows: Ints | None, count: int) -> None:
        found = self.columns.setdefault(name, [])
        there = np.asarray(cells.text.is_valid())
        if rows is None and found:
            taken = np.zeros(count, np.bool_)
            for other in found:
                places = np.flatnonzero(np.asarray(other.text.is_valid()))
                taken[places if other.rows is None else other.rows[places]] = True
            # The same name by two ways, as in {"a.b": 1, "a": {"b": 2}}, gives a record two values.
            rows = np.arange(count) if (taken & there).any() else None
        if rows is not None:
            cells = Cells(cells.text.filter(pa.array(there)), cells.datatype, cells.plain, rows[there])
        found.append(cells)


class Melted:
    """Objects as one column of names and one of values, where few of them have the same members."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], max_depth: int, wanted: Wanted = ALL) -> None:
        self.wrong: dict[int, str] = {}
        self._found: dict[type, tuple[list[int], list[str], list[Any]]] = {}
        self._depth = max_depth
        self._wanted = wanted
        for place, row in enumerate(rows):
            self._add(place, "", row, 1)

    def _add(self, place: int, prefix: str, row: Mapping[str, Any], depth: int) -> None:
        if depth > self._depth:
            self.wrong[place] = "the record is nested too deeply"
            return
        for member, value in row.items():
            name = prefix + member
            if type(value) is dict:
                self._add(place, f"{name}.", value, depth + 1)
            elif self._wanted.column(name):
                for each in value if type(value) is list else (value,):
                    if type(each) in _NAMES:
                        self.wrong[place] = _array_of(name, type(each))
                    elif each is not None:
                        rows, names, values = self._found.setdefault(type(each), ([], [], []))
                        rows.append(place)
                        names.append(name)
                        values.append(each)

    def cells(self) -> Iterator[Cells]:
        for kind, (rows, names, values) in self._found.items():
            where, called = np.array(rows, np.int64), pa.array(names, pa.string())
            for cells in _scalars(kind, values):
                there = np.asarray(cells.text.is_valid())
                keep = pa.array(there)
                text = cells.text.filter(keep)
                yield Cells(text, cells.datatype, cells.plain, where[there], called.filter(keep))


def _array_of(name: str, kind: type) -> str:
    return f"'{name}' is an array of {_NAMES[kind]}"


_NAMES: dict[type, str] = {dict: "objects", list: "arrays"}


def _scalars(kind: type, values: Sequence[Any]) -> Iterator[Cells]:
    """Values of one type of Python, or none."""
    if kind is str:
        yield Cells(pa.array(values, pa.string()))
    elif kind is bool:
        yield Cells(pc.cast(pa.array(values, pa.bool_()), pa.string()), XSD_BOOLEAN, plain=True)
    elif kind is int:
        try:
            text = pc.cast(pa.array(values, pa.int64()), pa.string())
        except (OverflowError, pa.ArrowInvalid):
            text = pa.array([None if value is None else str(value) for value in values], pa.string())
        yield Cells(text, XSD_INTEGER, plain=True)
    elif kind is Whole:
        yield Cells(pa.array(values, pa.string()), XSD_INTEGER, plain=True)
    else:
        text = pa.array(values, pa.string())
        exponent = pc.match_substring_regex(text, "[eE]")
        none = pa.scalar(None, pa.string())
        if pc.any(exponent).as_py():
            yield Cells(pc.if_else(exponent, text, none), XSD_DOUBLE, plain=True)
        if not pc.all(exponent).as_py():
            yield Cells(pc.if_else(exponent, none, text), XSD_DECIMAL, plain=True)
