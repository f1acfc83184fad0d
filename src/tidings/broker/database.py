"""A broker's database: SQLite with a log of writes ahead, one that writes, any number that read meanwhile.

What is committed is on the disk when the commit returns. In memory there is one connection, which all take in turn.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock, RLock

from tidings.broker import log
from tidings.broker.schema import check, checksum, prepare
from tidings.errors import BrokerError

FILE = "broker.sqlite"
_LOCK = "broker.lock"
_CACHE_KIB, _READER_CACHE_KIB = 64 << 10, 4 << 10
_LOG_PAGES = 16_384
"""Pages of the log of writes at which who writes has to take them over; before that, `take_over` does so."""

_LITTLE = 1_000
"""Pages of it that are taken over while who writes waits."""

_FORGETTING = 200
"""Milliseconds for which everybody waits until nobody reads what was deleted."""

_PATIENCE = 30.0
"""Seconds that a reader waits for a lock: there is one only while a log is taken over after a crash."""


class Database:
    """`folder` None is in memory. A `BrokerError` says what is wrong with a folder, and what to do.

    A folder belongs to one broker; who is not `alone` does something small beside it.
    """

    def __init__(self, folder: Path | None, *, alone: bool = True) -> None:
        self._folder = folder
        self._write = RLock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = Lock()
        self._closed = False
        self._taking = Lock()
        self._to_take_over = True
        self._to_forget = False
        self._lock = None if folder is None or not alone else _locked(folder)
        try:
            with self._told():
                self._writer = self._connect(_CACHE_KIB)
                self._set_up()
        except BaseException:
            if self._lock is not None:
                os.close(self._lock)
            raise

    @property
    def name(self) -> str:
        return "the broker in memory" if self._folder is None else _named(self._folder)

    def _connect(self, cache: int = _READER_CACHE_KIB) -> sqlite3.Connection:
        made = _opened(":memory:" if self._folder is None else str(self._folder / FILE))
        made.execute(f"PRAGMA cache_size = -{cache}")
        return made

    def _set_up(self) -> None:
        database = self._writer
        if self._folder is not None:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        # What is deleted is overwritten.
        database.execute("PRAGMA secure_delete = ON")
        prepare(database, self.name)
        if self._lock is not None:
            check(database)

    # ----------------------------------------------------------------------------------------------------- transactions

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, on the disk when this is over. Where an error ends it, nothing of it is."""
        with self._write, self._told():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
                self._to_take_over = True
            except BaseException:
                with suppress(sqlite3.Error):
                    # Some errors have rolled it back already.
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def looking(self) -> Iterator[sqlite3.Connection]:
        """What is there now, for the one who writes: he has at hand what he has written, and others have to read it."""
        with self._write, self._told():
            yield self._writer

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """All that was committed before, and nothing that is meanwhile."""
        if self._folder is None:
            with self._write:
                yield self._writer
            return
        with self._idle_lock:
            connection = self._idle.pop() if self._idle else None
        with self._told():
            connection = connection or self._connect()
            try:
                connection.execute("BEGIN")
                try:
                    yield connection
                finally:
                    connection.execute("ROLLBACK")
            except sqlite3.Error:
                # Whatever is wrong may be wrong with what it has read so far.
                connection.close()
                raise
            except BaseException:
                self._rest(connection)
                raise
        self._rest(connection)

    def _rest(self, connection: sqlite3.Connection) -> None:
        with self._idle_lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite says, in words that help."""
        try:
            yield
        except sqlite3.Error as error:
            raise BrokerError(self.name, _advice(str(error))) from error
        except UnicodeDecodeError as error:
            # In a message of SQLite's, which names what is damaged.
            raise BrokerError(self.name, _advice("malformed: a text is none")) from error

    # --------------------------------------------------------------------------------------------------------- the file

    @property
    def bytes(self) -> int:
        """What its pages take, those that are free included."""
        with self.reading() as database:
            [pages], [size] = (database.execute(f"PRAGMA {each}").fetchone() for each in ("page_count", "page_size"))
            return int(pages) * int(size)

    def take_over(self) -> None:
        """Take over what is in the log of writes. Nobody waits while most of it is; what comes meanwhile is little,
        and for that who writes waits: the log is written from its beginning again only when nothing in it is left.

        Where nothing has been written since, nothing is done: to look at a log that is all taken over, while somebody
        begins it anew, is what SQLite has a fault in (its versions before 3.51.3).
        """
        if self._folder is None or not self._to_take_over:
            return
        self._to_take_over = done = False
        try:
            done = self._take_over()
        finally:
            if not done:
                self._to_take_over = True

    def _take_over(self) -> bool:
        """Whether all is done that there was to do."""
        with self._taking, self._told(), closing(self._connect()) as connection:
            if not _take_most(connection):
                # Somebody reads what was before.
                return False
        with self._write, self._told():
            if self._to_forget:
                self._forget(0)
            return _take_most(self._writer) and not self._to_forget

    def forget(self) -> None:
        """Leave nothing in the log of writes of what has been deleted: at once, or, where somebody reads what was
        before, when he does not any more.
        """
        if self._folder is not None:
            with self._write, self._told():
                self._forget(_FORGETTING)

    def _forget(self, wait: int) -> None:
        with self._taking:
            self._writer.execute(f"PRAGMA busy_timeout = {wait}")
            try:
                busy, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {round(_PATIENCE * 1000)}")
        self._to_forget = bool(busy)
        self._to_take_over |= self._to_forget

    def backup(self, target: Path) -> None:
        """Write what is there now into a folder, from which a broker can go on. Others read and write meanwhile."""
        target.mkdir(parents=True, exist_ok=True)
        if (target / FILE).exists():
            raise BrokerError(f"a backup into '{target}'", "there is a broker already; name another folder")
        unfinished = target / f"{FILE}.unfinished"
        unfinished.unlink(missing_ok=True)
        with self.reading() as database, self._told():
            copy = _opened(str(unfinished))
            try:
                database.backup(copy)
                log.skip_places(copy)
            finally:
                copy.close()
        _sync(unfinished)
        unfinished.rename(target / FILE)
        _sync(target)

    def close(self) -> None:
        with self._write, self._idle_lock:
            self._closed = True
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None


def _opened(file: str) -> sqlite3.Connection:
    # Whoever has a connection has it alone; statements stand in transactions of our own.
    made = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    made.create_function("tidings_sum", -1, checksum, deterministic=True)
    return made


def _take_most(connection: sqlite3.Connection) -> bool:
    """Take over what can be taken. Whether that was most of it, and nobody did the same meanwhile."""
    busy, pages, done = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return not busy and pages - done <= _LITTLE


def _named(folder: Path) -> str:
    return f"the broker in '{folder}'"


def _locked(folder: Path) -> int:
    """A lock on the folder, which ends with the process at the latest."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise BrokerError(_named(folder), f"{error.strerror}; name a folder that may be written to") from error
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(found)
        raise BrokerError(_named(folder), "it is running already; end that first, or name another folder") from error
    return found


def _sync(path: Path) -> None:
    found = os.open(path, os.O_RDONLY)
    try:
        os.fsync(found)
    finally:
        os.close(found)


_ADVICE = (
    ("disk is full", "the disk is full, so nothing of this was taken; make room"),
    ("readonly", "it may be read only, so nothing of this was taken; let the folder and its files be written to"),
    ("unable to open", "its file cannot be opened; let the folder and its files be written to"),
    ("malformed", "its file is damaged ({}); restore a backup"),
    ("not a database", "its file is damaged ({}); restore a backup"),
    ("no such", "its file is damaged ({}); restore a backup"),
    ("user-defined function", "its file is damaged (a text is none); restore a backup"),
    ("Could not decode", "its file is damaged ({}); restore a backup"),
    ("disk I/O error", "the disk fails or is full ({}), so nothing of this was taken; make room, or see its log"),
)


def _advice(said: str) -> str:
    return next((advice.format(said) for part, advice in _ADVICE if part in said), said)
