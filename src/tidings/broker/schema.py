"""The tables of a broker's database, and how those of earlier versions become these.

events          one row each, in the order in which they were accepted, with the subscriptions that it matched
postings        the same turned round, for stretches of events that are past: by subscription, which events
blocks          these stretches; what is in postings besides is being written, or has been
earlier         what subscriptions matched that looked back on events from before them
subscriptions   one row for each version of each subscription; versions that follow one another are a stream
gone            up to which event the notifications of streams are gone, for events that were removed
dead            notifications that a webhook did not take
tokens          who may do what
audit           who did what
windows         where events are matched elsewhere: for which of these each version was active
templates       subscriptions with parameters, the last version of each
mappings        how data that is no RDF becomes events
feeds           the feeds that are read, and how far
websub          with which hubs it was agreed that they tell of these
feed_keys       by which subscriptions can be read as feeds
hub             who is told of what is new in those
meta            what there is one of
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from zlib import crc32

from tidings.errors import BrokerError

APPLICATION = 0x74_69_64_67
"""SQLite's `application_id`: that the file is a broker's, `tidg`."""

_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    accepted INTEGER NOT NULL,  -- microseconds since 1970, never less than the one before
    published TEXT,             -- as xsd:dateTime, where the publisher said so
    body TEXT NOT NULL,
    matched BLOB,               -- numbers of subscriptions, 4 bytes each; NULL until it has been matched
    crc INTEGER NOT NULL        -- of all others
);

CREATE TABLE postings (
    first INTEGER NOT NULL,     -- of the events from here
    last INTEGER NOT NULL,      -- to here
    low INTEGER NOT NULL,       -- the subscriptions from here
    high INTEGER NOT NULL,      -- to here
    numbers BLOB NOT NULL,      -- of subscriptions, sorted, 4 bytes each
    seqs BLOB NOT NULL          -- of the event of each, 4 bytes, counted from the first
);
CREATE INDEX postings_by_place ON postings (first, last, low, high);

CREATE TABLE earlier (
    number INTEGER NOT NULL,    -- a subscription that looks back
    seq INTEGER NOT NULL,       -- an event from before it that it matches
    PRIMARY KEY (number, seq)
) WITHOUT ROWID;

CREATE TABLE subscriptions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    stream INTEGER NOT NULL,    -- the number of the version with which it began
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    query TEXT NOT NULL,
    dialect TEXT NOT NULL,
    options TEXT NOT NULL,      -- JSON
    state TEXT NOT NULL,        -- active, paused, replaced, cancelled, expired
    reason TEXT NOT NULL,       -- why it is paused, for its owner
    created INTEGER NOT NULL,
    after INTEGER NOT NULL,     -- it sees events behind this one
    expires INTEGER,
    since INTEGER,              -- and events that were accepted from then on
    looked INTEGER,             -- NULL, or up to which event these have been looked at
    acked INTEGER NOT NULL,     -- of the stream: the subscriber is done with events up to here
    dropped INTEGER NOT NULL,   -- of the stream: notifications of events up to here are gone
    UNIQUE (tenant, id, version)
);
CREATE TABLE dead (
    stream INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    notification TEXT NOT NULL,
    event TEXT NOT NULL,
    tries INTEGER NOT NULL,
    reason TEXT NOT NULL,
    died INTEGER NOT NULL,
    PRIMARY KEY (stream, seq)
) WITHOUT ROWID;

CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    digest BLOB NOT NULL,
    tenant TEXT NOT NULL,
    scopes TEXT NOT NULL,       -- words
    label TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER
) WITHOUT ROWID;

CREATE INDEX subscriptions_by_stream ON subscriptions (stream);
CREATE INDEX subscriptions_there ON subscriptions (tenant, id) WHERE state IN ('active', 'paused');
"""

