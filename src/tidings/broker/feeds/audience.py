"""Who has asked this server, as a hub, to be told of what is new in a subscription's feed: a row each."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, fields
from typing import Any

from tidings.broker.schema import damaged, sound

OF_A_FEED, IN_ALL = 1_000, 10_000
"""How many there may be."""


@dataclass(frozen=True, slots=True)
class Listener:
    """`topic` is the address of the feed as he gave it, `secret` what he wants it signed with, empty for nothing. He is
    done with events up to `told`; `failures` is how often in a row he did not take what is behind that.
    """

    number: int
    tenant: str
    id: str
    topic: str
    callback: str
    secret: str
    expires: int
    told: int
    failures: int

    @staticmethod
    def of(row: tuple[Any, ...]) -> Listener:
        if not row[0]:
            raise damaged(f"who listens to the hub, number {row[1]}")
        return Listener(*row[1:])


_COLUMNS = ", ".join(field.name for field in fields(Listener))
_CHECKED = f"{sound('hub')}, {_COLUMNS}"


def put(
    writer: sqlite3.Connection,
    wanted: Listener,
    now: int,
    last: int,
) -> Listener | None:
    """Have him told of what is behind event `last`, or with a new lease of what he was not told yet; None where there
    are too many. Those whose lease is over make room.
    """
    writer.execute("DELETE FROM hub WHERE expires <= ?", (now,))
    values = (wanted.secret, wanted.expires, wanted.callback, wanted.topic)
    if not writer.execute("UPDATE hub SET secret = ?, expires = ? WHERE callback = ? AND topic = ?", values).rowcount:
        if has_enough(writer, wanted.tenant, wanted.id):
            return None
        writer.execute(
            "INSERT INTO hub (tenant, id, topic, callback, secret, expires, told, failures) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
            (wanted.tenant, wanted.id, wanted.topic, wanted.callback, wanted.secret, wanted.expires, last),
        )
    return find(writer, wanted.callback, wanted.topic)


def has_enough(reader: sqlite3.Connection, tenant: str, id: str) -> bool:
    [all_there_are] = reader.execute("SELECT count(*) FROM hub").fetchone()
    [of_this] = reader.execute("SELECT count(*) FROM hub WHERE tenant = ? AND id = ?", (tenant, id)).fetchone()
    return bool(all_there_are >= IN_ALL or of_this >= OF_A_FEED)


def find(reader: sqlite3.Connection, callback: str, topic: str) -> Listener | None:
    return _one(reader, "callback = ? AND topic = ?", callback, topic)


def by_number(reader: sqlite3.Connection, number: int) -> Listener | None:
    return _one(reader, "number = ?", number)


def _one(reader: sqlite3.Connection, where: str, *values: object) -> Listener | None:
    row = reader.execute(f"SELECT {_CHECKED} FROM hub WHERE {where}", values).fetchone()
    return None if row is None else Listener.of(row)


def everybody(reader: sqlite3.Connection) -> list[Listener]:
    return [Listener.of(row) for row in reader.execute(f"SELECT {_CHECKED} FROM hub ORDER BY number")]


def noted(writer: sqlite3.Connection, number: int, told: int, failures: int) -> None:
    writer.execute("UPDATE hub SET told = max(told, ?), failures = ? WHERE number = ?", (told, failures, number))


def remove(writer: sqlite3.Connection, number: int) -> None:
    writer.execute("DELETE FROM hub WHERE number = ?", (number,))
