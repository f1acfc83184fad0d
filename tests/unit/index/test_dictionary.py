"""Bytes to numbers: whatever the hashes are, an entry has its own number, and what is no entry has none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.index.running import COMPILED, examples, joined

from tidings.index.kernels.dictionary import Dictionary, find_all
from tidings.index.names import ALL_BITS, Entries

# From no hash at all to all of it: all entries collide, all lie in one half of the slots, all halves agree, none does.
WEAK = [0, 1, 0xFF, 0x00000000FFFFFFFF, 0xFFFFFFFF00000000, ALL_BITS]
MANY = 300 if COMPILED else 60


def made(texts: list[str], weak: int) -> Dictionary:
    entries = Entries(weak)
    for text in texts:
        entries.number(text)
    return entries.table()


def found(table: Dictionary, texts: list[str]) -> list[int]:
    data, bounds = joined(texts)
    numbers = np.zeros(len(texts), np.int64)
    find_all(table, data, bounds, numbers)
    return numbers.tolist()


@pytest.mark.parametrize("weak", WEAK)
def test_every_entry_is_found_and_nothing_else(weak: int) -> None:
    texts = [f"<http://e.x/{number}>" for number in range(MANY)]
    table = made(texts, weak)
    assert found(table, texts) == list(range(MANY))
    assert found(table, [f"{text} " for text in texts[:50]] + ["", "<", "<http://e.x/>"]) == [-1] * 53


@pytest.mark.parametrize("weak", WEAK)
def test_long_texts_that_differ_anywhere(weak: int) -> None:
    """A hash leaves out the middle of a long text."""
    for length in (1, 7, 8, 9, 15, 16, 17, 47, 48, 49, 95, 96, 97, 104, 200):
        plain = "x" * length
        texts = [plain, *(plain[:n] + "y" + plain[n + 1 :] for n in range(0, length, 1 if COMPILED else 29))]
        table = made(texts, weak)
        assert found(table, texts) == list(range(len(texts)))
        assert found(table, [plain[:-1], plain + "x", "z" * length]) == [-1] * 3


@pytest.mark.parametrize("weak", [0, ALL_BITS])
def test_an_empty_dictionary(weak: int) -> None:
    assert found(made([], weak), ["", "a", "a" * 100]) == [-1, -1, -1]


@pytest.mark.parametrize("weak", [0, 0xFF, ALL_BITS])
def test_it_grows(weak: int) -> None:
    """A table that somebody holds still finds what it has when there are more entries, and larger tables."""
    entries = Entries(weak)
    tables = []
    for number in range(MANY):
        assert entries.number(f"t{number}") == number
        if number % 20 == 0:
            tables.append((number + 1, entries.table()))
    every = [f"t{number}" for number in range(MANY)]
    for count, table in tables:
        assert found(table, every[:count]) == list(range(count))
    assert found(entries.table(), every) == list(range(MANY))
    assert len(entries) == MANY
    assert list(entries.texts()) == every


texts = st.lists(st.one_of(st.text(max_size=20), st.text("ab", max_size=120)), max_size=30)


@examples(400)
@given(texts, texts, st.sampled_from(WEAK))
def test_like_a_python_dictionary(inside: list[str], asked: list[str], weak: int) -> None:
    numbers: dict[str, int] = {}
    for text in inside:
        numbers.setdefault(text, len(numbers))
    assert found(made(inside, weak), inside + asked) == [numbers.get(text, -1) for text in inside + asked]