_SECOND = """
CREATE TABLE audit (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,        -- microseconds since 1970
    tenant TEXT NOT NULL,
    token TEXT NOT NULL,        -- the name of one; or who it was, in parentheses
    address TEXT NOT NULL,      -- from where; empty where it was here
    what TEXT NOT NULL,
    object TEXT NOT NULL        -- of what it was done to, the id
);

-- NULL where it was not worked out.
ALTER TABLE subscriptions ADD COLUMN complexity INTEGER;
"""

_SUMMED = {
    "subscriptions": (
        "number, stream, tenant, id, version, query, dialect, options, state, reason, "
        "created, after, expires, since, looked, acked, dropped, complexity"
    ),
    "tokens": "name, digest, tenant, scopes, label, created, expires",
    "meta": "key, value",
    "blocks": "first, last",
    "windows": "number, after, until",
    "earlier": "number, seq",
    "templates": "tenant, id, version, definition, complexity, created",
    "mappings": "tenant, id, kind, text, created",
    "feeds": "number, id, url, options, state, problem, status, etag, modified, version, hints, schedule, "
    "tenant, token, added, polled",
    "websub": "callback, feed, hub, topic, state, problem, asked, expires",
    "feed_keys": "number, tenant, id, version",
    "hub": "number, tenant, id, topic, callback, secret, expires, told, failures",
}
"""What is summed up in `crc`, by table."""

_TABLES = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"


def _sums(table: str, key: str) -> str:
    columns = _SUMMED[table]
    return f"""
ALTER TABLE {table} ADD COLUMN crc INTEGER;
UPDATE {table} SET crc = tidings_sum({columns});
CREATE TRIGGER {table}_put AFTER INSERT ON {table} BEGIN
    UPDATE {table} SET crc = tidings_sum({columns}) WHERE {key} = NEW.{key}
;END;
CREATE TRIGGER {table}_set AFTER UPDATE OF {columns} ON {table} BEGIN
    UPDATE {table} SET crc = tidings_sum({columns}) WHERE {key} = NEW.{key}
;END;
"""


_THIRD = f"""
{_sums("subscriptions", "number")}
{_sums("tokens", "name")}
{_sums("meta", "key")}
CREATE INDEX subscriptions_looking ON subscriptions (stream) WHERE looked IS NOT NULL;
CREATE INDEX subscriptions_ending ON subscriptions (expires) WHERE expires IS NOT NULL;
ALTER TABLE earlier ADD COLUMN crc INTEGER;
UPDATE earlier SET crc = tidings_sum(number, seq);
-- They are made again from the log.
DELETE FROM postings;
ALTER TABLE postings ADD COLUMN crc INTEGER;
"""


def sound(table: str) -> str:
    """Whether a row of a table is as it was written, for a query to ask."""
    return f"crc IS tidings_sum({_SUMMED[table]})"


SOUND = sound("subscriptions")

_WINDOWS = """
CREATE TABLE windows (
    number INTEGER NOT NULL,    -- a version of a subscription was active
    after INTEGER NOT NULL,     -- for the events behind this one
    until INTEGER               -- up to this one; NULL where it still is
);
CREATE INDEX windows_by_number ON windows (number);
CREATE INDEX windows_closed ON windows (until) WHERE until IS NOT NULL;
"""


def _windows(database: sqlite3.Connection) -> None:
    """By triggers: so they are written with every change of a subscription's state, whoever makes it. `meta` says
    whether events are matched elsewhere, and how often anything has changed here.
    """
    _run(database, _WINDOWS + _sums("windows", "rowid"))
    last = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)"
    begins = f"INSERT INTO windows (number, after, until) VALUES (NEW.number, {last}, NULL)"
    ends = f"UPDATE windows SET until = {last} WHERE number = NEW.number AND until IS NULL"
    for name, when, condition, done in (
        ("made", "INSERT", "NEW.state = 'active'", begins),
        ("opened", "UPDATE OF state", "NEW.state = 'active' AND OLD.state <> 'active'", begins),
        ("closed", "UPDATE OF state", "NEW.state <> 'active' AND OLD.state = 'active'", ends),
    ):
        database.execute(
            f"CREATE TRIGGER windows_{name} AFTER {when} ON subscriptions "
            f"WHEN {condition} AND EXISTS (SELECT 1 FROM meta WHERE key = 'matched') "
            f"BEGIN {done}; UPDATE meta SET value = value + 1 WHERE key = 'windows'; END"
        )


