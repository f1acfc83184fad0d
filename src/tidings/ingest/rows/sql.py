"""What a database gives becomes events: a table, a query, or all that an R2RML mapping names."""

from __future__ import annotations

import datetime
import decimal
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How, Report
from tidings.ingest.rows.arrow import raised
from tidings.ingest.rows.arrow_cells import columns_of
from tidings.ingest.rows.direct import Direct, below, missing
from tidings.ingest.rows.direct_rows import DirectRows
from tidings.ingest.rows.evaluate import Evaluator
from tidings.ingest.rows.form import Slot
from tidings.ingest.rows.mapping import CSVW, finished, written_in
from tidings.ingest.rows.records import Cells, Records, nowhere
from tidings.ingest.rows.rml import Mapping, known, unquoted
from tidings.ingest.rows.rml_model import Source
from tidings.ingest.rows.sql_keys import Keys, keys_of, quoted
from tidings.ingest.rows.text import safe_text
from tidings.ingest.rows.types import typed
from tidings.rdf.terms import XSD_BOOLEAN, XSD_DATETIME, XSD_DECIMAL, XSD_INTEGER, Term, iri

_ROWS = 1_000
_TABLE = re.compile(r"[^\s()]+")


def from_sql(
    connection: Any, query: str | None, how: How, *, report: Report | None = None, source: str = "sql"
) -> Iterator[pa.RecordBatch]:
    """The events of a table or of the rows of a query; with a mapping and no query, of all that the mapping names.

    `connection` is any of DB-API 2.0. Of a table, the primary key makes the IRIs of records, `{base}{table}/{key}`, and
    columns that hold the key of another table's record are links to that. Without `report` the first problem is raised.
    """
    told = report or raised
    format = written_in(how)
    if format == CSVW:
        raise UsageError("a CSVW description is of a CSV file; a database is mapped by R2RML")
    if format is not None:
        yield from _mapped(connection, query, how, told, source, format)
        return
    if query is None:
        raise UsageError("which table or query? Without a mapping one is needed")
    direct, keys = Direct.of(how), Keys()
    if _TABLE.fullmatch(query):
        table, query = query, f"SELECT * FROM {quoted(query)}"
        keys = keys_of(connection, table)
        direct = _with_keys(direct, keys, table)
    rows = DirectRows(how, source, told, direct)
    for records in _records(connection, query, source):
        missing(direct.key, records.columns, "the key")
        yield from rows.batches(_declared(records, keys))


def _with_keys(direct: Direct, keys: Keys, table: str) -> Direct:
    """The mapping of a table whose name and keys are known."""
    name = _below(direct.base, table)
    key = direct.key or keys.primary
    links: dict[str, tuple[str | Slot, ...]] = {}
    more: list[tuple[Term, tuple[str | Slot, ...]]] = []
    for each in keys.foreign:
        parts = below(f"{_below(direct.base, each.table)}/", each.columns)
        if len(each.columns) == 1:
            links[each.columns[0]] = parts
        else:
            more.append((iri(f"{direct.base}ref-{';'.join(map(safe_text, each.columns))}"), parts))
    base = f"{name}/" if key else name
    return replace(direct, key=key, links={**links, **direct.links}, more=tuple(more), subject_base=base)


def _below(base: str, table: str) -> str:
    return base + "/".join(safe_text(part) for part in table.split("."))


def _mapped(
    connection: Any, query: str | None, how: How, report: Report, source: str, format: str
) -> Iterator[pa.RecordBatch]:
    mapping = Mapping.of(how, format)

    def parents(wanted: Source, needed: frozenset[str]) -> Iterator[Records]:
        for records in _records(connection, _query(wanted), source):
            columns = {name.lower(): cells for name, cells in records.columns.items()}
            found = {name: records.columns.get(name, columns.get(name.lower(), ())) for name in needed}
            yield replace(records, columns=found)

    sources = [each for each in mapping.sources("sql") if query is None or each.name == query]
    if not sources:
        names = ", ".join(f"'{each.name}'" for each in mapping.sources("sql")) or "none"
        raise UsageError(f"the mapping does not name '{query}'; its tables and queries are {names}")
    for each in sources:
        form = mapping.form(each, parents)
        evaluator: Evaluator | None = None
        for records in _records(connection, _query(each), source):
            if evaluator is None:
                evaluator = Evaluator(
                    finished(known(form, records.columns, fold=True), how), source, how.limits, report
                )
            yield from evaluator.batches(records)


