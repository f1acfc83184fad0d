"""What only the database itself can tell of how it keeps what is written."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

from tidings.broker import database as databases
from tidings.broker import log
from tidings.broker.database import FILE, Database


def test_the_log_of_writes_stays_small_while_somebody_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(tmp_path)
    take = databases._take_most

    def write() -> None:
        with database.writing() as writer:
            writer.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('test', zeroblob(16000))")

    def take_while_somebody_writes(connection: sqlite3.Connection) -> bool:
        if connection is database._writer:
            return take(connection)
        # What comes after somebody began to read is left, as what comes after the taking began is.
        with database.reading() as reader:
            reader.execute("SELECT * FROM meta").fetchall()
            write()
            return take(connection)

    monkeypatch.setattr(databases, "_take_most", take_while_somebody_writes)
    sizes = []
    for _ in range(10):
        write()
        database.take_over()
        sizes.append((tmp_path / f"{FILE}-wal").stat().st_size)
    assert sizes[-1] == sizes[1]
    database.close()


def test_what_was_deleted_is_not_in_the_log_of_writes_whoever_takes_it_over(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.writing() as writer:
        writer.executemany(
            "INSERT INTO meta (key, value) VALUES (?, ?)", ((f"a secret {n}", "x" * 5_000) for n in range(3_000))
        )
    with database.writing() as writer:
        writer.execute("DELETE FROM meta WHERE key LIKE 'a secret%'")
    thread = Thread(target=database.take_over)
    thread.start()
    sleep(0.004)
    database.forget()
    thread.join()
    assert _said(tmp_path) == 0
    database.close()


def test_what_is_still_read_is_forgotten_later(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.writing() as writer:
        writer.execute("INSERT INTO meta (key, value) VALUES ('a secret', 1)")
    with database.reading() as reader:
        reader.execute("SELECT * FROM meta").fetchall()
        with database.writing() as writer:
            writer.execute("DELETE FROM meta WHERE key = 'a secret'")
        database.forget()
        database.take_over()
        assert _said(tmp_path) > 0
    database.take_over()
    assert _said(tmp_path) == 0
    database.close()


def _said(folder: Path) -> int:
    """How often it is said in the files of a database."""
    return sum(file.read_bytes().count(b"a secret") for file in folder.iterdir())


def test_where_nothing_was_written_the_log_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(tmp_path)
    database.take_over()
    looked: list[sqlite3.Connection] = []
    take = databases._take_most
    monkeypatch.setattr(databases, "_take_most", lambda connection: looked.append(connection) or take(connection))
    database.take_over()
    assert not looked
    with database.writing() as writer:
        writer.execute("INSERT INTO meta (key, value) VALUES ('test', 1)")
    database.take_over()
    database.take_over()
    assert len(looked) == 2
    database.close()


def test_the_first_and_the_last_event_are_found_without_looking_at_all(tmp_path: Path) -> None:
    database = Database(tmp_path)
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    with database.writing() as writer:
        assert log.first_and_last(writer) is None
        _fill(writer, 10_000)
        writer.set_progress_handler(step, 100)
        assert log.first_and_last(writer) == (1, 10_000)
        assert log.first_since(writer, 7_000) == 7_000
        writer.set_progress_handler(None, 0)
    assert steps < 50
    database.close()


def _fill(writer: sqlite3.Connection, count: int) -> None:
    """Events of which one was accepted in each microsecond."""
    writer.executemany(
        "INSERT INTO events (id, accepted, body, crc) VALUES (?, ?, '', 0)", ((str(n), n) for n in range(1, count + 1))
    )