_GONE = """
CREATE TABLE gone (
    place INTEGER PRIMARY KEY,  -- the streams of this row, by their numbers
    marks BLOB NOT NULL,        -- for each, up to which event notifications are gone, 8 bytes
    crc INTEGER NOT NULL        -- of both
);
"""

_TEMPLATES = f"""
CREATE TABLE templates (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    definition TEXT,            -- JSON; NULL where it was deleted: the next one of this id goes on counting
    complexity INTEGER NOT NULL,
    created INTEGER NOT NULL,   -- microseconds since 1970
    UNIQUE (tenant, id)
);
{_sums("templates", "rowid")}
"""

_FEEDS = f"""
CREATE TABLE feeds (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL UNIQUE,
    options TEXT NOT NULL,      -- JSON
    state TEXT NOT NULL,        -- active, gone
    problem TEXT NOT NULL,      -- what was wrong the last time
    status INTEGER,             -- what was answered the last time
    etag TEXT,
    modified TEXT,
    version TEXT NOT NULL,      -- what it is written in
    hints TEXT NOT NULL,        -- JSON: what it says of when to ask for it, and who would tell
    schedule TEXT NOT NULL,     -- JSON: when it is asked for
    tenant TEXT NOT NULL,       -- of who added it
    token TEXT NOT NULL,
    added INTEGER NOT NULL,     -- microseconds since 1970
    polled INTEGER,
    items BLOB NOT NULL         -- what its items have said; if it is lost, they are repeats
);
{_sums("feeds", "number")}
CREATE TABLE websub (
    callback TEXT PRIMARY KEY,  -- the end of the address that a hub is given
    feed INTEGER NOT NULL,      -- the number of one
    hub TEXT NOT NULL,
    topic TEXT NOT NULL,
    state TEXT NOT NULL,        -- asked, active, refused, leaving
    problem TEXT NOT NULL,
    asked INTEGER NOT NULL,     -- microseconds since 1970
    expires INTEGER             -- when the lease ends
) WITHOUT ROWID;
CREATE INDEX websub_by_feed ON websub (feed);
{_sums("websub", "callback")}
CREATE TABLE feed_keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,           -- of the subscription
    version INTEGER NOT NULL,   -- those before it are no keys any more
    UNIQUE (tenant, id)
);
{_sums("feed_keys", "number")}
CREATE TABLE hub (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,           -- of the subscription
    topic TEXT NOT NULL,        -- the address of its feed, as the subscriber gave it
    callback TEXT NOT NULL,
    secret TEXT NOT NULL,       -- what he wants it signed with; empty: nothing
    expires INTEGER NOT NULL,
    told INTEGER NOT NULL,      -- he is done with events up to here
    failures INTEGER NOT NULL,
    UNIQUE (callback, topic)
);
CREATE INDEX hub_by_subscription ON hub (tenant, id);
{_sums("hub", "number")}
"""

_MAPPINGS = f"""
CREATE TABLE mappings (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,         -- a media type
    text BLOB NOT NULL,
    created INTEGER NOT NULL,   -- microseconds since 1970
    UNIQUE (tenant, id)
);
{_sums("mappings", "rowid")}
"""

_BLOCKS = f"""
CREATE TABLE blocks (
    first INTEGER PRIMARY KEY,  -- from this event
    last INTEGER NOT NULL       -- to this one
);
{_sums("blocks", "first")}
INSERT INTO blocks (first, last) SELECT DISTINCT first, last FROM postings;
"""


