"""What only the database itself can tell of how it keeps what is written."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Thread
from time import sleep

from tidings.broker import log
from tidings.broker.database import FILE, Database

_WRITTEN = 1_000
_PAGES = 5


def test_the_log_of_writes_stays_small_while_somebody_writes(tmp_path: Path) -> None:
    database = Database(tmp_path)

    def write() -> None:
        for _ in range(_WRITTEN):
            with database.writing() as writer:
                writer.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('test', zeroblob(16000))")
            sleep(0.001)

    thread = Thread(target=write)
    thread.start()
    while thread.is_alive():
        database.take_over()
    assert (tmp_path / f"{FILE}-wal").stat().st_size < _WRITTEN * _PAGES * 4_096 / 4
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
