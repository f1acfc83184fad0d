"""The subscriptions of a broker: a row for each version, the last of which stands.

Versions that follow one another are one *stream* of notifications, whose reader does not notice. One that looks back on
events from before begins a stream of its own: these would lie behind where a reader already is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from tidings.broker import gone
from tidings.broker.options import Options
from tidings.broker.schema import SOUND, damaged
from tidings.delivery.notification import FIRST_VERSION
from tidings.lang.pattern import Dialect

State: TypeAlias = Literal["active", "paused", "replaced", "cancelled", "expired"]

_THERE = "state IN ('active', 'paused')"

BY_OWNER = "by its owner"
"""The reason of who paused his own."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One version of a subscription. Times are in microseconds since 1970.

    It sees events behind `after`, and, where `since` is given, older ones that were accepted from then on: `looked` is
    None, or up to which event they have been looked at so far.
    """

    number: int
    stream: int
    tenant: str
    id: str
    version: int
    query: str
    dialect: Dialect
    options: Options
    state: State
    reason: str
    created: int
    after: int
    expires: int | None
    since: int | None
    looked: int | None
    complexity: int | None

    @property
    def created_at(self) -> datetime:
        return datetime.fromtimestamp(self.created / 1e6, UTC)

    @staticmethod
    def of(row: tuple[Any, ...]) -> Standing:
        """Of whether it is sound, and the columns."""
        sound, *values = row
        if not sound:
            raise damaged(f"subscription {values[0]}")
        values[7] = Options.of_json(values[7])
        return Standing(*values)


_COLUMNS = ", ".join(field.name for field in fields(Standing))
_CHECKED = f"{SOUND}, {_COLUMNS}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A subscription as it is asked for."""

    tenant: str
    id: str
    query: str
    dialect: Dialect
    options: Options
    since: int | None = None
    complexity: int | None = None

    def is_same(self, other: Standing) -> bool:
        return (self.query, self.dialect, self.since) == (other.query, other.dialect, other.since)


@dataclass(frozen=True, slots=True)
class Registered:
    """`before` is the version that it takes the place of; `new` is false where it stood already, as it is."""

    standing: Standing
    before: Standing | None
    new: bool


def register(database: sqlite3.Connection, wanted: Wanted, now: int, last: int, looked: int | None) -> Registered:
    """Let it stand, behind event `last`. What stood already stays as it is, but for its options and its time.

    `looked` is the event behind which it is to look back.
    """
    expires = None if wanted.options.ttl is None else now + round(wanted.options.ttl * 1e6)
    before = find(database, wanted.tenant, wanted.id)
    if before is not None and wanted.is_same(before):
        database.execute(
            "UPDATE subscriptions SET options = ?, expires = ? WHERE number = ?",
            (wanted.options.to_json(), expires, before.number),
        )
        return Registered(replace(before, options=wanted.options, expires=expires), before, new=False)
    if before is not None:
        _set_state(database, before.number, "replaced")
    highest = database.execute(
        "SELECT max(version) FROM subscriptions WHERE tenant = ? AND id = ?", (wanted.tenant, wanted.id)
    ).fetchone()[0]
    standing = Standing(
        number=_next_number(database),
        stream=0,
        tenant=wanted.tenant,
        id=wanted.id,
        version=FIRST_VERSION if highest is None else highest + 1,
        query=wanted.query,
        dialect=wanted.dialect,
        options=wanted.options,
        state="active",
        reason="",
        created=now,
        after=last,
        expires=expires,
        since=wanted.since,
        looked=looked,
        complexity=wanted.complexity,
    )
    follows = before is not None and wanted.since is None
    standing = replace(standing, stream=before.stream if before is not None and follows else standing.number)
    _insert(database, standing)
    return Registered(standing, before, new=True)


def _next_number(database: sqlite3.Connection) -> int:
    row = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'subscriptions'").fetchone()
    return 1 if row is None else int(row[0]) + 1


def _insert(database: sqlite3.Connection, s: Standing) -> None:
    values = (s.number, s.stream, s.tenant, s.id, s.version, s.query, s.dialect, s.options.to_json(), s.state)
    database.execute(
        f"INSERT INTO subscriptions ({_COLUMNS}, acked, dropped) VALUES ({', '.join('?' * 16)}, ?, ?)",
        (*values, s.reason, s.created, s.after, s.expires, s.since, s.looked, s.complexity, 0, 0),
    )


def _set_state(database: sqlite3.Connection, number: int, state: State, reason: str = "") -> None:
    database.execute("UPDATE subscriptions SET state = ?, reason = ? WHERE number = ?", (state, reason, number))


def end(database: sqlite3.Connection, standing: Standing, state: State) -> None:
    """And with it who could read it as a feed: another one of the same id is none of his business."""
    _set_state(database, standing.number, state)
    for table in ("feed_keys", "hub"):
        database.execute(f"DELETE FROM {table} WHERE tenant = ? AND id = ?", (standing.tenant, standing.id))


