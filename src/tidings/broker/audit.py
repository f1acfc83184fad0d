"""Who did what, and when: a row for each change that somebody made, written together with the change.

Never what was in it: no query, no event, no secret.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from tidings.delivery.notification import NO_TENANT

What: TypeAlias = Literal[
    "subscribe",
    "replace",
    "renew",
    "cancel",
    "expire",
    "pause",
    "resume",
    "define template",
    "delete template",
    "define mapping",
    "delete mapping",
    "delete event",
    "change ontology",
    "add feed",
    "change feed",
    "remove feed",
    "poll feed",
    "make feed key",
    "revoke feed key",
    "make token",
    "revoke token",
    "refused",
]

LAST = 1 << 62
"""A place behind all others."""

_STRETCH = 1_000
"""Rows that are forgotten at a time."""


@dataclass(frozen=True, slots=True)
class Who:
    """`token` is the name of one, or says in parentheses who it was that had none; `address` is from where."""

    tenant: str = NO_TENANT
    token: str = "(program)"
    address: str = ""


PROGRAM = Who()
"""The program that a broker is embedded in."""

COMMAND = Who(token="(command line)")


def broker(tenant: str) -> Who:
    """The broker itself, with something of this tenant's."""
    return Who(tenant, "(broker)")


@dataclass(frozen=True, slots=True)
class Entry:
    """`at` is in microseconds since 1970, `object` is the id of what it was done to."""

    place: int
    at: int
    tenant: str
    token: str
    address: str
    what: str
    object: str


_COLUMNS = ", ".join(field.name for field in fields(Entry))


def write(writer: sqlite3.Connection, at: int, by: Who, what: What, object: str) -> None:
    writer.execute(
        "INSERT INTO audit (at, tenant, token, address, what, object) VALUES (?, ?, ?, ?, ?, ?)",
        (at, by.tenant, by.token, by.address, what, object),
    )


def before(reader: sqlite3.Connection, place: int, limit: int) -> list[Entry]:
    """The newest so many before that place, the newest first."""
    rows = reader.execute(f"SELECT {_COLUMNS} FROM audit WHERE place < ? ORDER BY place DESC LIMIT ?", (place, limit))
    return [Entry(*row) for row in rows]


def has_more(reader: sqlite3.Connection, since: int, most: int) -> bool:
    """Whether there is something from before that moment, or more than so many."""
    first = reader.execute("SELECT place, at FROM audit ORDER BY place LIMIT 1").fetchone()
    if first is None:
        return False
    [last] = reader.execute("SELECT max(place) FROM audit").fetchone()
    return bool(first[1] < since or last - first[0] >= most)


def forget(writer: sqlite3.Connection, since: int, most: int) -> None:
    """A stretch of what is from before that moment, or more than so many."""
    writer.execute(
        "DELETE FROM audit WHERE place IN (SELECT place FROM audit ORDER BY place LIMIT ?) "
        "AND (at < ? OR place <= (SELECT max(place) FROM audit) - ?)",
        (_STRETCH, since, most),
    )
