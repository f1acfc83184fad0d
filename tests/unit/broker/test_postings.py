"""The log turned round: whatever the blocks, a subscription finds what a look through the log finds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidings.broker import log, postings
from tidings.broker.database import Database
from tidings.rdf.event import Event


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "BLOCK", 4)
    monkeypatch.setattr(postings, "_TOGETHER", 3)
    monkeypatch.setattr(postings, "_LARGEST", 36)
    monkeypatch.setattr(postings, "_ROW", 5)


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    made = Database(None)
    with made.writing() as writer:
        yield writer
    made.close()


def append(database: sqlite3.Connection, first: int, matched: list[set[int]]) -> None:
    rows = [
        log.Logged(first + place, Event(f"e{first + place}", ""), 0, np.array(sorted(numbers), np.uint32))
        for place, numbers in enumerate(matched)
    ]
    log.append(database, rows)


def turn(database: sqlite3.Connection, upto: int) -> None:
    while (turned := postings.next_block(database, upto)) is not None:
        postings.write(database, turned)


MATCHED = st.lists(st.sets(st.integers(1, 6)), max_size=80)


@given(matched=MATCHED, more=MATCHED, after=st.integers(0, 160), limit=st.integers(1, 20))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_found_is_what_is_in_the_log(
    matched: list[set[int]], more: list[set[int]], after: int, limit: int
) -> None:
    made = Database(None)
    with made.writing() as database:
        append(database, 1, matched)
        turn(database, len(matched))
        append(database, len(matched) + 1, more)
        both = matched + more
        newest = postings.Newest(database, len(both))
        covered = postings.covered(database)
        assert len(matched) - covered < 4
        for number in range(1, 7):
            expected = [seq for seq, numbers in enumerate(both, 1) if number in numbers and seq > after]
            written = postings.written(database, number, after, limit)
            assert written == [seq for seq in expected if seq <= covered][:limit]
            assert newest.behind(number, after) == [seq for seq in expected if seq > covered]
    made.close()


def test_blocks_of_one_size_become_one(database: sqlite3.Connection) -> None:
    append(database, 1, [{1}] * 40)
    turn(database, 40)
    assert [block.size for block in postings.blocks(database)] == [36, 4]


def test_the_last_block_stays(database: sqlite3.Connection) -> None:
    append(database, 1, [{1}] * 20)
    turn(database, 20)
    postings.drop_blocks(database, 20)
    assert postings.covered(database) == 20
    assert len(postings.blocks(database)) == 1


def test_what_is_written_is_forgotten(database: sqlite3.Connection) -> None:
    append(database, 1, [{1, 2}, {1}, {2}, {1}])
    newest = postings.Newest(database, 4)
    newest.forget(2)
    assert (newest.behind(1, 0), newest.behind(2, 0)) == ([4], [3])
    newest.forget(4)
    assert newest.behind(1, 0) == []
