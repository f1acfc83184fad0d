"""What streams lose when events are removed is written down, for many at a time."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.broker import gone
from tidings.broker.database import Database
from tidings.errors import BrokerError

MARKS = st.lists(st.tuples(st.integers(1, 3_000), st.integers(1, 2**50)), max_size=50)


def _write(database: Database, marks: list[tuple[int, int]]) -> None:
    streams, seqs = np.array(marks, np.int64).reshape(-1, 2).T
    with database.writing() as writer:
        gone.write(writer, streams, seqs)


@given(st.lists(MARKS, max_size=4))
def test_a_mark_is_the_last_that_was_written(several: list[list[tuple[int, int]]]) -> None:
    database = Database(None)
    expected: dict[int, int] = {}
    for marks in several:
        _write(database, marks)
        for stream, seq in marks:
            expected[stream] = max(seq, expected.get(stream, 0))
    with database.reading() as reader:
        assert gone.everywhere(reader) == expected
        for stream in (*expected, 5_000):
            assert gone.upto(reader, stream) == expected.get(stream, 0)
    database.close()


@given(MARKS)
def test_parts_are_all_of_it_and_no_stream_is_in_two(marks: list[tuple[int, int]]) -> None:
    streams, seqs = np.array(marks, np.int64).reshape(-1, 2).T
    parts = list(gone.parts(streams * 10, seqs))
    assert sorted(pair for part in parts for pair in zip(*part, strict=True)) == sorted((s * 10, q) for s, q in marks)
    assert all(set(one).isdisjoint(other) for (one, _), (other, _) in combinations(parts, 2))


def test_marks_that_come_back_as_others_are_noticed(tmp_path: Path) -> None:
    database = Database(tmp_path)
    _write(database, [(7, 100)])
    with database.writing() as writer:
        writer.execute("UPDATE gone SET marks = zeroblob(4096)")
    with pytest.raises(BrokerError, match="what is gone of streams 0 to 511"), database.reading() as reader:
        gone.upto(reader, 7)
    database.close()
