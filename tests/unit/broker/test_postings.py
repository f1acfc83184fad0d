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
from tidings.broker.schema import MIGRATIONS, checksum
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


def rows(turned: postings.Turned) -> list[postings.Row]:
    return [row for part in turned.parts() for row in part]


def append(database: sqlite3.Connection, first: int, matched: list[set[int]]) -> None:
    rows = [
        log.Logged(first + place, Event(f"e{first + place}", ""), 0, np.array(sorted(numbers), np.uint32))
        for place, numbers in enumerate(matched)
    ]
    log.append(database, rows)


def turn(database: sqlite3.Connection, upto: int) -> None:
    while (turned := postings.next_block(database, upto)) is not None:
        postings.stage(database, rows(turned))
        postings.finish(database, turned.block)


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


def test_a_block_counts_when_all_of_it_is_there(database: sqlite3.Connection) -> None:
    append(database, 1, [{1, 2}] * 12)
    for upto in (4, 8, 12):
        turned = postings.next_block(database, upto)
        assert turned is not None
        postings.stage(database, rows(turned))
        postings.finish(database, turned.block)
    together = postings.next_block(database, 12)
    assert together is not None
    assert together.block == postings.Block(1, 12)
    assert len(rows(together)) == 5
    postings.stage(database, rows(together)[:3])
    assert postings.left_over(database) == [together.block]
    assert postings.written(database, 1, 0, 20) == postings.written_before(database, 1, 13, 20)[::-1] == [*range(1, 13)]
    # As after an end in the middle: it is cleared away, and written again.
    while postings.clear(database, together.block):
        pass
    assert postings.left_over(database) == []
    postings.stage(database, rows(together))
    postings.finish(database, together.block)
    assert postings.blocks(database) == [together.block]
    assert len(postings.left_over(database)) == 3
    assert postings.written(database, 2, 3, 20) == [*range(4, 13)]
    assert postings.written_before(database, 2, 5, 2) == [4, 3]


def test_blocks_of_earlier_versions_go_on() -> None:
    old = sqlite3.connect(":memory:", isolation_level=None)
    old.create_function("tidings_sum", -1, checksum, deterministic=True)
    for migration in MIGRATIONS[:8]:
        migration(old)
    data = np.array([1, 1], np.uint32).tobytes(), np.array([0, 3], np.uint32).tobytes()
    row = (1, 4, 1, 1, *data)
    old.execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, checksum(*row)))
    MIGRATIONS[8](old)
    assert postings.blocks(old) == [postings.Block(1, 4)]
    assert postings.written(old, 1, 0, 9) == [1, 4]
    old.execute("UPDATE postings SET low = 0")
    with pytest.raises(sqlite3.DatabaseError, match="what events 1 to 4 matched"):
        postings.written(old, 1, 0, 9)
    old.close()