def pause(database: sqlite3.Connection, standing: Standing, reason: str) -> Standing:
    _set_state(database, standing.number, "paused", reason)
    return replace(standing, state="paused", reason=reason)


def resume(database: sqlite3.Connection, standing: Standing) -> Standing:
    _set_state(database, standing.number, "active")
    return replace(standing, state="active", reason="")


def looked(database: sqlite3.Connection, number: int, upto: int | None) -> None:
    """How far it has looked back; None when that is done."""
    database.execute("UPDATE subscriptions SET looked = ? WHERE number = ?", (upto, number))


# -------------------------------------------------------------------------------------------------------------- finding


def find(database: sqlite3.Connection, tenant: str, id: str) -> Standing | None:
    """The one that stands under this id."""
    row = database.execute(
        f"SELECT {_CHECKED} FROM subscriptions WHERE tenant = ? AND id = ? AND {_THERE}", (tenant, id)
    ).fetchone()
    return None if row is None else Standing.of(row)


def by_number(database: sqlite3.Connection, number: int) -> Standing | None:
    row = database.execute(f"SELECT {_CHECKED} FROM subscriptions WHERE number = ?", (number,)).fetchone()
    return None if row is None else Standing.of(row)


def last_of(database: sqlite3.Connection, stream: int) -> Standing | None:
    """The last version of a stream."""
    row = database.execute(
        f"SELECT {_CHECKED} FROM subscriptions WHERE stream = ? ORDER BY number DESC LIMIT 1", (stream,)
    ).fetchone()
    return None if row is None else Standing.of(row)


def page(database: sqlite3.Connection, tenant: str, after: str, limit: int) -> list[Standing]:
    """Those of a tenant that stand, by id, behind that one."""
    rows = database.execute(
        f"SELECT {_CHECKED} FROM subscriptions WHERE tenant = ? AND id > ? AND {_THERE} ORDER BY id LIMIT ?",
        (tenant, after, limit),
    )
    return [Standing.of(row) for row in rows]


def standing(database: sqlite3.Connection) -> Iterator[Standing]:
    """All that stand, in the order in which they came."""
    return map(Standing.of, database.execute(f"SELECT {_CHECKED} FROM subscriptions WHERE {_THERE} ORDER BY number"))


def versions(database: sqlite3.Connection, stream: int) -> list[Standing]:
    """All of a stream, the first one first."""
    rows = database.execute(f"SELECT {_CHECKED} FROM subscriptions WHERE stream = ? ORDER BY number", (stream,))
    return [Standing.of(row) for row in rows]


def streams(database: sqlite3.Connection) -> dict[int, int]:
    """The stream of each version, where one of that stands."""
    rows = database.execute(
        f"SELECT number, stream FROM subscriptions WHERE stream IN (SELECT stream FROM subscriptions WHERE {_THERE})"
    )
    return dict(rows)


def looking(database: sqlite3.Connection) -> list[Standing]:
    """Those of streams that stand that have not looked back to their end; also versions that are replaced by now."""
    # To have them in order, SQLite would rather look at all that there are than sort the few that it has an index of.
    rows = database.execute(
        f"SELECT {_CHECKED} FROM subscriptions AS those INDEXED BY subscriptions_looking WHERE looked IS NOT NULL "
        f"AND EXISTS (SELECT 1 FROM subscriptions WHERE stream = those.stream AND {_THERE}) ORDER BY number"
    )
    return [Standing.of(row) for row in rows]


def expired(database: sqlite3.Connection, now: int) -> list[Standing]:
    rows = database.execute(f"SELECT {_CHECKED} FROM subscriptions WHERE expires <= ? AND {_THERE}", (now,))
    return [Standing.of(row) for row in rows]


# ------------------------------------------------------------------------------------------------------------- progress


def progress(database: sqlite3.Connection, stream: int) -> tuple[int, int]:
    """Up to which event the subscriber is done, and up to which notifications are gone."""
    row = database.execute(f"SELECT {SOUND}, acked, dropped FROM subscriptions WHERE number = ?", (stream,)).fetchone()
    if not row[0]:
        raise damaged(f"subscription {stream}")
    return int(row[1]), max(int(row[2]), gone.upto(database, stream))


def positions(database: sqlite3.Connection) -> list[tuple[int, int]]:
    """Of all streams that stand: from which event on notifications wait."""
    rows = database.execute(
        "SELECT number, max(acked, dropped) FROM subscriptions WHERE number = stream AND stream IN "
        f"(SELECT stream FROM subscriptions WHERE {_THERE})"
    ).fetchall()
    removed = gone.everywhere(database)
    return [(stream, max(place, removed.get(stream, 0))) for stream, place in rows]


def acknowledge(database: sqlite3.Connection, stream: int, seq: int) -> None:
    """Never back."""
    database.execute("UPDATE subscriptions SET acked = max(acked, ?) WHERE number = ?", (seq, stream))


def drop(database: sqlite3.Connection, stream: int, seq: int) -> None:
    database.execute("UPDATE subscriptions SET dropped = max(dropped, ?) WHERE number = ?", (seq, stream))