def _blocks(database: sqlite3.Connection) -> None:
    """The sums of what is large are quicker to make now."""
    _run(database, _BLOCKS)
    for (place,) in database.execute("SELECT rowid FROM postings").fetchall():
        *row, numbers, seqs, crc = database.execute(
            "SELECT first, last, low, high, numbers, seqs, crc FROM postings WHERE rowid = ?", (place,)
        ).fetchone()
        if checksum(*row, numbers, seqs) != crc:
            raise damaged(f"what events {row[0]} to {row[1]} matched")
        database.execute("UPDATE postings SET crc = ? WHERE rowid = ?", (sum_of(numbers, seqs, of=row), place))


_EARLIER = "CREATE INDEX earlier_by_seq ON earlier (seq)"

MIGRATIONS: Sequence[Callable[[sqlite3.Connection], None]] = (
    lambda database: _run(database, _FIRST),
    lambda database: _run(database, _SECOND),
    lambda database: _run(database, _THIRD),
    _windows,
    lambda database: _run(database, _GONE),
    lambda database: _run(database, _TEMPLATES),
    lambda database: _run(database, _FEEDS),
    lambda database: _run(database, _MAPPINGS),
    _blocks,
    lambda database: _run(database, _EARLIER),
)
"""Each makes the next version of what there is; the first one begins with nothing."""

VERSION = len(MIGRATIONS)


def checksum(*values: object) -> int:
    """What the columns `crc` have: SQLite itself does not notice when a page comes back from the disk as another."""
    return crc32(repr(values).encode())


def sum_of(*data: bytes, of: Sequence[int]) -> int:
    """The same of bytes, which may be many, and of some numbers."""
    crc = crc32(repr(tuple(of)).encode())
    for each in data:
        crc = crc32(each, crc)
    return crc


def damaged(what: str) -> sqlite3.DatabaseError:
    """An error as SQLite has it for what it notices itself."""
    return sqlite3.DatabaseError(f"malformed: {what} is not as it was written")


def check(database: sqlite3.Connection) -> None:
    """That all is as it was written; but for events, which are looked at when they are read."""
    wrong = [row[0] for row in database.execute("PRAGMA integrity_check(3)") if row[0] != "ok"]
    if wrong:
        raise sqlite3.DatabaseError(f"malformed: {'; '.join(wrong)}")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        fresh.create_function("tidings_sum", -1, checksum, deterministic=True)
        prepare(fresh, "a fresh one")
        if fresh.execute(_TABLES).fetchall() != database.execute(_TABLES).fetchall():
            raise damaged("what tables there are")
    for table, columns in _SUMMED.items():
        if database.execute(f"SELECT 1 FROM {table} WHERE crc IS NOT tidings_sum({columns})").fetchone():
            raise damaged(f"a row of {table}")
    for table, column in (("events", "seq"), ("subscriptions", "number")):
        given = database.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        [last] = database.execute(f"SELECT max({column}) FROM {table}").fetchone()
        if last is not None and (given is None or given[0] < last):
            raise damaged(f"the last place among {table}")


def prepare(database: sqlite3.Connection, name: str) -> None:
    """Bring the tables up to date, in one transaction; a `BrokerError` where they are of a later version."""
    [application], [version] = _pragma(database, "application_id"), _pragma(database, "user_version")
    if application not in (0, APPLICATION) or (not application and _has_tables(database)):
        raise BrokerError(name, "its file is a database, and not that of a broker; name another folder")
    if version > VERSION:
        raise BrokerError(
            name,
            f"it was written by a later version of Tidings (its tables are of version {version}, the last known here "
            f"is {VERSION}); install that version",
        )
    if version == VERSION:
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        for migration in MIGRATIONS[version:]:
            migration(database)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise


def _run(database: sqlite3.Connection, script: str) -> None:
    """`executescript` would commit what is open."""
    for statement in script.split(";\n"):
        if statement.strip():
            database.execute(statement)


def _pragma(database: sqlite3.Connection, name: str) -> tuple[int]:
    row: tuple[int] = database.execute(f"PRAGMA {name}").fetchone()
    return row


def _has_tables(database: sqlite3.Connection) -> bool:
    return database.execute("SELECT 1 FROM sqlite_schema").fetchone() is not None
