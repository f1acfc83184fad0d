"""The feeds that a broker reads, and how far: a row each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from secrets import token_hex
from typing import Any

from tidings.broker.audit import Who
from tidings.broker.schema import damaged, sound
from tidings.delivery.feeds import Followed, hints_of_json, hints_to_json
from tidings.delivery.fetch import Known
from tidings.ingest.feeds.items import Items
from tidings.ingest.feeds.options import FeedOptions
from tidings.ingest.feeds.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed(Followed):
    """Times are in microseconds since 1970, but for those of the schedule. `tenant` and `token` are of who added it."""

    number: int
    id: str
    options: FeedOptions
    tenant: str
    token: str
    added: int
    polled: int | None = None

    @staticmethod
    def of(row: tuple[Any, ...]) -> Feed:
        """Of whether it is sound, and the columns."""
        found = dict(zip(("sound", *_NAMES), row, strict=True))
        if not found.pop("sound"):
            raise damaged(f"feed {row[1]}")
        found["known"] = Known(found.pop("etag"), found.pop("modified"))
        found["options"] = FeedOptions.of_json(found["options"])
        found["hints"] = hints_of_json(found["hints"])
        found["schedule"] = Schedule(**json.loads(found["schedule"]))
        found["items"] = Items(found["items"])
        return Feed(**found)

    def columns(self) -> dict[str, Any]:
        found: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(Feed)}
        known = found.pop("known")
        return found | {
            "etag": known.etag,
            "modified": known.modified,
            "options": self.options.to_json(),
            "hints": hints_to_json(self.hints),
            "schedule": json.dumps(asdict(self.schedule)),
            "items": self.items.data,
        }


_NAMES = (
    *("number", "id", "url", "options", "state", "problem", "status", "etag", "modified", "version"),
    *("hints", "schedule", "tenant", "token", "added", "polled", "items"),
)
_CHECKED = f"{sound('feeds')}, {', '.join(_NAMES)}"


# -------------------------------------------------------------------------------------------------------------- changes


def add(writer: sqlite3.Connection, url: str, options: FeedOptions, by: Who, now: int) -> tuple[Feed, bool]:
    """One that is due at once, and whether it is new. One of this address that there is gets the options, and another
    try where it was gone.
    """
    before = by_url(writer, url)
    due = Schedule(due=now / 1e6)
    if before is not None:
        if before.options == options and before.state == "active":
            return before, False
        # Without what was answered before: with other options, the same bytes are other events.
        feed = replace(before, options=options, state="active", known=Known(), items=Items(), schedule=due)
        put(writer, feed)
        return feed, False
    row = writer.execute("SELECT seq FROM sqlite_sequence WHERE name = 'feeds'").fetchone()
    number = 1 if row is None else int(row[0]) + 1
    feed = Feed(
        number=number,
        id=token_hex(8),
        url=url,
        options=options,
        schedule=due,
        tenant=by.tenant,
        token=by.token,
        added=now,
    )
    marks = ", ".join(f":{name}" for name in _NAMES)
    writer.execute(f"INSERT INTO feeds ({', '.join(_NAMES)}) VALUES ({marks})", feed.columns())
    return feed, True


def put(writer: sqlite3.Connection, feed: Feed) -> bool:
    """What is known of it now. Whether it is still there."""
    values = ", ".join(f"{name} = :{name}" for name in _NAMES[1:])
    done = writer.execute(f"UPDATE feeds SET {values} WHERE number = :number", feed.columns())
    return done.rowcount > 0


def remove(writer: sqlite3.Connection, id: str) -> Feed | None:
    feed = by_id(writer, id)
    if feed is not None:
        writer.execute("DELETE FROM feeds WHERE number = ?", (feed.number,))
    return feed


# -------------------------------------------------------------------------------------------------------------- finding


def _one(reader: sqlite3.Connection, column: str, value: object) -> Feed | None:
    row = reader.execute(f"SELECT {_CHECKED} FROM feeds WHERE {column} = ?", (value,)).fetchone()
    return None if row is None else Feed.of(row)


def by_number(reader: sqlite3.Connection, number: int) -> Feed | None:
    return _one(reader, "number", number)


def by_id(reader: sqlite3.Connection, id: str) -> Feed | None:
    return _one(reader, "id", id)


def by_url(reader: sqlite3.Connection, url: str) -> Feed | None:
    return _one(reader, "url", url)


def page(reader: sqlite3.Connection, after: int, limit: int) -> list[Feed]:
    """In the order in which they were added, behind that number."""
    rows = reader.execute(f"SELECT {_CHECKED} FROM feeds WHERE number > ? ORDER BY number LIMIT ?", (after, limit))
    return list(map(Feed.of, rows))


def active(reader: sqlite3.Connection) -> Iterator[Feed]:
    return map(Feed.of, reader.execute(f"SELECT {_CHECKED} FROM feeds WHERE state = 'active' ORDER BY number"))


def counts(reader: sqlite3.Connection) -> dict[str, int]:
    """How many there are, by how they do."""
    rows = reader.execute(
        "SELECT CASE WHEN state = 'active' AND problem <> '' THEN 'failing' ELSE state END AS how, count(*) "
        "FROM feeds GROUP BY how"
    )
    return {"active": 0, "failing": 0, "gone": 0, **dict(rows)}
