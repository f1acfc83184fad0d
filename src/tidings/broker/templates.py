"""The templates of a broker: a row for each, its last version. What was made of one does not change with it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from tidings.broker.schema import damaged
from tidings.delivery.notification import FIRST_VERSION

_COLUMNS = "tenant, id, version, definition, complexity, created"
_CHECKED = f"crc IS tidings_sum({_COLUMNS}), {_COLUMNS}"


@dataclass(frozen=True, slots=True)
class Stored:
    """`definition` is JSON, as `Template.to_json` gives it; `created` is in microseconds since 1970."""

    tenant: str
    id: str
    version: int
    definition: str
    complexity: int
    created: int

    @staticmethod
    def of(row: tuple[Any, ...]) -> Stored:
        sound, *values = row
        if not sound:
            raise damaged(f"the template {values[1]}")
        return Stored(*values)


@dataclass(frozen=True, slots=True)
class Defined:
    """`before` is what it takes the place of; `new` is false where it was there already, as it is."""

    stored: Stored
    before: Stored | None
    new: bool


def find(database: sqlite3.Connection, tenant: str, id: str) -> Stored | None:
    row = database.execute(
        f"SELECT {_CHECKED} FROM templates WHERE tenant = ? AND id = ? AND definition IS NOT NULL", (tenant, id)
    ).fetchone()
    return None if row is None else Stored.of(row)


def page(database: sqlite3.Connection, tenant: str, after: str, limit: int) -> list[Stored]:
    """Those of a tenant, by id, behind that one."""
    rows = database.execute(
        f"SELECT {_CHECKED} FROM templates WHERE tenant = ? AND id > ? AND definition IS NOT NULL ORDER BY id LIMIT ?",
        (tenant, after, limit),
    )
    return [Stored.of(row) for row in rows]


def define(database: sqlite3.Connection, tenant: str, id: str, definition: str, complexity: int, now: int) -> Defined:
    """The same again changes nothing; another one is the next version."""
    before = find(database, tenant, id)
    if before is not None and before.definition == definition:
        return Defined(before, before, new=False)
    last = database.execute("SELECT version FROM templates WHERE tenant = ? AND id = ?", (tenant, id)).fetchone()
    stored = Stored(tenant, id, FIRST_VERSION if last is None else last[0] + 1, definition, complexity, now)
    if last is None:
        database.execute(
            f"INSERT INTO templates ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            (tenant, id, stored.version, definition, complexity, now),
        )
    else:
        database.execute(
            "UPDATE templates SET version = ?, definition = ?, complexity = ?, created = ? WHERE tenant = ? AND id = ?",
            (stored.version, definition, complexity, now, tenant, id),
        )
    return Defined(stored, before, new=True)


def delete(database: sqlite3.Connection, tenant: str, id: str) -> Stored | None:
    """What there was. Its number is not used again."""
    before = find(database, tenant, id)
    if before is not None:
        database.execute("UPDATE templates SET definition = NULL WHERE tenant = ? AND id = ?", (tenant, id))
    return before