def _query(source: Source) -> str:
    return source.name.rstrip().rstrip(";") if source.query else f"SELECT * FROM {quoted(unquoted(source.name))}"


def _records(connection: Any, query: str, source: str) -> Iterator[Records]:
    cursor = connection.cursor()
    try:
        cursor.execute(query)
        if cursor.description is None:
            raise UsageError("the query gives no rows")
        names = [str(each[0]) for each in cursor.description]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UsageError(f"the query has two columns called '{twice}': give one another name (AS)")
        number = 1
        while rows := cursor.fetchmany(_ROWS):
            columns = {name: _cells(name, values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
            yield Records(number + np.arange(len(rows)), columns, nowhere)
            number += len(rows)
    except (EventError, UsageError):
        raise
    except Exception as error:  # every driver has its own
        raise EventError(f"the database says: {error}", source=source) from error
    finally:
        cursor.close()


def _cells(name: str, values: Sequence[Any]) -> tuple[Cells, ...]:
    """The values of a column, of whatever types they are."""
    kinds = set(map(type, values)) - {type(None)}
    found: list[Cells] = []
    for kind in sorted(kinds, key=lambda each: each.__name__):
        only = values if len(kinds) == 1 else [value if type(value) is kind else None for value in values]
        found += _of_kind(name, kind, only)
    return tuple(found)


_ARROW: dict[type, pa.DataType] = {
    str: pa.string(),
    bool: pa.bool_(),
    float: pa.float64(),
    bytes: pa.large_binary(),
    datetime.date: pa.date32(),
    datetime.time: pa.time64("us"),
    datetime.timedelta: pa.duration("us"),
}


def _of_kind(name: str, kind: type, values: Sequence[Any]) -> tuple[Cells, ...]:
    if kind in (memoryview, bytearray):
        kind, values = bytes, [None if value is None else bytes(value) for value in values]
    if kind is int:
        try:
            return _arrow(name, pa.array(values, pa.int64()))
        except (OverflowError, pa.ArrowInvalid):
            return (Cells(_texts(values, str), XSD_INTEGER, plain=True),)
    if issubclass(kind, decimal.Decimal):
        return (Cells(_texts(values, "{:f}".format), XSD_DECIMAL, plain=True),)
    if kind is datetime.datetime:
        return (Cells(_texts(values, _moment), XSD_DATETIME, plain=True),)
    if kind is uuid.UUID:
        return (Cells(_texts(values, str)),)
    if kind not in _ARROW:
        raise UsageError(f"the column '{name}' has values of {kind.__name__}: change them in the query (CAST)")
    return _arrow(name, pa.array(values, _ARROW[kind]))


def _arrow(name: str, array: pa.Array) -> tuple[Cells, ...]:
    return next(iter(columns_of(name, array)))[1]


def _texts(values: Sequence[Any], text: Any) -> pa.Array:
    return pa.array([None if value is None else text(value) for value in values], pa.string())


def _moment(value: datetime.datetime) -> str:
    text = value.isoformat()
    if "." in text:
        text = re.sub(r"(\.[0-9]*?)0+(?=$|[+-])", r"\1", text)
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text


def _declared(records: Records, keys: Keys) -> Records:
    """SQLite keeps dates as text and truth as numbers; what their columns are declared as says what they are."""
    if not keys.declared:
        return records
    columns = dict(records.columns)
    for name, datatype in keys.declared.items():
        columns[name] = tuple(each for cells in columns.get(name, ()) for each in _as_declared(cells, datatype))
    return replace(records, columns=columns)


def _as_declared(cells: Cells, datatype: str) -> tuple[Cells, ...]:
    if datatype == XSD_BOOLEAN and cells.datatype == XSD_INTEGER:
        false, true = pc.equal(cells.text, "0"), pc.equal(cells.text, "1")
        if pc.all(pc.or_(false, true)).as_py():
            return (Cells(pc.if_else(true, "true", pc.if_else(false, "false", cells.text)), datatype, plain=True),)
    if cells.datatype is None and datatype != XSD_BOOLEAN:
        return typed(pc.replace_substring_regex(cells.text, "^([0-9-]{10}) ", r"\1T"), datatype)
    return (cells,)
