"""The direct mapping of records whose columns are not known before they come: JSON, SQL, Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import pyarrow as pa

from tidings.ingest.base import How, Report
from tidings.ingest.rows.direct import Direct, types_option
from tidings.ingest.rows.evaluate import Evaluator
from tidings.ingest.rows.records import Cells, Records
from tidings.ingest.rows.types import named_type, typed

_KEPT = 64


class DirectRows:
    """Makes the events of records; of every set of columns, a mapping is made once."""

    def __init__(self, how: How, source: str, report: Report, direct: Direct | None = None) -> None:
        self._direct = direct or Direct.of(how)
        self._types = {name: named_type(text) for name, text in types_option(how.options).items()}
        self._make = partial(Evaluator, source=source, limits=how.limits, report=report)
        self._made: dict[tuple[str, ...], Evaluator] = {}

    @property
    def named(self) -> frozenset[str]:
        """The columns that something is said of."""
        return frozenset([*self._direct.key, *self._direct.links, *self._types])

    def batches(self, records: Records) -> Iterator[pa.RecordBatch]:
        if self._types:
            records = replace(records, columns=self._retyped(records.columns))
        names = tuple(sorted(records.columns))
        if names not in self._made:
            if len(self._made) >= _KEPT:
                self._made.clear()
            self._made[names] = self._make(self._direct.form(names))
        yield from self._made[names].batches(records)

    def _retyped(self, columns: Mapping[str, tuple[Cells, ...]]) -> dict[str, tuple[Cells, ...]]:
        found = dict(columns)
        for name, datatype in self._types.items():
            found[name] = tuple(each for cells in columns.get(name, ()) for each in _of_type(cells, datatype))
        return found


def _of_type(cells: Cells, datatype: str | None) -> tuple[Cells, ...]:
    """Strings where they fit, and other values as they are written."""
    if cells.datatype is not None:
        return (replace(cells, datatype=datatype),)
    return tuple(replace(each, rows=cells.rows) for each in typed(cells.text, datatype))
