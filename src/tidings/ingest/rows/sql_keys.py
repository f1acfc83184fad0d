"""What a database says of a table: its keys, and in SQLite the types that its columns are declared with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tidings.ingest.rows.types import XSD_DATE
from tidings.rdf.terms import XSD_BOOLEAN, XSD_DATETIME

_DECLARED = {"DATE": XSD_DATE, "DATETIME": XSD_DATETIME, "TIMESTAMP": XSD_DATETIME, "BOOLEAN": XSD_BOOLEAN}
_DECLARED["BOOL"] = XSD_BOOLEAN


@dataclass(frozen=True, slots=True)
class Foreign:
    """Columns that hold the key of a record of another table, in the order of that key."""

    columns: tuple[str, ...]
    table: str


@dataclass(frozen=True, slots=True)
class Keys:
    primary: tuple[str, ...] = ()
    foreign: tuple[Foreign, ...] = ()
    declared: dict[str, str] = field(default_factory=dict)


def keys_of(connection: Any, table: str) -> Keys:
    """The keys of a table, as far as the database tells."""
    if type(connection).__module__.partition(".")[0] in ("sqlite3", "_sqlite3", "pysqlite3"):
        return _of_sqlite(connection, table)
    try:
        return _of_schema(connection, table)
    except Exception:  # every driver has its own; a database without such a catalogue has no keys that we know of
        rollback = getattr(connection, "rollback", None)
        if rollback is not None:
            rollback()
        return Keys()


def quoted(name: str) -> str:
    """A name as SQL has it; `schema.table` is two."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def _rows(connection: Any, query: str) -> list[tuple[Any, ...]]:
    cursor = connection.cursor()
    try:
        cursor.execute(query)
        return list(cursor.fetchall())
    finally:
        cursor.close()


def _of_sqlite(connection: Any, table: str) -> Keys:
    info = _rows(connection, f"PRAGMA table_info({quoted(table)})")
    declared = {row[1]: re.sub(r"\(.*", "", str(row[2])).strip().upper() for row in info}
    found: dict[int, list[tuple[int, str, str, str | None]]] = {}
    for id_, place, other, ours, theirs, *_ in _rows(connection, f"PRAGMA foreign_key_list({quoted(table)})"):
        found.setdefault(id_, []).append((place, ours, other, theirs))
    foreign = []
    for _, pairs in sorted(found.items()):
        pairs.sort()
        other = pairs[0][2]
        key = _sqlite_primary(_rows(connection, f"PRAGMA table_info({quoted(other)})"))
        theirs = [pair[3] or (key[place] if place < len(key) else "") for place, pair in enumerate(pairs)]
        foreign += list(_in_order(other, key, dict(zip(theirs, (pair[1] for pair in pairs), strict=True))))
    types = {name: _DECLARED[kind] for name, kind in declared.items() if kind in _DECLARED}
    return Keys(_sqlite_primary(info), tuple(foreign), types)


def _sqlite_primary(info: list[tuple[Any, ...]]) -> tuple[str, ...]:
    return tuple(row[1] for row in sorted(info, key=lambda row: row[5]) if row[5])


def _in_order(table: str, key: tuple[str, ...], ours: dict[str, str]) -> Iterator[Foreign]:
    """The foreign key, if it leads to the primary key of its table: only that names records."""
    if key and set(key) == set(ours):
        yield Foreign(tuple(ours[name] for name in key), table)


_PRIMARY = """
SELECT k.column_name FROM information_schema.table_constraints c
JOIN information_schema.key_column_usage k ON k.constraint_name = c.constraint_name AND k.table_name = c.table_name
AND k.constraint_schema = c.constraint_schema
WHERE c.constraint_type = 'PRIMARY KEY' AND c.table_name = {table} {schema} ORDER BY k.ordinal_position"""

_FOREIGN = """
SELECT c.constraint_name, k.column_name, p.table_name, p.column_name
FROM information_schema.table_constraints c
JOIN information_schema.key_column_usage k ON k.constraint_name = c.constraint_name AND k.table_name = c.table_name
AND k.constraint_schema = c.constraint_schema
JOIN information_schema.referential_constraints r ON r.constraint_name = c.constraint_name
AND r.constraint_schema = c.constraint_schema
JOIN information_schema.key_column_usage p ON p.constraint_name = r.unique_constraint_name
AND p.constraint_schema = r.unique_constraint_schema
AND p.ordinal_position = COALESCE(k.position_in_unique_constraint, k.ordinal_position)
WHERE c.constraint_type = 'FOREIGN KEY' AND c.table_name = {table} {schema}
ORDER BY c.constraint_name, k.ordinal_position"""


def _of_schema(connection: Any, table: str) -> Keys:
    primary = _schema_primary(connection, table)
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for name, ours, other, theirs in _rows(connection, _asked(_FOREIGN, table)):
        found.setdefault(name, (other, {}))[1][theirs] = ours
    foreign = [
        each for other, ours in found.values() for each in _in_order(other, _schema_primary(connection, other), ours)
    ]
    return Keys(primary, tuple(foreign))


def _schema_primary(connection: Any, table: str) -> tuple[str, ...]:
    return tuple(row[0] for row in _rows(connection, _asked(_PRIMARY, table)))


def _asked(query: str, table: str) -> str:
    schema, _, name = table.rpartition(".")
    of_schema = f"AND c.table_schema = {_text(schema)}" if schema else ""
    return query.format(table=_text(name), schema=of_schema)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
